/* SPDX-License-Identifier: Apache-2.0 */
/* The words around a hand-out. "Unsupported" is said only of what this host can never run with
 * today's versions (platform, plan class, hardware), never because of preferences, limits or an
 * empty queue, and never to a volunteer who brings his own versions. Clients that take it for a
 * reason to stop asking are not told all of it (reply_no_rsc_apps). */

#include "server/handout/handout.h"

#include "server/base/arena.h"
#include "server/policy/edf/deadline.h"
#include "server/reply/answer.h"
#include "server/rpc/request.h"
#include "server/rpc/request_delay.h"

#include <math.h>

#include "server/base/banned.h"

/* --- three states ---------------------------------------------------------------------------- */

/* Whether some version runs on the resource, but for chance and the user's choice. */
static bool is_supported(const struct host_view *view, size_t resource)
{
    const struct option_span all = version_options_all(&view->options);

    for (size_t i = 0; i < all.count; i++) {
        const struct version_option *option = &all.items[i];

        if (option->app->deprecated != 0 || !option->is_current)
            continue;
        if (option->resource == resource && option->is_fit)
            return true;
    }
    return view->message->anonymous_platform;
}

static bool is_sent(const struct answer *answer, const struct host_view *view, size_t resource)
{
    for (size_t i = 0; i < answer->job_count; i++)
        if (amounts_resource(&view->asked, answer->jobs[i].usage.coproc_type) == resource)
            return true;
    return false;
}

/* Others got what would have been sent: there is work, and no deadline is against it. */
static bool others_were_faster(const struct choice_notes *notes)
{
    return notes->refusals.by_reason[REASON_OTHERS_FASTER].count > 0;
}

/* Whether the client is told that deadlines keep jobs from the resource. */
static bool says_late(const struct choice_notes *notes, size_t resource)
{
    return notes != NULL && notes->late[resource] && !others_were_faster(notes);
}

bool answer_resources(struct request *request, const struct host_view *view,
                      const struct choice_notes *notes)
{
    struct answer *answer = &request->attempt.answer;
    size_t count = view->asked.resource_count, allowed = 0, only = 0;

    answer->resources = ARENA_ARRAY(request->arena, count, struct answer_resource);
    if (answer->resources == NULL)
        return false;
    answer->resource_count = count;
    for (size_t i = 0; i < count; i++) {
        struct answer_resource *resource = &answer->resources[i];

        resource->type = view->asked.resources[i].type;
        resource->state = is_sent(answer, view, i) ? RESOURCE_SENT
                          : says_late(notes, i)    ? RESOURCE_DEADLINE
                          : is_supported(view, i)  ? RESOURCE_NONE
                                                   : RESOURCE_UNSUPPORTED;
        if (!view->is_excluded[i]) {
            allowed++;
            only = i;
        }
    }
    if (allowed == 1)
        answer->resources[only].is_only_allowed = true;
    return true;
}

/* --- nothing ---------------------------------------------------------------------------------- */

/* When asking again makes sense after jobs that would be late. */
static double late_delay(const struct request *request, const struct host_view *view)
{
    double wanted = workload_retry_delay(view->workload);

    return fmin(delay_of_request(request, DELAY_DEADLINE, wanted),
                workload_retry_longest(view->workload));
}

/* A delay holds back all resources, so the one that may get work first decides. One that is of no
 * use here, or that the user excludes, is not waited for. What is late for one resource is not to
 * be asked for without any delay. */
static double retry_delay(struct request *request, const struct host_view *view,
                          const struct choice_notes *notes)
{
    double no_work = delay_of_request(request, DELAY_NO_WORK, request->config->no_work_delay);
    double late = 0, least = INFINITY;

    for (size_t i = 0; i < view->asked.resource_count && late == 0; i++)
        if (notes->late[i])
            late = late_delay(request, view);
    for (size_t i = 0; i < view->asked.resource_count; i++)
        if (amounts_wants(&view->asked, i) && !view->is_excluded[i] && is_supported(view, i))
            least = fmin(least, notes->late[i] ? late : no_work);
    if (!(least < INFINITY))
        least = no_work;
    return late > 0 ? fmax(least, DEADLINE_RETRY_MIN) : least;
}

void answer_nothing(struct request *request, const struct host_view *view,
                    const struct choice_notes *notes)
{
    struct answer *answer = &request->attempt.answer;
    struct refusal picked[REASONS_SAID_MAX];
    size_t count = refusals_pick(&notes->refusals, picked);

    if (count == 0) {
        picked[0] = (struct refusal){.reason = REASON_NO_JOBS};
        count = 1;
    }
    answer_say(request->arena, answer, MESSAGE_LOW, "No tasks sent");
    for (size_t i = 0; i < count; i++)
        answer_refuse(request->arena, answer, &picked[i]);
    for (size_t i = 0; i < view->asked.resource_count; i++)
        answer->no_work_deadlines = answer->no_work_deadlines || says_late(notes, i);
    answer_delay(answer, others_were_faster(notes)
                             ? delay_of_request(request, DELAY_OTHERS_FASTER, 0)
                             : retry_delay(request, view, notes));
}
