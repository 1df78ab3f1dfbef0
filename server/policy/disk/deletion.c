/* SPDX-License-Identifier: Apache-2.0 */
/* Deletion. A file's place in the order depends on nothing but itself, so one sort settles it; the
 * choice is the shortest beginning of that order that is enough. To skip a small file because a
 * larger one behind it would do alone is against the policy: the larger one is worth more. */
#include "server/policy/disk/deletion.h"

#include <stdlib.h>

#include "server/base/banned.h"

#define SECONDS_PER_DAY 86400

static bool is_deletable(const struct stored_file *file)
{
    return !file->is_needed && file->bytes > 0;
}

int64_t file_expiry(double now, double days)
{
    return (int64_t)(now + days * SECONDS_PER_DAY);
}

double deletion_possible(const struct stored_file *files, size_t count)
{
    double bytes = 0;

    for (size_t i = 0; i < count; i++)
        if (is_deletable(&files[i]))
            bytes += files[i].bytes;
    return bytes;
}

struct order {
    struct deletion_policy policy;
    int64_t now;
};

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare(const void *left, const void *right, void *context)
{
    const struct stored_file *a = left, *b = right;
    const struct order *order = context;
    int answer = 0;

    if (order->policy.by_expiry)
        answer = compare_numbers(a->expiry >= order->now, b->expiry >= order->now);
    if (answer == 0 && order->policy.by_priority) {
        answer = compare_numbers(a->priority, b->priority);
        if (answer == 0)
            answer = compare_numbers(a->first_seen, b->first_seen);
    }
    if (answer == 0)
        answer = compare_numbers(a->last_used, b->last_used);
    return answer != 0 ? answer : text_compare(a->name, b->name);
}

bool deletion_choose(struct deletion_policy policy, int64_t now, double bytes_needed,
                     struct stored_file *files, size_t count)
{
    struct order order = {.policy = policy, .now = now};
    double left = bytes_needed;

    for (size_t i = 0; i < count; i++)
        files[i].is_chosen = false;
    if (count > 1)
        qsort_r(files, count, sizeof(files[0]), compare, &order);
    for (size_t i = 0; i < count && left > 0; i++) {
        if (!is_deletable(&files[i]))
            continue;
        files[i].is_chosen = true;
        left -= files[i].bytes;
    }
    for (size_t i = 0; left > 0 && i < count; i++)
        files[i].is_chosen = false;
    return !(left > 0);
}
