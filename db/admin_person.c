/* SPDX-License-Identifier: Apache-2.0 */
/* Deleting a user or a host beside running servers. A request of such a host holds the lock of its
 * row, and finds no row when it gets the lock after us; so what is found here under that lock is
 * all that there is. A result that nobody has judged yet could not be judged without its host: it
 * counts as if the host had detached, and its workunit is looked at now. */
#include "db/admin.h"
#include "db/mariadb.h"
#include "server/base/arena.h"
#include "server/base/random.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

/* --- hosts ------------------------------------------------------------------------------------ */

static bool add_ids(struct arena *arena, struct db_id_list *list, const struct id_row *rows,
                    size_t count)
{
    int64_t *items = ARENA_ARRAY(arena, list->count + count, int64_t);

    if (items == NULL)
        return false;
    if (list->count > 0)
        memcpy(items, list->items, list->count * sizeof(*items));
    for (size_t i = 0; i < count; i++)
        items[list->count + i] = rows[i].id;
    list->items = items;
    list->count += count;
    return true;
}

/* Each generation of merged records leads to the one before; none is seen twice, since a record is
 * merged into one other. Rows that name themselves are passed over by their number. */
static enum status add_merged(struct db *db, struct arena *arena, struct db_id_list *hosts)
{
    size_t first = 0;

    while (first < hosts->count) {
        struct db_ids newest = {.items = hosts->items + first, .count = hosts->count - first};
        struct id_row *rows;
        size_t count, kept = 0;
        enum status status =
            DB_ALL(db, person_hosts_merged, arena, &rows, &count, .hostids = newest);

        if (status != STATUS_OK)
            return status;
        for (size_t i = 0; i < count; i++) {
            bool is_known = false;

            for (size_t k = 0; k < hosts->count && !is_known; k++)
                is_known = hosts->items[k] == rows[i].id;
            if (!is_known)
                rows[kept++] = rows[i];
        }
        first = hosts->count;
        if (!add_ids(arena, hosts, rows, kept))
            return STATUS_TOO_LARGE;
    }
    return STATUS_OK;
}

static enum status lock_hosts(struct db *db, struct arena *arena, const struct db_id_list *hosts,
                              size_t *ret_count)
{
    struct id_row *rows;

    return DB_ALL(db, person_hosts_lock, arena, &rows, ret_count,
                  .ids = db_sorted_ids(arena, hosts->items, hosts->count));
}

static enum status find_hosts(struct db *db, struct arena *arena, const struct person *person,
                              struct db_id_list *ret_hosts)
{
    struct id_row only = {.id = person->hostid}, *rows = &only;
    size_t count = 1, locked = 0;
    enum status status = STATUS_OK;

    *ret_hosts = (struct db_id_list){.items = NULL};
    if (person->userid != 0)
        status = DB_ALL(db, person_hosts_of_user, arena, &rows, &count, .userid = person->userid);
    if (status == STATUS_OK && !add_ids(arena, ret_hosts, rows, count))
        status = STATUS_TOO_LARGE;
    if (status == STATUS_OK)
        status = add_merged(db, arena, ret_hosts);
    if (status == STATUS_OK)
        status = lock_hosts(db, arena, ret_hosts, &locked);
    if (status == STATUS_OK && person->userid == 0 && locked == 0)
        status = STATUS_NOT_FOUND;
    return status;
}

/* --- results ---------------------------------------------------------------------------------- */

