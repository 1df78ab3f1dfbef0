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

static bool read_lines(struct arena *arena, const struct config *config,
                       struct streams *ret_streams)
{
    size_t bad;

    return streams_read(config, arena, ret_streams, &bad);
}

/* What is needed to tell of which stream each job is. */
struct marking {
    struct streams streams;
    struct app_name_row *apps; /* by id */
    size_t app_count;
    struct batch_owner_row *owners; /* of each job; NULL: it does not matter whose they are */
};

static enum status read_owners(struct db *db, struct arena *arena, const struct pool_job *jobs,
                               size_t count, struct marking *marking)
{
    int64_t *batches = ARENA_ARRAY(arena, count, int64_t);

    marking->owners = ARENA_ARRAY(arena, count, struct batch_owner_row);
    if (batches == NULL || marking->owners == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        batches[i] = jobs[i].workunit.batch;
    return db_batch_owners(db, arena, batches, count, marking->owners);
}

static struct stream_subject subject_of(const struct marking *marking, const struct pool_job *jobs,
                                        size_t at)
{
    const struct workunit_row *workunit = &jobs[at].workunit;
    struct stream_subject subject = {.appid = workunit->appid, .batch = workunit->batch};
    const struct app_name_row *app =
        marking->app_count == 0 ? NULL
                                : bsearch(&workunit->appid, marking->apps, marking->app_count,
                                          sizeof(*app), sorted_compare_ids);

    if (app != NULL)
        subject.app_name = app->name;
    if (marking->owners != NULL) {
        subject.ownerid = marking->owners[at].user_id;
        subject.owner_weight = marking->owners[at].quota;
    }
    return subject;
}

enum status fill_mark_streams(struct db *db, struct arena *arena, const struct config *config,
                              struct pool_job *jobs, size_t count)
{
    struct marking marking = {.apps = NULL};
    enum status status = STATUS_OK;

    if (!streams_exist(config))
        return STATUS_OK;
    if (!read_lines(arena, config, &marking.streams))
        return STATUS_NO_MEMORY;
    if (streams_name(&marking.streams, STREAM_APP))
        status = db_app_names(db, arena, &marking.apps, &marking.app_count);
    if (status == STATUS_OK && db_has_batches(db) && streams_ask_for_owners(&marking.streams))
        status = read_owners(db, arena, jobs, count, &marking);
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        const struct stream_subject subject = subject_of(&marking, jobs, i);

        jobs[i].stream = stream_of(&marking.streams, &subject);
    }
    return status;
}

/* --- weights ---------------------------------------------------------------------------------- */

/* As if each submitter had a job. */
static void weigh(struct filler *filler, const struct streams *lines,
                  const struct submitter_quota_row *rows, struct stream *streams, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct stream_subject subject = {.ownerid = rows[i].user_id,
                                               .owner_weight = rows[i].quota};

        streams[i] = stream_of(lines, &subject);
    }
    pool_streams_weigh(filler->pool, streams, count);
}

enum status fill_weigh_streams(struct filler *filler, struct db *db, const struct config *config)
{
    struct submitter_quota_row *rows = NULL;
    struct streams lines;
    struct stream *streams;
    size_t count = 0;
    enum status status;

    if (!config->submitter_streams || !db_has_batches(db))
        return STATUS_OK;
    status = db_submitter_quotas(db, filler->arena, &rows, &count);
    if (status != STATUS_OK)
        return status;
    streams = ARENA_ARRAY(filler->arena, count, struct stream);
    if (streams == NULL || !read_lines(filler->arena, config, &lines))
        return STATUS_NO_MEMORY;
    weigh(filler, &lines, rows, streams, count);
    return STATUS_OK;
}

void fill_log_streams(struct arena *arena, const struct config *config)
{
    struct streams streams;
    size_t bad = 0;

    if (streams_read(config, arena, &streams, &bad) && bad > 0)
        log_line(LOG_LEVEL_WARNING, "event=streams_refused lines=%zu", bad);
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
