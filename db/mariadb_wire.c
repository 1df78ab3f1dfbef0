/* SPDX-License-Identifier: Apache-2.0 */
/* The wire: commands go out, and their answers come in, in this order. All that is asked of the
 * library about a connection that is open passes here, but for preparing and fetching.
 *
 * Statements may be sent before the answers to earlier ones are read. The server takes them one
 * after the other, so several that do not depend on each other's answers cost one round trip, and
 * rows are locked for a shorter time.
 *
 * Two kinds may be sent ahead. A query (db_query_ahead) whose rows are asked for later: they are
 * given to whoever asks the same with the same values, unless something was locked or written since
 * it was sent. And a statement that writes (AHEAD and END of statements.def), where the caller goes
 * on as if the rows that are meant had been changed. Answers are read in the order in which the
 * statements were sent, at the latest before COMMIT is sent.
 *
 * If one of them is an error or tells of another number of rows, the command that reads it answers
 * DB_RETRY, nothing of the transaction can be committed, and until the next COMMIT this connection
 * waits for each answer: the transaction is tried again, and the caller learns what went wrong from
 * the statement itself. The server has also executed what was sent behind an error, perhaps in a
 * new transaction; the ROLLBACK that has to follow undoes that.
 *
 * Client and server would wait for each other if the one wrote much while the other wrote rows that
 * nobody reads. So behind a query nothing is sent but short queries and commands. On a cluster
 * nothing is sent ahead but commands of mariadb_transaction.c, as nobody has shown yet that an
 * abort by another node is told there all the same. */
#include "db/mariadb_internal.h"

#include "db/statement.h"
#include "server/base/arena.h"
#include "server/base/clock.h"

#include <inttypes.h>
#include <string.h>

#include "server/base/banned.h"

#define LIBRARY_VERSION 30300 /* Connector/C 3.3: an answer may be read later */

bool mariadb_can_send_ahead(const struct db *db)
{
    return !db->traits.is_cluster && mysql_get_client_version() >= LIBRARY_VERSION &&
           db->mysql->methods->db_read_execute_response != NULL;
}

bool db_sends_ahead(const struct db *db)
{
    return db->can_send_ahead && !db->waits_for_each && db->mysql != NULL;
}

void db_send_ahead(struct db *db, bool may)
{
    must(db->magic == DB_MAGIC && db->state.done == TRANSACTION_IDLE);
    db->can_send_ahead = may && mariadb_can_send_ahead(db);
    db->waits_for_each = false;
}

void mariadb_add_wait(struct db *db, uint64_t begun_ns)
{
    db->count.waited_ns += clock_ns() - begun_ns;
}

enum status mariadb_check(struct db *db)
{
    must(db->magic == DB_MAGIC);
    if (db->fail_at > 0 && --db->fail_at == 0) {
        mariadb_note_own(db, "failure asked for by a test");
        return db->fail_with;
    }
    if (db->mysql == NULL) {
        mariadb_note_own(db, "not connected");
        return STATUS_DB_GONE;
    }
    if (db->state.done == TRANSACTION_IDLE)
        mariadb_move(db, TRANSACTION_ASKS);
    return STATUS_OK;
}

enum status mariadb_before_command(struct db *db)
{
    enum status status = mariadb_check(db);

    return status == STATUS_OK ? mariadb_read_answers(db) : status;
}

static bool gives_rows(const struct db_prepared *prepared)
{
    return prepared->results != NULL;
}

/* --- reading ------------------------------------------------------------------------------- */

static bool receive(struct db *db, struct db_prepared *prepared)
{
    if (prepared == NULL)
        return mysql_read_query_result(db->mysql) == 0;
    return db->mysql->methods->db_read_execute_response(prepared->handle) == 0 &&
           (!gives_rows(prepared) || mysql_stmt_store_result(prepared->handle) == 0);
}

static enum status note_failure(struct db *db, const struct sent_ahead *sent)
{
    const struct statement_definition *definition;
    enum status status;

