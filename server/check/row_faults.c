/* SPDX-License-Identifier: Apache-2.0 */
#include "server/check/row_faults.h"

#include "server/base/buffer.h"

#include <inttypes.h>

#include "server/base/banned.h"

void lost_jobs_judge(const struct lost_jobs_row *lost, struct buffer *faults)
{
    if (lost->without_app > 0)
        buffer_print(
            faults,
            "unfinished jobs of an application that does not exist: %" PRId64
            "%s; nothing validates, assimilates or sends them (qmctl jobs cancel --lost)\n",
            lost->without_app, lost->without_app >= LOST_JOBS_MOST ? " or more" : "");
    if (lost->without_target > 0)
        buffer_print(faults,
                     "jobs for hosts, users or teams that do not exist: %" PRId64
                     "%s (qmctl jobs cancel --lost)\n",
                     lost->without_target,
                     lost->without_target >= LOST_JOBS_MOST ? " or more" : "");
}

void used_ids_judge(const struct used_ids_row *rows, size_t count, struct buffer *faults)
{
    for (size_t i = 0; i < count; i++)
        buffer_print(faults,
                     "table " TEXT_FORMAT ": the next row gets number %" PRId64 ", and %" PRId64
                     " is the last that there can be\n",
                     TEXT_ARG(rows[i].name), rows[i].next, rows[i].most);
}

void clock_traces_judge(const struct clock_traces_row *traces, struct buffer *advice)
{
    if (traces->results + traces->hosts > 0)
        buffer_print(advice,
                     "times in the future: %" PRId64 " of the newest results, %" PRId64
                     " of the newest hosts; was the clock set back?\n",
                     traces->results, traces->hosts);
    if (traces->negative > 0)
        buffer_print(advice,
                     "hosts with a negative turnaround, because a clock was set back: %" PRId64
                     "; it is ignored, and their next valid result corrects it\n",
                     traces->negative);
}
