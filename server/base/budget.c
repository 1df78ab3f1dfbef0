/* SPDX-License-Identifier: Apache-2.0 */
/* The counter stays where it is at the end of its range, so no charge, however large, makes a
 * used budget fresh again. */
#include "server/base/budget.h"

#include "server/base/banned.h"

enum {
    COMPARISON = 5, /* units, a call by pointer and a move included */
    NAMES = 4       /* times as much: two names are two places in memory */
};

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

/* Of halving, down to one. */
static uint64_t rounds_of(size_t count)
{
    uint64_t rounds = 1;

    for (size_t rest = count; rest > 1; rest /= 2)
        rounds++;
    return rounds;
}

uint64_t budget_of_sorting(size_t count)
{
    return rounds_of(count) * count * COMPARISON;
}

uint64_t budget_of_sorting_names(size_t count)
{
    return NAMES * budget_of_sorting(count);
}

uint64_t budget_of_searching_names(size_t count, size_t among)
{
    return among == 0 ? 0 : NAMES * COMPARISON * count * rounds_of(among);
}

size_t budget_spend_on(struct budget *budget, size_t count, uint64_t units)
{
    uint64_t most = budget_is_used_up(budget) ? 0 : (most_of(budget) - budget->spent) / 2 / units;

    if (count > most)
        count = (size_t)most;
    (void)budget_spend(budget, count * units);
    return count;
}
