/* SPDX-License-Identifier: Apache-2.0 */
#include "server/passes/batch_pass.h"

#include "db/batches.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/passes/batch_date_pass.h"
#include "server/passes/hurry_pass.h"
#include "server/passes/pass_repeat.h"

#include "server/base/banned.h"

enum { BATCHES_AT_ONCE = 100, REFRESH_PART = 100 /* of the time */ };

struct batch_work {
    struct pass_owner *owner;
    int64_t id, now;
    int64_t state;      /* to be written */
    int64_t unfinished; /* jobs */
    bool is_of_new;     /* only a batch that is INIT ends */
};

/* --- one batch ------------------------------------------------------------------------------- */

static enum status refresh_one(void *subject)
{
    struct batch_work *work = subject;
    enum status status = db_batch_refresh(work->owner->db, work->id, work->now, &work->unfinished);

    return status == STATUS_OK ? db_commit(work->owner->db) : status;
}

/* A batch that is retired stays so. */
static enum status end_one(void *subject)
{
    struct batch_work *work = subject;
    struct arena_mark mark = arena_mark(work->owner->arena);
    struct batch_entry_row batch;
    enum status status = db_batch_lock(work->owner->db, work->owner->arena, work->id, &batch);

    if (status == STATUS_OK &&
        (work->is_of_new ? batch.state == BATCH_INIT : batch.state != BATCH_RETIRED))
        status = db_batch_end(work->owner->db, work->id, work->state, work->now);
    arena_rewind(work->owner->arena, mark);
    return status == STATUS_OK ? db_commit(work->owner->db) : status;
}

static enum status never_expire(void *subject)
{
    struct batch_work *work = subject;
    enum status status = db_batch_expire(work->owner->db, work->id, 0);

    return status == STATUS_OK ? db_commit(work->owner->db) : status;
}

static enum status run(transaction_call *call, struct batch_work *work)
{
    return pass_failed(work->owner, repeat_transaction(work->owner->db, call, work), "batch");
}

/* Whoever is just submitting jobs for it can commit no more of them, once it is not INIT. */
static enum status end_submission_of(struct batch_work work)
{
    work.is_of_new = true;
    return run(end_one, &work);
}

enum status batch_abort(struct pass_owner *owner, int64_t id, int64_t now,
                        struct job_change_sums *ret_sums)
{
    struct batch_work work = {.owner = owner, .id = id, .now = now, .state = BATCH_ABORTED};
    const struct job_selection selection = {.batch = id};
    const struct job_change cancel = {.kind = JOB_CHANGE_CANCEL, .now = now};
    enum status status = end_submission_of(work);

    *ret_sums = (struct job_change_sums){.is_whole = false};
    if (status == STATUS_OK)
        status = job_change_pass(owner, &selection, &cancel, "jobs cancelled", ret_sums);
    if (status == STATUS_OK && ret_sums->is_whole)
        status = run(refresh_one, &work);
    return status == STATUS_OK && ret_sums->is_whole ? run(end_one, &work) : status;
}

enum status batch_retire(struct pass_owner *owner, int64_t id, int64_t now, int64_t *ret_unfinished)
{
    struct batch_work work = {.owner = owner, .id = id, .now = now, .state = BATCH_RETIRED};
    const struct job_selection selection = {.batch = id};
    const struct job_change due = {.kind = JOB_CHANGE_TRANSITION, .now = now};
    struct job_change_sums sums = {.is_whole = false};
    enum status status = run(refresh_one, &work);

    *ret_unfinished = work.unfinished;
    if (status == STATUS_OK && work.unfinished > 0)
        return STATUS_INVALID;
    if (status == STATUS_OK)
        status = run(end_one, &work);
    if (status == STATUS_OK)
        status = job_change_pass(owner, &selection, &due, "jobs due", &sums);
    return status == STATUS_OK && sums.is_whole ? run(never_expire, &work) : status;
}

/* --- all of them ----------------------------------------------------------------------------- */

/* What the refreshing of all batches has read at its beginning. */
struct refresh_parts {
    struct hurries *hurries;
    struct batch_dates *dates;
};

static enum status refresh_listed(struct pass_owner *owner, const struct refresh_parts *parts,
                                  int64_t id, int64_t now)
{
    const struct hurries *hurries = parts->hurries;
    struct batch_work work = {.owner = owner, .id = id, .now = now};
    enum status status = run(refresh_one, &work);

    if (status == STATUS_OK)
        status = hurry_batch(owner, hurries, id, work.unfinished, now);
    return status == STATUS_OK && work.unfinished > 0
               ? batch_date_batch(owner, parts->dates, id, hurry_is_wanted(owner, hurries, id))
               : status;
}

static enum status expire_one(struct pass_owner *owner, int64_t id, int64_t now)
{
    struct job_change_sums sums;
    int64_t unfinished;
    enum status status = batch_abort(owner, id, now, &sums);

    if (status != STATUS_OK || !sums.is_whole)
        return status;
    status = batch_retire(owner, id, now, &unfinished);
    return status == STATUS_INVALID ? STATUS_OK : status; /* jobs came in between: next time */
}

/* Nothing of it stays in the arena, where others leave what they need for the next ones. */
static enum status list_batches(struct pass_owner *owner, int64_t after, int64_t now,
                                bool in_progress, int64_t ids[BATCHES_AT_ONCE], size_t *ret_count)
{
    struct arena_mark mark = arena_mark(owner->arena);
    struct id_row *rows = NULL;
    enum status status = in_progress ? db_batches_in_progress(owner->db, owner->arena, after,
                                                              BATCHES_AT_ONCE, &rows, ret_count)
                                     : db_batches_expired(owner->db, owner->arena, after, now,
                                                          BATCHES_AT_ONCE, &rows, ret_count);

    for (size_t i = 0; status == STATUS_OK && i < *ret_count; i++)
        ids[i] = rows[i].id;
    arena_rewind(owner->arena, mark);
    return pass_failed(owner, status, "batches");
}

/* Those in progress are refreshed, or those whose time is over are ended (`parts` NULL). */
static enum status walk_batches(struct pass_owner *owner, int64_t now,
                                const struct refresh_parts *parts)
{
    int64_t after = 0, ids[BATCHES_AT_ONCE] = {0};
    size_t count = BATCHES_AT_ONCE;
    enum status status = STATUS_OK;

    while (status == STATUS_OK && count == BATCHES_AT_ONCE && !pass_is_to_end(owner)) {
        status = list_batches(owner, after, now, parts != NULL, ids, &count);
        for (size_t i = 0; status == STATUS_OK && i < count && !pass_is_to_end(owner); i++) {
            after = ids[i];
            status = parts == NULL ? expire_one(owner, after, now)
                                   : refresh_listed(owner, parts, after, now);
        }
    }
    return status;
}

enum status batch_pass(struct pass_owner *owner, int64_t now, struct batch_schedule *schedule)
{
    struct arena_mark mark = arena_mark(owner->arena);
    double began = clock_seconds(), ended;
    struct refresh_parts parts;
    enum status status;

    if (began < schedule->refresh_at || !db_has_batches(owner->db))
        return STATUS_OK;
    status = hurry_begin(owner, &parts.hurries);
    if (status == STATUS_OK)
        status = batch_dates_begin(owner, now, &parts.dates);
    if (status == STATUS_OK)
        status = walk_batches(owner, now, &parts);
    arena_rewind(owner->arena, mark);
    ended = clock_seconds();
    schedule->refresh_at = ended + REFRESH_PART * (ended - began);
    return status == STATUS_OK ? walk_batches(owner, now, NULL) : status;
}
