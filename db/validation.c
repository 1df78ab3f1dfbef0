/* SPDX-License-Identifier: Apache-2.0 */
#include "db/validation.h"
#include "db/mariadb.h"
#include "server/base/arena.h"
#include "server/base/sorted.h"

#include <stdlib.h>
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

enum status db_validation_read(struct db *db, struct arena *arena, const int64_t *ids, size_t count,
                               struct validation_rows *ret_rows)
{
    const struct db_ids list = {ids, count};
    enum status status;

    *ret_rows = (struct validation_rows){.result_count = 0};
    status = DB_ALL(db, validation_workunits, arena, &ret_rows->workunits,
                    &ret_rows->workunit_count, .ids = list);
    if (status != STATUS_OK)
        return status;
    return DB_ALL(db, validation_results, arena, &ret_rows->results, &ret_rows->result_count,
                  .workunitids = list);
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
        int64_t user = rows->hosts[i].userid;

        if (user != 0 && sorted_find_id(users.items, users.count, user) == users.count)
            return true;
    }
    return false;
}

static int compare_pairs(const void *a, const void *b)
{
    const struct credited_pair *left = a, *right = b;

    if (left->hostid != right->hostid)
        return left->hostid > right->hostid ? 1 : -1;
    return (left->version > right->version) - (left->version < right->version);
}

static int compare_host_versions(const void *a, const void *b)
{
    const struct judged_version_row *left = a, *right = b;

    return compare_pairs(&(struct credited_pair){left->host_id, left->app_version_id},
                         &(struct credited_pair){right->host_id, right->app_version_id});
}

/* Of a list that goes out in parts a row may come with two of them. */
static void sort_host_versions(struct validation_rows *rows)
{
    size_t kept = 0;

    if (rows->host_version_count == 0)
        return;
    qsort(rows->host_versions, rows->host_version_count, sizeof(rows->host_versions[0]),
          compare_host_versions);
    for (size_t i = 0; i < rows->host_version_count; i++)
        if (kept == 0 ||
            compare_host_versions(&rows->host_versions[kept - 1], &rows->host_versions[i]) != 0)
            rows->host_versions[kept++] = rows->host_versions[i];
    rows->host_version_count = kept;
}

static enum status lock_versions(struct db *db, struct arena *arena,
                                 const struct credited_pair *pairs, size_t count,
                                 struct validation_rows *rows)
{
    struct credited_pair *sorted = ARENA_ARRAY(arena, count, struct credited_pair);
    int64_t *hostids = ARENA_ARRAY(arena, count, int64_t);
    int64_t *versions = ARENA_ARRAY(arena, count, int64_t);
    int64_t *ids = ARENA_ARRAY(arena, count, int64_t);
    size_t version_count = 0;
    enum status status;

    if (sorted == NULL || hostids == NULL || versions == NULL || ids == NULL)
        return STATUS_TOO_LARGE;
    if (count > 0)
        memcpy(sorted, pairs, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), compare_pairs);
    for (size_t i = 0; i < count; i++) {
        hostids[i] = sorted[i].hostid;
        versions[i] = sorted[i].version;
        if (sorted[i].version > 0)
            ids[version_count++] = sorted[i].version;
    }
    status = DB_ALL(db, validation_lock_host_versions, arena, &rows->host_versions,
                    &rows->host_version_count, .hostids = {hostids, count},
                    .versions = {versions, count});
    if (status != STATUS_OK)
        return status;
    sort_host_versions(rows);
    return DB_ALL(db, validation_lock_versions, arena, &rows->versions, &rows->version_count,
                  .ids = db_sorted_ids(arena, ids, version_count));
}

static struct db_ids hosts_of(struct arena *arena, const struct credited_pair *pairs, size_t count)
{
    int64_t *ids = ARENA_ARRAY(arena, count, int64_t);

    for (size_t i = 0; ids != NULL && i < count; i++)
        ids[i] = pairs[i].hostid;
    return ids == NULL ? (struct db_ids){NULL, count} : db_sorted_ids(arena, ids, count);
}

enum status db_validation_lock(struct db *db, struct arena *arena, const int64_t *ids, size_t count,
                               const struct credited_pair *pairs, size_t pair_count,
                               struct validation_rows *ret_rows)
{
    struct db_ids hosts = hosts_of(arena, pairs, pair_count), users = {.count = 0};
    enum status status;

