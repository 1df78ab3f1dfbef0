/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers are the process's, as those of base/counters.c; that room knows nothing of
 * scheduling, so the reasons are counted here. Both come from their tables: a new row is on the
 * page without a line of code. */
#include "server/process/metrics.h"

#include "server/base/buffer.h"
#include "server/base/counters.h"

#include <inttypes.h>
#include <stdatomic.h>

#include "server/base/banned.h"

#define PREFIX "quartermaster_"

static _Atomic uint64_t reasons_said[REASON_COUNT];

void metrics_count_reason(enum reason reason)
{
    if (reason < REASON_COUNT)
        (void)atomic_fetch_add_explicit(&reasons_said[reason], 1, memory_order_relaxed);
}

uint64_t metrics_reason(enum reason reason)
{
    return reason < REASON_COUNT ? atomic_load_explicit(&reasons_said[reason], memory_order_relaxed)
                                 : 0;
}

static void write_head(struct buffer *page, const char *name, const char *help)
{
    buffer_print(page, "# HELP " PREFIX "%s_total %s\n# TYPE " PREFIX "%s_total counter\n", name,
                 help, name);
}

void metrics_write(struct buffer *ret_page)
{
    for (int i = 0; i < COUNTER_COUNT; i++) {
        const char *name = counter_name((enum counter)i);

        write_head(ret_page, name, counter_help((enum counter)i));
        buffer_print(ret_page, PREFIX "%s_total %" PRIu64 "\n", name,
                     counter_value((enum counter)i));
    }
    write_head(ret_page, "no_work", "replies without a job that gave this reason");
    for (int i = 0; i < REASON_COUNT; i++)
        buffer_print(ret_page, PREFIX "no_work_total{reason=\"%s\"} %" PRIu64 "\n",
                     reason_word((enum reason)i), metrics_reason((enum reason)i));
}
