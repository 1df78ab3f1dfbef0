/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions: with autocommit off one begins with its first statement, or here, where the caller
 * has other things to do meanwhile; it ends here, by db_commit or db_rollback, and savepoints lie
 * within it. Every command of a connection passes mariadb_before_command first.
 *
 * The transaction that commits is the one that began. A server may end a transaction without
 * telling us: on a Galera cluster the abort by another node's write set is sometimes lost between
 * two statements, and the next one silently opens a new transaction, without the locks and the
 * writes of the first. On a cluster every transaction therefore begins by writing a new token into
 * the row of its connection, which nobody else locks while it is in use, and its last statement
 * before COMMIT is an update on condition that the token is still there. Where it is not, nothing
 * may be kept and everything is to be tried again. A server that is no node of a cluster tells of
 * every transaction that it ends, and the token would cost it a fifth of an idle request:
 * mariadb_wants_token decides, once for each connection that is opened.
 *
 * What only reads, with neither locks nor writes, begins nothing, and a transaction of nothing else
 * needs no token, no durable COMMIT and no server that can be written to. The token is written
 * before the first statement that locks or writes. A plain read before it loses nothing: as the
 * isolation is READ COMMITTED it has neither lock nor snapshot, so what it found may be changed by
 * others before the next statement, in one transaction as in two. What has to stay as it was read
 * is read by a locking statement, or is compared by the statement that writes.
 *
 * A transaction may have several parts, of different requests. A part can be undone by itself: the
 * savepoint before it is sent no later than its first write. Savepoints exist only as long as the
 * transaction does: who can go back to one knows that the others' parts are still there. No part
 * waits for a lock (db_wait_for_locks): so a transaction never waits for one request while it holds
 * the locks of others, and takes part in no deadlock. What parts write at their end waits for the
 * end of them all: mariadb_deferred.c.
 *
 * No answer is waited for by db_begin, db_savepoint, db_part_begin and db_wait_for_locks: see
 * mariadb_ahead.c. */
#include "db/mariadb_internal.h"

#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

