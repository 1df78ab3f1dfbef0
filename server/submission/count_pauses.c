/* SPDX-License-Identifier: Apache-2.0 */
#include "server/submission/count_pauses.h"

#include "server/base/banned.h"

enum { TIMES_AS_LONG = 19 };
#define SHORT_S 0.05 /* whoever counts no longer counts each time */

static size_t slot_of(int64_t batch)
{
    return (size_t)((uint64_t)batch % COUNT_PAUSES_MOST);
}

bool count_pauses_is_over(struct count_pauses *pauses, int64_t batch, double now)
{
    size_t slot = slot_of(batch);
    bool is_over;

    pthread_mutex_lock(&pauses->lock);
    is_over = pauses->slots[slot].batch != batch || now >= pauses->slots[slot].until;
    pthread_mutex_unlock(&pauses->lock);
    return is_over;
}

void count_pauses_begin(struct count_pauses *pauses, int64_t batch, double took, double now)
{
    size_t slot = slot_of(batch);

    if (took < SHORT_S)
        return;
    pthread_mutex_lock(&pauses->lock);
    pauses->slots[slot].batch = batch;
    pauses->slots[slot].until = now + TIMES_AS_LONG * took;
    pthread_mutex_unlock(&pauses->lock);
}
