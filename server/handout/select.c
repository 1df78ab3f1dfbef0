/* SPDX-License-Identifier: Apache-2.0 */
/* New jobs. The view of the host is read once. A search then is a funnel: a source offers
 * candidates batch by batch, checks let some through, the choice takes what the request has room
 * for, the claim makes them this host's. What others claimed in between is lost, and something else
 * is chosen in its place; batches, rounds and queries are bounded. Searches are repeated with more
 * disk space (policy(7) 9.2) as long as none sent a job and the disk was in the way. In the end the
 * answer says what was found, or why nothing.
 *
 * Invariants: a job is in the answer only after its claim succeeded in this transaction; the tally
 * holds what is in the answer and nothing else before each choice; nothing that fails here takes a
 * report with it, unless the whole transaction is to be repeated. */
#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/budget.h"
#include "server/base/counters.h"
#include "server/files/deletable_files.h"
#include "server/handout/claim.h"
#include "server/handout/handout.h"
#include "server/handout/shares.h"
#include "server/handout/source.h"
#include "server/handout/view.h"
#include "server/policy/edf/deadline.h"
#include "server/policy/edf/edf.h"
#include "server/policy/limits/amounts.h"
#include "server/pool/pool.h"
#include "server/project/catalog.h"
#include "server/reply/answer.h"
#include "server/rpc/request.h"
#include "server/rpc/world.h"

#include <math.h>
#include <string.h>

#include "server/base/banned.h"

enum { ROUNDS_MAX = 8 /* of choosing and claiming, and of deleting for space */ };

enum { LATE_MAX = 100 /* jobs that are looked up before a host is sent away for them */ };

struct selection {
    struct request *request;
    int64_t *late; /* results that the last search refused for their deadlines; NULL: none yet */
    size_t late_count;
    struct host_view view;
    struct choice_notes judged; /* why the last search did not choose candidates */
    struct refusals refused;    /* why claims failed, in all searches: that holds */
    struct tally tally;
    size_t kept_jobs; /* in the answer before: resent ones */
    bool wants_work;
    bool serves_always_on;
    bool serves_assigned;
    bool has_savepoint;     /* there is a point to go back to */
    struct id_list has_job; /* always-on apps that have theirs */
    bool some_lost;         /* of the last batch, to others */
    bool some_unseen;       /* there may be jobs that no search has looked at */
};

/* --- what the host was given ------------------------------------------------------------------ */

/* From nothing to what the answer holds. */
static bool count_answer(struct selection *selection)
{
    struct request *request = selection->request;
    const struct answer *answer = &request->attempt.answer;
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
            .memory = view_memory_of(view, job),
            .is_queued = job->is_resent,
            .deadline = (double)(job->report_deadline - (int64_t)request->now),
            .margin = 1,
            .is_always_on = job->app->non_cpu_intensive != 0,
        };
        const struct version_option *option =
            job->is_resent
                ? NULL
                : version_option_of(&view->options, job->version, job->anonymous, job->variant);
        if (option != NULL) {
            tally->option_jobs[version_counter(&view->options, option)]++;
            use.margin = job->margin;
        }
        if (resource < view->asked.resource_count)
            tally_take_use(tally, &use);
    }
    return true;
}

/* Whether the host lacks a job of some always-on app: of these it has one each, whatever else it is
 * given. */
static bool lacks_always_on(const struct request *request, struct id_list has_job)
{
    const struct catalog_rows *rows = &request->catalog->rows;

    for (size_t i = 0; i < rows->app_count; i++) {
        const struct app_row *app = &rows->apps[i];

        if (app->non_cpu_intensive != 0 && app->deprecated == 0 && !id_list_has(has_job, app->id))
            return true;
    }
    return false;
}

/* False: no memory. */
static bool keep_always_on(struct selection *selection, const struct claimed *claimed)
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

    if (!handout_add_jobs(request, claimed->jobs, claimed->count) ||
        !keep_always_on(selection, claimed))
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < claimed->count; i++) {
        struct host_app_version_change *change =
            request_version_change(request, claimed->of[i]->option->statistics_id);
        if (change == NULL)
            return STATUS_NO_MEMORY;
        change->jobs_sent++;
        shares_book(request, &selection->view, claimed->of[i]);
    }
    request->attempt.jobs_sent += claimed->count;
    return STATUS_OK;
}

/* Takes back what the answer and the changes say about jobs that the database did not keep. */
static void forget_new_jobs(struct selection *selection)
{
    struct attempt *attempt = &selection->request->attempt;

    attempt->answer.job_count = selection->kept_jobs;
    attempt->jobs_sent = 0;
    attempt->bookings = NULL;
    for (size_t i = 0; i < attempt->version_change_count; i++)
        attempt->version_changes[i].jobs_sent = 0;
}

