/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a connection's transaction, which changes here and nowhere else. */
#include "db/mariadb_internal.h"

#include "server/base/banned.h"

/* What holds in the state. */
static bool holds(const struct db *db)
{
    if (db->state.done == TRANSACTION_IDLE)
        return db->state.part == PART_NONE && db->ahead_count == 0 && db->tail.count == 0;
    return db->tail.part_from <= db->tail.count;
}

void mariadb_move(struct db *db, enum transaction_event event)
{
    must(transaction_state_after(db->state, event, &db->state) && holds(db));
}

void mariadb_spoil(struct db *db)
{
    if (db->state.done != TRANSACTION_IDLE)
        mariadb_move(db, TRANSACTION_FAILS);
}
