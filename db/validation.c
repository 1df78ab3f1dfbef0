/* SPDX-License-Identifier: Apache-2.0 */
#include "db/validation.h"
#include "db/mariadb.h"
#include "server/base/arena.h"

#include <string.h>

#include "server/base/banned.h"

enum status db_validation_due(struct db *db, int64_t appid, int64_t after, int64_t *ret_ids,
                              size_t most, size_t *ret_count)
{
    struct id_cursor rows;
    enum status status = DB_QUERY(db, validation_due, NULL, &rows, .appid = appid, .after = after,
                                  .most = (int64_t)most);

    return status == STATUS_OK ? db_read_ids(&rows, ret_ids, most, ret_count) : status;
}

enum status db_validation_read(struct db *db, struct arena *arena, int64_t id,
                               struct validation_rows *ret_rows)
{
    enum status status;

    *ret_rows = (struct validation_rows){.result_count = 0};
    status = DB_ONE(db, validation_workunit, arena, &ret_rows->workunit, .id = id);
    if (status != STATUS_OK)
        return status;
    return DB_ALL(db, validation_results, arena, &ret_rows->results, &ret_rows->result_count,
                  .workunitid = id);
}

enum status db_output_documents(struct db *db, struct arena *arena, const int64_t *ids,
                                size_t count, struct output_document_row **ret_rows,
                                size_t *ret_count)
{
    return DB_ALL(db, result_output_documents, arena, ret_rows, ret_count,
                  .ids = db_sorted_ids(arena, ids, count));
}

/* --- locking ---------------------------------------------------------------------------------- */

/* The users of these hosts and the teams that these are in now. */
static enum status lock_accounts(struct db *db, struct arena *arena, struct db_ids hosts,
                                 struct validation_rows *rows, struct db_ids *ret_users)
{
    struct id_row *found;
    size_t count, team_count = 0;
    int64_t *ids;
    enum status status =
        DB_ALL(db, validation_users_of_hosts, arena, &found, &count, .hostids = hosts);

    if (status != STATUS_OK)
        return status;
    ids = ARENA_ARRAY(arena, count, int64_t);
    if (ids == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        ids[i] = found[i].id;
    *ret_users = db_sorted_ids(arena, ids, count);
    status = DB_ALL(db, validation_lock_users, arena, &rows->users, &rows->user_count,
                    .ids = *ret_users);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < rows->user_count; i++)
        if (rows->users[i].teamid != 0)
            ids[team_count++] = rows->users[i].teamid;
    return DB_ALL(db, validation_lock_teams, arena, &rows->teams, &rows->team_count,
                  .ids = db_sorted_ids(arena, ids, team_count));
}

/* Whether a host has another user now than when users were locked. */
static bool has_new_owner(const struct validation_rows *rows, struct db_ids users)
{
    for (size_t i = 0; i < rows->host_count; i++) {
        bool is_known = rows->hosts[i].userid == 0;

        for (size_t j = 0; j < users.count && !is_known; j++)
            is_known = users.items[j] == rows->hosts[i].userid;
        if (!is_known)
            return true;
    }
    return false;
}

static enum status lock_versions(struct db *db, struct arena *arena, const int64_t *hostids,
                                 const int64_t *versions, size_t count,
                                 struct validation_rows *rows)
{
    int64_t *ids = ARENA_ARRAY(arena, count, int64_t);
    size_t version_count = 0;
    enum status status;

    if (ids == NULL)
        return STATUS_TOO_LARGE;
    status = DB_ALL(db, validation_lock_host_versions, arena, &rows->host_versions,
                    &rows->host_version_count, .hostids = {hostids, count},
                    .versions = {versions, count});
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        if (versions[i] > 0)
            ids[version_count++] = versions[i];
    return DB_ALL(db, validation_lock_versions, arena, &rows->versions, &rows->version_count,
                  .ids = db_sorted_ids(arena, ids, version_count));
}

enum status db_validation_lock(struct db *db, struct arena *arena, int64_t id,
                               const int64_t *hostids, const int64_t *versions, size_t count,
                               struct validation_rows *ret_rows)
{
    struct db_ids hosts = db_sorted_ids(arena, hostids, count), users = {.count = 0};
    enum status status;