    *ret_rows = (struct validation_rows){.result_count = 0};
    status = lock_accounts(db, arena, hosts, ret_rows, &users);
    if (status == STATUS_OK)
        status = DB_ALL(db, validation_lock_hosts, arena, &ret_rows->hosts, &ret_rows->host_count,
                        .ids = hosts);
    if (status == STATUS_OK && has_new_owner(ret_rows, users))
        return STATUS_DB_RETRY;
    if (status == STATUS_OK)
        status = DB_ALL(db, validation_lock_workunits, arena, &ret_rows->workunits,
                        &ret_rows->workunit_count, .ids = {ids, count});
    if (status == STATUS_OK)
        status = DB_ALL(db, validation_lock_results, arena, &ret_rows->results,
                        &ret_rows->result_count, .workunitids = {ids, count});
    return status == STATUS_OK ? lock_versions(db, arena, pairs, pair_count, ret_rows) : status;
}

/* --- saving ----------------------------------------------------------------------------------- */

/* Rows of numbers without gaps. Equal numbers of other bytes would only be written once too often.
 */
static bool differs(const void *left, const void *right, size_t size)
{
    return memcmp(left, right, size) != 0;
}

/* Of each list the rows that differ, by one array. */
static enum status save_hosts(struct db *db, struct arena *arena,
                              const struct validation_rows *before,
                              const struct validation_rows *after)
{
    struct validation_save_host_values *values =
        ARENA_ARRAY(arena, after->host_count, struct validation_save_host_values);
    size_t count = 0;

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < after->host_count; i++) {
        const struct credited_host_row *row = &after->hosts[i];

        if (differs(row, &before->hosts[i], sizeof(*row)))
            values[count++] =
                (struct validation_save_host_values){.id = row->id,
                                                     .total_credit = row->total_credit,
                                                     .expavg_credit = row->expavg_credit,
                                                     .expavg_time = row->expavg_time,
                                                     .avg_turnaround = row->avg_turnaround};
    }
    return count == 0 ? STATUS_OK : DB_RUN_BULK(db, validation_save_host, values, count, NULL);
}

static enum status save_users(struct db *db, struct arena *arena,
                              const struct validation_rows *before,
                              const struct validation_rows *after)
{
    struct validation_save_user_values *values =
        ARENA_ARRAY(arena, after->user_count, struct validation_save_user_values);
    size_t count = 0;

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < after->user_count; i++) {
        const struct credited_user_row *row = &after->users[i];

        if (differs(row, &before->users[i], sizeof(*row)))
            values[count++] =
                (struct validation_save_user_values){.id = row->id,
                                                     .total_credit = row->total_credit,
                                                     .expavg_credit = row->expavg_credit,
                                                     .expavg_time = row->expavg_time};
    }
    return count == 0 ? STATUS_OK : DB_RUN_BULK(db, validation_save_user, values, count, NULL);
}

static enum status save_teams(struct db *db, struct arena *arena,
                              const struct validation_rows *before,
                              const struct validation_rows *after)
{
    struct validation_save_team_values *values =
        ARENA_ARRAY(arena, after->team_count, struct validation_save_team_values);
    size_t count = 0;

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < after->team_count; i++) {
        const struct credited_team_row *row = &after->teams[i];

        if (differs(row, &before->teams[i], sizeof(*row)))
            values[count++] =
                (struct validation_save_team_values){.id = row->id,
                                                     .total_credit = row->total_credit,
                                                     .expavg_credit = row->expavg_credit,
                                                     .expavg_time = row->expavg_time};
    }
    return count == 0 ? STATUS_OK : DB_RUN_BULK(db, validation_save_team, values, count, NULL);
}

static enum status save_workunits(struct db *db, struct arena *arena,
                                  const struct validation_rows *before,
                                  const struct validation_rows *after)
{
    struct validation_save_workunit_values *values =
        ARENA_ARRAY(arena, after->workunit_count, struct validation_save_workunit_values);
    size_t count = 0;

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < after->workunit_count; i++) {
        const struct judged_workunit_row *row = &after->workunits[i];

        if (differs(row, &before->workunits[i], sizeof(*row)))
            values[count++] = (struct validation_save_workunit_values){
                .id = row->id,
                .need_validate = row->need_validate,
                .canonical_resultid = row->canonical_resultid,
                .canonical_credit = row->canonical_credit,
                .transition_time = row->transition_time,
                .error_mask = row->error_mask,
                .assimilate_state = row->assimilate_state,
                .target_nresults = row->target_nresults};
    }
    return count == 0 ? STATUS_OK : DB_RUN_BULK(db, validation_save_workunit, values, count, NULL);
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
        const struct judged_result_row *row = &after->results[i];

        if (differs(row, &before->results[i], sizeof(*row)))
            values[count++] =
                (struct validation_save_result_values){.id = row->id,
                                                       .server_state = row->server_state,
                                                       .outcome = row->outcome,
                                                       .validate_state = row->validate_state,
                                                       .granted_credit = row->granted_credit};
    }
    return count == 0 ? STATUS_OK : DB_RUN_BULK(db, validation_save_result, values, count, NULL);
}

