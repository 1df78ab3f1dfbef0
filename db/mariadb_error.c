/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of the database, classed: what each of them means for the transaction is decided here and
 * nowhere else (db_error_status). The words of the last one stay with the connection. */
#include "db/mariadb_internal.h"

#include "db/statement.h"
#include "server/base/arena.h"
#include "server/base/shown.h"

#include <errmsg.h>
#include <mysqld_error.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

/* Of what COMMIT may answer, only a deadlock surely means that nothing was kept (a cluster says it
 * there); whatever else is said of it may be said of one that happened. */
enum status db_error_status(unsigned error, bool committing)
{
    if (committing)
        return error == ER_LOCK_DEADLOCK ? STATUS_DB_RETRY : STATUS_DB_UNKNOWN;
    switch (error) {
    case ER_LOCK_WAIT_TIMEOUT:
    case ER_LOCK_DEADLOCK:
    case ER_CHECKREAD: /* Galera: the row changed since it was read */
    case ER_TABLE_DEF_CHANGED:
    case ER_QUERY_INTERRUPTED:
    case ER_STATEMENT_TIMEOUT:
    case ER_NEED_REPREPARE:
    case ER_SP_DOES_NOT_EXIST: /* a savepoint: its transaction is gone */
        return STATUS_DB_RETRY;
    case CR_CONNECTION_ERROR:
    case CR_CONN_HOST_ERROR:
    case CR_UNKNOWN_HOST:
    case ER_CON_COUNT_ERROR:
    case ER_TOO_MANY_USER_CONNECTIONS:
    case ER_OPTION_PREVENTS_STATEMENT: /* --read-only: the writer is elsewhere by now */
    case ER_READ_ONLY_MODE:
    case CR_SERVER_GONE_ERROR:
    case CR_SERVER_LOST:
    case CR_SERVER_LOST_EXTENDED:
    case CR_SERVER_HANDSHAKE_ERR:
    case CR_COMMANDS_OUT_OF_SYNC:
    case CR_MALFORMED_PACKET:
    case CR_OUT_OF_MEMORY: /* part of an answer is unread, and would be taken for the next one */
    case ER_SERVER_SHUTDOWN:
    case ER_CONNECTION_KILLED:
    case ER_NEW_ABORTING_CONNECTION:
    case ER_ABORTING_CONNECTION:
    case ER_NET_READ_ERROR:
    case ER_NET_READ_INTERRUPTED:
    case ER_NET_ERROR_ON_WRITE:
    case ER_NET_WRITE_INTERRUPTED:
    case ER_UNKNOWN_COM_ERROR: /* also Galera: this node is not ready */
    case ER_ERROR_DURING_COMMIT:
        return STATUS_DB_GONE;
    case ER_PARSE_ERROR:
    case ER_BAD_FIELD_ERROR:
    case ER_NO_SUCH_TABLE:
    case ER_WRONG_VALUE_COUNT_ON_ROW:
    case ER_NON_UNIQ_ERROR:
    case ER_WRONG_ARGUMENTS:
        return STATUS_DB_BUG;
    default: /* constraints, rights, space, settings, values: the server will not have it */
        return error >= CR_MIN_ERROR && error <= CR_MAX_ERROR ? STATUS_DB_BUG : STATUS_DB_REFUSED;
    }
}

const struct db_error_words db_error_words[DB_ERROR_COUNT] = {
#define DB_ERROR_ROW(name, word, words) {word, words},
    DB_ERRORS(DB_ERROR_ROW)
#undef DB_ERROR_ROW
};

/* A COMMIT too fails for what it would be anywhere else. */
static enum db_error_kind error_kind(unsigned error)
{
    enum status status = db_error_status(error, false);

    if (error == ER_LOCK_DEADLOCK)
        return DB_ERROR_DEADLOCK;
    if (error == ER_LOCK_WAIT_TIMEOUT)
        return DB_ERROR_LOCK_WAIT;
    if (status == STATUS_DB_RETRY)
        return DB_ERROR_AGAIN;
    if (status == STATUS_DB_GONE)
        return DB_ERROR_LOST;
    return status == STATUS_DB_REFUSED ? DB_ERROR_REFUSED : DB_ERROR_OTHER;
}

