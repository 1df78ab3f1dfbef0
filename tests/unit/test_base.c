/* SPDX-License-Identifier: Apache-2.0 */
/* The small rooms of server/base: status, budget, counters, random, sorted, file, log. */
#include "server/base/arena.h"
#include "server/base/budget.h"
#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/base/counters.h"
#include "server/base/file.h"
#include "server/base/log.h"
#include "server/base/random.h"
#include "server/base/sorted.h"
#include "tests/support/test.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { PLENTY = 16 * 1024 * 1024 };

struct world {
    struct arena *arena;
    char folder[64];
    struct text path; /* of a file in it that does not exist */
};

static int make_world(void **state)
{
    static struct world world;
    world = (struct world){.arena = arena_create(PLENTY), .folder = "/tmp/qm-base-XXXXXX"};
    if (world.arena == NULL || mkdtemp(world.folder) == NULL)
        return -1;
    world.path = text_print(world.arena, "%s/file", world.folder);
    *state = &world;
    return 0;
}

static int remove_world(void **state)
{
    struct world *world = *state;
    (void)unlink(world->path.at);
    int failed = rmdir(world->folder); /* fails when something was left beside the file */
    arena_destroy(world->arena);
    return failed;
}

static void first_failure_is_kept(void **state)
{
    (void)state;
    struct failure failure = {0};
    /* in parentheses: cmocka has a macro of this name */
    assert_int_equal((fail)(&failure, STATUS_IO, "line %d\nbreaks", 3), STATUS_IO);
    assert_int_equal((fail)(&failure, STATUS_INVALID, "second"), STATUS_INVALID);
    assert_int_equal(failure.status, STATUS_IO);
    assert_string_equal(failure.text, "line 3 breaks");
    assert_int_equal((fail)(NULL, STATUS_INVALID, "nobody listens"), STATUS_INVALID);
    assert_string_equal(status_word(STATUS_DB_UNKNOWN), "outcome unknown");
    for (int i = 0; i < STATUS_COUNT; i++)
        assert_true(status_word((enum status)i)[0] != '\0');
    assert_string_equal(status_word(STATUS_COUNT), "unknown status");
}

static void our_own_mistake_aborts(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) == NULL)
            _exit(1);
        (void)signal(SIGABRT, SIG_DFL);
        must(1 + 1 == 3);
        _exit(0);
    }
    int how = 0;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGABRT);
}

static void counter_table_is_sorted_and_described(void **state)
{
    (void)state;
    for (int i = 0; i < COUNTER_COUNT; i++) {
        enum counter counter = (enum counter)i;
        assert_true(strlen(counter_name(counter)) > 0);
        assert_true(strlen(counter_help(counter)) > 0);
        for (const char *at = counter_name(counter); *at != '\0'; at++)
            assert_true((*at >= 'a' && *at <= 'z') || *at == '_');
        if (i > 0 && strcmp(counter_name((enum counter)(i - 1)), counter_name(counter)) >= 0)
            fail_msg("counters.def: %s is not in its place", counter_name(counter));
    }
}

static void *count_to_ten_thousand(void *unused)
{
    (void)unused;
    for (int i = 0; i < 10000; i++)
        counter_add(COUNTER_requests, 1);
    return NULL;
}

static void counters_lose_nothing_between_threads(void **state)
{
    (void)state;
    pthread_t threads[4];
    uint64_t before = counter_value(COUNTER_requests);
    uint64_t other = counter_value(COUNTER_jobs_sent);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_to_ten_thousand, NULL), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(counter_value(COUNTER_requests) - before, 40000);
    assert_int_equal(counter_value(COUNTER_jobs_sent), other);
}

static void random_sequence_is_known_from_its_seed(void **state)
{
    (void)state;
    /* the published test values of SplitMix64 for this seed */
    struct random random = {.state = 1234567};
    assert_true(random_next(&random) == UINT64_C(6457827717110365317));
    assert_true(random_next(&random) == UINT64_C(3203168211198807973));
    struct random a = {.state = 5}, b = {.state = 5};
    for (int i = 0; i < 100; i++)
        assert_true(random_next(&a) == random_next(&b));
}