static enum status save_host_versions(struct db *db, struct arena *arena,
                                      const struct validation_rows *before,
                                      const struct validation_rows *after)
{
    struct validation_save_host_version_values *values =
        ARENA_ARRAY(arena, after->host_version_count, struct validation_save_host_version_values);
    size_t count = 0;

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < after->host_version_count; i++) {
        const struct judged_version_row *row = &after->host_versions[i];

        if (differs(row, &before->host_versions[i], sizeof(*row)))
            values[count++] = (struct validation_save_host_version_values){
                .host_id = row->host_id,
                .app_version_id = row->app_version_id,
                .pfc_n = row->pfc_n,
                .pfc_avg = row->pfc_avg,
                .et_n = row->et_n,
                .et_avg = row->et_avg,
                .et_var = row->et_var,
                .et_q = row->et_q,
                .turnaround_n = row->turnaround_n,
                .turnaround_avg = row->turnaround_avg,
                .turnaround_var = row->turnaround_var,
                .turnaround_q = row->turnaround_q,
                .max_jobs_per_day = row->max_jobs_per_day,
                .consecutive_valid = row->consecutive_valid};
    }
    return count == 0 ? STATUS_OK
                      : DB_RUN_BULK(db, validation_save_host_version, values, count, NULL);
}

static enum status save_versions(struct db *db, struct arena *arena,
                                 const struct validation_rows *before,
                                 const struct validation_rows *after)
{
    struct validation_save_version_values *values =
        ARENA_ARRAY(arena, after->version_count, struct validation_save_version_values);
    size_t count = 0;

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < after->version_count; i++) {
        const struct sampled_version_row *row = &after->versions[i];

        if (differs(row, &before->versions[i], sizeof(*row)))
            values[count++] = (struct validation_save_version_values){
                .id = row->id, .pfc_n = row->pfc_n, .pfc_avg = row->pfc_avg};
    }
    return count == 0 ? STATUS_OK : DB_RUN_BULK(db, validation_save_version, values, count, NULL);
}

enum status db_validation_copy(struct arena *arena, const struct validation_rows *rows,
                               struct validation_rows *ret_copy)
{
    *ret_copy = *rows;
#define COPY_ROWS(list, count)                                                   \
    ret_copy->list = arena_alloc_array(arena, rows->count, sizeof(*rows->list)); \
    if (ret_copy->list == NULL)                                                  \
        return STATUS_TOO_LARGE;                                                 \
    if (rows->count > 0)                                                         \
        memcpy(ret_copy->list, rows->list, rows->count * sizeof(*rows->list));
    COPY_ROWS(workunits, workunit_count)
    COPY_ROWS(results, result_count)
    COPY_ROWS(users, user_count)
    COPY_ROWS(teams, team_count)
    COPY_ROWS(hosts, host_count)
    COPY_ROWS(host_versions, host_version_count)
    COPY_ROWS(versions, version_count)
#undef COPY_ROWS
    return STATUS_OK;
}

enum status db_validation_save(struct db *db, struct arena *arena,
                               const struct validation_rows *before,
                               const struct validation_rows *after)
{
    enum status (*const parts[])(struct db *, struct arena *, const struct validation_rows *,
                                 const struct validation_rows *) = {
        save_hosts,   save_users,         save_teams,   save_workunits,
        save_results, save_host_versions, save_versions};
    enum status status = STATUS_OK;

    for (size_t i = 0; status == STATUS_OK && i < sizeof(parts) / sizeof(parts[0]); i++)
        status = parts[i](db, arena, before, after);
    return status;
}

enum status db_validation_postpone(struct db *db, const int64_t *ids, size_t count, int64_t until,
                                   size_t *ret_count)
{
    uint64_t affected = 0;
    enum status status =
        DB_RUN(db, validation_postpone, &affected, .ids = {ids, count}, .until = until);

    if (status == STATUS_OK)
        *ret_count = (size_t)affected;
    return status;
}
