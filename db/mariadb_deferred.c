/* SPDX-License-Identifier: Apache-2.0 */
/* Writes that wait for the end of a shared transaction.
 *
 * Requests that share a transaction (db_part_begin) end alike: each takes a job, counts it for a
 * version, and writes what is new of its host. Where each sends a statement, to ask for that costs
 * nearly as much as to do it. So in a transaction that may have several parts the values wait, and
 * one command of each kind writes those of all. It is sent before COMMIT, and its answer is read
 * before COMMIT is sent.
 *
 * Nobody can tell the difference. The rows are locked by this transaction when their values begin
 * to wait, or nobody else but the host's request writes them. And in this transaction each
 * statement first writes all that waits, but for the few of which db_concerns_only says whose rows
 * they have to do with: these leave waiting what is others'. Where a row is not as it should be,
 * the whole transaction is not committed, and each request is tried again alone.
 *
 * What a part or a savepoint undoes is forgotten if it still waits, and undone by the database if
 * it was written. The savepoint of a part is sent no earlier than the part writes; what waited from
 * the parts before it is written in front of the savepoint, if it is written then. If the part
 * wrote and left it waiting, and then comes to a statement for which everything is written, it
 * cannot be undone by itself any more, and db_part_undo says so. */
#include "db/mariadb_internal.h"

#include "server/base/arena.h"

#include <string.h>

#include "server/base/banned.h"

/* In the order in which they are written: that of the locks. */
static const enum statement order[] = {STATEMENT_claim_few, STATEMENT_claim_results,
                                       STATEMENT_claim_workunits, STATEMENT_host_app_version_change,
                                       STATEMENT_host_contact_guard};
enum { KINDS = sizeof(order) / sizeof(order[0]) };

bool db_defers(const struct db *db)
{
    return db_can_share(db) && db->locks == LOCKS_NOT_WAITED_FOR;
}

/* --- keeping ------------------------------------------------------------------------------- */

static const void *keep_bytes(struct arena *arena, const void *at, size_t size)
{
    void *copy = arena_alloc(arena, size);

    if (copy != NULL)
        memcpy(copy, at, size);
    return copy;
}

/* The values with what they point to. NULL: no memory. */
static const void *keep_values(struct arena *arena, const struct statement_definition *definition,
                               const void *values, size_t size)
{
    char *kept = arena_alloc(arena, size);
    bool is_whole = kept != NULL;

    if (is_whole)
        memcpy(kept, values, size);
    for (const struct db_member *value = definition->values; is_whole && value->name != NULL;
         value++) {
        char *at = kept + value->offset;
        struct db_ids list;
        const void *row;

        must(value->type != DB_STRING && value->type != DB_BYTES && value->type != DB_STRINGS);
        if (value->type == DB_ROW) {
            memcpy(&row, at, sizeof(row));
            row = keep_bytes(arena, row, row_tables[value->row].size);
            memcpy(at, &row, sizeof(row));
            is_whole = row != NULL;
        } else if (db_type_is_list(value->type)) {
            memcpy(&list, at, sizeof(list));
            list.items = keep_bytes(arena, list.items, list.count * sizeof(list.items[0]));
            memcpy(at, &list, sizeof(list));
            is_whole = list.items != NULL;
        }
    }
    return is_whole ? kept : NULL;
}

static enum status keep_row(struct db *db, struct deferred_row row)
{
    struct deferred *deferred = &db->deferred;

    if (deferred->count == DEFERRED_MOST) {
        enum status status = mariadb_write_deferred(db);

        if (status != STATUS_OK)
            return status;
    }
    row.subjects = db_sorted_ids(deferred->arena, row.subjects.items, row.subjects.count);
    row.values = keep_values(deferred->arena, statement_definition(row.statement), row.values,
                             row.values_size);
    if (row.values == NULL || row.subjects.items == NULL)
        return mariadb_lacks_memory(db);
    deferred->rows[deferred->count++] = row;
    return STATUS_OK;
}

