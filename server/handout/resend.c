/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that the host should have, against the list of those it says it has: lost ones are sent
 * again or given up (resend_lost.c), ones that nobody needs any more are aborted, if the project
 * wants that (resend_aborts.c). */
#include "server/handout/resend_parts.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/sorted.h"
#include "server/policy/limits/amounts.h"

#include "server/base/banned.h"

struct text *resend_listed_names(const struct request *request)
{
    const struct message *message = &request->message;
    struct text *names = ARENA_ARRAY(request->arena, message->other_result_count, struct text);

    for (size_t i = 0; names != NULL && i < message->other_result_count; i++)
        names[i] = message->other_results[i].name;
    if (names != NULL)
        sorted_names(names, message->other_result_count);
    return names;
}

/* Resent only when work is asked for, and may be given: who wants none would not run them. One that
 * comes too early may be here because the reply was lost, and these jobs are its own already. */
static bool may_resend(const struct request *request)
{
    return request->message.has_other_results && !request->message.results_truncated &&
           !request->work_forbidden &&
           (!request->visit.work_refused || request->visit.too_recent) &&
           (request->config->resend_lost_results || request->visit.force_resend) &&
           message_wants_work(&request->message);
}

enum next step_resend(struct request *request)
{
    enum next next = NEXT_STEP;

    if (may_resend(request) && !request->visit.host_is_new)
        next = resend_lost(request);
    if (next == NEXT_STEP && request->config->send_result_abort &&
        request->message.other_result_count > 0)
        next = resend_abort_unneeded(request);
    return next;
}