    if (sent->prepared == NULL) {
        db->locks = LOCKS_UNKNOWN; /* it may have been the one that sets them */
        return mariadb_note_connection(db, "command sent ahead", false);
    }
    definition = statement_definition(sent->statement);
    status = mariadb_note_statement(db, definition, sent->prepared->handle);
    if (status == STATUS_DB_GONE)
        return status;
    db->waits_for_each = status != STATUS_DB_RETRY;
    return STATUS_DB_RETRY;
}

static enum status check_count(struct db *db, const struct sent_ahead *sent)
{
    uint64_t affected;

    if (sent->prepared == NULL || sent->meant == DB_ANY_COUNT)
        return STATUS_OK;
    affected = mysql_stmt_affected_rows(sent->prepared->handle);
    if (affected == sent->meant)
        return STATUS_OK;
    mariadb_note_own(db, "statement %s, sent ahead: %" PRIu64 " rows of %" PRIu64,
                     statement_definition(sent->statement)->name, affected, sent->meant);
    db->waits_for_each = true;
    return STATUS_DB_RETRY;
}

/* The first error is told. All that is due is read behind it, whatever it was: a server that has
 * become read-only goes on answering, and what is left unread would be taken for the answer to
 * ROLLBACK. A connection that is lost gives no more answers, at once. */
static enum status read_all(struct db *db)
{
    enum status first = STATUS_OK;
    uint64_t begun_ns = clock_ns();

    for (size_t i = 0; i < db->ahead_count; i++) {
        const struct sent_ahead *sent = &db->ahead[i];
        bool is_received = receive(db, sent->prepared);

        if (first == STATUS_OK)
            first = is_received ? check_count(db, sent) : note_failure(db, sent);
        if (!is_received && sent->prepared != NULL)
            sent->prepared->answered_turn = 0;
    }
    db->ahead_count = 0;
    mariadb_add_wait(db, begun_ns);
    if (first != STATUS_OK)
        mariadb_spoil(db);
    return first;
}

enum status mariadb_read_answers(struct db *db)
{
    bool has_statement = false;

    if (db->ahead_count == 0)
        return STATUS_OK;
    for (size_t i = 0; i < db->ahead_count; i++)
        has_statement = has_statement || db->ahead[i].prepared != NULL;
    db->count.round_trips += has_statement; /* for commands alone nobody has waited */
    return read_all(db);
}

void mariadb_close(struct db *db)
{
    db->ahead_count = 0;
    db->waits_for_each = db->can_send_ahead = false;
    if (db->mysql != NULL)
        mysql_close(db->mysql);
    db->mysql = NULL;
}

/* --- sending ------------------------------------------------------------------------------- */

/* Whether rows are due. */
static bool awaits_rows(const struct db *db)
{
    for (size_t i = 0; i < db->ahead_count; i++)
        if (db->ahead[i].prepared != NULL && gives_rows(db->ahead[i].prepared))
            return true;
    return false;
}

static bool is_due(const struct db *db, const struct db_prepared *prepared)
{
    for (size_t i = 0; i < db->ahead_count; i++)
        if (prepared != NULL && db->ahead[i].prepared == prepared)
            return true;
    return false;
}

static enum status make_room(struct db *db, const struct db_prepared *prepared)
{
    bool is_short = prepared == NULL || gives_rows(prepared);

    if (db->ahead_count == AHEAD_MOST || is_due(db, prepared) || (!is_short && awaits_rows(db)))
        return mariadb_read_answers(db);
    return STATUS_OK;
}

static void push(struct db *db, const struct sent_ahead *sent)
{
    must(db->ahead_count < AHEAD_MOST);
    db->ahead[db->ahead_count++] = *sent;
}

static bool send_only(struct db *db, struct db_prepared *prepared)
{
    my_bool yes = 1, no = 0;
    bool is_sent;

    (void)mysql_optionsv(db->mysql, MARIADB_OPT_SKIP_READ_RESPONSE, &yes);
    is_sent = mysql_stmt_execute(prepared->handle) == 0;
    (void)mysql_optionsv(db->mysql, MARIADB_OPT_SKIP_READ_RESPONSE, &no);
    return is_sent;
}

