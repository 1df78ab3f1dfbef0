/* SPDX-License-Identifier: Apache-2.0 */
/* The door: no statement reaches the connection's transaction but through here. What waits is
 * written first, unless the statement has nothing to do with it (mariadb_tail.c); a part that
 * writes for the first time gets its savepoint; and what locks or writes begins a transaction if
 * none has begun. Behind the door stands the statement itself. */
#include "db/mariadb_internal.h"

#include "db/statement.h"

#include <string.h>

#include "server/base/banned.h"

static enum status settle(struct db *db)
{
    return mariadb_tail_passes(db) ? STATUS_OK : mariadb_settle(db);
}

enum status mariadb_pass_reading(struct db *db, enum statement statement, size_t list_count,
                                 struct db_prepared **ret_prepared)
{
    enum status status = mariadb_check(db);

    if (status == STATUS_OK)
        status = mariadb_find(db, statement, list_count, ret_prepared);
    if (status == STATUS_OK)
        status = settle(db);
    if (status != STATUS_OK || (*ret_prepared)->only_reads)
        return status;
    return mariadb_begin(db);
}

static enum status pass_writing(struct db *db)
{
    enum status status = mariadb_check(db);

    if (status == STATUS_OK)
        status = settle(db);
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

static enum status write_now(struct db *db, enum statement statement, const struct value_rows *rows,
                             uint64_t *ret_affected)
{
    enum status status = STATUS_OK;

    must(statement_definition(statement)->count != COUNT_ASKED || ret_affected != NULL);
    if (!is_empty(statement_definition(statement), rows))
        status = pass_writing(db);
    return status == STATUS_OK ? mariadb_write_now(db, statement, rows, ret_affected) : status;
}

static enum status write_ahead(struct db *db, enum statement statement,
                               const struct value_rows *rows, uint64_t meant,
                               uint64_t *ret_affected)
{
    enum status status = STATUS_OK;

    if (!is_empty(statement_definition(statement), rows))
        status = pass_writing(db);
    return status == STATUS_OK ? mariadb_write_ahead(db, statement, rows, meant, ret_affected)
                               : status;
}

enum status db_run(struct db *db, enum statement statement, const void *values,
                   uint64_t *ret_affected)
{
    return write_now(db, statement, &(struct value_rows){values, 0, 1}, ret_affected);
}

enum status db_run_bulk(struct db *db, enum statement statement, const void *values,
                        size_t values_size, size_t row_count, uint64_t *ret_affected)
{
    return write_now(db, statement, &(struct value_rows){values, values_size, row_count},
                     ret_affected);
}

enum status db_run_ahead(struct db *db, enum statement statement, const void *values)
{
    const struct statement_definition *definition = statement_definition(statement);
    uint64_t meant = DB_ANY_COUNT;

    must(definition->count != COUNT_ASKED);
    if (definition->count == COUNT_ALL)
        meant = mariadb_rows_meant(definition, values);
    return write_ahead(db, statement, &(struct value_rows){values, 0, 1}, meant, NULL);
}

enum status db_run_bulk_ahead(struct db *db, enum statement statement, const void *values,
                              size_t values_size, size_t row_count, uint64_t *ret_affected)
{
    must(statement_definition(statement)->count != COUNT_SINGLY);
    return write_ahead(db, statement, &(struct value_rows){values, values_size, row_count},
                       row_count, ret_affected);
}

/* --- what waits ---------------------------------------------------------------------------- */

static enum status keep(struct db *db, const struct waiting_row *row)
{
    enum status status = mariadb_tail_is_full(db) ? mariadb_settle(db) : STATUS_OK;

    return status == STATUS_OK ? mariadb_tail_keep(db, row) : status;
}

enum status db_defer(struct db *db, enum statement statement, enum db_subject kind,
                     struct db_ids ids, uint64_t meant_each, const void *values, size_t values_size,
                     size_t row_count)
{
    const struct statement_definition *definition = statement_definition(statement);
    const struct value_rows rows = {values, values_size, row_count};
    const bool waits = db_defers(db);
    enum status status = mariadb_check(db);
    uint64_t meant = 0, affected = 0;

    must((definition->count == COUNT_ALL) == (meant_each == DB_ANY_COUNT));
    for (size_t i = 0; i < row_count && status == STATUS_OK; i++) {
        struct waiting_row row = {.statement = statement,
                                  .subject = kind,
                                  .subjects = ids,
                                  .meant = meant_each,
                                  .values = (const char *)values + i * values_size,
                                  .values_size = values_size};

        if (meant_each == DB_ANY_COUNT)
            row.meant = mariadb_rows_meant(definition, row.values);
        meant += row.meant;
        if (waits)
            status = keep(db, &row);
    }
    if (status != STATUS_OK || waits)
        return status;
    status = write_ahead(db, statement, &rows, meant, &affected);
    return status == STATUS_OK ? mariadb_check_meant(db, statement, affected, meant) : status;
}