static enum status mark_savepoint(struct selection *selection)
{
    enum status status = selection->has_savepoint
                             ? STATUS_OK
                             : selection->request->world->savepoint(selection->request);

    selection->has_savepoint = status == STATUS_OK;
    return status;
}

/* --- one batch -------------------------------------------------------------------------------- */

static size_t choose(struct selection *selection, struct job *jobs, size_t count,
                     struct job **chosen, struct choice_notes *notes)
{
    size_t chosen_count = 0;

    if (selection->serves_always_on)
        chosen_count = choose_always_on(&selection->view, &selection->tally, jobs, count,
                                        selection->has_job, chosen, notes);
    if (selection->wants_work)
        chosen_count += choose_jobs(&selection->view, &selection->tally, jobs, count,
                                    chosen + chosen_count, notes);
    return chosen_count;
}

/* Chooses among the jobs of a batch and claims what was chosen. Nothing claimed, lost or refused:
 * nothing of the batch suits any more. A job is refused beside all that was chosen before it; if
 * some of that is not got, the reason may not be true, and the next round judges again. So what the
 * choice refused is noted only if all that it chose was got. */
static enum status serve_round(struct selection *selection, struct job *jobs, size_t count,
                               struct job **chosen, struct claimed *ret_claimed)
{
    struct choice_notes judged = selection->judged;
    size_t chosen_count;
    enum status status;

    *ret_claimed = (struct claimed){0};
    if (!count_answer(selection))
        return STATUS_NO_MEMORY;
    chosen_count = choose(selection, jobs, count, chosen, &judged);
    if (chosen_count == 0) {
        selection->judged = judged;
        return STATUS_OK;
    }
    status = mark_savepoint(selection);
    if (status == STATUS_OK)
        status = claim_jobs(selection->request, &selection->view, chosen, chosen_count,
                            &selection->refused, ret_claimed);
    if (status == STATUS_OK && ret_claimed->lost + ret_claimed->refused == 0)
        selection->judged = judged;
    return status == STATUS_OK ? keep_claimed(selection, ret_claimed) : status;
}

/* Each batch may end with the same jobs, by which reasons are told. */
static void keep_late(struct selection *selection, const struct job *jobs, size_t count)
{
    for (size_t i = 0; i < count && selection->late_count < LATE_MAX; i++) {
        size_t at = selection->late_count;

        if (!jobs[i].is_late)
            continue;
        if (selection->late == NULL)
            selection->late = ARENA_ARRAY(selection->request->arena, LATE_MAX, int64_t);
        if (selection->late == NULL)
            return; /* they are believed */
        if (at == 0 || selection->late[at - 1] != jobs[i].resultid)
            selection->late[selection->late_count++] = jobs[i].resultid;
    }
}

/* For the jobs of a batch; what no memory of the host holds is refused anyway. */
static enum status read_queue(struct selection *selection, const struct job *jobs, size_t count)
{
    double largest = 0;

    if (!selection->wants_work)
        return STATUS_OK;
    for (size_t i = 0; i < count; i++)
        if (jobs[i].workunit->rsc_memory_bound <= selection->view.memory)
            largest = fmax(largest, jobs[i].workunit->rsc_memory_bound);
    return view_read_queue(selection->request, &selection->view, largest);
}

/* Rounds until nothing more of the batch is got. Where the last one was not got either, what is
 * left of the batch is judged beside what the host has in the end. */
static enum status serve_batch(struct selection *selection, struct source *source, struct job *jobs,
                               size_t count)
{
    struct job **chosen = ARENA_ARRAY(selection->request->arena, count, struct job *);

    enum status status;

    if (chosen == NULL)
        return STATUS_NO_MEMORY;
    status = read_queue(selection, jobs, count);
    if (status != STATUS_OK)
        return status;
    selection->some_lost = false;
    for (int round = 0; round < ROUNDS_MAX; round++) {
        struct claimed claimed;

        status = serve_round(selection, jobs, count, chosen, &claimed);
        if (status != STATUS_OK)
            return status;
        selection->some_lost = selection->some_lost || claimed.lost > 0;
        if (claimed.lost + claimed.refused == 0)
            return STATUS_OK;
        if (claimed.lost + claimed.over > claimed.count)
            status = source_recheck(source, jobs, count);
        if (status != STATUS_OK)
            return status;
    }
    if (!count_answer(selection))
        return STATUS_NO_MEMORY;
    if (selection->wants_work)
        choose_none(&selection->view, &selection->tally, jobs, count, &selection->judged);
    return STATUS_OK;
}

/* --- one search ------------------------------------------------------------------------------- */

/* What is assigned to the host comes before what anybody may have. Refusals are noted as in
 * serve_round. */
