/* SPDX-License-Identifier: Apache-2.0 */
/* What a volunteer's machine has begun is thrown away only if nobody can use it any more. */
#include "server/policy/result/reconcile.h"

#include "db/states.h"

#include <stddef.h>

#include "server/base/banned.h"

int64_t deadline_latest(int64_t grace)
{
    return TRANSITION_NEVER - 1 - grace;
}

/* The grace period is taken off the stored deadline first, or each resend would add one more. */
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
    return deadline < deadline_latest(grace) ? deadline : deadline_latest(grace);
}

enum abort_kind abort_decide(const struct result_row *result, const struct workunit_row *workunit,
                             int64_t userid)
{
    if (result == NULL)
        return ABORT_NOW;
    if (workunit == NULL)
        return result->server_state == RESULT_IN_PROGRESS && result->userid == userid ? ABORT_NOT
                                                                                      : ABORT_NOW;
    if (workunit->id == 0 || (workunit->error_mask & WU_ERROR_CANCELLED) != 0)
        return ABORT_NOW;
    if (workunit->assimilate_state == ASSIMILATE_DONE)
        return ABORT_IF_NOT_STARTED;
    if (result->server_state == RESULT_OVER && result->outcome == OUTCOME_NO_REPLY)
        return ABORT_IF_NOT_STARTED;
    return ABORT_NOT;
}
