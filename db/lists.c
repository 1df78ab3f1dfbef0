/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of ids: sorted, since locks are taken in order of id, and cut into parts. */
#include "db/lists.h"

#include "db/mariadb.h"
#include "server/base/arena.h"

#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

static int compare_ids(const void *a, const void *b)
{
    int64_t left, right;

    memcpy(&left, a, sizeof(left));
    memcpy(&right, b, sizeof(right));
    return (left > right) - (left < right);
}

int64_t *list_sorted(struct arena *arena, const int64_t *items, size_t count, size_t *ret_count)
{
    int64_t *sorted = arena_alloc_array(arena, count, sizeof(sorted[0]));
    size_t kept = 0;

    if (sorted == NULL)
        return NULL;
    if (count > 0) {
        memcpy(sorted, items, count * sizeof(sorted[0]));
        qsort(sorted, count, sizeof(sorted[0]), compare_ids);
    }
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || sorted[kept - 1] != sorted[i])
            sorted[kept++] = sorted[i];
    }
    *ret_count = kept;
    return sorted;
}

size_t list_find(const int64_t *items, size_t count, int64_t item)
{
    const int64_t *found =
        count == 0 ? NULL : bsearch(&item, items, count, sizeof(items[0]), compare_ids);

    return found == NULL ? count : (size_t)(found - items);
}

size_t list_part(size_t count, size_t from)
{
    return count - from < DB_LIST_MOST ? count - from : DB_LIST_MOST;
}
