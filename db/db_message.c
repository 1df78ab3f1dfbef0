/* SPDX-License-Identifier: Apache-2.0 */
/* Trickle messages: what hosts tell the project, and what the project tells hosts. */
#include "db/lists.h"
#include "db/mariadb.h"
#include "server/base/arena.h"

#include <stdlib.h>

#include "server/base/banned.h"

#define MESSAGE_VALUES 4

enum status db_messages_from_host_save(struct db *db, int64_t hostid, int64_t now,
                                       const struct message_from_host *messages, size_t count)
{
    struct db_value *values = calloc(count + 1, MESSAGE_VALUES * sizeof(values[0]));
    enum status status;

    if (values == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        struct db_value *value = values + i * MESSAGE_VALUES;

        value[0] = db_integer(now);
        value[1] = db_id(hostid);
        value[2] = db_text(messages[i].variety);
        value[3] = db_long_text(messages[i].xml, DB_MEDIUM_MOST);
    }
    status =
        db_run_bulk(db, STATEMENT_message_from_host_insert, values, MESSAGE_VALUES, count, NULL);
    free(values);
    return status;
}

/* At most one list of them at a time; the next RPC takes the rest. */
enum status db_messages_to_host_take(struct db *db, struct arena *arena, int64_t hostid,
                                     struct text **ret_xml, size_t *ret_count)
{
    int64_t ids[DB_LIST_MOST];
    struct text *xml;
    size_t count = 0;
    struct db_rows rows;
    enum status status = db_query(db, arena, STATEMENT_messages_to_host,
                                  DB_VALUES(db_id(hostid), db_integer(DB_LIST_MOST)), &rows);

    if (status != STATUS_OK)
        return status;
    xml = ARENA_ARRAY(arena, rows.row_count, struct text);
    while (xml != NULL && count < DB_LIST_MOST && db_rows_next(&rows)) {
        ids[count] = rows.cells[0].integer;
        xml[count++] = rows.cells[1].text;
    }
    status = db_rows_end(&rows);
    if (status == STATUS_OK && xml == NULL)
        status = STATUS_TOO_LARGE;
    if (status == STATUS_OK && count > 0)
        status =
            db_run(db, STATEMENT_messages_to_host_handled, DB_VALUES(db_numbers(ids, count)), NULL);
    if (status == STATUS_OK) {
        *ret_xml = xml;
        *ret_count = count;
    }
    return status;
}
