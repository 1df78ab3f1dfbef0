/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a request against its rules, over all that can be true of a request. */
#include "server/rpc/request_plan.h"

#include "tests/support/test.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { CONDITIONS = sizeof(struct plan_conditions) / sizeof(bool) };

/* A decision holds where any of its rows does; a row where all that it needs is true, and nothing
 * that it excludes. */
struct rule {
    const char *name;
    size_t decision;
    uint32_t needs, excludes;
};
#define CONDITION(name) (1u << offsetof(struct plan_conditions, name))
#define DECISION(name)  #name, offsetof(struct request_plan, name)
#define WANTED          CONDITION(asks_for_work)
#define BARRED          (CONDITION(is_forbidden) | CONDITION(is_refused) | CONDITION(declines_work))
#define LISTS_ALL       (CONDITION(asks_for_work) | CONDITION(has_job_list))
#define QUEUE_OF_ROWS   (CONDITION(simulates_deadlines) | CONDITION(queue_lacks_own_jobs))
#define CANNOT_RESEND   (CONDITION(has_unread_reports) | CONDITION(is_new) | CONDITION(is_forbidden))

static const struct rule rules[] = {
    {DECISION(wants_work), WANTED, BARRED},
    {DECISION(serves_always_on), CONDITION(has_always_on_apps), BARRED},
    {DECISION(serves_assigned), CONDITION(assigns_broadcast), BARRED},
    {DECISION(serves_assigned), CONDITION(assigns_targeted) | WANTED, BARRED},
    {DECISION(serves_any), WANTED, BARRED},
    {DECISION(serves_any), CONDITION(has_always_on_apps), BARRED},
    {DECISION(serves_any), CONDITION(assigns_broadcast), BARRED},
    {DECISION(queue_needs_rows), CONDITION(simulates_deadlines) | CONDITION(queue_lacks_own_jobs),
     0},
    {DECISION(counts_rows), CONDITION(limits_in_progress), 0},

    {DECISION(will_resend), LISTS_ALL | CONDITION(resends_lost),
     CANNOT_RESEND | CONDITION(is_refused)},
    {DECISION(will_resend), LISTS_ALL | CONDITION(resends_lost) | CONDITION(is_too_recent),
     CANNOT_RESEND},
    {DECISION(resends_if_booked), LISTS_ALL,
     CANNOT_RESEND | CONDITION(is_refused) | CONDITION(resends_lost)},
    {DECISION(resends_if_booked), LISTS_ALL | CONDITION(is_too_recent),
     CANNOT_RESEND | CONDITION(resends_lost)},
    {DECISION(aborts), CONDITION(aborts_unneeded) | CONDITION(lists_jobs), 0},

    {DECISION(needs_workunits), CONDITION(aborts_unneeded) | CONDITION(lists_jobs),
     CONDITION(is_new)},
    {DECISION(needs_workunits), WANTED | QUEUE_OF_ROWS, BARRED | CONDITION(is_new)},

    {DECISION(reads_in_progress), CONDITION(aborts_unneeded) | CONDITION(lists_jobs),
     CONDITION(is_new)},
    {DECISION(reads_in_progress), WANTED | QUEUE_OF_ROWS, BARRED | CONDITION(is_new)},
    {DECISION(reads_in_progress), LISTS_ALL | CONDITION(resends_lost),
     CANNOT_RESEND | CONDITION(is_refused)},
    {DECISION(reads_in_progress), LISTS_ALL | CONDITION(resends_lost) | CONDITION(is_too_recent),
     CANNOT_RESEND},
    {DECISION(reads_in_progress), CONDITION(has_always_on_apps), BARRED | CONDITION(is_new)},
    {DECISION(reads_in_progress), CONDITION(limits_in_progress) | WANTED,
     BARRED | CONDITION(is_new)},
    {DECISION(reads_in_progress), CONDITION(limits_in_progress) | CONDITION(assigns_broadcast),
     BARRED | CONDITION(is_new)},

    {DECISION(reads_versions), CONDITION(counts_again), CONDITION(is_new)},
    {DECISION(reads_versions), WANTED, BARRED | CONDITION(is_new)},
    {DECISION(reads_versions), CONDITION(has_always_on_apps), BARRED | CONDITION(is_new)},
    {DECISION(reads_versions), CONDITION(assigns_broadcast), BARRED | CONDITION(is_new)},
    {DECISION(reads_versions), LISTS_ALL | CONDITION(resends_lost),
     CANNOT_RESEND | CONDITION(is_refused)},
    {DECISION(reads_versions), LISTS_ALL | CONDITION(resends_lost) | CONDITION(is_too_recent),
     CANNOT_RESEND},
};
enum { RULES = sizeof(rules) / sizeof(rules[0]), DECISIONS = sizeof(struct request_plan) };

