/* SPDX-License-Identifier: Apache-2.0 */
/* Job streams, as the filler serves them: it marks of which stream each job is that comes into the
 * pool, so that a search finds it however many jobs of others stand before it; it brings weights up
 * to date when a sweep begins; and it keeps clocks in the database. No request writes there: each
 * server adds what it handed out in the last seconds, and reads what others did, so the shares of
 * several servers are right but for those seconds, and outlive them. */
#include "config/config.h"
#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/log.h"
#include "server/base/sorted.h"
#include "server/policy/dispatch/stream.h"
#include "server/pool/fill_parts.h"
#include "server/pool/pool.h"

#include <stdlib.h>

#include "server/base/banned.h"

static const double keep_seconds = 5, any_age = 1e9;

/* What is needed to tell of which stream a job is. */
struct marking {
    struct streams streams;
    struct app_name_row *apps; /* by id */
    size_t app_count;
    struct batch_owner_row *batches; /* likewise */
    size_t batch_count;
};

static bool names(const struct streams *streams, enum stream_kind kind)
{
    for (size_t i = 1; i < streams->count; i++)
        if (streams->items[i].kind == kind)
            return true;
    return false;
}

/* Each batch once, in order. */
static size_t list_batches(const struct pool_job *jobs, size_t count, int64_t *ret_ids)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++)
        if (jobs[i].workunit.batch > 0 &&
            (found == 0 || ret_ids[found - 1] != jobs[i].workunit.batch))
            ret_ids[found++] = jobs[i].workunit.batch;
    return sorted_ids(ret_ids, found);
}

static enum status read_owners(struct db *db, struct arena *arena, const struct pool_job *jobs,
                               size_t count, struct marking *marking)
{
    int64_t *ids = ARENA_ARRAY(arena, count, int64_t);
    size_t id_count;

    if (ids == NULL)
        return STATUS_NO_MEMORY;
    id_count = list_batches(jobs, count, ids);
    return id_count == 0 ? STATUS_OK
                         : db_batch_owners(db, arena, ids, id_count, &marking->batches,
                                           &marking->batch_count);
}

static struct stream_subject subject_of(const struct marking *marking,
                                        const struct workunit_row *workunit)
{
    struct stream_subject subject = {.appid = workunit->appid, .batch = workunit->batch};
    const struct app_name_row *app =
        marking->app_count == 0 ? NULL
                                : bsearch(&workunit->appid, marking->apps, marking->app_count,
                                          sizeof(*app), sorted_compare_ids);
    const struct batch_owner_row *batch =
        marking->batch_count == 0
            ? NULL
            : bsearch(&workunit->batch, marking->batches, marking->batch_count, sizeof(*batch),
                      sorted_compare_ids);

    if (app != NULL)
        subject.app_name = app->name;
    if (batch != NULL) {
        subject.ownerid = batch->user_id;
        subject.owner_weight = batch->quota;
    }
    return subject;
}

enum status fill_mark_streams(struct db *db, struct arena *arena, const struct config *config,
                              struct pool_job *jobs, size_t count)
{
    struct marking *marking;
    enum status status = STATUS_OK;

    if (!streams_exist(config))
        return STATUS_OK;
    marking = ARENA_NEW(arena, struct marking);
    if (marking == NULL)
        return STATUS_NO_MEMORY;
    (void)streams_read(config, &marking->streams);
    if (names(&marking->streams, STREAM_APP))
        status = db_app_names(db, arena, &marking->apps, &marking->app_count);
    if (status == STATUS_OK && db_has_batches(db) &&
        (marking->streams.by_owner || names(&marking->streams, STREAM_USER)))
        status = read_owners(db, arena, jobs, count, marking);
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        const struct stream_subject subject = subject_of(marking, &jobs[i].workunit);

        jobs[i].stream = stream_of(&marking->streams, &subject);
    }
    return status;
}

