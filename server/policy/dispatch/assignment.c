/* SPDX-License-Identifier: Apache-2.0 */
/* A host gets each assigned workunit once. A broadcast goes to every host that it means, whatever
 * others made of it; a targeted job to as many of those meant as the workunit wants results, and
 * not while another program has yet to look at it. */
#include "server/policy/dispatch/assignment.h"

#include "server/base/banned.h"

enum assignment_verdict assignment_decide(const struct assignment_question *question)
{
    int64_t needed =
        question->target_nresults - question->unsent - question->in_progress - question->success;

    if (question->error_mask != 0 || question->results_of_host > 0)
        return ASSIGNMENT_NOT;
    if (question->is_broadcast)
        return question->has_unsent ? ASSIGNMENT_UNSENT : ASSIGNMENT_NEW;
    if (question->canonical_resultid != 0)
        return ASSIGNMENT_NOT;
    if (question->has_unsent)
        return ASSIGNMENT_UNSENT;
    return question->need_validate == 0 && question->transition_time >= question->now && needed > 0
               ? ASSIGNMENT_NEW
               : ASSIGNMENT_NOT;
}
