/* SPDX-License-Identifier: Apache-2.0 */
#include "db/job_changes.h"

#include "db/db_value.h"
#include "db/mariadb.h"
#include "server/base/arena.h"

#include <string.h>

#include "server/base/banned.h"

_Static_assert(JOBS_AT_ONCE == DB_LIST_MOST, "what is locked together is one part of a list");

/* The rows of a part: all that were looked at, then those that are left. */
struct chosen_jobs {
    struct chosen_job_row *rows;
    size_t count;
};

/* --- which jobs ------------------------------------------------------------------------------ */

static enum status choose_named(struct db *db, struct arena *arena,
                                const struct job_selection *selection, struct job_place *place,
                                struct chosen_jobs *ret_jobs)
{
    size_t left = selection->name_count - place->name_index;
    size_t count = left < JOBS_AT_ONCE ? left : JOBS_AT_ONCE;
    struct db_texts names = {selection->names + place->name_index, count};

    place->name_index += count;
    place->is_done = count == left;
    return DB_ALL(db, jobs_choose_named, arena, &ret_jobs->rows, &ret_jobs->count, .names = names);
}

static enum status choose_by_name(struct db *db, struct arena *arena,
                                  const struct job_selection *selection, struct job_place *place,
                                  struct chosen_jobs *ret_jobs)
{
    struct text last;
    enum status status = DB_ALL(db, jobs_choose_by_name, arena, &ret_jobs->rows, &ret_jobs->count,
                                .name_like = value_like_prefix(arena, selection->name_prefix),
                                .after = text_from(place->name), .most = JOBS_AT_ONCE);

    if (status != STATUS_OK)
        return status;
    place->is_done = ret_jobs->count < JOBS_AT_ONCE;
    if (ret_jobs->count == 0)
        return STATUS_OK;
    last = ret_jobs->rows[ret_jobs->count - 1].name;
    if (last.length >= sizeof(place->name))
        return STATUS_TOO_LARGE;
    memcpy(place->name, last.at, last.length);
    place->name[last.length] = '\0';
    return STATUS_OK;
}

static enum status choose_by_id(struct db *db, struct arena *arena,
                                const struct job_selection *selection, struct job_place *place,
                                struct chosen_jobs *ret_jobs)
{
    int64_t after = place->id >= selection->first_id ? place->id : selection->first_id - 1;
    int64_t last = selection->last_id != 0 ? selection->last_id : INT64_MAX;
    enum status status;

    if (selection->batch != 0)
        status = DB_ALL(db, jobs_choose_of_batch, arena, &ret_jobs->rows, &ret_jobs->count,
                        .batch = selection->batch, .after = after, .most = JOBS_AT_ONCE);
    else
        status = DB_ALL(db, jobs_choose, arena, &ret_jobs->rows, &ret_jobs->count, .after = after,
                        .last = last, .most = JOBS_AT_ONCE);
    if (status != STATUS_OK)
        return status;
    place->is_done = ret_jobs->count < JOBS_AT_ONCE;
    if (ret_jobs->count > 0)
        place->id = ret_jobs->rows[ret_jobs->count - 1].id;
    return STATUS_OK;
}

/* An index has led to them by one of the conditions. */
static bool is_selected(const struct job_selection *selection, const struct chosen_job_row *job)
{
    return (selection->appid == 0 || job->appid == selection->appid) &&
           (selection->batch == 0 || job->batch == selection->batch) &&
           job->id >= selection->first_id &&
           (selection->last_id == 0 || job->id <= selection->last_id) &&
           (selection->names == NULL || text_starts(job->name, selection->name_prefix));
}

/* The database's names are the same whatever the case of their letters. */
static void find_missing(const struct job_selection *selection, size_t first, size_t last,
                         const struct chosen_jobs *jobs, struct jobs_changed *changed)
{
    for (size_t i = first; i < last; i++) {
        bool is_there = false;

        for (size_t k = 0; k < jobs->count && !is_there; k++)
            is_there = text_equal_nocase(jobs->rows[k].name, selection->names[i]);
        if (!is_there && changed->missing++ == 0)
            changed->first_missing = i;
    }
}

static enum status keep_lost(struct db *db, struct arena *arena, struct chosen_jobs *jobs)
{
    int64_t *ids = ARENA_ARRAY(arena, jobs->count, int64_t);
    struct id_row *lost;
    size_t count, kept = 0;
    enum status status;

    if (ids == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < jobs->count; i++)
        ids[i] = jobs->rows[i].id;
    status = DB_ALL(db, jobs_lost, arena, &lost, &count, .ids = {ids, jobs->count});
    for (size_t i = 0; i < jobs->count && status == STATUS_OK; i++) {
        bool is_lost = false;

        for (size_t k = 0; k < count && !is_lost; k++)
            is_lost = lost[k].id == jobs->rows[i].id;
        if (is_lost)
            jobs->rows[kept++] = jobs->rows[i];
    }
    jobs->count = kept;
    return status;
}

static enum status choose(struct db *db, struct arena *arena, const struct job_selection *selection,
                          struct job_place *place, struct chosen_jobs *ret_jobs,
                          struct jobs_changed *changed)
{
    size_t first = place->name_index, kept = 0;
    enum status status;