void fill_log_streams(const struct config *config)
{
    struct streams streams;
    size_t bad = streams_read(config, &streams);

    if (bad > 0)
        log_line(LOG_LEVEL_WARNING, "event=streams_refused lines=%zu", bad);
}

/* --- weights ---------------------------------------------------------------------------------- */

enum status fill_weigh_streams(struct filler *filler, struct db *db, const struct config *config)
{
    struct submitter_quota_row *rows = NULL;
    struct stream *streams;
    size_t count = 0;
    enum status status;

    if (!config->submitter_streams || !db_has_batches(db))
        return STATUS_OK;
    status = db_submitter_quotas(db, filler->arena, &rows, &count);
    streams = ARENA_ARRAY(filler->arena, count, struct stream);
    if (status == STATUS_OK && streams == NULL)
        status = STATUS_NO_MEMORY;
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        streams[i] = (struct stream){.key = {STREAM_USER, rows[i].user_id},
                                     .weight = stream_weight(rows[i].quota)};
    pool_streams_weigh(filler->pool, streams, count);
    return STATUS_OK;
}

/* --- clocks in the database ------------------------------------------------------------------- */

/* In this order servers lock the rows. */
static int compare_keys(const void *a, const void *b)
{
    const struct stream_key *left = &((const struct pool_stream *)a)->stream.key;
    const struct stream_key *right = &((const struct pool_stream *)b)->stream.key;

    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    return (left->id > right->id) - (left->id < right->id);
}

static enum status write_new(struct filler *filler, struct db *db)
{
    struct pool_stream *streams;
    struct stream_added *added;
    size_t count, new_count = 0;
    enum status status;

    if (!pool_streams(filler->pool, filler->arena, &streams, &count))
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        if (streams[i].new_flops > 0)
            streams[new_count++] = streams[i];
    if (new_count == 0)
        return STATUS_OK;
    qsort(streams, new_count, sizeof(streams[0]), compare_keys);
    added = ARENA_ARRAY(filler->arena, new_count, struct stream_added);
    if (added == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < new_count; i++)
        added[i] = (struct stream_added){.kind = streams[i].stream.key.kind,
                                         .id = streams[i].stream.key.id,
                                         .begin = streams[i].stream.clock - streams[i].new_clock,
                                         .clock = streams[i].new_clock,
                                         .flops = streams[i].new_flops};
    status = db_streams_add(db, filler->arena, added, new_count);
    if (status == STATUS_OK)
        status = db_commit(db);
    if (status == STATUS_OK)
        pool_streams_written(filler->pool, streams, new_count);
    return status;
}

/* All rows when this server begins, later what was written since the last look. */
static enum status read_given(struct filler *filler, struct db *db, double now)
{
    double age =
        filler->streams.read_at > 0 ? now - filler->streams.read_at + 2 * keep_seconds : any_age;
    struct stream_given_row *rows = NULL;
    struct pool_stream *streams;
    size_t count = 0;
    enum status status = db_streams_given(db, filler->arena, (int64_t)age, &rows, &count);

    streams = ARENA_ARRAY(filler->arena, count, struct pool_stream);
    if (status == STATUS_OK && streams == NULL)
        status = STATUS_NO_MEMORY;
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        streams[i] = (struct pool_stream){
            .stream = {.key = {rows[i].kind, rows[i].id}, .clock = rows[i].clock},
            .begun = rows[i].begun,
            .flops = rows[i].flops};
    pool_streams_read(filler->pool, streams, count);
    filler->streams.read_at = now;
    return STATUS_OK;
}

enum status fill_keep_streams(struct filler *filler, struct db *db, const struct config *config,
                              double now)
{
    enum status status;

    if (!streams_exist(config) || now < filler->streams.due)
        return STATUS_OK;
    filler->streams.due = now + keep_seconds;
    pool_streams_tidy(filler->pool);
    status = write_new(filler, db);
    return status == STATUS_OK ? read_given(filler, db, now) : status;
}
