/* SPDX-License-Identifier: Apache-2.0 */
/* Job streams in the pool: jobs of a batch, or of a submitter, that config.xml gives a share of its
 * own are a group of their own, so that a search finds them however many jobs of other streams
 * stand before them. Batches that no stream means stay together. */
#include "config/config.h"
#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/sorted.h"
#include "server/policy/dispatch/stream.h"
#include "server/pool/fill_parts.h"
#include "server/pool/pool.h"

#include "server/base/banned.h"

static bool names(const struct streams *streams, enum stream_kind kind, int64_t id)
{
    for (size_t i = 1; i < streams->count; i++)
        if (streams->items[i].kind == kind && (id == 0 || streams->items[i].id == id))
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

static enum status mark_owners(struct db *db, struct arena *arena, const struct streams *streams,
                               struct pool_job *jobs, size_t count)
{
    int64_t *batches = ARENA_ARRAY(arena, count, int64_t);
    int64_t *owners = ARENA_ARRAY(arena, count, int64_t);
    size_t batch_count;
    enum status status;

    if (batches == NULL || owners == NULL)
        return STATUS_NO_MEMORY;
    batch_count = list_batches(jobs, count, batches);
    if (batch_count == 0)
        return STATUS_OK;
    status = db_batch_owners(db, arena, batches, batch_count, owners);
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        size_t at = sorted_find_id(batches, batch_count, jobs[i].workunit.batch);
        int64_t owner = at < batch_count ? owners[at] : 0;

        if (owner != 0 && names(streams, STREAM_USER, owner))
            jobs[i].stream_owner = owner;
    }
    return status;
}

enum status fill_mark_streams(struct db *db, struct arena *arena, const struct config *config,
                              struct pool_job *jobs, size_t count)
{
    struct streams *streams;

    if (config->stream.count == 0)
        return STATUS_OK;
    streams = ARENA_NEW(arena, struct streams);
    if (streams == NULL)
        return STATUS_NO_MEMORY;
    (void)streams_read(config->stream, streams); /* bad lines are logged where jobs are chosen */
    for (size_t i = 0; i < count; i++)
        if (jobs[i].workunit.batch > 0 && names(streams, STREAM_BATCH, jobs[i].workunit.batch))
            jobs[i].stream_batch = jobs[i].workunit.batch;
    return names(streams, STREAM_USER, 0) ? mark_owners(db, arena, streams, jobs, count)
                                          : STATUS_OK;
}
