/* SPDX-License-Identifier: Apache-2.0 */
#include "server/passes/purge_pass.h"

#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/passes/archive.h"
#include "server/passes/pass_lease.h"
#include "server/passes/pass_repeat.h"

#include "server/base/banned.h"

enum { PART_LEAST = 8, PART_FIRST = 64, PART_MOST = 256 };
#define PART_BYTES ((size_t)1 << 30)
#define PART_SMALL ((size_t)4 << 20)
#define PART_LARGE ((size_t)16 << 20)

struct purge {
    struct pass_owner *owner;
    const struct purge_settings *settings;
    struct purge_counts *counts;
    struct arena *arena; /* of one transaction */
    struct pass_lease *lease;
    int64_t after; /* the last that was looked at */
    int64_t left;  /* jobs that may still go */
    size_t part;   /* jobs in the next transaction */
};

struct purged_jobs {
    struct purge *purge;
    const int64_t *ids;
    size_t count;
};

static enum status try_some(void *subject)
{
    const struct purged_jobs *jobs = subject;
    struct purge *purge = jobs->purge;
    struct db *db = purge->owner->db;
    struct purge_rows rows;
    enum status status;

    arena_reset(purge->arena);
    status = pass_lease_check(purge->lease);
    if (status == STATUS_NOT_FOUND)
        return db_rollback(db); /* others have them */
    if (status == STATUS_OK)
        status = db_purge_lock(db, purge->arena, &purge->settings->filter, jobs->ids, jobs->count,
                               &rows);
    if (status == STATUS_OK && rows.workunit_count == 0)
        return db_rollback(db);
    if (status == STATUS_OK && purge->settings->archive != NULL)
        status = archive_add(purge->settings->archive, &rows, purge->owner->failure);
    if (status == STATUS_OK)
        status = db_purge_delete(db, purge->arena, &rows);
    if (status == STATUS_OK)
        status = db_commit(db);
    if (purge->settings->archive != NULL && (status == STATUS_OK || status == STATUS_DB_UNKNOWN))
        archive_keep(purge->settings->archive); /* the rows may be gone */
    if (status == STATUS_OK) {
        purge->counts->jobs += (int64_t)rows.workunit_count;
        purge->counts->results += (int64_t)rows.result_count;
        purge->left -= (int64_t)rows.workunit_count;
    }
    return status;
}

static enum status find_due(void *subject, int64_t *ret_ids, size_t most, size_t *ret_count)
{
    struct purge *purge = subject;

    return db_purge_due(purge->owner->db, &purge->settings->filter, purge->after, ret_ids, most,
                        ret_count);
}

size_t purge_part_after(size_t part, size_t bytes)
{
    if (bytes < PART_SMALL)
        part *= 2;
    else if (bytes > PART_LARGE)
        part /= 2;
    part = part > PART_LEAST ? part : PART_LEAST;
    return part < PART_MOST ? part : PART_MOST;
}

static enum status purge_all(struct purge *purge)
{
    int64_t ids[PART_MOST];
    size_t count;
    enum status status;

    do {
        size_t most = purge->left < (int64_t)purge->part ? (size_t)purge->left : purge->part;
        double begun = clock_seconds();

        status = pass_lease_take(purge->lease, find_due, purge, ids, most, &count);
        if (status == STATUS_OK && count > 0) {
            purge->after = ids[count - 1];
            status = repeat_transaction(purge->owner->db, try_some,
                                        &(struct purged_jobs){purge, ids, count});
        }
        purge->part = purge_part_after(purge->part, arena_used(purge->arena));
        pass_progress(purge->owner, "jobs purged", purge->counts->jobs);
        if (status == STATUS_OK && count > 0)
            status = pass_give_way(purge->owner, clock_seconds() - begun);
    } while (status == STATUS_OK && count > 0 && purge->left > 0);
    return pass_failed(purge->owner, status, "purge");
}

struct lost_rows {
    struct db *db;
    struct purge_lost done; /* committed */
    size_t count;
};

static enum status try_lost(void *subject)
{
    struct lost_rows *rows = subject;
    struct purge_lost lost = rows->done;
    enum status status = db_purge_lost(rows->db, &lost, &rows->count);

    if (status == STATUS_OK)
        status = db_commit(rows->db);
    if (status == STATUS_OK)
        rows->done = lost;
    return status;
}

/* Rows of ours whose host or job another program has deleted. */
static enum status purge_lost_rows(struct pass_owner *owner)
{
    struct lost_rows rows = {.db = owner->db, .count = 1};
    enum status status = STATUS_OK;

    while (status == STATUS_OK && rows.count > 0)
        status = repeat_transaction(rows.db, try_lost, &rows);
    return pass_failed(owner, status, "purge");
}

enum status purge_pass(struct pass_owner *owner, const struct purge_settings *settings,
                       struct purge_counts *counts)
{
    struct purge purge = {.owner = owner,
                          .settings = settings,
                          .counts = counts,
                          .arena = arena_create(PART_BYTES),
                          .lease = pass_lease_create(owner, "purge", 0),
                          .part = PART_FIRST,
                          .left = settings->jobs_max > 0 ? settings->jobs_max : INT64_MAX};
    enum status status = STATUS_NO_MEMORY;

    if (purge.arena != NULL && purge.lease != NULL)
        status = purge_all(&purge);
    else
        (void)fail(owner->failure, status, "no memory");
    pass_lease_destroy(purge.lease);
    arena_destroy(purge.arena);
    return status == STATUS_OK ? purge_lost_rows(owner) : status;
}