/* What holds in the state. */
static bool holds(const struct db *db)
{
    if (db->state.done == TRANSACTION_IDLE)
        return db->state.part == PART_NONE && db->ahead_count == 0 && db->deferred.count == 0;
    return db->deferred.part_from <= db->deferred.count;
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

void mariadb_end_transaction(struct db *db, enum transaction_event event)
{
    db->deferred.part_from = 0;
    db->deferred.is_passed_by = false;
    mariadb_forget_deferred(db, 0);
    mariadb_move(db, event);
}

void mariadb_add_wait(struct db *db, uint64_t begun_ns)
{
    db->count.waited_ns += clock_ns() - begun_ns;
}

/* Sends a command and waits for its answer. False: it is an error. */
static bool ask(struct db *db, const char *sql)
{
    uint64_t begun_ns = clock_ns();
    bool is_done = mysql_real_query(db->mysql, sql, strlen(sql)) == 0;

    mariadb_add_wait(db, begun_ns);
    return is_done;
}

enum status db_run_text(struct db *db, const char *sql)
{
    enum status status = mariadb_before_command(db);

    if (status != STATUS_OK)
        return status;
    db->count.statements++;
    db->count.round_trips++;
    if (!ask(db, sql))
        return mariadb_note_connection(db, text_string(db->scratch, text_first(text_from(sql), 60)),
                                       false);
    return STATUS_OK;
}

bool mariadb_wants_token(const struct db *db)
{
    return (db->facts.is_cluster || db->always_keeps_token) && !db->reads_only &&
           actual_table_exists(&db->facts.columns, "qm_connection");
}

void db_keep_token(struct db *db)
{
    must(db->magic == DB_MAGIC && db->state.done == TRANSACTION_IDLE);
    db->always_keeps_token = true;
    db->keeps_token = mariadb_wants_token(db);
}

/* A row in use is younger than a day by far: mariadb_forget_connections takes only those that are
 * older, and so meets no row that a transaction has changed and not yet committed. Written once in
 * half a day, the date and its index cost usual transactions nothing. */
#define RENEWED_AFTER_S 43200
#define KEPT_FOR_S      86400
enum { FORGETTING_ONE_IN = 64, FORGOTTEN_MOST = 256 };

/* The row is made by the connection's first transaction. No answer is waited for here. */
static enum status send_token(struct db *db)
{
    char sql[320];
    int length;
    enum status status;

    db->token = (int64_t)random_u64();
    length = snprintf(sql, sizeof(sql),
                      "INSERT INTO qm_connection (id, token, made) VALUES (%" PRId64 ", %" PRId64
                      ", UNIX_TIMESTAMP()) ON DUPLICATE KEY UPDATE token = VALUES(token),"
                      " made = IF(made < VALUES(made) - %d, VALUES(made), made)",
                      db->connection, db->token, RENEWED_AFTER_S);
    status = mariadb_make_room(db, NULL);
    if (status == STATUS_OK)
        status = mariadb_send_text(db, sql, (size_t)length);
    if (status == STATUS_OK)
        mariadb_move(db, TRANSACTION_WRITES);
    return status;
}

static bool has_begun(const struct db *db)
{
    return db->state.done == TRANSACTION_WRITING || db->state.done == TRANSACTION_SPOILED;
}

enum status db_begin(struct db *db)
{
    enum status status;

    must(db->magic == DB_MAGIC);
    if (has_begun(db) || !db->keeps_token)
        return STATUS_OK;
    status = mariadb_check(db);
    return status == STATUS_OK ? send_token(db) : status;
}

enum status mariadb_begin(struct db *db)
{
    enum status status;

    if (has_begun(db))
        return STATUS_OK;
    if (!db->keeps_token) {
        mariadb_move(db, TRANSACTION_WRITES);
        return STATUS_OK;
    }
    db->count.round_trips++; /* nothing else is done meanwhile */
    status = send_token(db);
    return status == STATUS_OK ? mariadb_read_answers(db) : status;
}

/* Sends a command without values; its answer is read with the next one that is waited for. */
static enum status send_command(struct db *db, const char *sql)
{
    enum status status = mariadb_check(db);

    if (status == STATUS_OK)
        status = mariadb_make_room(db, NULL);
    return status == STATUS_OK ? mariadb_send_text(db, sql, strlen(sql)) : status;
}

static enum status check_unspoiled(struct db *db)
{
    if (db->state.done != TRANSACTION_SPOILED)
        return STATUS_OK;
    mariadb_note_own(db, "a part of the transaction has failed");
    return STATUS_DB_RETRY;
}

/* `is_kept`: the last statement changed what it changes on condition of the token. Its answer is
 * here, and nothing goes between it and COMMIT, which tells of an abort that comes later. */
static enum status commit_if(struct db *db, bool is_kept)
{
    enum status status;

    if (!is_kept) {
        mariadb_note_own(db, "the server ended the transaction without saying so");
        mariadb_spoil(db);
        return STATUS_DB_RETRY;
    }
    status = mariadb_write_deferred(db);
    if (status == STATUS_OK)
        status = mariadb_before_command(db);
    if (status == STATUS_OK)
        status = check_unspoiled(db);
    if (status != STATUS_OK)
        return status;
    db->count.statements++;
    db->count.round_trips++;
    db->count.commits++;
    if (!ask(db, "COMMIT"))
        status = mariadb_note_connection(db, "COMMIT", true);
    db->waits_for_each = false;
    if (status == STATUS_OK)
        mariadb_end_transaction(db, TRANSACTION_COMMITS);
    else
        mariadb_spoil(db);
    return status;
}

enum status db_commit(struct db *db)
{
    uint64_t kept = 1;
    enum status status = STATUS_OK;

    must(db->magic == DB_MAGIC);
    if (db->keeps_token && has_begun(db))
        status = DB_RUN(db, connection_keep, &kept, .id = db->connection, .token = db->token);
    return status == STATUS_OK ? commit_if(db, kept == 1) : status;
}

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

    must(db->magic == DB_MAGIC && (has_begun(db) || !db->keeps_token));
    if (contact != NULL)
        end.contact = db_host_contact(contact);
    status = change_guard(db, &end, &kept);
    if (status == STATUS_OK && kept == 0 && contact != NULL)
        status =
            DB_RUN(db, host_save_contact, NULL, .host_contact = &end.contact, .id = end.hostid);
    if (status == STATUS_OK && kept == 0)
        status = make_guard(db, &end, &kept);
    return status == STATUS_OK ? commit_if(db, kept > 0) : status;
}