static void random_numbers_have_their_shape(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    struct random random = {.state = 42};
    double sum = 0, squares = 0, units = 0;
    for (int i = 0; i < COUNT; i++) {
        double unit = random_unit(&random), normal = random_normal(&random);
        assert_true(unit >= 0 && unit < 1);
        units += unit;
        sum += normal;
        squares += normal * normal;
    }
    assert_real(units / COUNT, 0.5, 0.01);
    assert_real(sum / COUNT, 0, 0.02);
    assert_real(squares / COUNT, 1, 0.03);
    assert_true(random_mix(1, 2) != random_mix(2, 1));
    assert_true(random_mix(1, 2) == random_mix(1, 2));
    assert_true(random_mix(0, 0) != random_mix(0, 1));
    assert_true(random_u64() != random_u64());
}

static void hashes_as_fnv_1a_does(void **state)
{
    (void)state;
    assert_true(text_hash(NO_TEXT) == UINT64_C(14695981039346656037));
    assert_true(text_hash(TEXT("a")) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(text_hash(TEXT("foobar")) == UINT64_C(0x85944171f73967e8));
}

static void pauses_double_until_the_longest(void **state)
{
    static const double expected[] = {1, 1, 2, 4, 8, 16, 16, 16};

    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_real(backoff_pause(1, 10, (int64_t)i), expected[i], 0);
    assert_real(backoff_pause(1, 10, INT64_MAX), 16, 0);
}

static void file_comes_back_as_written(void **state)
{
    struct world *world = *state;
    const char *path = world->path.at;
    struct failure failure = {0};
    struct text text = NO_TEXT;
    struct stat info;
    assert_status(STATUS_NOT_FOUND, file_read(world->arena, path, 100, &text, NULL));
    assert_status(STATUS_OK, file_write(path, TEXT("old"), 0644, &failure));
    assert_status(STATUS_OK, file_write(path, TEXT("one\0two"), 0600, &failure));
    assert_status(STATUS_OK, file_read(world->arena, path, 7, &text, &failure));
    assert_int_equal(text.length, 7);
    assert_memory_equal(text.at, "one\0two", 7);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_status(STATUS_TOO_LARGE, file_read(world->arena, path, 6, &text, NULL));
    assert_status(STATUS_INVALID, file_read(world->arena, world->folder, 100, &text, NULL));
    assert_status(STATUS_OK, file_write(path, NO_TEXT, 0600, &failure));
    assert_status(STATUS_OK, file_read(world->arena, path, 6, &text, &failure));
    assert_int_equal(text.length, 0);
}

/* So that nobody who reads a file has to think of it. */
static void a_byte_order_mark_is_no_part_of_a_file(void **state)
{
    struct world *world = *state;
    struct text text = NO_TEXT;

    assert_status(STATUS_OK,
                  file_write(world->path.at, TEXT("\xef\xbb\xbf<a/>\xef\xbb\xbf"), 0600, NULL));
    assert_status(STATUS_OK, file_read(world->arena, world->path.at, 100, &text, NULL));
    assert_text(text, "<a/>\xef\xbb\xbf");
}

static void failed_write_leaves_the_old_file_and_nothing_else(void **state)
{
    struct world *world = *state;
    struct text inside = text_print(world->arena, "%s/folder/file", world->folder);
    struct text folder = text_print(world->arena, "%s/folder", world->folder);
    assert_status(STATUS_NOT_FOUND, file_write(inside.at, TEXT("x"), 0644, NULL));
    assert_int_equal(mkdir(folder.at, 0700), 0);
    assert_status(STATUS_IO, file_write(folder.at, TEXT("x"), 0644, NULL));
    assert_int_equal(rmdir(folder.at), 0); /* the teardown sees whether anything was left */
}

static struct text logged(struct world *world)
{
    struct text text = NO_TEXT;
    assert_status(STATUS_OK, file_read(world->arena, world->path.at, PLENTY, &text, NULL));
    return text;
}

static void lines_are_logfmt_with_time_and_level(void **state)
{
    struct world *world = *state;
    struct failure failure = {0};
    assert_status(STATUS_OK, log_open(world->path.at, false, &failure));
    log_set_level(LOG_LEVEL_NORMAL);
    log_line(LOG_LEVEL_NORMAL, "event=%s", "one\ntwo");
    log_line(LOG_LEVEL_DEBUG, "event=unwanted");
    assert_false(log_wants(LOG_LEVEL_DEBUG));
    struct text rest = logged(world);
    struct text line = text_split(&rest, '\n');
    assert_int_equal(rest.length, 0);
    /* time=2026-01-02T03:04:05.678Z */
    assert_true(text_starts(line, TEXT("time=20")));
    assert_int_equal(line.at[15], 'T');
    assert_int_equal(line.at[24], '.');
    assert_int_equal(line.at[28], 'Z');
    struct text words = {.at = line.at + 29, .length = line.length - 29};
    assert_text(words, " level=normal event=one two");

    /* A file gets no priorities, whoever reads standard error. */
    assert_status(STATUS_OK, log_open(world->path.at, true, &failure));
    log_line_with(LOG_LEVEL_WARNING, "error", TEXT("Duplicate \"x\" level=critical"), "event=%s",
                  "two");
    rest = logged(world);
    (void)text_split(&rest, '\n');
    assert_true(text_starts(rest, TEXT("time=20")));
    assert_true(
        text_contains(rest, TEXT("event=two error=\"Duplicate \\\"x\\\" level=critical\"\n")));
    log_line_with(LOG_LEVEL_WARNING, "error", TEXT("a\r\n\tb\\ \x01\xe4"), "event=three");
    assert_true(text_contains(logged(world), TEXT("error=\"a\\r\\n\\tb\\\\ \\x01\\xe4\"\n")));
    assert_status(STATUS_OK, log_open(NULL, false, &failure));
}

/* Where the new file cannot be made, the old one goes on being written. */
static void a_log_that_cannot_be_made_is_told(void **state)
{
    struct world *world = *state;
    struct text inside = text_print(world->arena, "%s/folder/log", world->folder);
    struct text old = text_print(world->arena, "%s/old", world->folder);
    struct failure failure = {0};
    char *much = arena_alloc(world->arena, 8192);
    memset(much, 'x', 8191);
    assert_status(STATUS_INVALID, log_open(much, false, &failure));
    assert_string_equal(failure.text, "log path too long");
    failure = (struct failure){0};
    assert_status(STATUS_IO, log_open(inside.at, false, &failure));
    assert_non_null(strstr(failure.text, "/folder/log: "));
    assert_status(STATUS_OK, log_open(world->path.at, false, NULL));
    assert_int_equal(rename(world->path.at, old.at), 0);
    assert_int_equal(mkdir(world->path.at, 0700), 0);
    assert_status(STATUS_IO, log_reopen());
    log_line(LOG_LEVEL_NORMAL, "event=after");
    assert_int_equal(rmdir(world->path.at), 0);
    assert_int_equal(rename(old.at, world->path.at), 0);
    assert_true(text_contains(logged(world), TEXT("event=after")));
    assert_status(STATUS_OK, log_open(NULL, false, NULL));
}

static void the_journal_gets_priorities(void **state)
{
    struct world *world = *state;
    int kept = dup(STDERR_FILENO);
    int file = open(world->path.at, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    assert_true(kept >= 0 && file >= 0);
    assert_int_equal(dup2(file, STDERR_FILENO), STDERR_FILENO);
    assert_status(STATUS_OK, log_open(NULL, true, NULL));
    log_line(LOG_LEVEL_WARNING, "event=one");
    assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
    close(kept);
    close(file);
    assert_true(text_starts(logged(world), TEXT("<4>time=20")));
    assert_status(STATUS_OK, log_open(NULL, false, NULL));
}

static void long_lines_are_cut(void **state)
{
    struct world *world = *state;
    assert_status(STATUS_OK, log_open(world->path.at, false, NULL));
    log_line(LOG_LEVEL_NORMAL, "%010000d", 7);
    assert_int_equal(logged(world).length, 4096);
    assert_int_equal(logged(world).at[4095], '\n');
    assert_status(STATUS_OK, log_open(NULL, false, NULL));
}

static void rotation_begins_a_new_file(void **state)
{
    struct world *world = *state;
    struct text old = text_print(world->arena, "%s/old", world->folder);
    assert_status(STATUS_OK, log_open(world->path.at, false, NULL));
    log_line(LOG_LEVEL_NORMAL, "event=before");
    assert_int_equal(rename(world->path.at, old.at), 0);
    log_line(LOG_LEVEL_NORMAL, "event=meanwhile");
    assert_status(STATUS_OK, log_reopen());
    log_line(LOG_LEVEL_NORMAL, "event=after");
    assert_true(text_contains(logged(world), TEXT("event=after")));
    assert_false(text_contains(logged(world), TEXT("event=meanwhile")));
    assert_status(STATUS_OK, log_open(NULL, false, NULL));
    assert_status(STATUS_OK, log_reopen());
    assert_int_equal(unlink(old.at), 0);
}

static void *log_many(void *name)
{
    for (int i = 0; i < 500; i++)
        log_line(LOG_LEVEL_NORMAL, "%s%0200d", (const char *)name, i);
    return NULL;
}

static void lines_of_threads_do_not_mix(void **state)
{
    struct world *world = *state;
    static char names[4][3] = {"a=", "b=", "c=", "d="};
    pthread_t threads[4];
    size_t lines = 0;
    assert_status(STATUS_OK, log_open(world->path.at, false, NULL));
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, log_many, names[i]), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    struct text rest = logged(world);
    while (rest.length > 0) {
        struct text line = text_split(&rest, '\n');
        assert_int_equal(line.length, 29 + strlen(" level=normal ") + 2 + 200);
        lines++;
    }
    assert_int_equal(lines, 2000);
    assert_status(STATUS_OK, log_open(NULL, false, NULL));
}

static void a_used_budget_stays_used(void **state)
{
    struct budget fresh = {0}, small = {.most = 10};

    (void)state;
    assert_false(budget_is_used_up(&fresh));
    assert_true(budget_spend(&fresh, BUDGET_MOST));
    assert_false(budget_spend(&fresh, 1));
    assert_true(budget_spend(&small, 10));
    assert_false(budget_is_used_up(&small));
    assert_false(budget_spend(&small, UINT64_MAX));
    assert_false(budget_spend_half(&small, 0));
    small.spent = 2;
    assert_false(budget_spend_half(&small, 5));
    assert_i64((int64_t)small.spent, 2);
    assert_true(budget_spend_half(&small, 4));
    assert_i64((int64_t)small.spent, 6);
    assert_false(budget_spend(&small, UINT64_MAX)); /* no turning over to a fresh one */
    assert_true(budget_is_used_up(&small));
    assert_true(small.spent == UINT64_MAX);
    assert_int_equal(budget_spend_on(&small, 1, 1), 0);
    small = (struct budget){.spent = 2, .most = 10};
    assert_int_equal(budget_spend_on(&small, 1, 2), 1); /* of four units that may be spent */
    assert_int_equal(budget_spend_on(&small, 9, 2), 1);
    assert_int_equal(budget_spend_on(&small, 9, 2), 1);
    assert_int_equal(budget_spend_on(&small, 9, 2), 0);
    assert_i64((int64_t)small.spent, 8);
}

static void sorting_costs_more_than_its_length(void **state)
{
    (void)state;
    assert_true(budget_of_sorting(0) == 0);
    assert_true(budget_of_sorting_names(100) > budget_of_sorting(100));
    assert_true(budget_of_searching_names(100, 0) == 0);
    assert_true(budget_of_searching_names(100, 100) == budget_of_sorting_names(100));
    for (size_t count = 1; count < 1000000; count *= 10)
        assert_true(budget_of_sorting(10 * count) > 10 * budget_of_sorting(count));
}

static void ids_are_sorted_once_each_and_found(void **state)
{
    struct random random = {.state = 7};
    int64_t ids[100], wanted[100], odd[] = {INT64_MAX, -1, INT64_MIN, -1};
    size_t count;

    (void)state;
    assert_int_equal(sorted_ids(NULL, 0), 0);
    assert_int_equal(sorted_find_id(NULL, 0, 1), 0);
    assert_int_equal(sorted_ids(odd, 4), 3);
    assert_i64(odd[0], INT64_MIN);
    assert_i64(odd[2], INT64_MAX);
    for (size_t i = 0; i < 100; i++)
        ids[i] = wanted[i] = (int64_t)(random_next(&random) % 60);
    count = sorted_ids(ids, 100);
    for (size_t i = 1; i < count; i++)
        assert_true(ids[i - 1] < ids[i]);
    for (int64_t id = -1; id <= 60; id++) {
        size_t at = sorted_find_id(ids, count, id);
        bool is_there = false;

        for (size_t i = 0; i < 100; i++)
            is_there = is_there || wanted[i] == id;
        assert_int_equal(at < count, is_there);
        if (is_there)
            assert_i64(ids[at], id);
    }
}

static void names_are_sorted_bytewise_and_found(void **state)
{
    struct text names[] = {TEXT("b"), TEXT("ab"), TEXT("B"), TEXT("a"), TEXT("b")};

    (void)state;
    sorted_names(NULL, 0);
    assert_false(sorted_has_name(NULL, 0, TEXT("a")));
    sorted_names(names, 5);
    for (size_t i = 1; i < 5; i++)
        assert_true(text_compare(names[i - 1], names[i]) <= 0);
    assert_true(sorted_has_name(names, 5, TEXT("B")));
    assert_true(sorted_has_name(names, 5, TEXT("b")));
    assert_false(sorted_has_name(names, 5, TEXT("A")));
    assert_false(sorted_has_name(names, 5, TEXT("")));
}

static void pairs_are_quoted_where_needed(void **state)
{
    struct world *world = *state;
    struct buffer buffer = buffer_in(world->arena);
    log_add_pair(&buffer, "host", TEXT("17"));
    log_add_pair(&buffer, "empty", NO_TEXT);
    log_add_pair(&buffer, "name", TEXT("a b"));
    log_add_pair(&buffer, "odd", TEXT("\"\\=\n\x1b\xc3"));
    assert_text(buffer_text(&buffer),
                "host=17 empty=\"\" name=\"a b\" odd=\"\\\"\\\\=\\n\\x1b\\xc3\"");
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, make_world, remove_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_failure_is_kept),
        cmocka_unit_test(our_own_mistake_aborts),
        cmocka_unit_test(counter_table_is_sorted_and_described),
        cmocka_unit_test(counters_lose_nothing_between_threads),
        cmocka_unit_test(random_sequence_is_known_from_its_seed),
        cmocka_unit_test(random_numbers_have_their_shape),
        cmocka_unit_test(a_used_budget_stays_used),
        cmocka_unit_test(sorting_costs_more_than_its_length),
        cmocka_unit_test(hashes_as_fnv_1a_does),
        cmocka_unit_test(pauses_double_until_the_longest),
        cmocka_unit_test(ids_are_sorted_once_each_and_found),
        cmocka_unit_test(names_are_sorted_bytewise_and_found),
        IN_WORLD(file_comes_back_as_written),
        IN_WORLD(a_byte_order_mark_is_no_part_of_a_file),
        IN_WORLD(failed_write_leaves_the_old_file_and_nothing_else),
        IN_WORLD(lines_are_logfmt_with_time_and_level),
        IN_WORLD(a_log_that_cannot_be_made_is_told),
        IN_WORLD(the_journal_gets_priorities),
        IN_WORLD(long_lines_are_cut),
        IN_WORLD(rotation_begins_a_new_file),
        IN_WORLD(lines_of_threads_do_not_mix),
        IN_WORLD(pairs_are_quoted_where_needed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
