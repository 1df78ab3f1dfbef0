/* SPDX-License-Identifier: Apache-2.0 */
/* New jobs: a funnel. A source offers candidates, checks let some through, the choice takes what
 * the request has room for, the claim makes them this host's. Whatever others claimed in between
 * is lost, and others are chosen in its place; batches, rounds and queries are bounded.
 *
 * Invariants: a job is in the answer only after its claim succeeded in this transaction; the tally
 * holds what is in the answer and nothing else before each choice; nothing that fails here takes
 * a report with it, unless the whole transaction is to be repeated. */
#include "server/answer.h"
#include "server/base/arena.h"
#include "server/base/counters.h"
#include "server/catalog.h"
#include "server/in_progress.h"
#include "server/policy/amounts.h"
#include "server/policy/choose.h"
#include "server/request.h"
#include "server/select/answer_work.h"
#include "server/select/assigned.h"
#include "server/select/claim.h"
#include "server/select/guard.h"
#include "server/select/locality.h"
#include "server/select/on_host.h"
#include "server/select/queue.h"
#include "server/select/room.h"
#include "server/select/shares.h"
#include "server/select/source.h"
#include "server/select/view.h"

#include "server/base/banned.h"

enum {
    ROUNDS_MAX = 8 /* of choosing and claiming within one batch */
};

struct selection {
    struct request *request;
    struct host_view view;
    struct choice_notes notes;
    struct tally tally;
    size_t kept_jobs;       /* in the answer before: resent ones */
    bool wants_work;        /* else only always-on apps are served */
    bool has_begun;         /* there is a point to go back to */
    struct id_list has_job; /* always-on apps that have theirs */
    bool serves_always_on;
    bool serves_assigned;
    bool some_lost;
    bool unseen; /* there may be jobs that no pass has looked at */
};

/* --- the tally ------------------------------------------------------------------------------- */

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

/* --- always-on apps -----------------------------------------------------------------------------
 */

/* Whether there is such an app that `has_job` does not name. */
static bool lacks_always_on(const struct request *request, struct id_list has_job)
{
    const struct catalog_rows *rows = &request->catalog->rows;

    for (size_t i = 0; i < rows->app_count; i++) {
        bool has_one = false;

        if (rows->apps[i].non_cpu_intensive == 0 || rows->apps[i].deprecated != 0)
            continue;
        for (size_t j = 0; j < has_job.count; j++)
            has_one = has_one || has_job.ids[j] == rows->apps[i].id;
        if (!has_one)
            return true;
    }
    return false;
}

/* Which apps have a job on this host, by the database: the client's list gives names only. */
static enum status find_always_on(struct selection *selection)
{
    struct request *request = selection->request;
    const struct host_job *jobs = NULL;
    size_t count = 0;
    int64_t *ids;
    enum status status = jobs_in_progress(request, &jobs, &count);

    if (status != STATUS_OK)
        return status;
    ids = ARENA_ARRAY(request->arena, count, int64_t);
    if (ids == NULL)
        return STATUS_NO_MEMORY;
    selection->has_job = (struct id_list){.ids = ids};
    for (size_t i = 0; i < count; i++) {
        const struct app_row *app = catalog_app(request->catalog, jobs[i].result.appid);
        if (app != NULL && app->non_cpu_intensive != 0 &&
            jobs[i].result.report_deadline >= (int64_t)request->now)
            ids[selection->has_job.count++] = app->id;
    }
    selection->serves_always_on = lacks_always_on(request, selection->has_job);
    return STATUS_OK;
}

/* --- rounds ----------------------------------------------------------------------------------- */

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

static bool note_always_on(struct selection *selection, const struct claimed *claimed)
{
    struct id_list *list = &selection->has_job;
    int64_t *ids = ARENA_ARRAY(selection->request->arena, list->count + claimed->count, int64_t);

    if (ids == NULL)
        return false;
    for (size_t i = 0; i < list->count; i++)
        ids[i] = list->ids[i];
    for (size_t i = 0; i < claimed->count; i++)
        if (claimed->jobs[i].app->non_cpu_intensive != 0)
            ids[list->count++] = claimed->jobs[i].appid;
    list->ids = ids;
    return true;
}

static enum status keep_claimed(struct selection *selection, const struct claimed *claimed)
{
    struct request *request = selection->request;

