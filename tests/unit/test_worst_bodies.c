/* SPDX-License-Identifier: Apache-2.0 */
/* The requests of worst_bodies.def, each walked as a whole before a fake database. Work is counted,
 * in units of the budget, in calls of the database and in bytes, never timed: `worst_bodies` of
 * tests/cost prints times. */
#include "tests/support/worst_bodies.h"

#include "server/base/budget.h"
#include "tests/support/test.h"

#include <stdlib.h>

enum { MB = 1000000, MEMORY_LEAST = 8 * MB, MEMORY_FACTOR = 4, CALLS_MOST = 16, ACKS_MOST = 10000 };

/* NULL: it is answered within all bounds. What is over the budget looks for no jobs. */
static const char *judge(const struct worst_cost *cost)
{
    if (cost->units > BUDGET_MOST && !cost->is_over_budget)
        return "the budget is used up and nobody knows";
    if (cost->is_over_budget && cost->jobs == 0 && cost->reason == NULL)
        return "over the budget, and not a word of it";
    if (cost->arena + cost->reply > MEMORY_LEAST + MEMORY_FACTOR * cost->body)
        return "too much memory";
    if (cost->calls > CALLS_MOST)
        return "too many questions of the database";
    return cost->acks > ACKS_MOST ? "too many reports" : NULL;
}

static void each_is_answered_within_bounds(void **state)
{
    size_t beyond = 0;

    (void)state;
    for (size_t i = 0; i < worst_body_count; i++) {
        struct worst_cost cost;
        const char *fault;

        worst_body_walk(&worst_bodies[i], false, &cost);
        fault = judge(&cost);
        print_message("%-34s %7.1fM units %6.2f MB %3d calls %3zu jobs%s%s\n", worst_bodies[i].name,
                      (double)cost.units / 1e6, (double)(cost.arena + cost.reply) / MB, cost.calls,
                      cost.jobs, fault == NULL ? "" : ": ", fault == NULL ? "" : fault);
        beyond += fault != NULL;
    }
    assert_int_equal(beyond, 0);
}

/* Not refused for being long: an honest queue is simulated as a whole, and one that is made to cost
 * gets an exact answer at 20,000 entries, and at 10,000 on 256 CPUs. */
static void what_can_be_answered_is_answered(void **state)
{
    static const struct {
        const char *name, *reason;
        bool gets_jobs;
    } wanted[] = {{"a long honest queue", "queue_deadline", false},
                  {"a queue of falling ends", NULL, true},
                  {"a queue of falling ends, 256 CPUs", NULL, true},
                  {"jobs that fit into memory by twos, 256 CPUs", NULL, true},
                  {"own versions", NULL, true},
                  {"an own version of a long platform", "anonymous_version", false},
                  {"unknown reports", NULL, true},
                  {"files", NULL, true},
                  {"listed jobs, none of the project's", "over_budget", false}};
    size_t seen = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        for (size_t j = 0; j < worst_body_count; j++) {
            struct worst_cost cost;

            if (strcmp(worst_bodies[j].name, wanted[i].name) != 0)
                continue;
            worst_body_walk(&worst_bodies[j], false, &cost);
            assert_int_equal(cost.jobs > 0, wanted[i].gets_jobs);
            if (wanted[i].reason != NULL)
                assert_string_equal(cost.reason, wanted[i].reason);
            seen++;
        }
    assert_int_equal(seen, sizeof(wanted) / sizeof(wanted[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_answered_within_bounds),
        cmocka_unit_test(what_can_be_answered_is_answered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