/* All of them now: their rows come before those of results. */
static enum status lock_workunits(struct db *db, struct arena *arena,
                                  const struct person_result_row *rows, size_t count)
{
    int64_t *workunits = ARENA_ARRAY(arena, count, int64_t);
    struct id_row *locked;
    size_t locked_count;

    if (workunits == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        workunits[i] = rows[i].workunitid;
    return DB_ALL(db, person_workunits_lock, arena, &locked, &locked_count,
                  .ids = db_sorted_ids(arena, workunits, count));
}

static enum status forget_results(struct db *db, struct arena *arena,
                                  const struct person_result_row *rows, size_t count,
                                  int64_t userid, int64_t now)
{
    int64_t *all = ARENA_ARRAY(arena, count, int64_t), *open = ARENA_ARRAY(arena, count, int64_t);
    int64_t *workunits = ARENA_ARRAY(arena, count, int64_t);
    size_t open_count = 0;
    struct db_ids open_ids;
    enum status status;

    if (all == NULL || open == NULL || workunits == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++) {
        all[i] = rows[i].id;
        if (rows[i].is_open) {
            open[open_count] = rows[i].id;
            workunits[open_count++] = rows[i].workunitid;
        }
    }
    open_ids = db_sorted_ids(arena, open, open_count);
    status = lock_workunits(db, arena, rows, count);
    if (status == STATUS_OK)
        status = DB_RUN(db, workunits_transition_now, NULL,
                        .ids = db_sorted_ids(arena, workunits, open_count), .now = now);
    if (status == STATUS_OK)
        status = DB_RUN(db, person_results_close, NULL, .ids = open_ids, .now = now);
    if (status == STATUS_OK)
        status = DB_RUN(db, person_results_forget, NULL, .ids = db_sorted_ids(arena, all, count),
                        .userid = userid);
    return status;
}

static enum status forget_some_results(struct db *db, struct arena *arena,
                                       const struct person *person, const struct db_id_list *hosts,
                                       int64_t now, size_t *ret_count)
{
    const int64_t no_user = -1;
    struct person_result_row *rows;
    enum status status = STATUS_OK;

    *ret_count = 0;
    if (person->userid != 0) {
        status = DB_ALL(db, person_results_of_user, arena, &rows, ret_count,
                        .userid = person->userid, .most = PERSON_RESULTS_AT_ONCE);
        if (status == STATUS_OK)
            status = forget_results(db, arena, rows, *ret_count, person->userid, now);
    }
    if (status != STATUS_OK || *ret_count > 0 || hosts->count == 0)
        return status;
    status = DB_ALL(db, person_results_of_hosts, arena, &rows, ret_count,
                    .hostids = {.items = hosts->items, .count = hosts->count},
                    .most = PERSON_RESULTS_AT_ONCE);
    return status == STATUS_OK ? forget_results(db, arena, rows, *ret_count, no_user, now) : status;
}

/* --- all else --------------------------------------------------------------------------------- */

static enum status delete_assignments(struct db *db, const struct person *person,
                                      int64_t target_type, struct db_ids targets, int64_t now)
{
    enum status status = DB_RUN(db, person_jobs, NULL, .target_type = target_type,
                                .targets = targets, .gives = person->gives_jobs_to_all, .now = now);

    return status == STATUS_OK ? DB_RUN(db, person_assignments, NULL, .target_type = target_type,
                                        .targets = targets)
                               : status;
}

static enum status delete_hosts(struct db *db, struct arena *arena, const struct db_id_list *hosts,
                                const struct person *person, int64_t now)
{
    struct db_ids ids = db_sorted_ids(arena, hosts->items, hosts->count);
    enum status status = DB_RUN(db, person_note_hosts, NULL, .hostids = ids, .now = now);

    if (status == STATUS_OK)
        status = DB_RUN(db, person_hosts_delete, NULL, .hostids = ids);
    if (status == STATUS_OK)
        status = DB_RUN(db, person_statistics, NULL, .hostids = ids);
    if (status == STATUS_OK)
        status = DB_RUN(db, person_guards, NULL, .hostids = ids);
    if (status == STATUS_OK)
        status = DB_RUN(db, person_said, NULL, .hostids = ids);
    if (status == STATUS_OK)
        status = DB_RUN(db, person_fates, NULL, .hostids = ids);
    if (status == STATUS_OK)
        status = DB_RUN(db, person_variants, NULL, .hostids = ids);
    if (status == STATUS_OK)
        status = DB_RUN(db, person_messages_from, NULL, .hostids = ids);
    if (status == STATUS_OK)
        status = DB_RUN(db, person_messages_to, NULL, .hostids = ids);
    return status == STATUS_OK ? delete_assignments(db, person, ASSIGN_HOST, ids, now) : status;
}

/* Tables of BOINC's web pages. Their values are alike. */
static enum status delete_web_rows(struct db *db, int64_t userid)
{
    static const enum statement statements[] = {
#define PERSON(table, column, holds, becomes)
#define WEB(table, column) STATEMENT_person_web_##table##_##column,
#include "db/person.def"
#undef PERSON
#undef WEB
    };
    const struct person_teams_values values = {.userid = userid};
    enum status status = STATUS_OK;

    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]) && status == STATUS_OK; i++)
        status = db_run(db, statements[i], &values, sizeof(values), 1, NULL);
    return status;
}

