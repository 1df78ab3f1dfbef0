/* SPDX-License-Identifier: Apache-2.0 */
/* The daily quota over days: what hosts get that fail, that succeed, and that do both at random, as
 * limits_first_quota, report_quota_after and limits_daily work together (policy(7) 3.3). */
#include "config/config.h"
#include "db/states.h"
#include "server/base/random.h"
#include "server/policy/limits/limits.h"
#include "server/policy/result/report_verdict.h"
#include "tests/support/test.h"

enum { QUOTA = 500, UNTRIED = 9, CPUS = 4, GAMES = 20000, EVENTS = 40 };

static const struct config new_project = {.daily_result_quota = QUOTA, .untried_quota = UNTRIED};

/* A host with one version. */
struct player {
    int64_t stored, today;
};

static int64_t takes(struct player *player, int64_t most)
{
    int64_t left = limits_daily(player->stored, QUOTA, CPUS) - player->today;
    int64_t taken = left < most ? left : most;

    taken = taken > 0 ? taken : 0;
    player->today += taken;
    return taken;
}

static void reports(struct player *player, int64_t count, int64_t outcome)
{
    for (int64_t i = 0; i < count; i++)
        player->stored = report_quota_after(player->stored, QUOTA, outcome, 1);
}

static struct player new_player(void)
{
    return (struct player){.stored = limits_first_quota(&new_project, 0)};
}

/* However many it asks for at a time. */
static void a_host_that_fails_gets_few(void **state)
{
    (void)state;
    for (int64_t at_once = 1; at_once <= 200; at_once++) {
        struct player player = new_player();
        int64_t taken;

        while ((taken = takes(&player, at_once)) > 0)
            reports(&player, taken, OUTCOME_CLIENT_ERROR);
        assert_true(player.today <= UNTRIED * CPUS);
        for (int day = 2; day < 5; day++) {
            player.today = 0;
            while ((taken = takes(&player, at_once)) > 0)
                reports(&player, taken, OUTCOME_CLIENT_ERROR);
            assert_true(player.today <= CPUS);
        }
    }
}

/* Four jobs each ten minutes, and a queue of half a day: it is never without a job. */
static void a_host_that_succeeds_is_not_held_back(void **state)
{
    struct player player = new_player();
    int64_t queue = 0;

    (void)state;
    for (int minute = 0; minute < 7 * 1440; minute += 10) {
        if (minute % 1440 == 0)
            player.today = 0;
        if (minute > 0) {
            assert_true(queue >= CPUS);
            queue -= CPUS;
            reports(&player, CPUS, OUTCOME_SUCCESS);
        }
        queue += takes(&player, 288 - queue);
        assert_true(queue == (minute == 0 ? UNTRIED * CPUS : 288));
    }
}

/* The slow and obvious way: all that was ever reported is gone through again. */
static int64_t quota_of(const bool *succeeded, size_t count, int64_t quota, int64_t untried)
{
    int64_t stored = untried > 0 && untried < quota ? untried : quota;

    for (size_t i = 0; i < count; i++) {
        stored += succeeded[i] ? stored : -1;
        stored = stored > quota ? quota : stored;
        stored = stored < 1 ? 1 : stored;
    }
    return stored;
}

static void random_outcomes_come_to_what_all_of_them_say(void **state)
{
    struct random random = {.state = 32};

    (void)state;
    for (int game = 0; game < GAMES; game++) {
        struct config config = {.daily_result_quota = 1 + (int64_t)(random_next(&random) % 40),
                                .untried_quota = (int64_t)(random_next(&random) % 20)};
        double luck = random_unit(&random);
        bool succeeded[EVENTS];
        int64_t stored = limits_first_quota(&config, 0);

        for (size_t i = 0; i < EVENTS; i++) {
            int64_t wanted;

            succeeded[i] = random_unit(&random) < luck;
            stored = report_quota_after(stored, config.daily_result_quota,
                                        succeeded[i] ? OUTCOME_SUCCESS : OUTCOME_CLIENT_ERROR, 1);
            wanted = quota_of(succeeded, i + 1, config.daily_result_quota, config.untried_quota);
            assert_i64(stored, wanted);
        }
    }
}

static void another_version_begins_with_no_more_than_the_best(void **state)
{
    static const struct {
        int64_t quota, untried, best, wanted;
    } cases[] = {
        {500, 12, 0, 12}, {500, 12, 500, 12}, {500, 12, 7, 7}, {500, 12, 1, 1}, {5, 12, 0, 5},
        {500, 0, 0, 500}, {500, 0, 1, 500},   {0, 12, 0, 0},   {0, 0, 0, 0},    {500, 12, 12, 12},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct config config = {.daily_result_quota = cases[i].quota,
                                .untried_quota = cases[i].untried};

        assert_i64(limits_first_quota(&config, cases[i].best), cases[i].wanted);
    }
}

static void what_begins_low_is_unproven_until_a_success(void **state)
{
    const struct config small = {.daily_result_quota = 5, .untried_quota = 12};
    const struct config as_boinc = {.daily_result_quota = 500};

    (void)state;
    assert_true(limits_is_unproven(&new_project, 1));
    assert_true(limits_is_unproven(&new_project, 9));
    assert_false(limits_is_unproven(&new_project, 10)); /* 0 stands for 500 */
    assert_false(limits_is_unproven(&new_project, 0));
    assert_false(limits_is_unproven(&small, 5));
    assert_true(limits_is_unproven(&small, 4));
    assert_false(limits_is_unproven(&as_boinc, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_that_fails_gets_few),
        cmocka_unit_test(a_host_that_succeeds_is_not_held_back),
        cmocka_unit_test(random_outcomes_come_to_what_all_of_them_say),
        cmocka_unit_test(another_version_begins_with_no_more_than_the_best),
        cmocka_unit_test(what_begins_low_is_unproven_until_a_success),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
