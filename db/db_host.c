/* SPDX-License-Identifier: Apache-2.0 */
/* The host's own row, its guard row, and what a machine that came back as new leaves behind. */
#include "db/mariadb.h"
#include "server/base/arena.h"
#include "server/base/sorted.h"

#include <string.h>

#include "server/base/banned.h"

enum status db_host_token(struct db *db, int64_t hostid, uint64_t *ret_token)
{
    struct host_token_row row;
    enum status status = STATUS_OK;

    if (db_is_cluster(db)) /* what another node has committed is to be here: for any statement */
        status = db_run_text(db, "SET SESSION wsrep_sync_wait = 7");
    if (status == STATUS_OK)
        status = DB_ONE(db, host_token, NULL, &row, .hostid = hostid);
    if (db_is_cluster(db) && db_run_text(db, "SET SESSION wsrep_sync_wait = 0") != STATUS_OK)
        return STATUS_DB_GONE;

    if (status == STATUS_OK)
        *ret_token = (uint64_t)row.token;
    return status;
}

bool db_may_lag(const struct db *db)
{
    return db_is_cluster(db);
}

enum status db_catch_up(struct db *db)
{
    uint64_t token;
    enum status status = db_host_token(db, 0, &token);

    return status == STATUS_NOT_FOUND ? db_rollback(db) : status;
}

struct host_with_user db_host_with_user(const struct host_with_user_row *row)
{
    return (struct host_with_user){.host = row->host,
                                   .user = row->user,
                                   .team_name = row->team_name,
                                   .has_user = row->user.id != 0,
                                   .has_guard = row->has_guard != 0,
                                   .said = (uint64_t)row->said,
                                   .presence = row->presence};
}

enum status db_host_lock(struct db *db, struct arena *arena, int64_t id, struct host_row *ret_host)
{
    return DB_ONE(db, host_lock, arena, ret_host, .id = id);
}

enum status db_host_lock_with_user(struct db *db, struct arena *arena, int64_t id,
                                   struct host_with_user *ret_host)
{
    struct host_with_user_row row;
    enum status status = DB_ONE(db, host_lock_with_user, arena, &row, .id = id);

    if (status == STATUS_OK)
        *ret_host = db_host_with_user(&row);
    return status;
}

enum status db_host_newest_by_cpid(struct db *db, struct arena *arena, int64_t userid,
                                   struct text host_cpid, struct host_row *ret_host)
{
    return DB_ONE(db, host_newest_by_cpid, arena, ret_host, .userid = userid,
                  .host_cpid = host_cpid);
}

enum status db_host_newest_alike(struct db *db, struct arena *arena, int64_t userid,
                                 const struct host_row *like, struct host_row *ret_host)
{
    return DB_ONE(db, host_newest_alike, arena, ret_host, .userid = userid,
                  .domain_name = like->domain_name, .last_ip_addr = like->last_ip_addr,
                  .os_name = like->os_name, .p_model = like->p_model, .m_nbytes = like->m_nbytes);
}

enum status db_host_insert(struct db *db, const struct host_row *host, int64_t *ret_id)
{
    enum status status =
        DB_RUN(db, host_insert, NULL, .host = host, .expavg_time = (double)host->create_time);

    if (status == STATUS_OK)
        *ret_id = db_inserted_id(db);
    return status;
}

/* Where the columns of a contact stand in both rows; each is a number of eight bytes. */
static const struct {
    size_t from, to;
} contact_columns[] = {
#define CONTACT(column)                                                              \
    {                                                                                \
        offsetof(struct host_row, column), offsetof(struct host_contact_row, column) \
    }
    CONTACT(rpc_seqno),
    CONTACT(rpc_time),
    CONTACT(nsame_ip_addr),
    CONTACT(on_frac),
    CONTACT(connected_frac),
    CONTACT(active_frac),
    CONTACT(duration_correction_factor),
    CONTACT(d_free),
    CONTACT(d_boinc_used_total),
    CONTACT(d_boinc_used_project),
    CONTACT(d_boinc_max),
    CONTACT(n_bwup),
    CONTACT(n_bwdown),
    CONTACT(gpu_active_frac),
#undef CONTACT
};
_Static_assert(sizeof(contact_columns) / sizeof(contact_columns[0]) * sizeof(int64_t) ==
                   sizeof(struct host_contact_row),
               "each column of columns.def stands here");