static enum status delete_user(struct db *db, const struct person *person, int64_t now)
{
    int64_t userid = person->userid;
    enum status status = DB_RUN(db, person_note_user, NULL, .userid = userid, .now = now);

    if (status == STATUS_OK)
        status = delete_assignments(db, person, ASSIGN_USER, (struct db_ids){&userid, 1}, now);
    if (status == STATUS_OK)
        status = DB_RUN(db, person_consents, NULL, .userid = userid);
    if (status == STATUS_OK)
        status = DB_RUN(db, person_credit, NULL, .userid = userid);
    if (status == STATUS_OK)
        status = DB_RUN(db, person_credited_jobs, NULL, .userid = userid);
    if (status == STATUS_OK)
        status = DB_RUN(db, person_submit, NULL, .userid = userid);
    if (status == STATUS_OK)
        status = DB_RUN(db, person_submit_apps, NULL, .userid = userid);
    if (status == STATUS_OK)
        status = DB_RUN(db, person_stream, NULL, .userid = userid);
    if (status == STATUS_OK)
        status = DB_RUN(db, person_batches, NULL, .userid = userid);
    if (status == STATUS_OK)
        status = DB_RUN(db, person_teams, NULL, .userid = userid);
    if (status == STATUS_OK)
        status = DB_RUN(db, person_team_wishes, NULL, .userid = userid);
    if (status == STATUS_OK)
        status = delete_web_rows(db, userid);
    if (status == STATUS_OK)
        status = DB_RUN(db, person_user_delete, NULL, .userid = userid);
    return status;
}

static enum status lock_out(struct db *db, struct arena *arena, int64_t userid)
{
    struct text key = text_print(arena, "%016" PRIx64 "%016" PRIx64, random_u64(), random_u64());
    enum status status = db_user_lock(db, userid);

    return status == STATUS_OK
               ? DB_RUN(db, person_lock_out, NULL, .userid = userid, .authenticator = key)
               : status;
}

enum status db_admin_person_delete(struct db *db, struct arena *arena, const struct person *person,
                                   int64_t now, struct db_id_list *ret_hosts, size_t *ret_results,
                                   bool *ret_is_over)
{
    enum status status = STATUS_OK;

    *ret_is_over = false;
    if (person->userid != 0)
        status = lock_out(db, arena, person->userid);
    if (status == STATUS_OK)
        status = find_hosts(db, arena, person, ret_hosts);
    if (status == STATUS_OK)
        status = forget_some_results(db, arena, person, ret_hosts, now, ret_results);
    if (status != STATUS_OK || *ret_results > 0)
        return status;
    status = delete_hosts(db, arena, ret_hosts, person, now);
    if (status == STATUS_OK && person->userid != 0)
        status = delete_user(db, person, now);
    *ret_is_over = status == STATUS_OK;
    return status;
}

/* --- rows whose owners are gone --------------------------------------------------------------- */