    if (selection->names != NULL)
        status = choose_named(db, arena, selection, place, ret_jobs);
    else if (selection->name_prefix.length > 0)
        status = choose_by_name(db, arena, selection, place, ret_jobs);
    else
        status = choose_by_id(db, arena, selection, place, ret_jobs);
    if (status != STATUS_OK)
        return status;
    if (selection->names != NULL)
        find_missing(selection, first, place->name_index, ret_jobs, changed);
    for (size_t i = 0; i < ret_jobs->count; i++)
        if (is_selected(selection, &ret_jobs->rows[i]))
            ret_jobs->rows[kept++] = ret_jobs->rows[i];
    ret_jobs->count = kept;
    if (selection->is_lost)
        status = keep_lost(db, arena, ret_jobs);
    changed->selected = ret_jobs->count;
    return status;
}

/* --- what becomes of them -------------------------------------------------------------------- */

static bool has_input_files(const struct chosen_job_row *job)
{
    return job->file_delete_state == FILE_DELETE_INIT ||
           job->file_delete_state == FILE_DELETE_READY;
}

static bool applies(enum job_change_kind kind, const struct chosen_job_row *job)
{
    switch (kind) {
#define JOB_CHANGE_CASE(name, condition) \
    case JOB_CHANGE_##name:              \
        return condition;
        JOB_CHANGES(JOB_CHANGE_CASE)
#undef JOB_CHANGE_CASE
    }
    return false;
}

/* Those that the change applies to, by rising id. */
static enum status keep_changed(struct db *db, struct arena *arena, enum job_change_kind kind,
                                const struct chosen_jobs *jobs, struct db_ids *ret_ids)
{
    int64_t *ids = ARENA_ARRAY(arena, jobs->count, int64_t);
    struct id_row *rows;
    size_t count = 0;
    enum status status;

    if (ids == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < jobs->count; i++)
        if (applies(kind, &jobs->rows[i]))
            ids[count++] = jobs->rows[i].id;
    *ret_ids = db_sorted_ids(arena, ids, count);
    if (kind != JOB_CHANGE_REVALIDATE)
        return STATUS_OK;
    status = DB_ALL(db, jobs_to_judge_again, arena, &rows, &count, .workunitids = *ret_ids);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        ids[i] = rows[i].id;
    *ret_ids = db_sorted_ids(arena, ids, count);
    return STATUS_OK;
}

static enum status cancel(struct db *db, struct db_ids ids, int64_t now,
                          struct jobs_changed *changed)
{
    struct still_out_row still_out;
    enum status status = DB_RUN(db, jobs_cancel, NULL, .ids = ids, .now = now);

    if (status == STATUS_OK)
        status = DB_RUN(db, jobs_cancel_results, &changed->results, .workunitids = ids);
    if (status == STATUS_OK)
        status = DB_ONE(db, jobs_still_out, NULL, &still_out, .workunitids = ids);
    if (status == STATUS_OK)
        changed->in_progress = (uint64_t)still_out.results;
    return status;
}

/* Rows of workunits are locked; those of results come after them. */
static enum status change_locked(struct db *db, struct db_ids ids, const struct job_change *change,
                                 struct jobs_changed *changed)
{
    enum status status = STATUS_OK;

    switch (change->kind) {
    case JOB_CHANGE_CANCEL:
        return cancel(db, ids, change->now, changed);
    case JOB_CHANGE_PRIORITY:
        status = DB_RUN(db, jobs_priority, NULL, .ids = ids, .priority = change->priority);
        return status != STATUS_OK ? status
                                   : DB_RUN(db, jobs_priority_of_results, &changed->results,
                                            .workunitids = ids, .priority = change->priority);
    case JOB_CHANGE_TRANSITION:
        return DB_RUN(db, workunits_transition_now, NULL, .ids = ids, .now = change->now);
    case JOB_CHANGE_REVALIDATE:
        status = DB_RUN(db, jobs_judge_again, &changed->results, .workunitids = ids);
        if (status == STATUS_OK)
            status = DB_RUN(db, jobs_open_again, NULL, .ids = ids, .now = change->now);
        break;
    case JOB_CHANGE_RETRY:
        status = DB_RUN(db, jobs_retry, NULL, .ids = ids, .now = change->now);
        if (status == STATUS_OK)
            status = DB_RUN(db, jobs_retry_results, &changed->results, .workunitids = ids);
        break;
    }
    return status != STATUS_OK ? status : DB_RUN(db, jobs_open_batches, NULL, .workunitids = ids);
}

enum status db_jobs_change(struct db *db, struct arena *arena,
                           const struct job_selection *selection, const struct job_change *change,
                           struct job_place *place, struct jobs_changed *ret_changed)
{
    struct chosen_jobs jobs = {.count = 0};
    struct db_ids ids = {.count = 0};
    enum status status;

    *ret_changed = (struct jobs_changed){.selected = 0};
    status = choose(db, arena, selection, place, &jobs, ret_changed);
    if (status == STATUS_OK)
        status = keep_changed(db, arena, change->kind, &jobs, &ids);
    if (status == STATUS_OK && ids.count > 0 && !change->is_rehearsed) {
        /* Others may have changed them since they were looked at. */
        status = DB_ALL(db, jobs_choose_lock, arena, &jobs.rows, &jobs.count, .ids = ids);
        if (status == STATUS_OK)
            status = keep_changed(db, arena, change->kind, &jobs, &ids);
        if (status == STATUS_OK && ids.count > 0)
            status = change_locked(db, ids, change, ret_changed);
    }
    ret_changed->jobs = ids.count;
    return status;
}