enum status mariadb_send_statement(struct db *db, enum statement statement,
                                   struct db_prepared *prepared, uint64_t meant)
{
    enum status status = make_room(db, prepared);

    must(db->state.done != TRANSACTION_IDLE);
    if (status != STATUS_OK)
        return status;
    db->count.statements++;
    if (!send_only(db, prepared))
        return mariadb_note_statement(db, statement_definition(statement), prepared->handle);
    push(db,
         &(const struct sent_ahead){.prepared = prepared, .statement = statement, .meant = meant});
    return STATUS_OK;
}

/* Behind what is due. Its own rows, which nobody will ask for where an earlier answer is an error,
 * are read all the same. */
static enum status execute_behind(struct db *db, enum statement statement,
                                  struct db_prepared *prepared)
{
    enum status before;
    uint64_t begun_ns;
    bool is_answered;

    if (!send_only(db, prepared))
        return mariadb_note_statement(db, statement_definition(statement), prepared->handle);
    before = read_all(db);
    begun_ns = clock_ns();
    is_answered = db->mysql->methods->db_read_execute_response(prepared->handle) == 0;
    if (is_answered && before != STATUS_OK && gives_rows(prepared))
        (void)mysql_stmt_store_result(prepared->handle);
    mariadb_add_wait(db, begun_ns);
    if (before != STATUS_OK)
        return before;
    return is_answered
               ? STATUS_OK
               : mariadb_note_statement(db, statement_definition(statement), prepared->handle);
}

enum status mariadb_execute(struct db *db, enum statement statement, struct db_prepared *prepared)
{
    enum status status = STATUS_OK;
    uint64_t begun_ns;
    bool failed;

    must(db->state.done != TRANSACTION_IDLE);
    if (!db->can_send_ahead || is_due(db, prepared) || awaits_rows(db))
        status = mariadb_read_answers(db);
    if (status != STATUS_OK)
        return status;
    db->count.statements++;
    db->count.round_trips++;
    if (db->ahead_count > 0)
        return execute_behind(db, statement, prepared);
    begun_ns = clock_ns();
    failed = mysql_stmt_execute(prepared->handle) != 0;
    mariadb_add_wait(db, begun_ns);
    return failed ? mariadb_note_statement(db, statement_definition(statement), prepared->handle)
                  : STATUS_OK;
}

/* --- commands without values ------------------------------------------------------------------ */

enum status mariadb_send_text(struct db *db, const char *sql)
{
    enum status status = make_room(db, NULL);

    must(db->state.done != TRANSACTION_IDLE);
    if (status != STATUS_OK)
        return status;
    db->count.statements++;
    if (mysql_send_query(db->mysql, sql, strlen(sql)) != 0)
        return mariadb_note_connection(db, "command", false);
    push(db, &(const struct sent_ahead){.meant = DB_ANY_COUNT});
    return STATUS_OK;
}

enum status mariadb_send_command(struct db *db, const char *sql)
{
    enum status status = mariadb_check(db);

    return status == STATUS_OK ? mariadb_send_text(db, sql) : status;
}

bool mariadb_ask(struct db *db, const char *sql)
{
    uint64_t begun_ns = clock_ns();
    bool is_done = mysql_real_query(db->mysql, sql, strlen(sql)) == 0;

    db->count.statements++;
    db->count.round_trips++;
    mariadb_add_wait(db, begun_ns);
    return is_done;
}

enum status db_run_text(struct db *db, const char *sql)
{
    enum status status = mariadb_before_command(db);

    if (status != STATUS_OK)
        return status;
    if (!mariadb_ask(db, sql))
        return mariadb_note_connection(db, text_string(db->scratch, text_first(text_from(sql), 60)),
                                       false);
    return STATUS_OK;
}

/* --- what it costs --------------------------------------------------------------------------- */

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
