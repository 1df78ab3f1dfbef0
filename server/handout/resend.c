/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that the host should have, against the list of those it says it has: lost ones are sent
 * again or given up (resend_lost.c), ones that nobody needs any more are aborted, if the project
 * wants that (resend_aborts.c). */
#include "server/handout/resend_parts.h"

#include "server/base/arena.h"
#include "server/base/sorted.h"

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

enum next step_resend(struct request *request)
{
    const struct visit *visit = &request->visit;
    enum next next = NEXT_STEP;

    if (visit->plan.will_resend || (visit->plan.resends_if_booked && visit->force_resend))
        next = resend_lost(request);
    if (next == NEXT_STEP && visit->plan.aborts)
        next = resend_abort_unneeded(request);
    return next;
}
