/* SPDX-License-Identifier: Apache-2.0 */
/* A crowd that finds its schedulers on master pages, against a network that these tests play: it
 * stands in for http_lines.c at link time. Whatever is called "dead" is not answered by anybody. */
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/master_page.h"
#include "server/base/xml.h"
#include "tests/support/test.h"
#include "tools/lab/volunteers/crowd/command_line.h"
#include "tools/lab/volunteers/crowd/crowd.h"
#include "tools/lab/volunteers/crowd/crowd_parts.h"
#include "tools/lab/volunteers/crowd/scenario.h"

#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

enum { LINES = 4 };

/* Of one test at a time. */
struct http_lines {
    const char *page; /* on each URL that begins with m */
    struct http_result results[LINES];
    bool is_on[LINES];
    uint64_t pages, dead, living; /* pages read, requests for schedulers */
};
static struct http_lines network;

struct http_lines *http_create(size_t lines)
{
    assert_true(lines <= LINES);
    return &network;
}

void http_destroy(struct http_lines *http)
{
    (void)http;
}

bool http_get(struct http_lines *http, const char *url, struct buffer *ret_page)
{
    buffer_add_string(ret_page, http->page);
    return url[0] == 'm';
}

static bool begin(struct http_lines *http, size_t line, bool is_dead, const char *reply)
{
    assert_false(http->is_on[line]);
    http->is_on[line] = true;
    http->results[line] = (struct http_result){.line = line,
                                               .end = is_dead ? HTTP_AWAY : HTTP_GOOD,
                                               .is_simulated = true,
                                               .reply = text_from(reply)};
    return true;
}

bool http_fetch(struct http_lines *http, size_t line, const char *url, double now)
{
    (void)now;
    assert_true(url[0] == 'm');
    http->pages++;
    return begin(http, line, false, http->page);
}

bool http_post(struct http_lines *http, size_t line, const char *url, double now, struct text body)
{
    bool is_dead = strstr(url, "dead") != NULL;

    (void)now;
    assert_true(url[0] == 'h' && body.length > 0);
    http->dead += is_dead;
    http->living += !is_dead;
    return begin(http, line, is_dead,
                 "<scheduler_reply>\n<userid>1</userid>\n<request_delay>3600</"
                 "request_delay>\n</scheduler_reply>\n");
}

bool http_wait(struct http_lines *http, double seconds, struct http_result *ret_result)
{
    (void)seconds;
    for (size_t line = LINES; line-- > 0;)
        if (http->is_on[line]) {
            http->is_on[line] = false;
            *ret_result = http->results[line];
            return true;
        }
    return false;
}

static struct command_line on_pages(size_t parallel)
{
    return (struct command_line){.urls = {"master"},
                                 .keys = {"key"},
                                 .project_count = 1,
                                 .key_count = 1,
                                 .parallel = parallel,
                                 .window = -1,
                                 .patience = 30,
                                 .is_quiet = true,
                                 .has_masters = true};
}

static struct scenario scenario_of(const char *rows)
{
    struct scenario scenario;

    assert_status(STATUS_OK, scenario_read(text_from(rows), &scenario, NULL));
    scenario.population.projects = 1;
    scenario.population.reads_masters = true;
    return scenario;
}

/* The page is `first` before the hosts live, `then` when they do. */
static enum status run(const struct command_line *options, const char *rows, const char *first,
                       const char *then, struct crowd_effort *ret_effort, struct failure *failure)
{
    struct scenario scenario = scenario_of(rows);
    struct crowd *crowd;
    enum status status;

    network = (struct http_lines){.page = first};
    assert_status(STATUS_OK, crowd_create(options, &scenario, &crowd, NULL));
    network.page = then;
    status = crowd_run(crowd, failure);
    *ret_effort = *crowd_effort(crowd);
    crowd_destroy(crowd);
    return status;
}

#define LIVING "<scheduler>http://a/</scheduler>\n"
#define DEAD   "<scheduler>http://dead/</scheduler>\n"

static void each_host_reads_the_page_and_asks_whom_it_names(void **state)
{
    (void)state;
    struct command_line options = on_pages(1);
    struct crowd_effort effort;

    assert_status(STATUS_OK,
                  run(&options, "hosts 5\ndays 2\nalways_on 1\n", LIVING, LIVING, &effort, NULL));
    assert_int_equal(network.pages, 5);
    assert_int_equal(effort.masters, 5);
    assert_true(network.living >= 5);
    assert_int_equal(effort.rpcs, network.living);
}

/* Nobody is waited for, whatever the patience; and it is no mistake of the project that all hosts
 * try the dead one first. */