/* The answer to what was sent ahead does not matter, as it is undone now. A connection that did not
 * roll back might carry its locks and writes into the next transaction: it is closed. */
enum status db_rollback(struct db *db)
{
    enum status status = STATUS_OK;

    must(db->magic == DB_MAGIC);
    if (db->mysql == NULL)
        return STATUS_DB_GONE;
    (void)!mariadb_read_answers(db);
    mariadb_end_transaction(db, TRANSACTION_ROLLS_BACK);
    db->count.statements++;
    db->count.round_trips++;
    if (!ask(db, "ROLLBACK")) {
        (void)mariadb_note_connection(db, "ROLLBACK", false);
        mariadb_disconnect(db);
        status = STATUS_DB_GONE;
    }
    return status;
}

enum status db_end(struct db *db)
{
    must(db->magic == DB_MAGIC);
    return db->state.done == TRANSACTION_IDLE ? STATUS_OK : db_rollback(db);
}

/* The rows are found without locks and deleted by their numbers: a DELETE that searches would wait
 * for the youngest row as well. */
static enum status forget_connections(struct db *db)
{
    struct connection_forget_values values[FORGOTTEN_MOST];
    size_t count = 0;
    struct id_cursor rows;
    struct id_row row;
    enum status status =
        DB_QUERY(db, connections_old, NULL, &rows, .age = KEPT_FOR_S, .most = FORGOTTEN_MOST);

    if (status != STATUS_OK)
        return status;
    while (count < FORGOTTEN_MOST && DB_NEXT(&rows, &row))
        values[count++] = (struct connection_forget_values){.id = row.id, .age = KEPT_FOR_S};
    status = DB_END(&rows);
    if (status == STATUS_OK)
        status = DB_RUN_BULK(db, connection_forget, values, count, NULL);
    return status == STATUS_OK ? db_commit(db) : status;
}

/* Connections that ended leave their rows behind, one per request where each request is a process
 * of its own. One in some that are closed deletes old rows, more of them than have been closed
 * since; what becomes of it matters to nobody. */
void mariadb_forget_connections(struct db *db)
{
    if (!db->keeps_token || (uint64_t)db->connection % FORGETTING_ONE_IN != 0 ||
        db_rollback(db) != STATUS_OK)
        return;
    db->keeps_token = false; /* not for this */
    if (forget_connections(db) != STATUS_OK)
        (void)db_rollback(db);
}

enum status mariadb_refuse_writes(struct db *db)
{
    return db_run_text(db, "SET SESSION TRANSACTION READ ONLY");
}

enum status db_read_only(struct db *db)
{
    enum status status = db_rollback(db);

    must(db->magic == DB_MAGIC);
    db->reads_only = true;
    db->keeps_token = false;
    mariadb_forget_prepared(db); /* they lock what they read */
    return status == STATUS_OK ? mariadb_refuse_writes(db) : status;
}

/* --- savepoints ----------------------------------------------------------------------------- */

/* A part's savepoint is sent before its first write, as what only reads and locks leaves nothing to
 * be undone. Where there is none, another savepoint tells whether the transaction is still there:
 * the one that was made when the first part began. */
static enum status send_trace(struct db *db)
{
    return send_command(db, "SAVEPOINT qm_trace");
}

static enum status find_trace(struct db *db)
{
    enum status status = db_run_text(db, "RELEASE SAVEPOINT qm_trace");

    return status == STATUS_OK ? send_trace(db) : status;
}

enum status mariadb_mark_part(struct db *db)
{
    enum status status;

    if (db->state.part != PART_BEGUN || db->deferred.writing == DEFERRED_OF_OTHERS)
        return STATUS_OK;
    status = send_command(db, "SAVEPOINT qm_part");
    if (status == STATUS_OK)
        mariadb_move(db, PART_IS_MARKED);
    return status;
}

/* Nothing hangs on the answer, and jobs are being chosen meanwhile: nobody waits for it, so it is
 * no round trip. What waits of this part is in front of it; what waits of others is theirs. */
