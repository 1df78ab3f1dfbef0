/* SPDX-License-Identifier: Apache-2.0 */
/* New jobs: what the host is and has is read once, then jobs are selected in passes that differ in
 * the disk space that counts as free (select_pass.c, policy(7) 9.2), and what was found, or why
 * nothing, is said.
 *
 * Invariant: nothing that fails here takes a report with it, unless the whole transaction is to be
 * repeated. */
#include "server/base/arena.h"
#include "server/base/counters.h"
#include "server/files/deletable_files.h"
#include "server/handout/answer_work.h"
#include "server/handout/guard.h"
#include "server/handout/host_queue.h"
#include "server/handout/on_host.h"
#include "server/handout/select_parts.h"
#include "server/handout/shares.h"
#include "server/handout/source.h"
#include "server/handout/view.h"
#include "server/reply/answer.h"
#include "server/rpc/request.h"

#include "server/base/banned.h"

/* Takes back what the answer and the changes say about jobs that the database did not keep. */
static void forget_new_jobs(struct selection *selection)
{
    struct visit *visit = &selection->request->visit;

    visit->answer.job_count = selection->kept_jobs;
    visit->jobs_sent = 0;
    for (size_t i = 0; i < visit->version_change_count; i++)
        visit->version_changes[i].jobs_sent = 0;
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
    struct deletable_files deletable;
    enum status status = deletable_files_find(request, &deletable);

    if (status == STATUS_NOT_FOUND) /* no file database, or a job that we know nothing of */
        return STATUS_OK;
    for (int round = 0; status == STATUS_OK && round < SELECT_ROUNDS_MAX; round++) {
        double disk = deletable_files_space(request, &deletable);

        if (!(disk > view->space.amounts[1]))
            return STATUS_OK;
        view->disk = disk;
        status = select_in_pass(selection);
        if (status != STATUS_OK || request->visit.jobs_sent == 0 ||
            deletable_files_order(request, &deletable))
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
    enum status status = select_in_pass(selection);

    for (int pass = 1; status == STATUS_OK && pass < passes && lacks_disk(selection); pass++) {
        if (!(view->space.amounts[pass] > view->disk))
            continue;
        view->disk = view->space.amounts[pass];
        if (pass + 1 == DISK_PASSES && deletion_can_be_ordered(request))
            status = serve_with_room(selection);
        else
            status = select_in_pass(selection);
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
        status = always_on_find(selection);
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
    enum next next = NEXT_STEP;

    if (selection == NULL)
        return request_failed(request, STATUS_NO_MEMORY, "select");
    selection->request = request;
    selection->kept_jobs = visit->answer.job_count;
    if (!view_make(request, &selection->view) || !shares_read(request, &selection->view))
        return request_failed(request, STATUS_NO_MEMORY, "select");
    selection->wants_work = visit->plan.wants_work;
    selection->serves_always_on = visit->plan.serves_always_on;
    selection->serves_assigned = visit->plan.serves_assigned;
    if (visit->plan.serves_any)
        next = serve(selection);
    if (next == NEXT_STEP) {
        enum status status = deletable_files_order_for_resent(request);

        if (status != STATUS_OK)
            return request_failed(request, status, "files");
    }
    if (next == NEXT_STEP && !answer_resources(request, &selection->view, &selection->notes))
        return request_failed(request, STATUS_NO_MEMORY, "select");
    return next;
}
