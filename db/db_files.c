/* SPDX-License-Identifier: Apache-2.0 */
/* Files and orders of hosts. Everything goes in sets: a host's rows are read as a whole, and what
 * changed is written as a whole. */
#include "db/files.h"

#include "db/mariadb.h"
#include "server/base/arena.h"

#include "server/base/banned.h"

enum { DAY = 86400 };

/* Orders of one host that a reply can hold. */
enum { ORDERS_MOST = 1000 };

enum status db_files_of_host(struct db *db, struct arena *arena, int64_t hostid,
                             struct host_file_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, file_of_host, arena, ret_rows, ret_count, .hostid = hostid,
                  .most = DB_FILES_MOST);
}

enum status db_files_holders(struct db *db, struct arena *arena, struct text name, int64_t after,
                             size_t most, struct host_file_row **ret_rows, size_t *ret_count)
{
    return DB_ALL(db, file_hosts, arena, ret_rows, ret_count, .name = name, .after = after,
                  .most = (int64_t)most);
}

enum status db_files_save(struct db *db, struct arena *arena, const struct host_file_row *rows,
                          size_t count)
{
    struct file_save_values *values = ARENA_ARRAY(arena, count, struct file_save_values);

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        values[i] = (struct file_save_values){.hostid = rows[i].hostid,
                                              .name = rows[i].name,
                                              .nbytes = rows[i].nbytes,
                                              .status = rows[i].status,
                                              .priority = rows[i].priority,
                                              .expiry = rows[i].expiry,
                                              .first_seen = rows[i].first_seen,
                                              .last_seen = rows[i].last_seen,
                                              .last_used = rows[i].last_used};
    return DB_RUN_BULK(db, file_save, values, count, NULL);
}

enum status db_files_seen(struct db *db, int64_t hostid, int64_t now)
{
    return DB_RUN(db, file_seen, NULL, .hostid = hostid, .now = now);
}

enum status db_files_forget(struct db *db, int64_t hostid, const struct text *names, size_t count)
{
    return DB_RUN(db, file_forget, NULL, .hostid = hostid, .names = {names, count});
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

enum status db_file_orders(struct db *db, struct arena *arena, int64_t hostid, size_t most,
                           struct file_order_row **ret_orders, size_t *ret_count)
{
    return hostid == 0
               ? DB_ALL(db, file_orders_all, arena, ret_orders, ret_count, .most = (int64_t)most)
               : DB_ALL(db, file_orders_of_host, arena, ret_orders, ret_count, .hostid = hostid,
                        .most = (int64_t)most);
}

enum status db_file_orders_open(struct db *db, struct arena *arena, int64_t hostid,
                                struct file_order_row **ret_orders, size_t *ret_count)
{
    return DB_ALL(db, file_orders_open, arena, ret_orders, ret_count, .hostid = hostid,
                  .most = ORDERS_MOST);
}

enum status db_file_orders_add(struct db *db, struct arena *arena,
                               const struct file_order_row *orders, size_t count)
{
    struct file_order_add_values *values = ARENA_ARRAY(arena, count, struct file_order_add_values);

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        values[i] = (struct file_order_add_values){.hostid = orders[i].hostid,
                                                   .name = orders[i].name,
                                                   .action = orders[i].action,
                                                   .created = orders[i].created,
                                                   .delivered = orders[i].delivered,
                                                   .xml = orders[i].xml,
                                                   .tries = orders[i].tries};
    return DB_RUN_BULK(db, file_order_add, values, count, NULL);
}

enum status db_file_orders_save(struct db *db, struct arena *arena,
                                const struct file_order_row *orders, size_t count)
{
    struct file_order_save_values *values =
        ARENA_ARRAY(arena, count, struct file_order_save_values);

    if (values == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++)
        values[i] = (struct file_order_save_values){.hostid = orders[i].hostid,
                                                    .name = orders[i].name,
                                                    .action = orders[i].action,
                                                    .delivered = orders[i].delivered,
                                                    .tries = orders[i].tries,
                                                    .ended = orders[i].ended,
                                                    .outcome = orders[i].outcome};
    return DB_RUN_BULK(db, file_order_save, values, count, NULL);
}

enum status db_file_orders_clean(struct db *db, int64_t now)
{
    enum status status =
        DB_RUN(db, file_orders_expire, NULL, .now = now, .outcome = FILE_OUTCOME_EXPIRED,
               .created_before = now - (int64_t)FILE_ORDER_DAYS * DAY);

    return status == STATUS_OK ? DB_RUN(db, file_orders_forget, NULL,
                                        .ended_by = now - (int64_t)FILE_ORDER_KEPT_DAYS * DAY)
                               : status;
}

enum status db_file_orders_clean_host(struct db *db, int64_t hostid, int64_t now)
{
    return DB_RUN(db, file_orders_forget_host, NULL, .hostid = hostid,
                  .ended_by = now - (int64_t)FILE_ORDER_KEPT_DAYS * DAY);
}

enum status db_files_delete_host(struct db *db, int64_t hostid)
{
    enum status status = DB_RUN(db, file_delete_host, NULL, .hostid = hostid);

    return status == STATUS_OK ? DB_RUN(db, file_orders_delete_host, NULL, .hostid = hostid)
                               : status;
}
