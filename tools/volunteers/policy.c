/* SPDX-License-Identifier: Apache-2.0 */
/* The tables. The first row of each is what present-day clients do, as far as it is emulated. */
#include "tools/volunteers/policy.h"

#include "tools/volunteers/volunteer.h"

#include "server/base/banned.h"

const struct run_policy run_policies[] = {
    {"deadline", run_by_deadline},
};

const struct fetch_policy fetch_policies[] = {
    {"resources", fetch_by_resources, fetch_by_resources_hear, fetch_by_resources_settle,
     fetch_by_resources_next},
};

const struct estimate_policy estimate_policies[] = {
    {"server", estimate_by_server, NULL},
};

#define TABLE(name, rows)                                               \
    {                                                                   \
        name, rows, sizeof(rows) / sizeof((rows)[0]), sizeof((rows)[0]) \
    }

const struct policy_table policy_tables[POLICY_TABLES] = {
    [POLICY_RUN] = TABLE("run", run_policies),
    [POLICY_FETCH] = TABLE("fetch", fetch_policies),
    [POLICY_ESTIMATE] = TABLE("estimate", estimate_policies),
};

const char *policy_word(const struct policy_table *table, size_t index)
{
    return *(const char *const *)(const void *)((const char *)table->rows + index * table->size);
}

size_t policy_find(const struct policy_table *table, struct text word)
{
    size_t i = 0;

    while (i < table->count && !text_is(word, policy_word(table, i)))
        i++;
    return i;
}