static void who_is_not_there_is_passed_over(void **state)
{
    (void)state;
    struct command_line options = on_pages(1);
    struct crowd_effort effort;

    assert_status(STATUS_OK, run(&options, "hosts 40\ndays 2\nalways_on 1\nfetch sessions\n",
                                 DEAD LIVING, DEAD LIVING, &effort, NULL));
    assert_true(network.living >= 40);
    assert_int_equal(network.dead, network.living);
    assert_int_equal(effort.failures[CROWD_AWAY], network.dead);
    assert_int_equal(effort.rpcs, network.dead + network.living);
    assert_real(effort.away_seconds, 0, 0);
}

static void a_page_that_names_nobody_is_read_again(void **state)
{
    (void)state;
    struct command_line options = on_pages(LINES);
    struct failure failure = {.status = STATUS_OK};
    struct crowd_effort effort;

    assert_status(STATUS_INVALID, run(&options, "hosts 5\ndays 1\nalways_on 1\n", LIVING, "moved",
                                      &effort, &failure));
    assert_true(
        text_ends(text_from(failure.text), TEXT("was served: no scheduler on the master page")));
    assert_in_range(network.pages, 5 * 9, 5 * 30);
    assert_int_equal(effort.failures[CROWD_NO_SCHEDULER], network.pages);
    assert_int_equal(effort.masters, network.pages);
    assert_int_equal(effort.rpcs, 0);
}

static void a_project_of_dead_schedulers_is_no_figure(void **state)
{
    (void)state;
    struct command_line options = on_pages(LINES);
    struct failure failure = {.status = STATUS_OK};
    struct crowd_effort effort;

    assert_status(STATUS_INVALID,
                  run(&options, "hosts 5\ndays 1\nalways_on 1\n", DEAD, DEAD, &effort, &failure));
    assert_true(text_ends(text_from(failure.text), TEXT("was served: no server there")));
    assert_true(network.dead > 5 * 9);
}

static void in_an_outage_there_is_no_page(void **state)
{
    (void)state;
    struct command_line options = on_pages(1);
    struct crowd_effort effort;

    assert_status(STATUS_OK,
                  run(&options,
                      "hosts 5\ndays 1\nalways_on 1\noutage_begin_days 0\noutage_hours 6\n", LIVING,
                      LIVING, &effort, NULL));
    assert_int_equal(network.pages, 5);
    assert_true(effort.masters > 5 * 4);
    assert_true(network.living >= 5);
}

static void a_page_without_schedulers_begins_no_run(void **state)
{
    (void)state;
    struct command_line options = on_pages(1);
    struct scenario scenario = scenario_of("hosts 2\n");
    struct failure failure = {.status = STATUS_OK};
    struct crowd *crowd = NULL;

    network = (struct http_lines){.page = "<html></html>"};
    assert_status(STATUS_INVALID, crowd_create(&options, &scenario, &crowd, &failure));
    assert_string_equal(failure.text, "master: this page names no scheduler");
    options.urls[0] = "xyz";
    failure = (struct failure){.status = STATUS_OK};
    assert_status(STATUS_IO, crowd_create(&options, &scenario, &crowd, &failure));
    assert_string_equal(failure.text, "xyz: the master page cannot be read");
    assert_null(crowd);
}

/* Every page names others: those beyond the bound are nobody. */
static void a_run_knows_so_many_schedulers(void **state)
{
    (void)state;
    struct crowd *crowd = calloc(1, sizeof(*crowd));
    struct master_page page = {.count = MASTER_SCHEDULERS_MAX};
    uint8_t numbers[MASTER_SCHEDULERS_MAX];
    size_t named = 0;

    assert_non_null(crowd);
    crowd->arena = arena_create(1 << 20);
    assert_non_null(crowd->arena);
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < page.count; i++)
            snprintf(page.schedulers[i], sizeof(page.schedulers[i]), "http://%d/%zu", round, i);
        named += crowd_number_schedulers(crowd, 3, &page, numbers);
    }
    assert_int_equal(named, CROWD_SCHEDULERS_MAX);
    assert_int_equal(crowd_number_schedulers(crowd, 3, &page, numbers), 0);
    snprintf(page.schedulers[7], sizeof(page.schedulers[7]), "http://1/2");
    assert_int_equal(crowd_number_schedulers(crowd, 3, &page, numbers), 1);
    assert_int_equal(numbers[0], MASTER_SCHEDULERS_MAX + 2);
    arena_destroy(crowd->arena);
    free(crowd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_host_reads_the_page_and_asks_whom_it_names),
        cmocka_unit_test(who_is_not_there_is_passed_over),
        cmocka_unit_test(a_page_that_names_nobody_is_read_again),
        cmocka_unit_test(a_project_of_dead_schedulers_is_no_figure),
        cmocka_unit_test(in_an_outage_there_is_no_page),
        cmocka_unit_test(a_page_without_schedulers_begins_no_run),
        cmocka_unit_test(a_run_knows_so_many_schedulers),
    };
    int failed;

    xml_startup();
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    xml_shutdown();
    return failed;
}
