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

void metrics_write(struct buffer *ret_page)
{
    counters_write(ret_page);
    counter_write_head(ret_page, "no_work", "replies without a job that gave this reason");
    for (int i = 0; i < REASON_COUNT; i++)
        buffer_print(ret_page, COUNTER_PREFIX "no_work_total{reason=\"%s\"} %" PRIu64 "\n",
                     reason_word((enum reason)i), reason_count((enum reason)i));
}
