/* SPDX-License-Identifier: Apache-2.0 */
/* The tail: writes that wait for the end of a shared transaction, and what becomes of them.
 *
 * Requests that share a transaction (db_part_begin) end alike: each takes a job, counts it for a
 * version, and writes what is new of its host. Where each sends a statement, to ask for that costs
 * nearly as much as to do it. So in a transaction that may have several parts the values wait, and
 * one command of each kind writes those of all. When, mariadb_transaction.c says: before COMMIT, or
 * before a statement that may have to do with them.
 *
 * Nobody can tell the difference. The rows are locked by this transaction when their values begin
 * to wait, or nobody else but the host's request writes them. Where a row is not as it should be,
 * the whole transaction is not committed, and each request is tried again alone. */
#include "db/mariadb_internal.h"

#include "server/base/arena.h"

#include <string.h>

#include "server/base/banned.h"

/* In the order in which they are written: that of the locks. */
static const enum statement order[] = {STATEMENT_claim_few, STATEMENT_claim_results,
                                       STATEMENT_claim_workunits, STATEMENT_host_app_version_change,
                                       STATEMENT_host_contact_guard};
enum { KINDS = sizeof(order) / sizeof(order[0]) };

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
        struct text bytes, kept_bytes;
        const void *row;

        must(value->type != DB_STRING && value->type != DB_STRINGS);
        if (value->type == DB_BYTES) {
            memcpy(&bytes, at, sizeof(bytes));
            kept_bytes = text_copy(arena, bytes);
            memcpy(at, &kept_bytes, sizeof(kept_bytes));
            is_whole = kept_bytes.length == bytes.length;
        } else if (value->type == DB_SUBJECTS) { /* which are kept apart */
            memset(at, 0, sizeof(list));
        } else if (value->type == DB_ROW) {
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

bool mariadb_tail_is_full(const struct db *db)
{
    return db->tail.count == TAIL_MOST;
}

/* Whose rows a row of values writes or reads; a single id is given by its place. */
static struct db_ids subjects_of(const struct db_member *subject, const char *values)
{
    struct db_ids ids;

    if (subject->type == DB_ID)
        return (struct db_ids){(const int64_t *)(const void *)(values + subject->offset), 1};
    memcpy(&ids, values + subject->offset, sizeof(ids));
    return ids;
}

static bool is_ordered(enum statement statement)
{
    for (size_t i = 0; i < KINDS; i++)
        if (order[i] == statement)
            return true;
    return false;
}

enum status mariadb_tail_keep(struct db *db, enum statement statement, const struct value_rows *row)
{
    struct tail *tail = &db->tail;
    const struct statement_definition *definition = statement_definition(statement);
    const struct db_member *subject = statement_subject(definition);
    struct waiting_row kept = {.statement = statement, .values_size = row->size};

    must(db->state.done != TRANSACTION_IDLE && !mariadb_tail_is_full(db));
    must(is_ordered(statement) && subject != NULL);
    kept.values = keep_values(tail->arena, definition, row->values, row->size);
    kept.subjects = subjects_of(subject, row->values);
    kept.subjects.items = keep_bytes(tail->arena, kept.subjects.items,
                                     kept.subjects.count * sizeof(kept.subjects.items[0]));
    if (kept.values == NULL || kept.subjects.items == NULL)
        return mariadb_lacks_memory(db);
    tail->rows[tail->count++] = kept;
    return STATUS_OK;
}

void mariadb_tail_forget(struct db *db, size_t count)
{
    struct tail *tail = &db->tail;

    if (count >= tail->count)
        return;
    tail->count = count;
    if (count == 0)
        arena_reset(tail->arena);
}

/* --- writing ------------------------------------------------------------------------------- */

/* Nobody is left who could ask how many rows there were. */
static enum status write_command(struct db *db, enum statement statement,
                                 const struct value_rows *rows)
{
    uint64_t affected = 0;
    enum status status = mariadb_check(db);

    if (status == STATUS_OK)
        status = mariadb_write_ahead(db, statement, rows, &affected);
    return status == STATUS_OK
               ? mariadb_check_count(db, statement_definition(statement), rows, affected)
               : status;
}

/* Those of one statement among the rows from `from` to `to`, by one command. */
static enum status write_alike(struct db *db, enum statement statement, size_t from, size_t to)
{
    struct tail *tail = &db->tail;
    char *values = NULL;
    size_t size = 0, count = 0;

    for (size_t i = from; i < to; i++) {
        const struct waiting_row *row = &tail->rows[i];

        if (row->statement != statement)
            continue;
        if (values == NULL) {
            size = row->values_size;
            values = arena_alloc_array(tail->arena, to - i, size);
        }
        if (values == NULL)
            return mariadb_lacks_memory(db);
        memcpy(values + count++ * size, row->values, size);
    }
    return count == 0 ? STATUS_OK
                      : write_command(db, statement, &(struct value_rows){values, size, count});
}

enum status mariadb_tail_write(struct db *db, size_t from, size_t to)
{
    enum status status = STATUS_OK;

    must(transaction_state_has_begun(db->state));
    for (size_t i = 0; i < KINDS && status == STATUS_OK; i++)
        status = write_alike(db, order[i], from, to);
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

/* A part that has ended left a row of its host, which stands for the jobs that it took; one that is
 * under way has not. */
static bool concerns_row(const struct tail *tail, size_t at, const struct db_member *subject,
                         struct db_ids ids)
{
    const struct waiting_row *row = &tail->rows[at];

    return statement_subject(statement_definition(row->statement))->subject == subject->subject
               ? have_common(row->subjects, ids)
               : at >= tail->part_from && subject->subject == SUBJECT_HOST;
}

bool mariadb_tail_concerns(const struct db *db, enum statement statement,
                           const struct value_rows *rows)
{
    const struct tail *tail = &db->tail;
    const struct db_member *subject;

    if (tail->count == 0)
        return false;
    subject = statement_subject(statement_definition(statement));
    if (subject == NULL)
        return true;
    for (size_t i = 0; i < rows->count; i++) {
        struct db_ids ids = subjects_of(subject, (const char *)rows->values + i * rows->size);

        if (ids.items == NULL || ids.count == 0)
            return true;
        for (size_t j = 0; j < tail->count; j++)
            if (concerns_row(tail, j, subject, ids))
                return true;
    }
    return false;
}
