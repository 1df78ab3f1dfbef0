/* SPDX-License-Identifier: Apache-2.0 */
/* A limit on the work for one request. The client decides the length of its lists, and with that
 * how long some loops run; without a limit, one account could keep a worker busy for any time.
 * Every loop whose length depends on a request therefore charges its work to one counter. When the
 * budget is used up, the loop ends, and its caller answers without the rest and says so (a queue
 * is too large, a list was cut).
 *
 * Work is counted, not timed: the count is the same on a slow machine, under an emulator and under
 * a sanitizer, so an answer can be repeated, and a test can ask for the count.
 *
 * One unit is about a nanosecond of a present machine: a step of a loop over data at hand, or
 * moving eight bytes. A step that is likely to miss the caches costs tens. `qmbench edf` prints
 * units and time side by side. */
#ifndef SERVER_BASE_BUDGET_H
#define SERVER_BASE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of one request, in units: about 50 ms. */
#define BUDGET_MOST UINT64_C(50000000)

/* All zero is the budget of a fresh request. */
struct budget {
    uint64_t spent, most; /* most: 0 stands for BUDGET_MOST */
};

/* Charges work that is done or about to be done. False: the budget is used up, now and from now
 * on. */
bool budget_spend(struct budget *budget, uint64_t units);
bool budget_is_used_up(const struct budget *budget);
/* The same for work that may as well be left out: it is charged, and true, only where it leaves
 * half of the budget that is left for the rest of the request. */
bool budget_spend_half(struct budget *budget, uint64_t units);

/* Of `count` steps that cost `units` each: as many as half of what is left pays for. They are
 * charged. */
size_t budget_spend_on(struct budget *budget, size_t count, uint64_t units);

/* What things cost, in units. */
uint64_t budget_of_sorting(size_t count); /* things that are compared by numbers */
uint64_t budget_of_sorting_names(size_t count);
uint64_t budget_of_searching_names(size_t count, size_t among); /* so many names, sorted ones */
#define BUDGET_ROW UINT64_C(2000) /* a row that the database is asked for by its name, or gets */

#endif
