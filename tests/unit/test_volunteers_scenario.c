/* SPDX-License-Identifier: Apache-2.0 */
/* Scenario files of the emulated crowd. */
#include "tests/support/test.h"
#include "tools/lab/volunteers/crowd/scenario.h"
#include "tools/lab/volunteers/host/habits.h"

#include "server/base/banned.h"

static void names_set_values_and_the_rest_is_as_measured(void **state)
{
    (void)state;
    struct scenario scenario;

    assert_status(STATUS_OK, scenario_read(TEXT("# a crowd\n\nhosts 24   # two dozen\n  days 3.5\n"
                                                "always_on 1\ncpus_max 2\nerror_rate 0.25"),
                                           &scenario, NULL));
    assert_real(scenario.hosts, 24, 0);
    assert_real(scenario.days, 3.5, 0);
    assert_true(scenario.population.always_on);
    assert_i64(scenario.population.cpus_max, 2);
    assert_real(scenario.population.error_rate, 0.25, 0);
    assert_real(scenario.population.on_shape, population_measured().on_shape, 0);
}

static void policies_are_words_and_shares_a_list(void **state)
{
    (void)state;
    struct scenario scenario;
    const struct population *population = &scenario.population;

    assert_status(STATUS_OK, scenario_read(TEXT("run robin\nfetch   demand # of 2006\n"
                                                "estimate corrected\nrequest scalar\n"
                                                "shares 3\t1  0.5\ngpu_ati 0.25\nleave_days 91\n"
                                                "attach_days 0 4\nlater_shares 1 9\n"
                                                "later_shares_days 7\nfile_scales 1 0.1\n"),
                                           &scenario, NULL));
    assert_string_equal(habit_word(&habit_tables[HABIT_RUN], population->habits.run), "robin");
    assert_string_equal(habit_word(&habit_tables[HABIT_FETCH], population->habits.fetch), "demand");
    assert_string_equal(habit_word(&habit_tables[HABIT_ESTIMATE], population->habits.estimate),
                        "corrected");
    assert_string_equal(habit_word(&habit_tables[HABIT_REQUEST], population->habits.request),
                        "scalar");
    assert_int_equal(population->share_count, 3);
    assert_real(population->shares[2], 0.5, 0);
    assert_int_equal(population->attach_count, 2);
    assert_real(population->attach_days[1], 4, 0);
    assert_int_equal(population->later_share_count, 2);
    assert_real(population->later_shares[1], 9, 0);
    assert_real(population->later_shares_days, 7, 0);
    assert_int_equal(population->file_scale_count, 2);
    assert_real(population->file_scales[1], 0.1, 0);
    assert_real(population->gpu_parts[1], 0.25, 0);
    assert_real(population->leave_days, 91, 0);
}

/* The first row of each table is what happens where nothing is said. */
static void every_word_of_a_table_is_found(void **state)
{
    (void)state;

    for (size_t t = 0; t < HABITS; t++)
        for (size_t i = 0; i < habit_tables[t].count; i++)
            assert_int_equal(
                habit_find(&habit_tables[t], text_from(habit_word(&habit_tables[t], i))), i);
}

static void mistakes_are_named_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *file, *wanted;
    } cases[] = {
        {"hosts 1\nhost 2\n", "line 2: there is no \"host\""},
        {"hosts many\n", "line 1: hosts is a whole number from 1 to 1e+06"},
        {"hosts 0\n", "line 1: hosts is a whole number from 1 to 1e+06"},
        {"hosts 1e9\n", "line 1: hosts is a whole number from 1 to 1e+06"},
        {"hosts 2.5\n", "line 1: hosts is a whole number from 1 to 1e+06"},
        {"days nan\n", "line 1: days is a number from 0 to 36500"},
        {"days 1 2\n", "line 1: days is a number from 0 to 36500"},
        {"buffer_min_days 2\n", "buffer_min_days (2) is above buffer_max_days (1.5)"},
        {"job_bytes_min 1e9\n", "job_bytes_min (1e+09) is above job_bytes_max (0)"},
        {"error_rate 2\n", "line 1: error_rate is a number from 0 to 1"},
        {"run fast\n", "line 1: run is one of deadline, debt, robin, recent"},
        {"shares 1 -1\n", "line 1: shares are up to 64 numbers from 0 to 1e+09"},
        {"\n\ndays\n", "line 3: days is a number from 0 to 36500"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scenario scenario;
        struct failure failure = {.status = STATUS_OK};

        assert_status(STATUS_INVALID, scenario_read(text_from(cases[i].file), &scenario, &failure));
        assert_string_equal(failure.text, cases[i].wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_set_values_and_the_rest_is_as_measured),
        cmocka_unit_test(policies_are_words_and_shares_a_list),
        cmocka_unit_test(every_word_of_a_table_is_found),
        cmocka_unit_test(mistakes_are_named_with_their_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
