/* SPDX-License-Identifier: Apache-2.0 */
/* What the last statement of a request's transaction writes: the host's guard row, by which an
 * unknown outcome is looked up, and the host as it is to be. */
#include "db/mariadb_internal.h"

#include "server/base/banned.h"

static enum status write_contact(struct db *db, int64_t hostid, const struct host_row *contact)
{
    const struct host_contact_row row = db_host_contact(contact);

    return DB_RUN(db, host_save_contact, NULL, .host_contact = &row, .id = hostid);
}

/* Where there is no token, nothing is lost in silence, and a guard row that is there is changed. */
static enum status write_ending(struct db *db, int64_t hostid, uint64_t token, int64_t now,
                                const struct host_row *contact, bool has_guard)
{
    enum status status = STATUS_OK;

    if (contact != NULL && has_guard) {
        const struct host_contact_row row = db_host_contact(contact);

        return DB_RUN(db, host_contact_guard, NULL, .host_contact = &row, .id = hostid,
                      .token = (int64_t)token, .now = now);
    }
    if (contact != NULL)
        status = write_contact(db, hostid, contact);
    return status == STATUS_OK ? db_host_guard(db, hostid, token, now) : status;
}

/* *ret_kept: rows found. 0: there is no guard row, or the transaction is not the one that began. */
static enum status change_guard(struct db *db, int64_t hostid, uint64_t token, int64_t now,
                                const struct host_row *contact, uint64_t *ret_kept)
{
    struct host_contact_row row;

    if (contact == NULL)
        return DB_RUN(db, host_guard_keep, ret_kept, .hostid = hostid, .token = (int64_t)token,
                      .now = now, .connection = db->connection, .begun = db->token);
    row = db_host_contact(contact);
    return DB_RUN(db, host_contact_guard_keep, ret_kept, .host_contact = &row, .id = hostid,
                  .token = (int64_t)token, .now = now, .connection = db->connection,
                  .begun = db->token);
}

/* The same where the transaction began with a token, on condition of it. A host of before this
 * server's time, or a new one, has no guard row yet; making one hangs on the token as well, so that
 * a loss cannot look like a row that is missing. */
static enum status write_ending_if(struct db *db, int64_t hostid, uint64_t token, int64_t now,
                                   const struct host_row *contact, uint64_t *ret_kept)
{
    enum status status = change_guard(db, hostid, token, now, contact, ret_kept);

    if (status != STATUS_OK || *ret_kept > 0)
        return status;
    if (contact != NULL)
        status = write_contact(db, hostid, contact);
    return status == STATUS_OK
               ? DB_RUN(db, host_guard_first, ret_kept, .hostid = hostid, .token = (int64_t)token,
                        .now = now, .connection = db->connection, .begun = db->token)
               : status;
}

enum status db_host_commit(struct db *db, int64_t hostid, uint64_t token, int64_t now,
                           const struct host_row *contact, bool has_guard)
{
    uint64_t kept = 1;
    enum status status;

    must(db->magic == DB_MAGIC && (transaction_state_has_begun(db->state) || !db->keeps_token));
    if (db->keeps_token)
        status = write_ending_if(db, hostid, token, now, contact, &kept);
    else
        status = write_ending(db, hostid, token, now, contact, has_guard);
    return status == STATUS_OK ? mariadb_commit_if(db, kept > 0) : status;
}

enum status db_part_end(struct db *db, int64_t hostid, uint64_t token, int64_t now,
                        const struct host_row *contact, bool has_guard)
{
    enum status status;

    must(db->magic == DB_MAGIC && !db->keeps_token);
    status = write_ending(db, hostid, token, now, contact, has_guard);
    if (status == STATUS_OK && transaction_state_has_part(db->state)) /* who fails is undone */
        mariadb_move(db, PART_ENDS);
    return status;
}
