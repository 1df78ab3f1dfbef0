/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs, results and answers as an administrator looks at them. A project has ten million rows of
 * each, so every page comes from one index, in its order, and a long answer is read page by page.
 */
#include "db/admin.h"
#include "db/db_value.h"
#include "db/mariadb.h"
#include "server/base/arena.h"
#include "server/base/sorted.h"

#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

static bool has_key(const struct answer_filter *filter)
{
    return filter->batch != 0 || filter->name_prefix.length > 0;
}

/* The index of names has them in no order of ids, so that each part of a long list would sort all.
 */
static bool sorts_again(const struct answer_filter *filter)
{
    return filter->goes_on && filter->batch == 0 && filter->name_prefix.length > 0;
}

/* --- jobs ---------------------------------------------------------------------------------- */

/* `rows` are by falling id. */
static enum status with_results(struct db *db, struct arena *arena,
                                const struct job_entry_row *rows, size_t count,
                                struct job_view **ret_jobs)
{
    struct job_view *jobs = ARENA_ARRAY(arena, count, struct job_view);
    int64_t *rising = ARENA_ARRAY(arena, count, int64_t);
    struct job_results_cursor cursor;
    struct job_results_row row;
    enum status status;

    if (jobs == NULL || rising == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++) {
        jobs[i].row = rows[i];
        rising[count - 1 - i] = rows[i].id;
    }
    *ret_jobs = jobs;
    status = DB_QUERY(db, admin_job_results, NULL, &cursor, .workunitids = {rising, count});
    if (status != STATUS_OK)
        return status;
    while (DB_NEXT(&cursor, &row)) {
        size_t at = sorted_find_id(rising, count, row.workunitid);

        if (at == count)
            continue;
        struct job_view *job = &jobs[count - 1 - at];
        job->unsent = row.unsent;
        job->in_progress = row.in_progress;
        job->success = row.success;
        job->failed = row.failed;
    }
    return DB_END(&cursor);
}

static int compare_falling(const void *a, const void *b)
{
    const struct job_entry_row *left = a, *right = b;

    return (left->id < right->id) - (left->id > right->id);
}