static enum status serve_assigned(struct selection *selection)
{
    struct request *request = selection->request;
    struct choice_notes judged = selection->judged;
    struct claimed claimed = {0};
    struct job **chosen = NULL;
    size_t count = 0;
    enum status status = mark_savepoint(selection);

    if (status == STATUS_OK)
        status = assigned_choose(request, &selection->view, selection->wants_work,
                                 &selection->tally, &judged, &chosen, &count);
    if (status == STATUS_OK && count > 0)
        status =
            claim_jobs(request, &selection->view, chosen, count, &selection->refused, &claimed);
    if (status == STATUS_OK && claimed.lost + claimed.refused == 0)
        selection->judged = judged;
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
    return !selection->serves_always_on || selection->request->attempt.jobs_sent > 0;
}

static enum status search_candidates(struct selection *selection)
{
    struct request *request = selection->request;
    struct source *source =
        source_open(request, &selection->view, &selection->tally.left, selection->wants_work);
    enum status status;

    if (source == NULL)
        return STATUS_NO_MEMORY;
    for (;;) {
        struct job *jobs;
        size_t count;

        status = source_next(source, selection->some_lost, &jobs, &count);
        selection->some_unseen = source_is_cut(source);
        if (status != STATUS_OK || count == 0)
            return status;
        status = serve_batch(selection, source, jobs, count);
        keep_late(selection, jobs, count);
        if (status != STATUS_OK)
            return status;
        if (!count_answer(selection))
            return STATUS_NO_MEMORY;
        if (is_served(selection))
            return STATUS_OK;
    }
}

/* Whether searching is of no use: no requested resource may get a job, whatever the job is. */
static bool is_closed(struct selection *selection)
{
    return selection->wants_work &&
           choose_is_idle(&selection->view, &selection->tally, &selection->judged) &&
           !selection->serves_always_on;
}

/* Another search judges all candidates anew, with other amounts: what the one before said of them
 * is not true any more. */
static enum status search(struct selection *selection)
{
    enum status status = count_answer(selection) ? STATUS_OK : STATUS_NO_MEMORY;

    selection->judged = (struct choice_notes){0};
    selection->late_count = 0;
    if (status == STATUS_OK && selection->serves_assigned)
        status = serve_assigned(selection);
    if (status == STATUS_OK && !is_served(selection) && !is_closed(selection))
        status = search_candidates(selection);
    return status;
}

/* --- disk passes ------------------------------------------------------------------------------ */

/* Whether nothing was sent and more disk space might have changed that. */
static bool lacks_disk(const struct selection *selection)
{
    return selection->request->attempt.jobs_sent == 0 &&
           (selection->judged.refusals.by_reason[REASON_DISK].count > 0 || selection->some_unseen);
}

/* Takes back what was claimed on the strength of files that are needed after all. */
static enum status undo_claims(struct selection *selection)
{
    if (!selection->has_savepoint)
        return STATUS_OK;
    forget_new_jobs(selection);
    source_finish(selection->request, false);
    return selection->request->world->rollback_to_savepoint(selection->request);
}

/* The third pass for clients that delete files only when they are told to. How much can be deleted
 * is known only now, and the jobs that are got may need some of the files: then the pass is made
 * again without these. */
static enum status search_with_deletions(struct selection *selection)
{
    struct request *request = selection->request;
    struct host_view *view = &selection->view;
    const struct choice_notes judged = selection->judged;
    struct id_list has_job = selection->has_job;
    struct deletable_files deletable;
    enum status status = deletable_files_find(request, &deletable);

    if (status == STATUS_NOT_FOUND) /* no file database, or a job that we know nothing of */
        return STATUS_OK;
    for (int round = 0; status == STATUS_OK && round < ROUNDS_MAX; round++) {
        double disk = deletable_files_space(request, &deletable);

        if (!(disk > view->space.amounts[1]))
            return STATUS_OK;
        view->disk = disk;
        status = search(selection);
        if (status != STATUS_OK || request->attempt.jobs_sent == 0 ||
            deletable_files_order(request, &deletable))
            return status;
        status = undo_claims(selection);
        selection->has_job = has_job;
        selection->judged = judged; /* the undone search judged beside jobs that are not got */
    }
    return status;
}

/* One pass after the other, each only if those before sent nothing for lack of disk space. */
static enum status search_in_passes(struct selection *selection)
{
    struct request *request = selection->request;
    struct host_view *view = &selection->view;
    int passes = request->config->delete_from_self ? DISK_PASSES : DISK_PASSES - 1, last = 0;
    enum status status = search(selection);

    for (int pass = 1; status == STATUS_OK && pass < passes && lacks_disk(selection); pass++) {
        if (!(view->space.amounts[pass] > view->disk))
            continue;
        view->disk = view->space.amounts[pass];
        if (pass + 1 == DISK_PASSES && deletion_can_be_ordered(request))
            status = search_with_deletions(selection);
        else
            status = search(selection);
        last = pass;
    }
    request->attempt.disk_pass = request->attempt.jobs_sent > 0 ? last + 1 : 0;
    return status;
}

