/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers come from tables, counters.def and reasons.def: a new row is on the page without a
 * line of code. */
#include "server/process/metrics.h"

#include "server/base/buffer.h"
#include "server/base/counters.h"
#include "server/policy/refusal/reason.h"
#include "server/request/reason_counts.h"

#include <inttypes.h>

#include "server/base/banned.h"

#define PREFIX "quartermaster_"

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
                     reason_word((enum reason)i), reason_count((enum reason)i));
}
