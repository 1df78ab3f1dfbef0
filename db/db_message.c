/* SPDX-License-Identifier: Apache-2.0 */
/* Trickle messages: what hosts tell the project, and what the project tells hosts. */
#include "db/mariadb.h"
#include "server/base/arena.h"

#include <stdlib.h>

#include "server/base/banned.h"

enum status db_messages_from_host_save(struct db *db, int64_t hostid, int64_t now,
                                       const struct message_from_host *messages, size_t count)
{
    struct message_from_host_insert_values *values = calloc(count + 1, sizeof(values[0]));
    enum status status;

    if (values == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        values[i] = (struct message_from_host_insert_values){.create_time = now,
                                                             .hostid = hostid,
                                                             .variety = messages[i].variety,
                                                             .xml = messages[i].xml};
    status = DB_RUN_BULK(db, message_from_host_insert, values, count, NULL);
    free(values);
    return status;
}

/* At most one part of a list at a time; the next RPC takes the rest. */
enum status db_messages_to_host_take(struct db *db, struct arena *arena, int64_t hostid,
                                     struct text **ret_xml, size_t *ret_count)
{
    struct message_row *rows;
    int64_t *ids;
    struct text *xml;
    size_t count;
    enum status status =
        DB_ALL(db, messages_to_host, arena, &rows, &count, .hostid = hostid, .most = DB_LIST_MOST);

    if (status != STATUS_OK)
        return status;
    ids = ARENA_ARRAY(arena, count, int64_t);
    xml = ARENA_ARRAY(arena, count, struct text);
    if (ids == NULL || xml == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < count; i++) {
        ids[i] = rows[i].id;
        xml[i] = rows[i].xml;
    }
    status = DB_RUN(db, messages_to_host_handled, NULL, .ids = {ids, count});
    if (status == STATUS_OK) {
        *ret_xml = xml;
        *ret_count = count;
    }
    return status;
}