    *ret_rows = (struct validation_rows){.result_count = 0};
    status = lock_accounts(db, arena, hosts, ret_rows, &users);
    if (status == STATUS_OK)
        status = DB_ALL(db, validation_lock_hosts, arena, &ret_rows->hosts, &ret_rows->host_count,
                        .ids = hosts);
    if (status == STATUS_OK && has_new_owner(ret_rows, users))
        return STATUS_DB_RETRY;
    if (status == STATUS_OK)
        status = DB_ONE(db, validation_lock_workunit, arena, &ret_rows->workunit, .id = id);
    if (status == STATUS_OK)
        status = DB_ALL(db, validation_lock_results, arena, &ret_rows->results,
                        &ret_rows->result_count, .workunitid = id);
    return status == STATUS_OK ? lock_versions(db, arena, hostids, versions, count, ret_rows)
                               : status;
}

/* --- saving ----------------------------------------------------------------------------------- */

/* Rows of numbers without gaps. Equal numbers of other bytes would only be written once too often.
 */
static bool differs(const void *left, const void *right, size_t size)
{
    return memcmp(left, right, size) != 0;
}

static enum status save_results(struct db *db, struct arena *arena,
                                const struct validation_rows *before,
                                const struct validation_rows *after)
{
    struct validation_save_result_values *values =
        ARENA_ARRAY(arena, after->result_count, struct validation_save_result_values);
    size_t count = 0;

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < after->result_count; i++) {
        const struct judged_result_row *old = &before->results[i], *new = &after->results[i];

        if (old->server_state == new->server_state && old->outcome == new->outcome &&
            old->validate_state == new->validate_state &&
            old->granted_credit == new->granted_credit)
            continue;
        values[count++] =
            (struct validation_save_result_values){.id = new->id,
                                                   .server_state = new->server_state,
                                                   .outcome = new->outcome,
                                                   .validate_state = new->validate_state,
                                                   .granted_credit = new->granted_credit};
    }
    return count == 0 ? STATUS_OK : DB_RUN_BULK(db, validation_save_result, values, count, NULL);
}

static enum status save_statistics(struct db *db, const struct validation_rows *before,
                                   const struct validation_rows *after)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < after->host_version_count && status == STATUS_OK; i++) {
        const struct judged_version_row *row = &after->host_versions[i];

        if (differs(row, &before->host_versions[i], sizeof(*row)))
            status = DB_RUN(db, validation_save_host_version, NULL, .judged_version = row,
                            .host_id = row->host_id, .app_version_id = row->app_version_id);
    }
    for (size_t i = 0; i < after->version_count && status == STATUS_OK; i++) {
        const struct sampled_version_row *row = &after->versions[i];

        if (differs(row, &before->versions[i], sizeof(*row)))
            status =
                DB_RUN(db, validation_save_version, NULL, .sampled_version = row, .id = row->id);
    }
    return status;
}

static enum status save_credit(struct db *db, const struct validation_rows *before,
                               const struct validation_rows *after)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < after->host_count && status == STATUS_OK; i++) {
        const struct credited_host_row *row = &after->hosts[i];

        if (differs(row, &before->hosts[i], sizeof(*row)))
            status = DB_RUN(db, validation_save_host, NULL, .credited_host = row, .id = row->id);
    }
    for (size_t i = 0; i < after->user_count && status == STATUS_OK; i++) {
        const struct credited_user_row *row = &after->users[i];

        if (differs(row, &before->users[i], sizeof(*row)))
            status = DB_RUN(db, validation_save_user, NULL, .credited_user = row, .id = row->id);
    }
    for (size_t i = 0; i < after->team_count && status == STATUS_OK; i++) {
        const struct credited_team_row *row = &after->teams[i];

        if (differs(row, &before->teams[i], sizeof(*row)))
            status = DB_RUN(db, validation_save_team, NULL, .credited_team = row, .id = row->id);
    }
    return status;
}

enum status db_validation_save(struct db *db, struct arena *arena,
                               const struct validation_rows *before,
                               const struct validation_rows *after)
{
    enum status status = save_credit(db, before, after);

    if (status == STATUS_OK)
        status = DB_RUN(db, validation_save_workunit, NULL, .judged_workunit = &after->workunit,
                        .id = after->workunit.id);
    if (status == STATUS_OK)
        status = save_results(db, arena, before, after);
    return status == STATUS_OK ? save_statistics(db, before, after) : status;
}

enum status db_validation_postpone(struct db *db, int64_t id, int64_t until)
{
    return DB_RUN(db, validation_postpone, NULL, .id = id, .until = until);
}
