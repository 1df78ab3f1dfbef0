/* SPDX-License-Identifier: Apache-2.0 */
#include "server/passes/job_change_pass.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/passes/pass_repeat.h"
#include "server/submit/inputs_lock.h"

#include "server/base/banned.h"

struct job_changing {
    struct pass_owner *owner;
    const struct job_selection *selection;
    const struct job_change *change;
    struct job_place place; /* when the last transaction had ended */
    struct jobs_changed *sums;
};

/* One transaction. */
static enum status change_part(void *subject)
{
    struct job_changing *changing = subject;
    struct pass_owner *owner = changing->owner;
    struct arena_mark mark = arena_mark(owner->arena);
    struct job_place place = changing->place;
    struct jobs_changed *sums = changing->sums, part;
    enum status status = db_jobs_change(owner->db, owner->arena, changing->selection,
                                        changing->change, &place, &part);

    if (status == STATUS_OK)
        status = db_commit(owner->db);
    arena_rewind(owner->arena, mark);
    if (status != STATUS_OK)
        return status;
    changing->place = place;
    sums->selected += part.selected;
    sums->jobs += part.jobs;
    sums->results += part.results;
    sums->in_progress += part.in_progress;
    if (part.missing > 0 && sums->missing == 0)
        sums->first_missing = part.first_missing;
    sums->missing += part.missing;
    return STATUS_OK;
}

/* A job that is taken up again needs its input files, which may just be deleted. */
static int lock_inputs(const struct pass_owner *owner, const struct job_change *change)
{
    bool needs_them = change->kind == JOB_CHANGE_RETRY || change->kind == JOB_CHANGE_REVALIDATE;

    return needs_them && !change->is_rehearsed
               ? inputs_lock_shared(text_string(owner->arena, owner->config->download_dir))
               : -1;
}

enum status job_change_pass(struct pass_owner *owner, const struct job_selection *selection,
                            const struct job_change *change, const char *what,
                            struct job_change_sums *ret_sums)
{
    struct job_changing changing = {
        .owner = owner, .selection = selection, .change = change, .sums = &ret_sums->jobs};
    enum status status = STATUS_OK;
    int lock = lock_inputs(owner, change);

    *ret_sums = (struct job_change_sums){.is_whole = false};
    while (status == STATUS_OK && !changing.place.is_done && !pass_is_to_end(owner)) {
        status = repeat_transaction(owner->db, change_part, &changing);
        pass_progress(
            owner, what,
            (int64_t)(change->is_rehearsed ? ret_sums->jobs.selected : ret_sums->jobs.jobs));
    }
    inputs_unlock(lock);
    ret_sums->is_whole = changing.place.is_done;
    return pass_failed(owner, status, "workunit");
}
