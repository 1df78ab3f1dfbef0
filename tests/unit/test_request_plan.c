/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a request against its rules, over all that can be true of a request. */
#include "server/rpc/request_plan.h"

#include "tests/support/test.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { FACTS = sizeof(struct plan_facts) / sizeof(bool) };

/* A decision holds where any of its rows does; a row where all that it needs is true, and nothing
 * that it excludes. */
struct rule {
    const char *name;
    size_t decision;
    uint32_t needs, excludes;
};
#define FACT(name)     (1u << offsetof(struct plan_facts, name))
#define DECISION(name) #name, offsetof(struct request_plan, name)
#define WANTED         FACT(asks_for_work)
#define BARRED         (FACT(is_forbidden) | FACT(is_refused) | FACT(declines_work))
#define LISTS_ALL      (FACT(asks_for_work) | FACT(has_job_list))
#define QUEUE_OF_ROWS  (FACT(simulates_deadlines) | FACT(queue_lacks_own_jobs))
#define CANNOT_RESEND  (FACT(has_unread_reports) | FACT(is_new) | FACT(is_forbidden))

static const struct rule rules[] = {
    {DECISION(wants_work), WANTED, BARRED},
    {DECISION(serves_always_on), FACT(has_always_on_apps), BARRED},
    {DECISION(serves_assigned), FACT(assigns_broadcast), BARRED},
    {DECISION(serves_assigned), FACT(assigns_targeted) | WANTED, BARRED},
    {DECISION(serves_any), WANTED, BARRED},
    {DECISION(serves_any), FACT(has_always_on_apps), BARRED},
    {DECISION(serves_any), FACT(assigns_broadcast), BARRED},
    {DECISION(queue_needs_rows), FACT(simulates_deadlines) | FACT(queue_lacks_own_jobs), 0},
    {DECISION(counts_rows), FACT(limits_in_progress), 0},

    {DECISION(will_resend), LISTS_ALL | FACT(resends_lost), CANNOT_RESEND | FACT(is_refused)},
    {DECISION(will_resend), LISTS_ALL | FACT(resends_lost) | FACT(is_too_recent), CANNOT_RESEND},
    {DECISION(resends_if_booked), LISTS_ALL, CANNOT_RESEND | FACT(is_refused) | FACT(resends_lost)},
    {DECISION(resends_if_booked), LISTS_ALL | FACT(is_too_recent),
     CANNOT_RESEND | FACT(resends_lost)},
    {DECISION(aborts), FACT(aborts_unneeded) | FACT(lists_jobs), 0},

    {DECISION(needs_workunits), FACT(aborts_unneeded) | FACT(lists_jobs), FACT(is_new)},
    {DECISION(needs_workunits), WANTED | QUEUE_OF_ROWS, BARRED | FACT(is_new)},

    {DECISION(reads_in_progress), FACT(aborts_unneeded) | FACT(lists_jobs), FACT(is_new)},
    {DECISION(reads_in_progress), WANTED | QUEUE_OF_ROWS, BARRED | FACT(is_new)},
    {DECISION(reads_in_progress), LISTS_ALL | FACT(resends_lost), CANNOT_RESEND | FACT(is_refused)},
    {DECISION(reads_in_progress), LISTS_ALL | FACT(resends_lost) | FACT(is_too_recent),
     CANNOT_RESEND},
    {DECISION(reads_in_progress), FACT(has_always_on_apps), BARRED | FACT(is_new)},
    {DECISION(reads_in_progress), FACT(limits_in_progress) | WANTED, BARRED | FACT(is_new)},
    {DECISION(reads_in_progress), FACT(limits_in_progress) | FACT(assigns_broadcast),
     BARRED | FACT(is_new)},

    {DECISION(reads_versions), FACT(counts_again), FACT(is_new)},
    {DECISION(reads_versions), WANTED, BARRED | FACT(is_new)},
    {DECISION(reads_versions), FACT(has_always_on_apps), BARRED | FACT(is_new)},
    {DECISION(reads_versions), FACT(assigns_broadcast), BARRED | FACT(is_new)},
    {DECISION(reads_versions), LISTS_ALL | FACT(resends_lost), CANNOT_RESEND | FACT(is_refused)},
    {DECISION(reads_versions), LISTS_ALL | FACT(resends_lost) | FACT(is_too_recent), CANNOT_RESEND},
};
enum { RULES = sizeof(rules) / sizeof(rules[0]), DECISIONS = sizeof(struct request_plan) };

static struct plan_facts facts_of(uint32_t bits)
{
    struct plan_facts facts;
    bool each[FACTS];

    for (size_t i = 0; i < FACTS; i++)
        each[i] = (bits >> i & 1) != 0;
    memcpy(&facts, each, sizeof(facts));
    return facts;
}

static void every_decision_follows_its_rules(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 1u << FACTS; bits++) {
        const struct plan_facts facts = facts_of(bits);
        const struct request_plan plan = plan_of(&facts);
        bool found[DECISIONS], expected[DECISIONS] = {false};

        memcpy(found, &plan, sizeof(plan));
        for (size_t i = 0; i < RULES; i++)
            expected[rules[i].decision] =
                expected[rules[i].decision] ||
                ((bits & rules[i].needs) == rules[i].needs && (bits & rules[i].excludes) == 0);
        for (size_t i = 0; i < RULES; i++)
            if (found[rules[i].decision] != expected[rules[i].decision])
                fail_msg("facts %05x: %s is %d", bits, rules[i].name, found[rules[i].decision]);
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
    const struct plan_facts unlisted = {.asks_for_work = true,
                                        .has_job_list = true,
                                        .queue_lacks_own_jobs = true,
                                        .resends_lost = true};
    struct plan_facts too_recent = unlisted, simulated = unlisted;
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
    for (uint32_t bits = 0; bits < 1u << FACTS; bits++) {
        const struct plan_facts facts = facts_of(bits);
        const struct request_plan plan = plan_of(&facts);

        assert_true(!plan.needs_workunits || plan.reads_in_progress);
        assert_true(!plan.will_resend || plan.reads_in_progress);
        assert_false(plan.will_resend && plan.resends_if_booked);
        assert_false(facts.is_new && plan.reads_in_progress);
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
