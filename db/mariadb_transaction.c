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
 * end of them all (mariadb_tail.c), or for a statement that may see it (mariadb_run.c).
 *
 * No answer is waited for by db_begin, db_savepoint, db_part_begin and db_wait_for_locks: see
 * mariadb_wire.c. */
#include "db/mariadb_internal.h"

#include "server/base/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

/* The transaction has ended by `event`, with its savepoints and what waits. */
static void end_transaction(struct db *db, enum transaction_event event)
{
    db->tail.part_from = 0;
    db->turn++; /* what was asked for ahead and not read is not what is there now */
    mariadb_tail_forget(db, 0);
    mariadb_move(db, event);
}

void mariadb_disconnect(struct db *db)
{
    mariadb_forget_prepared(db);
    mariadb_close(db);
    db->keeps_token = false;
    end_transaction(db, TRANSACTION_ROLLS_BACK);
}

bool mariadb_wants_token(const struct db *db)
{
    return (db->traits.is_cluster || db->always_keeps_token) && !db->reads_only &&
           actual_table_exists(&db->traits.columns, "qm_connection");
}

void db_keep_token(struct db *db)
{
    must(db->magic == DB_MAGIC && db->state.done == TRANSACTION_IDLE);
    db->always_keeps_token = true;
    db->keeps_token = mariadb_wants_token(db);
}

/* Written once in half a day, the date and its index cost usual transactions nothing; who deletes
 * the rows of connections that ended (mariadb_connection.c) takes only older ones. */
#define RENEWED_AFTER_S 43200

/* The row is made by the connection's first transaction. No answer is waited for here. */
static enum status send_token(struct db *db)
{
    char sql[320];
    enum status status;

    db->token = (int64_t)random_u64();
    (void)snprintf(sql, sizeof(sql),
                   "INSERT INTO qm_connection (id, token, made) VALUES (%" PRId64 ", %" PRId64
                   ", UNIX_TIMESTAMP()) ON DUPLICATE KEY UPDATE token = VALUES(token),"
                   " made = IF(made < VALUES(made) - %d, VALUES(made), made)",
                   db->connection, db->token, RENEWED_AFTER_S);
    status = mariadb_send_text(db, sql);
    if (status == STATUS_OK)
        mariadb_move(db, TRANSACTION_WRITES);
    return status;
}

enum status db_begin(struct db *db)
{
    enum status status;

    must(db->magic == DB_MAGIC);
    if (transaction_state_has_begun(db->state) || !db->keeps_token)
        return STATUS_OK;
    status = mariadb_check(db);
    return status == STATUS_OK ? send_token(db) : status;
}

enum status mariadb_begin(struct db *db)
{
    enum status status;

    if (transaction_state_has_begun(db->state))
        return STATUS_OK;
    if (!db->keeps_token) {
        mariadb_move(db, TRANSACTION_WRITES);
        return STATUS_OK;
    }
    db->count.round_trips++; /* nothing else is done meanwhile */
    status = send_token(db);
    return status == STATUS_OK ? mariadb_read_answers(db) : status;
}

enum status mariadb_mark_part(struct db *db)
{
    enum status status;

    if (db->state.part != PART_BEGUN)
        return STATUS_OK;
    status = mariadb_send_command(db, "SAVEPOINT qm_part");
    if (status == STATUS_OK)
        mariadb_move(db, PART_IS_MARKED);
    return status;
}

/* What waits of earlier parts stands in front of the savepoint of this one, if it is still to be
 * sent. */
enum status mariadb_settle(struct db *db)
{
    const bool has_part = transaction_state_has_part(db->state);
    const size_t count = db->tail.count, others = has_part ? db->tail.part_from : count;
    enum status status;