/* The applications that are meant: the filter's one, or all. */
static enum status read_apps(struct db *db, struct arena *arena, const struct answer_filter *filter,
                             int64_t **ret_ids, size_t *ret_count)
{
    struct app_row *apps = NULL;
    size_t count = 1;
    enum status status =
        filter->appid != 0 ? STATUS_OK : DB_ALL(db, apps, arena, &apps, &count, DB_NO_VALUES);
    int64_t *ids = ARENA_ARRAY(arena, count, int64_t);

    if (status != STATUS_OK)
        return status;
    if (ids == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        ids[i] = apps == NULL ? filter->appid : apps[i].id;
    *ret_ids = ids;
    *ret_count = count;
    return STATUS_OK;
}

/* The index has an application's open jobs by id: the newest of each, and of those the newest. */
static enum status read_open_jobs(struct db *db, struct arena *arena,
                                  const struct answer_filter *filter,
                                  struct job_entry_row **ret_rows, size_t *ret_count)
{
    struct job_entry_row *rows = NULL;
    size_t count = 0, app_count = 0;
    int64_t *apps = NULL;
    enum status status = read_apps(db, arena, filter, &apps, &app_count);

    for (size_t i = 0; i < app_count && status == STATUS_OK; i++) {
        struct job_entry_row *some, *both;
        size_t some_count;

        status = DB_ALL(
            db, admin_jobs_open, arena, &some, &some_count, .appid = apps[i],
            .batch = filter->batch, .name_like = value_like_prefix(arena, filter->name_prefix),
            .state = filter->state, .before = filter->before, .most = (int64_t)filter->most);
        if (status != STATUS_OK || some_count == 0)
            continue;
        both = ARENA_ARRAY(arena, count + some_count, struct job_entry_row);
        if (both == NULL)
            return STATUS_TOO_LARGE;
        if (count > 0)
            memcpy(both, rows, count * sizeof(*rows));
        memcpy(both + count, some, some_count * sizeof(*some));
        rows = both;
        count += some_count;
        qsort(rows, count, sizeof(*rows), compare_falling);
        count = count < filter->most ? count : filter->most;
    }
    *ret_rows = rows;
    *ret_count = count;
    return status;
}

enum status db_admin_jobs(struct db *db, struct arena *arena, const struct answer_filter *filter,
                          struct job_view **ret_jobs, size_t *ret_count)
{
    struct text name_like = value_like_prefix(arena, filter->name_prefix);
    struct job_entry_row *rows;
    int64_t most = (int64_t)filter->most;
    enum status status;

    if (has_key(filter) && !sorts_again(filter))
        status = DB_ALL(db, admin_jobs_by_key, arena, &rows, ret_count, .appid = filter->appid,
                        .batch = filter->batch, .name_like = name_like, .state = filter->state,
                        .before = filter->before, .most = most);
    else if (filter->is_open)
        status = read_open_jobs(db, arena, filter, &rows, ret_count);
    else
        status = DB_ALL(db, admin_jobs, arena, &rows, ret_count, .appid = filter->appid,
                        .batch = filter->batch, .name_like = name_like, .state = filter->state,
                        .before = filter->before, .most = most);
    return status == STATUS_OK ? with_results(db, arena, rows, *ret_count, ret_jobs) : status;
}

enum status db_admin_job(struct db *db, struct arena *arena, int64_t id, struct text name,
                         struct job_view *ret_job)
{
    struct job_entry_row row;
    struct job_view *jobs;
    enum status status = id != 0 ? DB_ONE(db, admin_job_by_id, arena, &row, .id = id)
                                 : DB_ONE(db, admin_job_by_name, arena, &row, .name = name);

    if (status == STATUS_OK)
        status = with_results(db, arena, &row, 1, &jobs);
    if (status == STATUS_OK)
        *ret_job = jobs[0];
    return status;
}

enum status db_admin_job_counts(struct db *db, struct arena *arena,
                                const struct answer_filter *filter, struct job_count_row **ret_rows,
                                size_t *ret_count)
{
    return DB_ALL(db, admin_job_counts, arena, ret_rows, ret_count, .appid = filter->appid,
                  .batch = filter->batch,
                  .name_like = value_like_prefix(arena, filter->name_prefix));
}

/* --- results and answers -------------------------------------------------------------------- */

enum status db_admin_results(struct db *db, struct arena *arena, const struct answer_filter *filter,
                             struct result_entry_row **ret_rows, size_t *ret_count)
{
    struct text name_like = value_like_prefix(arena, filter->name_prefix);
    int64_t most = (int64_t)filter->most;

    if ((has_key(filter) || (filter->appid != 0 && filter->server_state != 0)) &&
        !sorts_again(filter))
        return DB_ALL(db, admin_results_by_key, arena, ret_rows, ret_count, .appid = filter->appid,
                      .batch = filter->batch, .name_like = name_like,
                      .server_state = filter->server_state, .outcome = filter->outcome,
                      .before = filter->before, .most = most);
    return DB_ALL(db, admin_results, arena, ret_rows, ret_count, .appid = filter->appid,
                  .batch = filter->batch, .name_like = name_like,
                  .server_state = filter->server_state, .outcome = filter->outcome,
                  .before = filter->before, .most = most);
}

enum status db_admin_answers_of_job(struct db *db, struct arena *arena, int64_t workunitid,
                                    struct answer_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, admin_answers_of_job, arena, ret_rows, ret_count, .workunitid = workunitid);
}

enum status db_admin_answers(struct db *db, struct arena *arena, const struct answer_filter *filter,
                             bool all, int64_t after, struct answer_row **ret_rows,
                             size_t *ret_count)
{
    struct text name_like = value_like_prefix(arena, filter->name_prefix);
    /* The index of names would be read and sorted again for each page. */
    bool by_batch = filter->batch != 0;
    int64_t most = (int64_t)filter->most;

    if (all && by_batch)
        return DB_ALL(db, admin_all_answers_of_batch, arena, ret_rows, ret_count,
                      .appid = filter->appid, .batch = filter->batch, .name_like = name_like,
                      .after = after, .most = most);
    if (all)
        return DB_ALL(db, admin_all_answers, arena, ret_rows, ret_count, .appid = filter->appid,
                      .batch = filter->batch, .name_like = name_like, .after = after, .most = most);
    if (by_batch)
        return DB_ALL(db, admin_canonical_answers_of_batch, arena, ret_rows, ret_count,
                      .appid = filter->appid, .batch = filter->batch, .name_like = name_like,
                      .after = after, .most = most);
    return DB_ALL(db, admin_canonical_answers, arena, ret_rows, ret_count, .appid = filter->appid,
                  .batch = filter->batch, .name_like = name_like, .after = after, .most = most);
}

enum status db_admin_answers_of(struct db *db, struct arena *arena,
                                const struct answer_filter *filter, bool all, const int64_t *ids,
                                size_t count, struct answer_row **ret_rows, size_t *ret_count)
{
    struct text name_like = value_like_prefix(arena, filter->name_prefix);

    return all ? DB_ALL(db, admin_all_answers_of, arena, ret_rows, ret_count,
                        .appid = filter->appid, .batch = filter->batch, .name_like = name_like,
                        .resultids = {ids, count})
               : DB_ALL(db, admin_canonical_answers_of, arena, ret_rows, ret_count,
                        .appid = filter->appid, .batch = filter->batch, .name_like = name_like,
                        .workunitids = {ids, count});
}

