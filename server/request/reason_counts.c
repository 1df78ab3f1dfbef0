/* SPDX-License-Identifier: Apache-2.0 */
#include "server/request/reason_counts.h"

#include <stdatomic.h>

#include "server/base/banned.h"

static _Atomic uint64_t counts[REASON_COUNT];

void reason_count_add(enum reason reason)
{
    if (reason < REASON_COUNT)
        (void)atomic_fetch_add_explicit(&counts[reason], 1, memory_order_relaxed);
}

uint64_t reason_count(enum reason reason)
{
    return reason < REASON_COUNT ? atomic_load_explicit(&counts[reason], memory_order_relaxed) : 0;
}
