/* SPDX-License-Identifier: Apache-2.0 */
/* The door: no statement reaches the connection's transaction but through here. What waits is
 * written first, unless the statement has nothing to do with it (mariadb_tail.c); a part that
 * writes for the first time gets its savepoint; and what locks or writes begins a transaction if
 * none has begun. Behind the door stands the statement itself. A savepoint and COMMIT pass it too.
 */
#include "db/mariadb_internal.h"

#include "db/statement.h"

#include <string.h>

#include "server/base/banned.h"

static enum status settle(struct db *db, enum statement statement, const struct value_rows *rows)
{
    return mariadb_tail_concerns(db, statement, rows) ? mariadb_settle(db) : STATUS_OK;
}

enum status mariadb_pass_reading(struct db *db, enum statement statement,
                                 const struct value_rows *values, size_t list_count,
                                 struct db_prepared **ret_prepared)
{
    enum status status = mariadb_check(db);

    if (status == STATUS_OK)
        status = mariadb_find(db, statement, list_count, ret_prepared);
    if (status == STATUS_OK)
        status = settle(db, statement, values);
    if (status != STATUS_OK || (*ret_prepared)->only_reads)
        return status;
    return mariadb_begin(db);
}

static enum status pass_writing(struct db *db, enum statement statement,
                                const struct value_rows *rows)
{
    enum status status = mariadb_check(db);

    if (status == STATUS_OK)
        status = settle(db, statement, rows);
    if (status == STATUS_OK)
        status = mariadb_mark_part(db);
    return status == STATUS_OK ? mariadb_begin(db) : status;
}

/* An empty list writes nothing. */
static bool is_empty(const struct statement_definition *definition, const struct value_rows *rows)
{
    const struct db_member *list = statement_list(definition);
    struct db_ids ids;

    if (rows->count != 1 || list == NULL)
        return rows->count == 0;
    memcpy(&ids, (const char *)rows->values + list->offset, sizeof(ids));
    return ids.count == 0;
}

/* --- writing ------------------------------------------------------------------------------- */

/* Leaves the rows waiting. */
static enum status keep(struct db *db, enum statement statement, const struct value_rows *rows)
{
    enum status status = mariadb_check(db);

    for (size_t i = 0; i < rows->count && status == STATUS_OK; i++) {
        const struct value_rows row = {(const char *)rows->values + i * rows->size, rows->size, 1};

        if (mariadb_tail_is_full(db))
            status = mariadb_settle(db);
        if (status == STATUS_OK)
            status = mariadb_tail_keep(db, statement, &row);
    }
    return status;
}

enum status db_run(struct db *db, enum statement statement, const void *values, size_t values_size,
                   size_t row_count, uint64_t *ret_affected)
{
    const struct statement_definition *definition = statement_definition(statement);
    const struct value_rows rows = {values, values_size, row_count};
    const bool waits = definition->latest == LATEST_END && db_defers(db);
    uint64_t affected = 0;
    enum status status = STATUS_OK;

    must(definition->count != COUNT_ASKED || ret_affected != NULL);
    if (waits)
        status = keep(db, statement, &rows);
    else if (!is_empty(definition, &rows))
        status = pass_writing(db, statement, &rows);
    if (status != STATUS_OK)
        return status;
    if (waits)
        affected = mariadb_meant(definition, &rows);
    else if (definition->latest == LATEST_NOW)
        status = mariadb_write_now(db, statement, &rows, &affected);
    else
        status = mariadb_write_ahead(db, statement, &rows, &affected);
    if (status == STATUS_OK && ret_affected != NULL)
        *ret_affected = affected;
    return status;
}

/* --- savepoint and COMMIT -------------------------------------------------------------------- */

/* What waits of this part is in front of the savepoint; what waits of others is theirs. Nothing
 * hangs on the answer, and jobs are being chosen meanwhile: nobody waits for it, so it is no round
 * trip. */
enum status db_savepoint(struct db *db)
{
    enum status status = mariadb_check(db);

    if (status == STATUS_OK && db->tail.count > db->tail.part_from)
        status = mariadb_settle(db);
    return status == STATUS_OK ? mariadb_save_part(db) : status;
}

/* Where the transaction began with a token, on condition that it is still there. */
enum status db_commit(struct db *db)
{
    uint64_t kept = 1;
    enum status status = STATUS_OK;

    must(db->magic == DB_MAGIC);
    if (db->keeps_token && transaction_state_has_begun(db->state))
        status = DB_RUN(db, connection_keep, &kept, .id = db->connection, .token = db->token);
    return status == STATUS_OK ? mariadb_commit_if(db, kept == 1) : status;
}
