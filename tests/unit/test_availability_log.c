/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of the logs that clients send of their availability, and where. */
#include "server/request/availability_log.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/file.h"
#include "server/base/log.h"
#include "server/rpc/request.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

static struct arena *arena;
static struct config config;
static struct request request;
static char folder[64];

static int make_project(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof(folder), "/tmp/qm-availability-XXXXXX");
    arena = arena_create((size_t)64 << 20);
    config = (struct config){.request_time_stats_log = true};
    request = (struct request){.config = &config, .arena = arena};
    request.attempt.host.id = 12005;
    request.message.time_stats_log = TEXT("\n1795175544.5 power_on\n");
    log_set_level(LOG_LEVEL_CRITICAL);
    if (arena == NULL || mkdtemp(folder) == NULL)
        return -1;
    config.project_dir_path = text_from(folder);
    return 0;
}

static const char *in_project(const char *name)
{
    return text_string(arena, text_print(arena, "%s/%s", folder, name));
}

static int remove_project(void **state)
{
    (void)state;
    (void)unlink(in_project("time_stats_log/5/12005"));
    (void)rmdir(in_project("time_stats_log/5"));
    if (rmdir(in_project("time_stats_log")) != 0)
        (void)unlink(in_project("time_stats_log"));
    arena_destroy(arena);
    return rmdir(folder); /* nothing else was made */
}

static struct text kept(void)
{
    struct text log = NO_TEXT;

    if (file_read(arena, in_project("time_stats_log/5/12005"), (size_t)32 << 20, &log, NULL) !=
        STATUS_OK)
        return TEXT("none");
    return log;
}

static void a_log_stands_in_the_file_of_its_host(void **state)
{
    (void)state;
    availability_log_keep(&request);
    assert_text(kept(), "\n1795175544.5 power_on\n");
}

static void the_next_one_takes_its_place(void **state)
{
    (void)state;
    availability_log_keep(&request);
    request.message.time_stats_log = TEXT("1 off\n");
    availability_log_keep(&request);
    assert_text(kept(), "1 off\n");
    request.message.time_stats_log = NO_TEXT; /* it was not sent: what is known stays */
    availability_log_keep(&request);
    assert_text(kept(), "1 off\n");
}

static void nothing_is_kept_that_was_not_asked_for(void **state)
{
    (void)state;
    config.request_time_stats_log = false;
    availability_log_keep(&request);
    assert_text(kept(), "none");
    config.request_time_stats_log = true;
    request.attempt.host.id = 0; /* nobody's */
    availability_log_keep(&request);
    assert_text(kept(), "none");
}

static void of_a_long_one_the_newest_lines_are_kept(void **state)
{
    enum { LINES = 200000, LONGEST = 1 << 20 };
    struct buffer log = buffer_in(arena);
    struct text text;

    (void)state;
    for (int i = 0; i < LINES; i++)
        buffer_print(&log, "%d on\n", 1000000 + i);
    request.message.time_stats_log = buffer_text(&log);
    availability_log_keep(&request);
    text = kept();
    assert_true(text.length <= LONGEST && text.length > LONGEST - 20);
    assert_int_equal(text.length % strlen("1000000 on\n"), 0); /* whole lines */
    assert_true(text_ends(text, TEXT("\n1199999 on\n")));
}

static void what_is_in_the_way_costs_the_log_only(void **state)
{
    (void)state;
    assert_status(STATUS_OK, file_write(in_project("time_stats_log"), TEXT("x"), 0644, NULL));
    availability_log_keep(&request);
    assert_text(kept(), "none");
    assert_int_equal(request.failure.status, STATUS_OK);
}

#define IN_PROJECT(test) cmocka_unit_test_setup_teardown(test, make_project, remove_project)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PROJECT(a_log_stands_in_the_file_of_its_host),
        IN_PROJECT(the_next_one_takes_its_place),
        IN_PROJECT(nothing_is_kept_that_was_not_asked_for),
        IN_PROJECT(of_a_long_one_the_newest_lines_are_kept),
        IN_PROJECT(what_is_in_the_way_costs_the_log_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