    if (count == 0)
        return STATUS_OK;
    if (others > 0 && transaction_state_is_marked(db->state))
        mariadb_move(db, PART_IS_MIXED);
    status = mariadb_begin(db);
    if (status == STATUS_OK)
        status = mariadb_tail_write(db, 0, others);
    if (status == STATUS_OK && others < count)
        status = mariadb_mark_part(db);
    if (status == STATUS_OK)
        status = mariadb_tail_write(db, others, count);
    db->tail.part_from = 0;
    mariadb_tail_forget(db, 0);
    if (status != STATUS_OK) /* what was not written is not there to be committed */
        mariadb_spoil(db);
    return status;
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
enum status mariadb_commit_if(struct db *db, bool is_kept)
{
    enum status status;

    if (!is_kept) {
        mariadb_note_own(db, "the server ended the transaction without saying so");
        mariadb_spoil(db);
        return STATUS_DB_RETRY;
    }
    status = mariadb_settle(db);
    if (status == STATUS_OK)
        status = mariadb_before_command(db);
    if (status == STATUS_OK)
        status = check_unspoiled(db);
    if (status != STATUS_OK)
        return status;
    db->count.commits++;
    if (!mariadb_ask(db, "COMMIT"))
        status = mariadb_note_connection(db, "COMMIT", true);
    db->waits_for_each = false;
    if (status == STATUS_OK)
        end_transaction(db, TRANSACTION_COMMITS);
    else
        mariadb_spoil(db);
    return status;
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
    end_transaction(db, TRANSACTION_ROLLS_BACK);
    if (!mariadb_ask(db, "ROLLBACK")) {
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

/* --- savepoints ----------------------------------------------------------------------------- */

/* A part's savepoint is sent before its first write, as what only reads and locks leaves nothing to
 * be undone. Where there is none, another savepoint tells whether the transaction is still there:
 * the one that was made when the first part began. */
static enum status send_trace(struct db *db)
{
    return mariadb_send_command(db, "SAVEPOINT qm_trace");
}

static enum status find_trace(struct db *db)
{
    enum status status = db_run_text(db, "RELEASE SAVEPOINT qm_trace");

    return status == STATUS_OK ? send_trace(db) : status;
}

/* A part that has not written goes back to its beginning. */
enum status mariadb_save_part(struct db *db)
{
    enum status status = STATUS_OK;

    if (db->state.part != PART_BEGUN)
        status = mariadb_send_command(db, "SAVEPOINT qm");
    if (status == STATUS_OK && db->state.part == PART_MARKED)
        mariadb_move(db, PART_IS_SAVED);
    return status;
}

/* The part that has not written, or all behind the savepoint `name`. */
static enum status undo_to(struct db *db, const char *savepoint)
{
    enum status status = STATUS_DB_RETRY;

    db->turn++;
    mariadb_tail_forget(db, db->tail.part_from);
    if (db->state.part == PART_BEGUN)
        status = find_trace(db);
    else if (db->state.part != PART_MIXED)
        status = db_run_text(db, savepoint);
    else
        mariadb_note_own(db, "the writes cannot be undone separately");
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

bool db_defers(const struct db *db)
{
    return db_can_share(db) && db->locks == LOCKS_NOT_WAITED_FOR;
}

enum status db_wait_for_locks(struct db *db, bool waits)
{
    enum status status = STATUS_OK;

    must(db->magic == DB_MAGIC);
    if (db->locks != (waits ? LOCKS_WAITED_FOR : LOCKS_NOT_WAITED_FOR)) {
        db->locks = waits ? LOCKS_WAITED_FOR : LOCKS_NOT_WAITED_FOR;
        status =
            mariadb_send_command(db, waits ? "SET SESSION innodb_lock_wait_timeout = " LOCK_WAIT_S
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
    db->tail.part_from = db->tail.count;
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

    if (!transaction_state_has_part(db->state))
        return STATUS_DB_RETRY;
    status = undo_to(db, UNDO_PART);
    mariadb_move(db, PART_ENDS);
    return status == STATUS_OK ? check_unspoiled(db) : status;
}

bool db_sees_losses(const struct db *db)
{
    return db->keeps_token || !db->traits.is_cluster;
}
