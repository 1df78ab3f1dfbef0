/* SPDX-License-Identifier: Apache-2.0 */
/* Files and orders of hosts. Everything goes in sets: a host's rows are read as a whole, and what
 * changed is written as a whole. */
#include "db/files.h"

#include "db/lists.h"
#include "db/mariadb.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

enum { FILE_VALUES = 9, ORDER_VALUES = 7, ORDER_CHANGES = 7, DAY = 86400 };

/* Orders of one host that a reply can hold. */
enum { ORDERS_MOST = 1000 };

static struct db_value db_name(struct text name)
{
    return db_bytes(name, DB_FILE_NAME_MOST);
}

static enum status read_files(struct db_rows *rows, struct host_file_row **ret_rows,
                              size_t *ret_count)
{
    struct host_file_row *items = ARENA_ARRAY(rows->arena, rows->row_count, struct host_file_row);
    size_t count = 0;
    enum status status;

    while (items != NULL && db_rows_next(rows)) {
        const struct db_cell *cells = rows->cells;

        items[count++] = (struct host_file_row){.hostid = cells[0].integer,
                                                .name = cells[1].text,
                                                .nbytes = cells[2].real,
                                                .status = cells[3].integer,
                                                .priority = cells[4].integer,
                                                .expiry = cells[5].integer,
                                                .first_seen = cells[6].integer,
                                                .last_seen = cells[7].integer,
                                                .last_used = cells[8].integer};
    }
    status = db_rows_end(rows);
    if (status == STATUS_OK && items == NULL)
        status = STATUS_TOO_LARGE;
    if (status == STATUS_OK) {
        *ret_rows = items;
        *ret_count = count;
    }
    return status;
}

enum status db_files_of_host(struct db *db, struct arena *arena, int64_t hostid,
                             struct host_file_row **ret_rows, size_t *ret_count)
{
    struct db_rows rows;
    enum status status = db_query(db, arena, STATEMENT_file_of_host,
                                  DB_VALUES(db_id(hostid), db_integer(DB_FILES_MOST)), &rows);

    return status == STATUS_OK ? read_files(&rows, ret_rows, ret_count) : status;
}

enum status db_files_holders(struct db *db, struct arena *arena, struct text name, int64_t after,
                             size_t most, struct host_file_row **ret_rows, size_t *ret_count)
{
    struct db_rows rows;
    enum status status =
        db_query(db, arena, STATEMENT_file_hosts,
                 DB_VALUES(db_name(name), db_id(after), db_integer((int64_t)most)), &rows);

    return status == STATUS_OK ? read_files(&rows, ret_rows, ret_count) : status;
}

enum status db_files_save(struct db *db, struct arena *arena, const struct host_file_row *rows,
                          size_t count)
{
    struct db_value *values = ARENA_ARRAY(arena, count * FILE_VALUES, struct db_value);

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++) {
        struct db_value *value = values + i * FILE_VALUES;

        *value++ = db_id(rows[i].hostid);
        *value++ = db_name(rows[i].name);
        *value++ = db_real(rows[i].nbytes);
        *value++ = db_integer(rows[i].status);
        *value++ = db_integer(rows[i].priority);
        *value++ = db_id(rows[i].expiry);
        *value++ = db_id(rows[i].first_seen);
        *value++ = db_id(rows[i].last_seen);
        *value++ = db_id(rows[i].last_used);
    }
    return db_run_bulk(db, STATEMENT_file_save, values, FILE_VALUES, count, NULL);
}

enum status db_files_seen(struct db *db, int64_t hostid, int64_t now)
{
    return db_run(db, STATEMENT_file_seen, DB_VALUES(db_id(now), db_id(hostid)), NULL);
}

enum status db_files_forget(struct db *db, int64_t hostid, const struct text *names, size_t count)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < count && status == STATUS_OK; i += list_part(count, i))
        status = db_run(db, STATEMENT_file_forget,
                        DB_VALUES(db_id(hostid), db_names(names + i, list_part(count, i))), NULL);
    return status;
}

/* --- orders ---------------------------------------------------------------------------------- */

const char *file_outcome_word(int64_t outcome)
{
    static const char *const words[] = {
#define OUTCOME(name, word) word,
        FILE_OUTCOMES(OUTCOME)
#undef OUTCOME
    };

    return outcome >= 0 && outcome < FILE_OUTCOME_COUNT ? words[outcome] : "?";
}