static enum status read_open_ids(struct db *db, struct arena *arena,
                                 const struct answer_filter *filter, bool all, int64_t appid,
                                 struct id_row **ret_rows, size_t *ret_count)
{
    struct text name_like = value_like_prefix(arena, filter->name_prefix);

    if (has_key(filter))
        return all ? DB_ALL(db, admin_open_results_by_key, arena, ret_rows, ret_count,
                            .appid = appid, .batch = filter->batch, .name_like = name_like)
                   : DB_ALL(db, admin_open_jobs_by_key, arena, ret_rows, ret_count, .appid = appid,
                            .batch = filter->batch, .name_like = name_like);
    return all ? DB_ALL(db, admin_open_results, arena, ret_rows, ret_count, .appid = appid)
               : DB_ALL(db, admin_open_jobs, arena, ret_rows, ret_count, .appid = appid);
}

enum status db_admin_open_ids(struct db *db, struct arena *arena,
                              const struct answer_filter *filter, bool all, int64_t **ret_ids,
                              size_t *ret_count, int64_t *ret_newest)
{
    struct newest_row newest;
    int64_t *apps = NULL, *ids = NULL;
    size_t app_count = 0, count = 0;
    enum status status = DB_ONE(db, admin_newest, NULL, &newest, DB_NO_VALUES);

    if (status == STATUS_OK)
        status = read_apps(db, arena, filter, &apps, &app_count);
    for (size_t i = 0; i < app_count && status == STATUS_OK; i++) {
        struct id_row *rows;
        int64_t *both;
        size_t some;

        status = read_open_ids(db, arena, filter, all, apps[i], &rows, &some);
        if (status != STATUS_OK || some == 0)
            continue;
        both = ARENA_ARRAY(arena, count + some, int64_t);
        if (both == NULL)
            return STATUS_TOO_LARGE;
        if (count > 0)
            memcpy(both, ids, count * sizeof(*ids));
        for (size_t j = 0; j < some; j++)
            both[count + j] = rows[j].id;
        ids = both;
        count += some;
    }
    if (status != STATUS_OK)
        return status;
    *ret_count = sorted_ids(ids, count);
    *ret_ids = ids;
    *ret_newest = all ? newest.resultid : newest.workunitid;
    return STATUS_OK;
}

static enum status take_ids(struct arena *arena, enum status status, const struct id_row *rows,
                            size_t count, int64_t **ret_ids)
{
    int64_t *ids = ARENA_ARRAY(arena, count, int64_t);

    if (status != STATUS_OK)
        return status;
    if (ids == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        ids[i] = rows[i].id;
    *ret_ids = ids;
    return STATUS_OK;
}

enum status db_admin_lapsed_ids(struct db *db, struct arena *arena,
                                const struct answer_filter *filter, int64_t after,
                                int64_t **ret_ids, size_t *ret_count)
{
    struct text name_like = value_like_prefix(arena, filter->name_prefix);
    struct id_row *rows = NULL;
    size_t count = 0;
    enum status status =
        has_key(filter)
            ? DB_ALL(db, admin_lapsed_results_by_key, arena, &rows, &count, .appid = filter->appid,
                     .batch = filter->batch, .name_like = name_like, .after = after)
            : DB_ALL(db, admin_lapsed_results, arena, &rows, &count, .appid = filter->appid,
                     .batch = filter->batch, .name_like = name_like, .after = after);

    *ret_count = count;
    return take_ids(arena, status, rows, count, ret_ids);
}

enum status db_admin_lapsed_of(struct db *db, struct arena *arena, const int64_t *ids, size_t count,
                               int64_t **ret_ids, size_t *ret_count)
{
    struct id_row *rows = NULL;
    enum status status = STATUS_OK;

    *ret_count = 0;
    if (count > 0)
        status = DB_ALL(db, admin_lapsed_results_of, arena, &rows, ret_count, .ids = {ids, count});
    return take_ids(arena, status, rows, *ret_count, ret_ids);
}

enum status db_admin_due_jobs(struct db *db, struct arena *arena,
                              const struct answer_filter *filter, int64_t since, int64_t now,
                              int64_t *ret_jobs)
{
    struct due_jobs_row row = {.jobs = 0};
    enum status status = DB_ONE(
        db, admin_due_jobs, NULL, &row, .appid = filter->appid, .batch = filter->batch,
        .name_like = value_like_prefix(arena, filter->name_prefix), .since = since, .now = now);

    *ret_jobs = row.jobs;
    return status;
}
