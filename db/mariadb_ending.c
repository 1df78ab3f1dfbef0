/* SPDX-License-Identifier: Apache-2.0 */
/* What the last statement of a request's transaction writes: the host's guard row, by which an
 * unknown outcome is looked up, and the host as it is to be. */
#include "db/mariadb_internal.h"

#include "server/base/banned.h"

static enum status write_contact(struct db *db, const struct host_ending *ending)
{
    const struct host_contact_row row = db_host_contact(ending->contact);

    return DB_RUN(db, host_save_contact, NULL, .host_contact = &row, .id = ending->hostid);
}

/* The token uses the whole 64 bits; the column is signed, which changes none of them. */
static enum status write_guard(struct db *db, const struct host_ending *ending)
{
    return DB_RUN(db, host_guard, NULL, .hostid = ending->hostid, .token = (int64_t)ending->token,
                  .now = ending->now, .presence = ending->presence);
}

enum status db_host_guard(struct db *db, int64_t hostid, uint64_t token, int64_t now)
{
    return write_guard(db, &(struct host_ending){.hostid = hostid, .token = token, .now = now});
}

/* Where there is no token, nothing is lost in silence, and a guard row that is there is changed. */
static enum status write_ending(struct db *db, const struct host_ending *ending)
{
    enum status status = STATUS_OK;

    if (ending->contact != NULL && ending->has_guard) {
        const struct host_contact_row row = db_host_contact(ending->contact);

        return DB_RUN(db, host_contact_guard, NULL, .host_contact = &row, .id = ending->hostid,
                      .token = (int64_t)ending->token, .now = ending->now,
                      .presence = ending->presence);
    }
    if (ending->contact != NULL)
        status = write_contact(db, ending);
    return status == STATUS_OK ? write_guard(db, ending) : status;
}

/* *ret_kept: rows found. 0: there is no guard row, or the transaction is not the one that began. */
static enum status change_guard(struct db *db, const struct host_ending *ending, uint64_t *ret_kept)
{
    struct host_contact_row row;

    if (ending->contact == NULL)
        return DB_RUN(db, host_guard_keep, ret_kept, .hostid = ending->hostid,
                      .token = (int64_t)ending->token, .now = ending->now,
                      .presence = ending->presence, .connection = db->connection,
                      .begun = db->token);
    row = db_host_contact(ending->contact);
    return DB_RUN(db, host_contact_guard_keep, ret_kept, .host_contact = &row, .id = ending->hostid,
                  .token = (int64_t)ending->token, .now = ending->now, .presence = ending->presence,
                  .connection = db->connection, .begun = db->token);
}

/* The same where the transaction began with a token, on condition of it. A host of before this
 * server's time, or a new one, has no guard row yet; making one hangs on the token as well, so that
 * a loss cannot look like a row that is missing. */
static enum status write_ending_if(struct db *db, const struct host_ending *ending,
                                   uint64_t *ret_kept)
{
    enum status status = change_guard(db, ending, ret_kept);

    if (status != STATUS_OK || *ret_kept > 0)
        return status;
    if (ending->contact != NULL)
        status = write_contact(db, ending);
    return status == STATUS_OK ? DB_RUN(db, host_guard_first, ret_kept, .hostid = ending->hostid,
                                        .token = (int64_t)ending->token, .now = ending->now,
                                        .presence = ending->presence, .connection = db->connection,
                                        .begun = db->token)
                               : status;
}

enum status db_host_commit(struct db *db, const struct host_ending *ending)
{
    uint64_t kept = 1;
    enum status status;

    must(db->magic == DB_MAGIC && (transaction_state_has_begun(db->state) || !db->keeps_token));
    if (db->keeps_token)
        status = write_ending_if(db, ending, &kept);
    else
        status = write_ending(db, ending);
    return status == STATUS_OK ? mariadb_commit_if(db, kept > 0) : status;
}

enum status db_part_end(struct db *db, const struct host_ending *ending)
{
    enum status status;

    must(db->magic == DB_MAGIC && !db->keeps_token);
    status = write_ending(db, ending);
    if (status == STATUS_OK && transaction_state_has_part(db->state)) /* who fails is undone */
        mariadb_move(db, PART_ENDS);
    return status;
}