/* --- the step --------------------------------------------------------------------------------- */

/* Why jobs were not sent: what was judged last, and what claims found. */
static struct choice_notes notes_of(const struct selection *selection)
{
    struct choice_notes notes = selection->judged;

    refusals_join(&notes.refusals, &selection->refused);
    return notes;
}

/* Where the budget was used up by other lists than the queue, of which the deadline check tells. */
static void note_over_budget(struct selection *selection)
{
    const struct host_view *view = &selection->view;
    const struct refusal refusal = {.reason = REASON_OVER_BUDGET};

    if (budget_is_used_up(&selection->request->attempt.budget) &&
        (view->workload == NULL || !edf_is_exhausted(view->workload->edf)))
        refusals_add(&selection->refused, &refusal);
}

/* The pool learns late what others have cancelled. Before a host is sent away for long, for the
 * sake of deadlines, one look whether any of the jobs that were offered is there still; else none
 * of them was refused. One may stand for many that are like it, of which some may be there: these
 * are offered when the host comes again, which is soon. */
static enum status doubt_late(struct selection *selection)
{
    struct request *request = selection->request;
    struct unsent_job *rows = NULL;
    size_t count = 0;
    enum status status;

    if (request->pool == NULL || selection->late_count == 0 ||
        workload_retry_delay(selection->view.workload) <= DEADLINE_RETRY_MIN)
        return STATUS_OK;
    status = request->world->unsent_by_id(request, selection->late, selection->late_count, &rows,
                                          &count);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        if (rows[i].is_free)
            return STATUS_OK;
    if (status != STATUS_OK)
        return status;
    pool_drop(request->pool, selection->late, selection->late_count);
    refusals_forget_deadlines(&selection->judged.refusals);
    memset(selection->judged.late, 0, sizeof(selection->judged.late));
    return STATUS_OK;
}

static enum next serve(struct selection *selection)
{
    struct request *request = selection->request;
    enum status status = selection->view.is_over_budget ? STATUS_OK : search_in_passes(selection);
    enum next next;

    if (selection->view.workload != NULL && edf_is_exhausted(selection->view.workload->edf))
        counter_add(COUNTER_queues_too_large, 1);
    if (status == STATUS_OK && selection->wants_work && request->attempt.answer.job_count == 0)
        status = doubt_late(selection);
    if (status == STATUS_OK) {
        note_over_budget(selection);
        if (selection->wants_work && request->attempt.answer.job_count == 0) {
            const struct choice_notes notes = notes_of(selection);
            answer_nothing(request, &selection->view, &notes);
        }
        return NEXT_STEP;
    }
    next = handout_failed(request, status, "jobs", selection->has_savepoint);
    forget_new_jobs(selection);
    return next;
}

/* What is said in the end; `notes` are of the searches, NULL where there was none. */
static enum next conclude(struct request *request, const struct host_view *view,
                          const struct choice_notes *notes)
{
    enum status status = deletable_files_order_for_resent(request);

    if (status != STATUS_OK)
        return request_failed(request, status, "files");
    if (!answer_resources(request, view, notes))
        return request_failed(request, STATUS_NO_MEMORY, "select");
    return NEXT_STEP;
}

/* Most requests ask for nothing: they need none of what a search is made of. */
static enum next serve_nothing(struct request *request)
{
    struct host_view view;
    enum status status = view_read(request, VIEW_ANSWER, &view);

    return status == STATUS_OK ? conclude(request, &view, NULL)
                               : handout_failed(request, status, "jobs", false);
}

enum next step_select(struct request *request)
{
    const struct request_plan *plan = &request->attempt.plan;
    struct selection *selection;
    struct choice_notes notes;
    enum next next;
    enum status status;

    if (!plan->serves_any)
        return serve_nothing(request);
    selection = ARENA_NEW(request->arena, struct selection);
    if (selection == NULL)
        return request_failed(request, STATUS_NO_MEMORY, "select");
    selection->request = request;
    selection->kept_jobs = request->attempt.answer.job_count;
    selection->wants_work = plan->wants_work;
    selection->serves_assigned = plan->serves_assigned;
    status = view_read(request, plan->wants_work ? VIEW_SELECT : VIEW_UNASKED, &selection->view);
    selection->has_job = selection->view.apps_held;
    selection->serves_always_on =
        plan->serves_always_on && lacks_always_on(request, selection->has_job);
    next = status == STATUS_OK ? serve(selection) : handout_failed(request, status, "jobs", false);
    if (next != NEXT_STEP)
        return next;
    notes = notes_of(selection);
    return conclude(request, &selection->view, &notes);
}
