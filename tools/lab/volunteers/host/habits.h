/* SPDX-License-Identifier: Apache-2.0 */
/* The habits of a crowd's clients: what each does where clients differ, a row of a table by the
 * word that scenarios use. Row 0 of each table is taken where a scenario names none. A host has the
 * index of its rows in population->habits. */
#ifndef TOOLS_LAB_VOLUNTEERS_HOST_HABITS_H
#define TOOLS_LAB_VOLUNTEERS_HOST_HABITS_H

#include "server/base/text.h"
#include "tools/lab/volunteers/host/policy.h"

#include <stdbool.h>
#include <stddef.h>

/* How amounts of work go into the request. */
struct request_policy {
    const char *name;
    bool is_scalar; /* one number for all resources, in the wall time of the project's share */
};

/* What is done about disk space. */
struct disk_policy {
    const char *name;
    bool keeps_files, tells_amounts;
    bool tells_free_alone; /* whatever could be deleted: to see what that costs */
};

extern const struct run_policy run_policies[];
extern const struct fetch_policy fetch_policies[];
extern const struct request_policy request_policies[];
extern const struct disk_policy disk_policies[];
/* estimate_policies: runtime_estimate.h */

enum { HABIT_RUN, HABIT_FETCH, HABIT_ESTIMATE, HABIT_REQUEST, HABIT_DISK, HABITS };

struct habit_table {
    const char *name; /* in scenario files */
    const void *rows; /* each begins with its name */
    size_t count, size;
};
extern const struct habit_table habit_tables[HABITS];

/* The index of a word in a table; its count: there is none. */
size_t habit_find(const struct habit_table *table, struct text word);
const char *habit_word(const struct habit_table *table, size_t index);

#endif