    if (!answer_add_jobs(request, claimed->jobs, claimed->count) ||
        !note_always_on(selection, claimed))
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
    for (int round = 0; round < ROUNDS_MAX; round++) {
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

/* --- the step ------------------------------------------------------------------------------------
 */

/* Takes back what the answer and the changes say about jobs that the database did not keep. */
static void forget_new_jobs(struct selection *selection)
{
    struct visit *visit = &selection->request->visit;

    visit->answer.job_count = selection->kept_jobs;
    visit->jobs_sent = 0;
    for (size_t i = 0; i < visit->version_change_count; i++)
        visit->version_changes[i].jobs_sent = 0;
}

/* Whether looking at jobs is of no use: no requested resource may get any. */
static bool is_idle(struct selection *selection)
{
    return selection->wants_work &&
           choose_is_idle(&selection->view, &selection->tally, &selection->notes) &&
           !selection->serves_always_on;
}

/* Everything that selects, with what view.disk says. */
static enum status serve_pass(struct selection *selection)
{
    enum status status = count_answer(selection) ? STATUS_OK : STATUS_NO_MEMORY;

    if (status == STATUS_OK && selection->serves_assigned)
        status = serve_assigned(selection);
    if (status == STATUS_OK && !is_served(selection) && !is_idle(selection))
        status = select_jobs(selection);
    return status;
}

/* Whether nothing was sent and more disk space might have changed that. */
static bool lacks_disk(const struct selection *selection)
{
    return selection->request->visit.jobs_sent == 0 &&
           (selection->notes.refusals.by_reason[REASON_DISK].count > 0 || selection->unseen);
}

/* Takes back what was claimed on the strength of files that are needed after all. */
static enum status undo_claims(struct selection *selection)
{
    if (!selection->has_begun)
        return STATUS_OK;
    forget_new_jobs(selection);
    source_settle(selection->request, false);
    return db_rollback_to_savepoint(selection->request->db);
}

/* The third pass for clients that do not make room by themselves. How much can be deleted is known
 * only now, and the jobs got may need some of the files: then once more without these. */
static enum status serve_with_room(struct selection *selection)
{
    struct request *request = selection->request;
    struct host_view *view = &selection->view;
    struct id_list has_job = selection->has_job;
    struct room room;
    enum status status = room_look(request, &room);

    if (status == STATUS_NOT_FOUND) /* no file database, or a job that we know nothing of */
        return STATUS_OK;
    for (int round = 0; status == STATUS_OK && round < ROUNDS_MAX; round++) {
        double disk = room_space(request, &room);

        if (!(disk > view->space.amounts[1]))
            return STATUS_OK;
        view->disk = disk;
        status = serve_pass(selection);
        if (status != STATUS_OK || request->visit.jobs_sent == 0 || room_order(request, &room))
            return status;
        status = undo_claims(selection);
        selection->has_job = has_job;
    }
    return status;
}

/* One pass after the other, each only if those before sent nothing for want of disk space. */
static enum status serve_in_passes(struct selection *selection)
{
    struct request *request = selection->request;
    struct host_view *view = &selection->view;
    int passes = request->config->delete_from_self ? DISK_PASSES : DISK_PASSES - 1, last = 0;
    enum status status = serve_pass(selection);

    for (int pass = 1; status == STATUS_OK && pass < passes && lacks_disk(selection); pass++) {
        if (!(view->space.amounts[pass] > view->disk))
            continue;
        view->disk = view->space.amounts[pass];
        if (pass + 1 == DISK_PASSES && room_is_ordered(request))
            status = serve_with_room(selection);
        else
            status = serve_pass(selection);
        last = pass;
    }
    request->visit.disk_pass = request->visit.jobs_sent > 0 ? last + 1 : 0;
    return status;
}

static enum next serve(struct selection *selection)
{
    struct request *request = selection->request;
    enum status status = on_host_count(request, &selection->view);
    enum next next;

    if (status == STATUS_OK && selection->wants_work)
        status = queue_read(request, &selection->view);
    if (status == STATUS_OK && selection->serves_always_on)
        status = find_always_on(selection);
    if (status == STATUS_OK)
        status = serve_in_passes(selection);
    if (selection->view.workload != NULL && edf_is_exhausted(selection->view.workload->edf))
        counter_add(COUNTER_queues_too_large, 1);
    if (status == STATUS_OK) {
        if (selection->wants_work && request->visit.answer.job_count == 0)
            answer_nothing(request, &selection->view, &selection->notes);
        return NEXT_STEP;
    }
    next = guard_failed(request, status, "jobs", selection->has_begun);
    forget_new_jobs(selection);
    return next;
}

enum next step_select(struct request *request)
{
    struct visit *visit = &request->visit;
    struct selection *selection = ARENA_NEW(request->arena, struct selection);
    bool may_get_work =
        !request->work_forbidden && !visit->work_refused && !request->message.dont_send_work;
    enum next next = NEXT_STEP;

    if (selection == NULL)
        return request_failed(request, STATUS_NO_MEMORY, "select");
    selection->request = request;
    selection->kept_jobs = visit->answer.job_count;
    if (!view_make(request, &selection->view) || !shares_read(request, &selection->view))
        return request_failed(request, STATUS_NO_MEMORY, "select");
    selection->wants_work = may_get_work && message_wants_work(&request->message);
    selection->serves_always_on = may_get_work && lacks_always_on(request, (struct id_list){0});
    selection->serves_assigned =
        may_get_work && assigned_may_be(request->config, selection->wants_work);
    if (selection->wants_work || selection->serves_always_on || selection->serves_assigned)
        next = serve(selection);
    if (next == NEXT_STEP) {
        enum status status = room_order_for_resent(request);

        if (status != STATUS_OK)
            return request_failed(request, status, "files");
    }
    if (next == NEXT_STEP && !answer_resources(request, &selection->view, &selection->notes))
        return request_failed(request, STATUS_NO_MEMORY, "select");
    return next;
}