enum db_trouble mariadb_trouble(unsigned error)
{
    switch (error) {
    case 0:
    case ER_NO_SUCH_TABLE:
    case ER_BAD_FIELD_ERROR:
        return DB_TROUBLE_UNFIT;
    case ER_CON_COUNT_ERROR:
    case ER_TOO_MANY_USER_CONNECTIONS:
    case ER_USER_LIMIT_REACHED:
        return DB_TROUBLE_FULL;
    case ER_ACCESS_DENIED_ERROR:
    case ER_ACCESS_DENIED_NO_PASSWORD_ERROR:
    case ER_HOST_NOT_PRIVILEGED:
    case CR_AUTH_PLUGIN_CANNOT_LOAD:
        return DB_TROUBLE_LOGIN;
    case ER_BAD_DB_ERROR:
    case ER_DBACCESS_DENIED_ERROR:
        return DB_TROUBLE_NO_DATABASE;
    case ER_TABLEACCESS_DENIED_ERROR:
    case ER_COLUMNACCESS_DENIED_ERROR:
    case ER_SPECIFIC_ACCESS_DENIED_ERROR:
        return DB_TROUBLE_RIGHTS;
    case ER_OPTION_PREVENTS_STATEMENT:
    case ER_READ_ONLY_MODE:
    case ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION:
        return DB_TROUBLE_READ_ONLY;
    case ER_MAX_PREPARED_STMT_COUNT_REACHED:
        return DB_TROUBLE_STATEMENTS;
    case ER_LOCK_WAIT_TIMEOUT:
        return DB_TROUBLE_LOCKED;
    case ER_DISK_FULL:
    case ER_RECORD_FILE_FULL:
        return DB_TROUBLE_SPACE;
    default:
        return db_error_status(error, false) == STATUS_DB_GONE ? DB_TROUBLE_AWAY : DB_TROUBLE_OTHER;
    }
}

enum status mariadb_note(struct db *db, const char *what, unsigned error, const char *why,
                         bool committing)
{
    enum status status = db_error_status(error, committing);

    db->count.errors[error_kind(error)]++;
    db->error_number = error;
    db->was_refused = error == ER_OPTION_PREVENTS_STATEMENT || error == ER_READ_ONLY_MODE;
    (void)snprintf(db->error, sizeof(db->error), "%s: %s (error %u)", what, why, error);
    shown_blank(db->error, strlen(db->error));
    return status;
}

enum status mariadb_note_connection(struct db *db, const char *what, bool committing)
{
    return mariadb_note(db, what, mysql_errno(db->mysql), mysql_error(db->mysql), committing);
}

enum status mariadb_note_statement(struct db *db, const struct statement_definition *definition,
                                   MYSQL_STMT *handle)
{
    char what[96];

    (void)snprintf(what, sizeof(what), "statement %s", definition->name);
    return mariadb_note(db, what, mysql_stmt_errno(handle), mysql_stmt_error(handle), false);
}

void mariadb_note_own(struct db *db, const char *format, ...)
{
    va_list arguments;

    db->error_number = 0;
    va_start(arguments, format);
    (void)vsnprintf(db->error, sizeof(db->error), format, arguments);
    va_end(arguments);
}

enum status mariadb_lacks_memory(struct db *db)
{
    mariadb_note_own(db, "no memory");
    return STATUS_NO_MEMORY;
}

enum status mariadb_refuse_packet(struct db *db)
{
    return mariadb_note(db, "values", ER_NET_PACKET_TOO_LARGE, "more than max_allowed_packet",
                        false);
}

const char *db_error(const struct db *db)
{
    return db->error;
}

/* Of what an administrator may cause by what he gives. */
static const char *words_for_rows(unsigned error)
{
    switch (error) {
    case ER_DUP_ENTRY:
        return "it already exists";
    case ER_DATA_TOO_LONG:
        return "a text is too long for its column";
    case ER_TRUNCATED_WRONG_VALUE_FOR_FIELD:
        return "a text contains bytes that its column cannot store";
    case ER_WARN_DATA_OUT_OF_RANGE:
        return "a number does not fit into its column";
    case ER_NET_PACKET_TOO_LARGE:
        return "it is larger than the database accepts at once (max_allowed_packet)";
    case ER_LOCK_WAIT_TIMEOUT:
    case ER_LOCK_DEADLOCK:
        return "another program is using the same rows; try again";
    default:
        return NULL;
    }
}

const char *db_explain(struct db *db, enum status status)
{
    bool has_number = db->error_number != 0 && status >= STATUS_DB_RETRY;
    enum db_trouble trouble = has_number ? mariadb_trouble(db->error_number) : DB_TROUBLE_OTHER;
    const char *words = has_number ? words_for_rows(db->error_number) : NULL, *whose = "";

    if (status == STATUS_NOT_FOUND)
        return status_word(status);
    if (words == NULL && trouble != DB_TROUBLE_OTHER) {
        whose = "the database ";
        words = db_trouble_words[trouble].words;
    }
    if (words == NULL)
        words = status_word(status);
    (void)snprintf(db->explained, sizeof(db->explained), "%s%s%s%s%s", whose, words,
                   db->error[0] == '\0' ? "" : " (", db->error, db->error[0] == '\0' ? "" : ")");
    return db->explained;
}

enum status db_failed(struct db *db, enum status status, const char *what, struct failure *failure)
{
    if (status == STATUS_OK)
        return status;
    return fail(failure, status, "%s: %s", what,
                db == NULL ? status_word(status) : db_explain(db, status));
}
