/* SPDX-License-Identifier: Apache-2.0 */
/* One pass: a funnel. A source offers candidates, checks let some through, the choice takes what
 * the request has room for, the claim makes them this host's. Whatever others claimed in between
 * is lost, and others are chosen in its place; batches, rounds and queries are bounded.
 *
 * Invariants: a job is in the answer only after its claim succeeded in this transaction; the tally
 * holds what is in the answer and nothing else before each choice. */
#include "server/base/arena.h"
#include "server/handout/answer_work.h"
#include "server/handout/assigned.h"
#include "server/handout/claim.h"
#include "server/handout/guard.h"
#include "server/handout/locality_mark.h"
#include "server/handout/select_parts.h"
#include "server/handout/shares.h"
#include "server/handout/source.h"
#include "server/policy/limits/amounts.h"
#include "server/reply/answer.h"
#include "server/rpc/request.h"

#include "server/base/banned.h"

/* From nothing to what the answer holds. */
static bool count_answer(struct selection *selection)
{
    struct request *request = selection->request;
    const struct answer *answer = &request->visit.answer;
    const struct host_view *view = &selection->view;
    struct tally *tally = &selection->tally;

    if (!tally_begin(view, request->arena, (size_t)view->limits.reply + answer->job_count, tally))
        return false;
    for (size_t i = 0; i < answer->job_count; i++) {
        const struct answer_job *job = &answer->jobs[i];
        size_t resource = amounts_resource(&view->asked, job->usage.coproc_type);
        struct tally_use use = {
            .use = {.resource = resource,
                    .instances =
                        resource == RESOURCE_CPU ? job->usage.avg_ncpus : job->usage.coproc_count,
                    .cpus = job->usage.avg_ncpus,
                    .wall_time = job->wall_time},
            .workunitid = job->workunitid,
            .appid = job->appid,
            .disk = job->rsc_disk_bound,
            .is_queued = job->is_resent,
            .deadline = (double)(job->report_deadline - (int64_t)request->now),
            .margin = 1,
            .is_always_on = job->app->non_cpu_intensive != 0,
        };
        for (size_t j = 0; !job->is_resent && j < view->options.count; j++)
            if (view->options.items[j].version == job->version &&
                view->options.items[j].anonymous == job->anonymous) {
                tally->option_jobs[j]++;
                use.margin = deadline_margin(request->config, &view->options.items[j]);
            }
        if (resource < view->asked.resource_count)
            tally_take_resent(tally, &use);
    }
    return true;
}

static size_t choose(struct selection *selection, struct job *jobs, size_t count,
                     struct job **chosen)
{
    size_t chosen_count = 0;

    if (selection->serves_always_on)
        chosen_count = choose_always_on(&selection->view, &selection->tally, jobs, count,
                                        selection->has_job, chosen);
    if (selection->wants_work)
        chosen_count += choose_jobs(&selection->view, &selection->tally, jobs, count,
                                    chosen + chosen_count, &selection->notes);
    return chosen_count;
}

static enum status keep_claimed(struct selection *selection, const struct claimed *claimed)
{
    struct request *request = selection->request;

    if (!answer_add_jobs(request, claimed->jobs, claimed->count) ||
        !always_on_note(selection, claimed))
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < claimed->count; i++) {
        struct host_app_version_change *change =
            request_version_change(request, claimed->of[i]->option->statistics_id);
        if (change == NULL)
            return STATUS_NO_MEMORY;
        change->jobs_sent++;
        shares_book(request, &selection->view, claimed->of[i]);
    }
    request->visit.jobs_sent += claimed->count;
    return STATUS_OK;
}

static enum status begin(struct selection *selection)
{
    enum status status = selection->has_begun ? STATUS_OK : guard_begin(selection->request);

    selection->has_begun = selection->has_begun || status == STATUS_OK;
    return status;
}