enum status db_defer(struct db *db, enum statement statement, enum db_subject kind,
                     struct db_ids ids, uint64_t meant_each, const void *values, size_t values_size,
                     size_t row_count)
{
    const struct statement_definition *definition = statement_definition(statement);
    const bool waits = db_defers(db);
    enum status status = mariadb_check(db);
    uint64_t meant = 0;

    must((definition->count == COUNT_ALL) == (meant_each == DB_ANY_COUNT));
    for (size_t i = 0; i < row_count && status == STATUS_OK; i++) {
        const char *row = (const char *)values + i * values_size;
        uint64_t rows =
            meant_each == DB_ANY_COUNT ? mariadb_rows_meant(definition, row) : meant_each;

        meant += rows;
        if (waits)
            status = keep_row(db, (struct deferred_row){.statement = statement,
                                                        .subject = kind,
                                                        .subjects = ids,
                                                        .meant = rows,
                                                        .values = row,
                                                        .values_size = values_size});
    }
    if (status != STATUS_OK || waits)
        return status;
    return mariadb_run_rows(db, statement, values, values_size, row_count, meant);
}

void mariadb_forget_deferred(struct db *db, size_t count)
{
    struct deferred *deferred = &db->deferred;

    if (count >= deferred->count)
        return;
    deferred->count = count;
    if (count == 0)
        arena_reset(deferred->arena);
}

/* --- writing ------------------------------------------------------------------------------- */

/* Those of one statement among the rows from `from` to `to`, by one command. */
static enum status write_alike(struct db *db, enum statement statement, size_t from, size_t to)
{
    struct deferred *deferred = &db->deferred;
    char *values = NULL;
    size_t size = 0, count = 0;
    uint64_t meant = 0;

    for (size_t i = from; i < to; i++) {
        const struct deferred_row *row = &deferred->rows[i];

        if (row->statement != statement)
            continue;
        if (values == NULL) {
            size = row->values_size;
            values = arena_alloc_array(deferred->arena, to - i, size);
        }
        if (values == NULL)
            return mariadb_lacks_memory(db);
        memcpy(values + count++ * size, row->values, size);
        meant += row->meant;
    }
    return count == 0 ? STATUS_OK : mariadb_run_rows(db, statement, values, size, count, meant);
}

static enum status write_rows(struct db *db, size_t from, size_t to)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < KINDS && status == STATUS_OK; i++)
        status = write_alike(db, order[i], from, to);
    return status;
}

/* Those of other parts stand in front of the savepoint of this one, if it is still to be sent. */
enum status mariadb_write_deferred(struct db *db)
{
    struct deferred *deferred = &db->deferred;
    const bool has_part = transaction_state_has_part(db->state);
    size_t count = deferred->count, others = has_part ? deferred->part_from : count;
    enum status status;

    if (count == 0 || deferred->writing != DEFERRED_NOTHING)
        return STATUS_OK;
    if (others > 0 && transaction_state_is_marked(db->state))
        mariadb_move(db, PART_IS_MIXED);
    deferred->writing = DEFERRED_OF_OTHERS;
    status = write_rows(db, 0, others);
    deferred->writing = DEFERRED_OWN;
    if (status == STATUS_OK)
        status = write_rows(db, others, count);
    deferred->writing = DEFERRED_NOTHING;
    deferred->part_from = 0;
    mariadb_forget_deferred(db, 0);
    if (status != STATUS_OK) /* what was not written is not there to be committed */
        mariadb_spoil(db);
    return status;
}

/* --- what passes by ------------------------------------------------------------------------ */

/* Both lists rise. */
static bool have_common(struct db_ids a, struct db_ids b)
{
    size_t i = 0, j = 0;

    while (i < a.count && j < b.count && a.items[i] != b.items[j]) {
        if (a.items[i] < b.items[j])
            i++;
        else
            j++;
    }
    return i < a.count && j < b.count;
}

void db_concerns_only(struct db *db, enum db_subject kind, struct db_ids ids)
{
    struct deferred *deferred = &db->deferred;

    deferred->is_passed_by = ids.items != NULL && ids.count > 0;
    for (size_t i = 0; i < deferred->count && deferred->is_passed_by; i++)
        if (deferred->rows[i].subject == kind && have_common(deferred->rows[i].subjects, ids))
            deferred->is_passed_by = false;
}

enum status mariadb_settle(struct db *db)
{
    bool is_passed_by = db->deferred.is_passed_by;

    db->deferred.is_passed_by = false;
    return is_passed_by ? STATUS_OK : mariadb_write_deferred(db);
}
