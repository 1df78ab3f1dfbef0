/* SPDX-License-Identifier: Apache-2.0 */
/* The counter stays where it is at the end of its range, so no charge, however large, makes a
 * used budget fresh again. */
#include "server/base/budget.h"

#include "server/base/banned.h"

enum { COMPARISON = 5 /* units, a call by pointer and a move included */ };

static uint64_t most_of(const struct budget *budget)
{
    return budget->most > 0 ? budget->most : BUDGET_MOST;
}

bool budget_is_used_up(const struct budget *budget)
{
    return budget->spent > most_of(budget);
}

bool budget_spend(struct budget *budget, uint64_t units)
{
    budget->spent = units < UINT64_MAX - budget->spent ? budget->spent + units : UINT64_MAX;
    return !budget_is_used_up(budget);
}

bool budget_spend_half(struct budget *budget, uint64_t units)
{
    return !budget_is_used_up(budget) && units <= (most_of(budget) - budget->spent) / 2 &&
           budget_spend(budget, units);
}

uint64_t budget_of_sorting(size_t count)
{
    uint64_t rounds = 1;

    for (size_t rest = count; rest > 1; rest /= 2)
        rounds++;
    return rounds * count * COMPARISON;
}