/* Chooses and claims from one batch until nothing more of it is got. */
static enum status serve_batch(struct selection *selection, struct job *jobs, size_t count)
{
    struct request *request = selection->request;
    struct job **chosen = ARENA_ARRAY(request->arena, count, struct job *);

    if (chosen == NULL)
        return STATUS_NO_MEMORY;
    selection->some_lost = false;
    for (int round = 0; round < SELECT_ROUNDS_MAX; round++) {
        struct claimed claimed;
        size_t chosen_count;
        enum status status;

        if (!count_answer(selection))
            return STATUS_NO_MEMORY;
        chosen_count = choose(selection, jobs, count, chosen);
        if (chosen_count == 0)
            return STATUS_OK;
        status = begin(selection);
        if (status != STATUS_OK)
            return status;
        status = claim_jobs(request, &selection->view, chosen, chosen_count, &selection->notes,
                            &claimed);
        if (status == STATUS_OK)
            status = keep_claimed(selection, &claimed);
        if (status != STATUS_OK)
            return status;
        selection->some_lost = selection->some_lost || claimed.lost > 0;
        if (claimed.lost + claimed.refused == 0)
            return STATUS_OK;
    }
    return STATUS_OK;
}

/* What is assigned to the host comes before what anybody may have. */
static enum status serve_assigned(struct selection *selection)
{
    struct request *request = selection->request;
    struct claimed claimed = {0};
    struct job **chosen = NULL;
    size_t count = 0;
    enum status status = begin(selection);

    if (status == STATUS_OK)
        status = assigned_choose(request, &selection->view, selection->wants_work,
                                 &selection->tally, &selection->notes, &chosen, &count);
    if (status == STATUS_OK && count > 0)
        status = claim_jobs(request, &selection->view, chosen, count, &selection->notes, &claimed);
    if (status == STATUS_OK)
        status = keep_claimed(selection, &claimed);
    if (status == STATUS_OK && !count_answer(selection))
        status = STATUS_NO_MEMORY;
    return status;
}

static bool is_served(const struct selection *selection)
{
    const struct tally *tally = &selection->tally;

    if (tally->jobs >= selection->view.limits.reply)
        return true;
    for (size_t i = 0; selection->wants_work && i < tally->left.resource_count; i++)
        if (amounts_wants(&tally->left, i))
            return false;
    return !selection->serves_always_on || selection->request->visit.jobs_sent > 0;
}

static enum status select_jobs(struct selection *selection)
{
    struct request *request = selection->request;
    struct source source;
    enum status status = STATUS_OK;

    if (!source_open(request, &selection->view, selection->wants_work, &source))
        return STATUS_NO_MEMORY;
    source.left = &selection->tally.left;
    selection->unseen = false;
    for (;;) {
        struct job *jobs;
        size_t count;

        status =
            source_next(&source, request->visit.jobs_sent > 0, selection->some_lost, &jobs, &count);
        selection->unseen = source_is_cut(&source);
        if (status != STATUS_OK || count == 0)
            return status;
        status = locality_mark(request, jobs, count);
        if (status == STATUS_OK)
            status = shares_mark(request, &selection->view, jobs, count);
        if (status == STATUS_OK)
            status = serve_batch(selection, jobs, count);
        if (status != STATUS_OK)
            return status;
        if (!count_answer(selection))
            return STATUS_NO_MEMORY;
        if (is_served(selection))
            return STATUS_OK;
    }
}

/* Whether looking at jobs is of no use: no requested resource may get any. */
static bool is_idle(struct selection *selection)
{
    return selection->wants_work &&
           choose_is_idle(&selection->view, &selection->tally, &selection->notes) &&
           !selection->serves_always_on;
}

enum status select_in_pass(struct selection *selection)
{
    enum status status = count_answer(selection) ? STATUS_OK : STATUS_NO_MEMORY;

    if (status == STATUS_OK && selection->serves_assigned)
        status = serve_assigned(selection);
    if (status == STATUS_OK && !is_served(selection) && !is_idle(selection))
        status = select_jobs(selection);
    return status;
}