struct host_contact_row db_host_contact(const struct host_row *host)
{
    struct host_contact_row contact;

    for (size_t i = 0; i < sizeof(contact_columns) / sizeof(contact_columns[0]); i++)
        memcpy((char *)&contact + contact_columns[i].to,
               (const char *)host + contact_columns[i].from, sizeof(int64_t));
    return contact;
}

bool db_host_says_the_same(const struct host_row *was, const struct host_row *host)
{
    struct host_row expected = *was; /* if only the contact is new */

    for (size_t i = 0; i < sizeof(contact_columns) / sizeof(contact_columns[0]); i++)
        memcpy((char *)&expected + contact_columns[i].from,
               (const char *)host + contact_columns[i].from, sizeof(int64_t));
    return row_is_equal(&row_tables[ROW_host], &expected, host);
}

enum status db_host_say(struct db *db, int64_t hostid, uint64_t digest, struct text request)
{
    enum status status = DB_RUN(db, host_said, NULL, .hostid = hostid, .request = request);

    return status == STATUS_OK
               ? DB_RUN(db, host_said_digest, NULL, .hostid = hostid, .said = (int64_t)digest)
               : status;
}

enum status db_host_save(struct db *db, const struct host_row *host)
{
    return DB_RUN(db, host_save, NULL, .host = host, .id = host->id);
}

static enum status detach_results(struct db *db, struct arena *arena, int64_t hostid, int64_t now)
{
    struct job_ids_row *jobs;
    int64_t *results, *workunits;
    size_t count;
    enum status status =
        DB_ALL(db, host_results_in_progress, arena, &jobs, &count, .hostid = hostid);

    if (status != STATUS_OK)
        return status;
    results = ARENA_ARRAY(arena, count, int64_t);
    workunits = ARENA_ARRAY(arena, count, int64_t);
    if (results == NULL || workunits == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++) {
        results[i] = jobs[i].id;
        workunits[i] = jobs[i].workunitid;
    }
    status = DB_RUN(db, workunits_transition_now, NULL,
                    .ids = db_sorted_ids(arena, workunits, count), .now = now);
    return status == STATUS_OK
               ? DB_RUN(db, results_detach, NULL, .ids = db_sorted_ids(arena, results, count),
                        .hostid = hostid, .now = now)
               : status;
}

/* The ids are read first so that workunits are locked before results, as everywhere. */
enum status db_host_detach_results(struct db *db, int64_t hostid, int64_t now)
{
    struct arena *arena = arena_create((size_t)64 * 1024 * 1024);
    enum status status = STATUS_NO_MEMORY;

    if (arena != NULL)
        status = detach_results(db, arena, hostid, now);
    arena_destroy(arena);
    return status;
}

enum status db_host_owners(struct db *db, struct arena *arena, const int64_t *hostids, size_t count,
                           int64_t *ret_userids)
{
    struct db_ids ids = db_sorted_ids(arena, hostids, count);
    int64_t *owners = ARENA_ARRAY(arena, ids.count, int64_t);
    struct host_owner_cursor rows;
    struct host_owner_row row;
    enum status status;

    if (owners == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < ids.count; i++)
        owners[i] = -1;
    status = DB_QUERY(db, host_owners, arena, &rows, .ids = ids);
    if (status != STATUS_OK)
        return status;
    while (DB_NEXT(&rows, &row)) {
        size_t place = sorted_find_id(ids.items, ids.count, row.id);

        if (place < ids.count)
            owners[place] = row.userid;
    }
    for (size_t i = 0; i < count; i++)
        ret_userids[i] = owners[sorted_find_id(ids.items, ids.count, hostids[i])];
    return DB_END(&rows);
}