enum status db_admin_orphan_hosts(struct db *db, struct arena *arena, struct orphan_place *place,
                                  struct db_id_list *ret_hosts)
{
    struct orphan_host_row *rows;
    size_t count;
    enum status status = DB_ALL(db, orphan_hosts, arena, &rows, &count, .after = place->id,
                                .most = ORPHANS_LOOKED_AT);

    if (status != STATUS_OK)
        return status;
    *ret_hosts = (struct db_id_list){.items = ARENA_ARRAY(arena, count, int64_t)};
    if (ret_hosts->items == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        if (rows[i].is_orphan != 0)
            ret_hosts->items[ret_hosts->count++] = rows[i].id;
    place->is_done = count < ORPHANS_LOOKED_AT;
    if (count > 0)
        place->id = rows[count - 1].id;
    return STATUS_OK;
}

/* What had no workunit a moment ago never has one: their numbers rise. */
static enum status end_orphans(struct db *db, struct arena *arena,
                               const struct orphan_result_row *rows, size_t count, int64_t now)
{
    const int64_t no_user = -1;
    struct person_result_row *of_hosts = ARENA_ARRAY(arena, count, struct person_result_row);
    int64_t *lost = ARENA_ARRAY(arena, count, int64_t);
    size_t host_count = 0, lost_count = 0;
    enum status status = STATUS_OK;

    if (of_hosts == NULL || lost == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].lacks_workunit != 0)
            lost[lost_count++] = rows[i].id;
        else if (rows[i].lacks_host != 0)
            of_hosts[host_count++] = (struct person_result_row){
                .id = rows[i].id, .workunitid = rows[i].workunitid, .is_open = rows[i].is_open};
    }
    if (host_count > 0)
        status = forget_results(db, arena, of_hosts, host_count, no_user, now);
    return status == STATUS_OK && lost_count > 0
               ? DB_RUN(db, orphan_results_delete, NULL, .ids = {lost, lost_count})
               : status;
}

enum status db_admin_orphan_results(struct db *db, struct arena *arena, bool is_rehearsed,
                                    int64_t now, struct orphan_place *place,
                                    struct orphan_results *ret_counts)
{
    struct orphan_result_row *rows;
    size_t count;
    enum status status = DB_ALL(db, orphan_results, arena, &rows, &count, .after = place->id,
                                .most = ORPHANS_LOOKED_AT);

    *ret_counts = (struct orphan_results){.looked_at = 0};
    if (status != STATUS_OK)
        return status;
    ret_counts->looked_at = count;
    for (size_t i = 0; i < count; i++) {
        ret_counts->without_workunit += rows[i].lacks_workunit != 0;
        ret_counts->without_host += rows[i].lacks_workunit == 0 && rows[i].lacks_host != 0;
    }
    place->is_done = count < ORPHANS_LOOKED_AT;
    if (count > 0)
        place->id = rows[count - 1].id;
    return is_rehearsed ? STATUS_OK : end_orphans(db, arena, rows, count, now);
}

enum status db_admin_person_other_tables(struct db *db, struct arena *arena,
                                         struct text **ret_names, size_t *ret_count)
{
    static const char *const known[] = {
#define PERSON(table, column, holds, becomes) #table,
#define WEB(table, column)                    #table,
#include "db/person.def"
#undef PERSON
#undef WEB
        "user",
        "user_deleted",
        "host_deleted",
    };
    struct name_row *rows;
    size_t count;
    enum status status = DB_ALL(db, person_other_tables, arena, &rows, &count, DB_NO_VALUES);

    if (status != STATUS_OK)
        return status;
    *ret_names = ARENA_ARRAY(arena, count, struct text);
    *ret_count = 0;
    if (*ret_names == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++) {
        bool is_known = false;

        for (size_t k = 0; k < sizeof(known) / sizeof(known[0]) && !is_known; k++)
            is_known = text_is(rows[i].name, known[k]);
        if (!is_known)
            (*ret_names)[(*ret_count)++] = rows[i].name;
    }
    return STATUS_OK;
}
