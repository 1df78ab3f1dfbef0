/* SPDX-License-Identifier: Apache-2.0 */
/* The deadline of a job that is sent again. The grace period is taken off the stored deadline
 * first, or each resend would add one more. */
#include "server/policy/result/resend_deadline.h"

#include "server/base/banned.h"

int64_t resend_deadline(const struct result_row *result, const struct workunit_row *workunit,
                        int64_t grace, int64_t now)
{
    int64_t old = result->report_deadline - grace;
    int64_t span = old > result->sent_time ? old - result->sent_time : 0;
    int64_t deadline = now + span / 2;

    if (result->report_deadline < now)
        return 0;
    if (deadline < old)
        deadline = old;
    if (workunit->delay_bound > 0 && deadline > now + workunit->delay_bound)
        deadline = now + workunit->delay_bound;
    return deadline;
}
