/* SPDX-License-Identifier: Apache-2.0 */
/* How many workers work at a time, and how busy the machine is found to be. */
#include "server/process/busy_meter.h"
#include "server/process/concurrency.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STEPS = 6 };

static void the_limit_falls_on_a_busy_machine_and_rises_on_an_idle_one(void **state)
{
    static const struct {
        size_t workers, processors;
        double parts[STEPS];
        size_t limits[STEPS];
    } rows[] = {
        {8, 2, {1, 1, 1, 1, 1, 1}, {6, 4, 3, 2, 2, 2}},
        {8, 2, {1, 1, 1, 0.59, 0.59, 0.5}, {6, 4, 3, 6, 8, 8}},
        {8, 2, {0.75, 0.74, 0.6, 0.75, 0.599, 0}, {6, 6, 6, 4, 8, 8}},
        {8, 2, {NAN, 1, NAN, 1, NAN, 0}, {8, 6, 6, 4, 4, 8}},
        {64, 16, {1, 1, 1, 1, 1, 1}, {48, 36, 27, 20, 16, 16}},
        {4, 2, {1, 1, 0, 1, 1, 1}, {3, 2, 4, 3, 2, 2}},
        {2, 2, {1, 1, 0, 1, 1, 1}, {2, 2, 2, 2, 2, 2}},
        {2, 3, {1, 1, 0, 1, 1, 1}, {2, 2, 2, 2, 2, 2}},
        {1, 1, {1, 1, 0, 1, 1, 1}, {1, 1, 1, 1, 1, 1}},
        {8, (size_t)-1, {1, 1, 0, 1, 1, 1}, {8, 8, 8, 8, 8, 8}}, /* the system did not say */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct concurrency concurrency = concurrency_of(rows[i].workers, rows[i].processors);

        assert_int_equal(concurrency.limit, rows[i].workers);
        for (size_t step = 0; step < STEPS; step++) {
            concurrency_note_busy(&concurrency, rows[i].parts[step]);
            assert_int_equal(concurrency.limit, rows[i].limits[step]);
        }
    }
}

static void servers_of_one_database_share_the_machine(void **state)
{
    static const struct {
        size_t servers, limit;
    } rows[] = {{0, 4}, {1, 4}, {2, 2}, {3, 1}, {4, 1}, {5, 1}, {100, 1}};
    struct concurrency concurrency = concurrency_of(8, 4);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        concurrency_set_servers(&concurrency, rows[i].servers);
        concurrency_note_busy(&concurrency, 0);
        concurrency_note_busy(&concurrency, 0);
        concurrency_note_busy(&concurrency, 0);
        assert_int_equal(concurrency.limit, 8);
        for (size_t step = 0; step < STEPS; step++)
            concurrency_note_busy(&concurrency, 1);
        assert_int_equal(concurrency.limit, rows[i].limit);
    }
}

static void who_works_but_does_not_get_on_holds_nobody_up(void **state)
{
    struct concurrency concurrency = concurrency_of(8, 2);
    const uint64_t taken_ns = UINT64_C(1000000000000);

    (void)state;
    for (size_t i = 0; i < STEPS; i++)
        concurrency_note_busy(&concurrency, 1);
    assert_true(concurrency_permits(&concurrency, 0));
    assert_true(concurrency_permits(&concurrency, 1));
    assert_false(concurrency_permits(&concurrency, 2));
    assert_false(concurrency_permits(&concurrency, 7));
    assert_true(concurrency_gets_on(taken_ns, taken_ns));
    assert_true(concurrency_gets_on(taken_ns, taken_ns + CONCURRENCY_STUCK_NS - 1));
    assert_false(concurrency_gets_on(taken_ns, taken_ns + CONCURRENCY_STUCK_NS));
}

static void the_times_of_all_processors_are_read(void **state)
{
    static const struct {
        const char *content;
        bool is_read;
        double busy, all;
    } rows[] = {
        {"cpu  10 20 30 400 50 6 7 8 3 2\ncpu0 1 2 3 4 5 6 7 8 9 10\n", true, 61, 531},
        {"cpu  1 0 0 0 0 0 0 0", true, 1, 1}, /* an old kernel, and no end of line */
        {"cpu  0 0 0 0 0 0 0 0\n", true, 0, 0},
        {"cpu0 1 2 3 4 5 6 7 8\n", false, 0, 0},
        {"cpu  1 2 3 4 5 6 7\n", false, 0, 0},
        {"cpu  1 2 3 4 5 6 7 x\n", false, 0, 0},
        {"intr 1 2 3 4 5 6 7 8\n", false, 0, 0},
        {"", false, 0, 0},
    };
    double busy, all;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(busy_meter_parse(text_from(rows[i].content), &busy, &all),
                         rows[i].is_read);
        if (rows[i].is_read) {
            assert_real(busy, rows[i].busy, 0);
            assert_real(all, rows[i].all, 0);
        }
    }
}

static void write_times(const char *path, const char *times)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fprintf(file, "cpu  %s\n", times) > 0);
    assert_int_equal(fclose(file), 0);
}

static void what_counts_is_the_time_since_the_last_look(void **state)
{
    char path[] = "/tmp/qm-busy.XXXXXX";
    struct busy_meter meter;

    (void)state;
    close(mkstemp(path));
    write_times(path, "100 0 0 100 0 0 0 0");
    meter = busy_meter_open(path);
    assert_true(isnan(busy_meter_read(&meter)));
    write_times(path, "130 5 0 165 0 0 0 0");
    assert_real(busy_meter_read(&meter), 0.3, 1e-9);
    assert_true(isnan(busy_meter_read(&meter))); /* no time has passed */
    write_times(path, "130 5 10 165 0 0 0 0");
    assert_real(busy_meter_read(&meter), 1, 1e-9);
    write_times(path, "something else");
    assert_true(isnan(busy_meter_read(&meter)));
    busy_meter_close(&meter);
    assert_true(isnan(busy_meter_read(&meter)));
    unlink(path);
    meter = busy_meter_open(path);
    assert_true(isnan(busy_meter_read(&meter)));
    busy_meter_close(&meter);
}

static void this_machine_tells(void **state)
{
    struct busy_meter meter = busy_meter_open("/proc/stat");
    double part = busy_meter_read(&meter);

    (void)state;
    while (isnan(part))
        part = busy_meter_read(&meter);
    assert_true(part >= 0 && part <= 1);
    busy_meter_close(&meter);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(the_limit_falls_on_a_busy_machine_and_rises_on_an_idle_one),
        cmocka_unit_test(servers_of_one_database_share_the_machine),
        cmocka_unit_test(who_works_but_does_not_get_on_holds_nobody_up),
        cmocka_unit_test(the_times_of_all_processors_are_read),
        cmocka_unit_test(what_counts_is_the_time_since_the_last_look),
        cmocka_unit_test(this_machine_tells),
    };

    return cmocka_run_group_tests(cases, NULL, NULL);
}