enum status db_savepoint(struct db *db)
{
    enum status status = db->deferred.count > db->deferred.part_from ? mariadb_write_deferred(db)
                                                                     : mariadb_check(db);

    if (status == STATUS_OK && db->state.part != PART_BEGUN) /* to which it can go back else */
        status = send_command(db, "SAVEPOINT qm");
    if (status == STATUS_OK && db->state.part == PART_MARKED)
        mariadb_move(db, PART_IS_SAVED);
    return status;
}

/* The part that has not written, or all behind the savepoint `name`. */
static enum status undo_to(struct db *db, const char *savepoint)
{
    enum status status = STATUS_DB_RETRY;

    mariadb_forget_deferred(db, db->deferred.part_from);
    if (db->state.part == PART_BEGUN)
        status = find_trace(db);
    else if (db->state.part != PART_MIXED)
        status = db_run_text(db, savepoint);
    else
        mariadb_note_own(db, "what was written cannot be undone by itself");
    if (status != STATUS_OK)
        mariadb_spoil(db);
    return status;
}

#define UNDO_PART "ROLLBACK TO SAVEPOINT qm_part"

enum status db_rollback_to_savepoint(struct db *db)
{
    return undo_to(db, db->state.part == PART_MARKED ? UNDO_PART : "ROLLBACK TO SAVEPOINT qm");
}

/* --- parts ---------------------------------------------------------------------------------- */

bool db_can_share(const struct db *db)
{
    return db_sends_ahead(db) && !db->keeps_token && db->can_refuse_to_wait;
}

enum status db_wait_for_locks(struct db *db, bool waits)
{
    enum status status = STATUS_OK;

    must(db->magic == DB_MAGIC);
    if (db->locks != (waits ? LOCKS_WAITED_FOR : LOCKS_NOT_WAITED_FOR)) {
        db->locks = waits ? LOCKS_WAITED_FOR : LOCKS_NOT_WAITED_FOR;
        status = send_command(db, waits ? "SET SESSION innodb_lock_wait_timeout = " LOCK_WAIT_S
                                        : "SET SESSION innodb_lock_wait_timeout = 0");
    }
    if (status != STATUS_OK)
        db->locks = LOCKS_UNKNOWN;
    return status;
}

enum status db_part_begin(struct db *db)
{
    enum status status = STATUS_OK;

    must(db->locks == LOCKS_NOT_WAITED_FOR);
    db->deferred.part_from = db->deferred.count;
    db->deferred.is_passed_by = false;
    if (db->state.part == PART_NONE)
        status = send_trace(db);
    if (status == STATUS_OK)
        mariadb_move(db, PART_BEGINS);
    return status;
}

/* An answer to something of an earlier part may be among those that are read here. Where the part
 * has not begun, the savepoint of that name is an earlier part's. */
enum status db_part_undo(struct db *db)
{
    enum status status;

    db->deferred.is_passed_by = false;
    if (!transaction_state_has_part(db->state))
        return STATUS_DB_RETRY;
    status = undo_to(db, UNDO_PART);
    mariadb_move(db, PART_ENDS);
    return status == STATUS_OK ? check_unspoiled(db) : status;
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

bool db_sees_losses(const struct db *db)
{
    return db->keeps_token || !db->facts.is_cluster;
}

struct db_count db_count(const struct db *db)
{
    return db->count;
}

void db_count_reset(struct db *db)
{
    db->count = (struct db_count){0};
}

void db_count_take(struct db *db, struct db_count *count)
{
    count->statements += db->count.statements;
    count->round_trips += db->count.round_trips;
    count->commits += db->count.commits;
    count->prepares += db->count.prepares;
    count->waited_ns += db->count.waited_ns;
    for (int i = 0; i < DB_ERROR_COUNT; i++)
        count->errors[i] += db->count.errors[i];
    db_count_reset(db);
}

void db_fail_nth(struct db *db, uint64_t nth, enum status status)
{
    db->fail_at = nth;
    db->fail_with = status;
}

int64_t db_inserted_id(const struct db *db)
{
    return db->inserted_id;
}

const struct actual_columns *db_actual_columns(const struct db *db)
{
    return &db->facts.columns;
}

bool db_is_cluster(const struct db *db)
{
    return db->facts.is_cluster;
}
