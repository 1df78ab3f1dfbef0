/* SPDX-License-Identifier: Apache-2.0 */
#include "server/upload/upload_scarcity.h"

#include <stdlib.h>

#include "server/base/banned.h"

enum { TIMES_WHAT_CAME = 3 };
#define SHOWS_ITS_PACE 3.0 /* s */

int64_t upload_reserved(int64_t at, int64_t nbytes)
{
    int64_t left = nbytes - at;

    return left / TIMES_WHAT_CAME < at ? left : TIMES_WHAT_CAME * at;
}

static double part_of(const struct upload_pace *pace)
{
    return pace->nbytes > 0 ? (double)pace->at / (double)pace->nbytes : 1;
}

static int by_part(const void *a, const void *b)
{
    double first = part_of(a), second = part_of(b);

    return (first > second) - (first < second);
}

size_t upload_yield_disk(struct upload_pace *paces, size_t count, int64_t free_bytes)
{
    size_t yielding = count;

    qsort(paces, count, sizeof(*paces), by_part);
    while (yielding > 0) {
        const struct upload_pace *pace = &paces[yielding - 1];

        free_bytes -= upload_reserved(pace->at, pace->nbytes);
        if (free_bytes < 0)
            break;
        yielding--;
    }
    return yielding;
}

/* Those that are too young are last. */
static int by_rate(const void *a, const void *b)
{
    const struct upload_pace *first = a, *second = b;
    bool is_young = first->age < SHOWS_ITS_PACE, other_is_young = second->age < SHOWS_ITS_PACE;

    if (is_young != other_is_young)
        return is_young - other_is_young;
    return (first->rate > second->rate) - (first->rate < second->rate);
}

size_t upload_yield_places(struct upload_pace *paces, size_t count, size_t most)
{
    size_t yielding = 0;

    qsort(paces, count, sizeof(*paces), by_rate);
    while (yielding < count && yielding < most && paces[yielding].age >= SHOWS_ITS_PACE)
        yielding++;
    return yielding;
}
