/* SPDX-License-Identifier: Apache-2.0 */
/* Aborts. What a volunteer's machine has begun is thrown away only if nobody can use it any more.
 */
#include "server/policy/result/abort.h"

#include "db/states.h"

#include <stddef.h>

#include "server/base/banned.h"

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
