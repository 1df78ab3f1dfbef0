/* SPDX-License-Identifier: Apache-2.0 */
/* What the last statement of a request's transaction writes: the host's guard row, by which an
 * unknown outcome is looked up, and the host as it is to be. */
#include "db/mariadb_internal.h"

#include "server/base/banned.h"

/* What the last statement before COMMIT writes. */
struct ending {
    int64_t hostid, token, now;
    bool has_contact;
    struct host_contact_row contact;
};

/* *ret_kept: rows found. 0: there is no guard row, or the transaction is not the one that began;
 * or it is left to make_guard. */
static enum status change_guard(struct db *db, const struct ending *end, uint64_t *ret_kept)
{
    *ret_kept = 0;
    if (db->keeps_token && end->has_contact)
        return DB_RUN(db, host_contact_guard_keep, ret_kept, .host_contact = &end->contact,
                      .id = end->hostid, .token = end->token, .now = end->now,
                      .connection = db->connection, .begun = db->token);
    if (db->keeps_token)
        return DB_RUN(db, host_guard_keep, ret_kept, .hostid = end->hostid, .token = end->token,
                      .now = end->now, .connection = db->connection, .begun = db->token);
    if (end->has_contact)
        return DB_RUN(db, host_contact_guard, ret_kept, .host_contact = &end->contact,
                      .id = end->hostid, .token = end->token, .now = end->now);
    return STATUS_OK;
}

/* Where there is no token, nothing is lost in silence, and one that is there is changed. */
static enum status make_guard(struct db *db, const struct ending *end, uint64_t *ret_kept)
{
    if (db->keeps_token)
        return DB_RUN(db, host_guard_first, ret_kept, .hostid = end->hostid, .token = end->token,
                      .now = end->now, .connection = db->connection, .begun = db->token);
    *ret_kept = 1;
    return db_host_guard(db, end->hostid, (uint64_t)end->token, end->now);
}

/* A host of before this server's time, or a new one, has no guard row yet. Where there is a token,
 * making one hangs on it as well, so that a loss cannot look like a row that is missing. */
enum status db_host_commit(struct db *db, int64_t hostid, uint64_t token, int64_t now,
                           const struct host_row *contact)
{
    struct ending end = {
        .hostid = hostid, .token = (int64_t)token, .now = now, .has_contact = contact != NULL};
    uint64_t kept = 0;
    enum status status;

    must(db->magic == DB_MAGIC && (transaction_state_has_begun(db->state) || !db->keeps_token));
    if (contact != NULL)
        end.contact = db_host_contact(contact);
    status = change_guard(db, &end, &kept);
    if (status == STATUS_OK && kept == 0 && contact != NULL)
        status =
            DB_RUN(db, host_save_contact, NULL, .host_contact = &end.contact, .id = end.hostid);
    if (status == STATUS_OK && kept == 0)
        status = make_guard(db, &end, &kept);
    return status == STATUS_OK ? mariadb_commit_if(db, kept > 0) : status;
}

enum { ROWS_OF_CONTACT = 2 }; /* the host's, and its guard row */

static enum status change_contact_and_guard(struct db *db, const struct host_row *host,
                                            uint64_t token, int64_t now)
{
    struct host_contact_row contact = db_host_contact(host);
    const struct host_contact_guard_values values = (struct host_contact_guard_values){
        .host_contact = &contact, .id = host->id, .token = (int64_t)token, .now = now};

    return DB_DEFER(db, host_contact_guard, SUBJECT_HOST, ((struct db_ids){&host->id, 1}),
                    ROWS_OF_CONTACT, &values, 1);
}

enum status db_part_end(struct db *db, int64_t hostid, uint64_t token, int64_t now,
                        const struct host_row *contact, bool has_guard)
{
    struct host_contact_row row;
    enum status status = STATUS_OK;

    must(db->magic == DB_MAGIC && !db->keeps_token);
    if (contact != NULL && has_guard) {
        status = change_contact_and_guard(db, contact, token, now);
    } else {
        if (contact != NULL) {
            row = db_host_contact(contact);
            status = DB_RUN(db, host_save_contact, NULL, .host_contact = &row, .id = hostid);
        }
        if (status == STATUS_OK)
            status = db_host_guard(db, hostid, token, now);
    }
    if (status == STATUS_OK && transaction_state_has_part(db->state)) /* who fails is undone */
        mariadb_move(db, PART_ENDS);
    return status;
}
