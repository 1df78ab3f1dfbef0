/* SPDX-License-Identifier: Apache-2.0 */
/* Empty lists may have no address: the library's functions are not asked about them. */
#include "server/base/sorted.h"

#include <stdlib.h>

#include "server/base/banned.h"

int sorted_compare_ids(const void *a, const void *b)
{
    int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;

    return (one > other) - (one < other);
}

size_t sorted_ids(int64_t *ids, size_t count)
{
    size_t kept = 0;

    if (count > 0)
        qsort(ids, count, sizeof(ids[0]), sorted_compare_ids);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || ids[kept - 1] != ids[i])
            ids[kept++] = ids[i];
    return kept;
}

size_t sorted_find_id(const int64_t *ids, size_t count, int64_t id)
{
    const int64_t *found =
        count == 0 ? NULL : bsearch(&id, ids, count, sizeof(ids[0]), sorted_compare_ids);

    return found == NULL ? count : (size_t)(found - ids);
}

static int compare_names(const void *a, const void *b)
{
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

void sorted_names(struct text *names, size_t count)
{
    if (count > 0)
        qsort(names, count, sizeof(names[0]), compare_names);
}

bool sorted_has_name(const struct text *names, size_t count, struct text name)
{
    return count > 0 && bsearch(&name, names, count, sizeof(names[0]), compare_names) != NULL;
}