static struct plan_conditions conditions_of(uint32_t bits)
{
    struct plan_conditions conditions;
    bool each[CONDITIONS];

    for (size_t i = 0; i < CONDITIONS; i++)
        each[i] = (bits >> i & 1) != 0;
    memcpy(&conditions, each, sizeof(conditions));
    return conditions;
}

static void every_decision_follows_its_rules(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 1u << CONDITIONS; bits++) {
        const struct plan_conditions conditions = conditions_of(bits);
        const struct request_plan plan = plan_of(&conditions);
        bool found[DECISIONS], expected[DECISIONS] = {false};

        memcpy(found, &plan, sizeof(plan));
        for (size_t i = 0; i < RULES; i++)
            expected[rules[i].decision] =
                expected[rules[i].decision] ||
                ((bits & rules[i].needs) == rules[i].needs && (bits & rules[i].excludes) == 0);
        for (size_t i = 0; i < RULES; i++)
            if (found[rules[i].decision] != expected[rules[i].decision])
                fail_msg("conditions %05x: %s is %d", bits, rules[i].name,
                         found[rules[i].decision]);
    }
}

static void every_decision_has_a_rule(void **state)
{
    bool has_rule[DECISIONS] = {false};

    (void)state;
    for (size_t i = 0; i < RULES; i++)
        has_rule[rules[i].decision] = true;
    for (size_t i = 0; i < DECISIONS; i++)
        assert_true(has_rule[i]);
}

/* Each work request looks for lost jobs, and few find one: what only they need is not read for all
 * jobs in progress. Where the queue is simulated from the same rows, one query brings both. */
static void looking_for_lost_jobs_reads_no_workunits(void **state)
{
    const struct plan_conditions unlisted = {.asks_for_work = true,
                                             .has_job_list = true,
                                             .queue_lacks_own_jobs = true,
                                             .resends_lost = true};
    struct plan_conditions too_recent = unlisted, simulated = unlisted;
    struct request_plan plan = plan_of(&unlisted); /* workload_sim 0, or ignore_delay_bound */

    (void)state;
    assert_true(plan.will_resend && plan.reads_in_progress && !plan.needs_workunits);

    too_recent.simulates_deadlines = true;
    too_recent.is_refused = too_recent.is_too_recent = true;
    plan = plan_of(&too_recent);
    assert_true(plan.will_resend && plan.reads_in_progress && !plan.needs_workunits);

    simulated.simulates_deadlines = true;
    plan = plan_of(&simulated);
    assert_true(plan.will_resend && plan.reads_in_progress && plan.needs_workunits);
}

/* What one step reads for itself is what another was told would be read. */
static void nothing_is_read_that_was_not_planned(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 1u << CONDITIONS; bits++) {
        const struct plan_conditions conditions = conditions_of(bits);
        const struct request_plan plan = plan_of(&conditions);

        assert_true(!plan.needs_workunits || plan.reads_in_progress);
        assert_true(!plan.will_resend || plan.reads_in_progress);
        assert_false(plan.will_resend && plan.resends_if_booked);
        assert_false(conditions.is_new && plan.reads_in_progress);
        assert_true(plan.serves_any ==
                    (plan.wants_work || plan.serves_always_on || plan.serves_assigned));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_decision_follows_its_rules),
        cmocka_unit_test(every_decision_has_a_rule),
        cmocka_unit_test(looking_for_lost_jobs_reads_no_workunits),
        cmocka_unit_test(nothing_is_read_that_was_not_planned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