static enum status read_orders(struct db_rows *rows, struct file_order **ret_orders,
                               size_t *ret_count)
{
    struct file_order *items = ARENA_ARRAY(rows->arena, rows->row_count, struct file_order);
    size_t count = 0;
    enum status status;

    while (items != NULL && db_rows_next(rows))
        items[count++] = (struct file_order){.hostid = rows->cells[0].integer,
                                             .name = rows->cells[1].text,
                                             .action = rows->cells[2].integer,
                                             .created = rows->cells[3].integer,
                                             .delivered = rows->cells[4].integer,
                                             .xml = rows->cells[5].text,
                                             .tries = rows->cells[6].integer,
                                             .ended = rows->cells[7].integer,
                                             .outcome = rows->cells[8].integer,
                                             .nbytes = rows->cells[9].real};
    status = db_rows_end(rows);
    if (status == STATUS_OK && items == NULL)
        status = STATUS_TOO_LARGE;
    if (status == STATUS_OK) {
        *ret_orders = items;
        *ret_count = count;
    }
    return status;
}

enum status db_file_orders(struct db *db, struct arena *arena, int64_t hostid, size_t most,
                           struct file_order **ret_orders, size_t *ret_count)
{
    struct db_rows rows;
    struct db_value limit = db_integer((int64_t)most);
    enum status status =
        hostid == 0 ? db_query(db, arena, STATEMENT_file_orders_all, DB_VALUES(limit), &rows)
                    : db_query(db, arena, STATEMENT_file_orders_of_host,
                               DB_VALUES(db_id(hostid), limit), &rows);

    return status == STATUS_OK ? read_orders(&rows, ret_orders, ret_count) : status;
}

enum status db_file_orders_open(struct db *db, struct arena *arena, int64_t hostid,
                                struct file_order **ret_orders, size_t *ret_count)
{
    struct db_rows rows;
    enum status status = db_query(db, arena, STATEMENT_file_orders_open,
                                  DB_VALUES(db_id(hostid), db_integer(ORDERS_MOST)), &rows);

    return status == STATUS_OK ? read_orders(&rows, ret_orders, ret_count) : status;
}

enum status db_file_orders_add(struct db *db, struct arena *arena, const struct file_order *orders,
                               size_t count)
{
    struct db_value *values = ARENA_ARRAY(arena, count * ORDER_VALUES, struct db_value);

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++) {
        struct db_value *value = values + i * ORDER_VALUES;

        *value++ = db_id(orders[i].hostid);
        *value++ = db_name(orders[i].name);
        *value++ = db_integer(orders[i].action);
        *value++ = db_id(orders[i].created);
        *value++ = db_id(orders[i].delivered);
        *value++ = db_bytes(orders[i].xml, DB_MEDIUM_MOST);
        *value++ = db_integer(orders[i].tries);
    }
    return db_run_bulk(db, STATEMENT_file_order_add, values, ORDER_VALUES, count, NULL);
}

enum status db_file_orders_save(struct db *db, struct arena *arena, const struct file_order *orders,
                                size_t count)
{
    struct db_value *values = ARENA_ARRAY(arena, count * ORDER_CHANGES, struct db_value);

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++) {
        struct db_value *value = values + i * ORDER_CHANGES;

        *value++ = db_id(orders[i].delivered);
        *value++ = db_integer(orders[i].tries);
        *value++ = db_id(orders[i].ended);
        *value++ = db_integer(orders[i].outcome);
        *value++ = db_id(orders[i].hostid);
        *value++ = db_name(orders[i].name);
        *value++ = db_integer(orders[i].action);
    }
    return db_run_bulk(db, STATEMENT_file_order_save, values, ORDER_CHANGES, count, NULL);
}

enum status db_file_orders_clean(struct db *db, int64_t now)
{
    enum status status = db_run(db, STATEMENT_file_orders_expire,
                                DB_VALUES(db_id(now), db_integer(FILE_OUTCOME_EXPIRED),
                                          db_id(now - (int64_t)FILE_ORDER_DAYS * DAY)),
                                NULL);

    return status == STATUS_OK
               ? db_run(db, STATEMENT_file_orders_forget,
                        DB_VALUES(db_id(now - (int64_t)FILE_ORDER_KEPT_DAYS * DAY)), NULL)
               : status;
}

enum status db_file_orders_clean_host(struct db *db, int64_t hostid, int64_t now)
{
    return db_run(db, STATEMENT_file_orders_forget_host,
                  DB_VALUES(db_id(hostid), db_id(now - (int64_t)FILE_ORDER_KEPT_DAYS * DAY)), NULL);
}
