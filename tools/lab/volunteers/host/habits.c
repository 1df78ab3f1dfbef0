/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/lab/volunteers/host/habits.h"

#include "tools/lab/volunteers/host/contact.h"
#include "tools/lab/volunteers/host/runtime_estimate.h"

#include "server/base/banned.h"

const struct run_policy run_policies[] = {
    {"deadline", run_by_deadline},
    {"debt", run_by_debt},
    {"robin", run_by_robin},
    {"recent", run_by_recent},
};

const struct fetch_policy fetch_policies[] = {
    {"resources", false, fetch_by_resources, fetch_by_resources_hear, NULL, fetch_by_resources_book,
     fetch_by_resources_next, NULL},
    {"marks", false, fetch_by_marks, fetch_by_resources_hear, NULL, NULL, fetch_by_marks_next,
     NULL},
    {"demand", false, fetch_by_demand, contact_wait_if_empty, NULL, NULL, contact_next_free, NULL},
    {"debt", false, fetch_by_debt, contact_wait_if_empty, NULL, NULL, contact_next_free, NULL},
    {"sessions", true, fetch_by_sessions, fetch_by_sessions_hear, fetch_by_sessions_hear_nothing,
     fetch_by_sessions_book, contact_next_free, fetch_by_sessions_job_over},
    {"present", false, fetch_by_marks, fetch_by_resources_hear, NULL, NULL, fetch_by_marks_next,
     fetch_at_present_job_over},
};

const struct request_policy request_policies[] = {
    {"resources", false},
    {"scalar", true},
};

const struct disk_policy disk_policies[] = {
    {"none", false, false, false},
    {"2004", true, true, false},
    {"present", true, false, false},
    {"free", true, true, true},
};

#define TABLE(name, rows)                                               \
    {                                                                   \
        name, rows, sizeof(rows) / sizeof((rows)[0]), sizeof((rows)[0]) \
    }

const struct habit_table habit_tables[HABITS] = {
    [HABIT_RUN] = TABLE("run", run_policies),
    [HABIT_FETCH] = TABLE("fetch", fetch_policies),
    [HABIT_ESTIMATE] = TABLE("estimate", estimate_policies),
    [HABIT_REQUEST] = TABLE("request", request_policies),
    [HABIT_DISK] = TABLE("disk", disk_policies),
};

const char *habit_word(const struct habit_table *table, size_t index)
{
    return *(const char *const *)(const void *)((const char *)table->rows + index * table->size);
}

size_t habit_find(const struct habit_table *table, struct text word)
{
    size_t i = 0;

    while (i < table->count && !text_is(word, habit_word(table, i)))
        i++;
    return i;
}
