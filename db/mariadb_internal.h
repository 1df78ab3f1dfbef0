/* SPDX-License-Identifier: Apache-2.0 */
/* What mariadb_*.c share, the only files that know <mysql.h>: a connection with its prepared
 * statements. Everybody else uses mariadb.h. */
#ifndef DB_MARIADB_INTERNAL_H
#define DB_MARIADB_INTERNAL_H

#include "db/inspect.h"
#include "db/mariadb.h"
#include "db/statement.h"
#include "db/transaction_state.h"

#include <mysql.h>

#define DB_MAGIC 0x51444231u

/* Nobody waits longer for a row: the transaction is tried again, and meanwhile holds up no others.
 */
#define LOCK_WAIT_S "2"

enum { AHEAD_MOST = 8 };

struct db_prepared {
    MYSQL_STMT *handle;
    struct statement_text text;
    bool only_reads; /* needs no transaction to have begun */
    uint64_t
        answered_turn; /* db->turn for which rows are here that were asked for ahead; 0: none */
    char answered_values[DB_QUERY_BYTES]; /* and with what values */
    unsigned array_size;                  /* rows bound for the last execution; 0: not in bulk */
    MYSQL_BIND *results; /* one per column of the text, as those below that they point into */
    int64_t *integers;
    double *reals;
    unsigned long *lengths;
    my_bool *nulls;
};

/* Writes that wait: see mariadb_deferred.c. */
enum { DEFERRED_MOST = 64 };
struct deferred {
    struct deferred_row {
        enum statement statement;
        enum db_subject subject;
        struct db_ids subjects;
        uint64_t meant;     /* rows to be changed */
        const void *values; /* of the statement; what they point to is in the arena as well */
        size_t values_size;
    } rows[DEFERRED_MOST];
    size_t count;
    size_t part_from;  /* how many there were when the part began */
    bool is_passed_by; /* the next statement has nothing to do with them */
    /* What is being written now. */
    enum { DEFERRED_NOTHING, DEFERRED_OF_OTHERS, DEFERRED_OWN } writing;
    struct arena *arena;
};

struct db {
    uint32_t magic;
    char *host, *socket, *user, *password, *name;   /* as the options say */
    char *tls_ca, *tls_cert, *tls_key;              /* NULL: none */
    unsigned port, connect_timeout, answer_timeout; /* s */
    bool reads_only;                                /* see db_read_only */
    bool is_admin;                                  /* see db_admin_open */
    bool with_database, inspects; /* whether db_reopen chooses a database, inspects it */
    MYSQL *mysql;
    bool was_refused; /* a write, since the server is read-only */
    /* What was sent and is not answered yet, in order: see mariadb_ahead.c. */
    struct sent_ahead {
        struct db_prepared *prepared; /* NULL: a command without values */
        enum statement statement;
        uint64_t meant; /* rows to be changed; DB_ANY_COUNT */
    } ahead[AHEAD_MOST];
    size_t ahead_count;
    bool can_send_ahead;            /* the library can, and the server keeps to it */
    bool can_refuse_to_wait;        /* the server lets a session wait 0 s for a lock */
    bool waits_for_each;            /* until a COMMIT, of this transaction or of the next */
    uint64_t turn;                  /* raised by each statement that locks or writes; never 0 */
    struct transaction_state state; /* changed by mariadb_move only */
    /* Which transaction this is: see mariadb_transaction.c. */
    bool keeps_token;        /* this connection's transactions begin with a token */
    bool always_keeps_token; /* a test wishes so: see db_keep_token */
    /* As the session was told to: see db_wait_for_locks. */
    enum { LOCKS_UNKNOWN, LOCKS_WAITED_FOR, LOCKS_NOT_WAITED_FOR } locks;
    struct deferred deferred;
    int64_t connection, token;
    struct db_prepared *prepared[STATEMENT_COUNT][STATEMENT_SIZES];
    struct database_facts facts;
    struct arena *scratch; /* parameters of one execution */
    int64_t inserted_id;
    struct db_count count;
    uint64_t fail_at; /* for tests: calls until one fails; 0: never */
    enum status fail_with;
    unsigned error_number; /* of the server or its library; 0: the last error is our own */
    char error[512];
    char explained[704]; /* by db_explain */
};

/* Adds the time since `begun_ns` to what was waited for the database. Around each call of the
 * library that waits for an answer. */
void mariadb_add_wait(struct db *db, uint64_t begun_ns);

/* mariadb_error.c: the class of an error, whose words are kept for db_error. */
enum status mariadb_note(struct db *db, const char *what, unsigned error, const char *why,
                         bool committing);
enum status mariadb_note_connection(struct db *db, const char *what, bool committing);
enum status mariadb_note_statement(struct db *db, const struct statement_definition *definition,
                                   MYSQL_STMT *handle);
/* An error that neither the server nor its library has a number for. */
void mariadb_note_own(struct db *db, const char *format, ...) PRINTF_LIKE(2, 3);
enum status mariadb_lacks_memory(struct db *db);
/* What the server would answer, and close the connection. */
enum status mariadb_refuse_packet(struct db *db);
/* What an error number says of a database that was to be opened or tried; 0: it is not fit. */
enum db_trouble mariadb_trouble(unsigned error);

/* mariadb_transaction.c */
/* Changes the state, and asserts that the event may be. */
void mariadb_move(struct db *db, enum transaction_event event);
/* Of an open transaction nothing is to be committed any more. */
void mariadb_spoil(struct db *db);
/* Whether each transaction is to begin with a token: asked once for each
 * connection that is opened, when it is known what it is connected to. */
bool mariadb_wants_token(const struct db *db);
/* Begins a transaction if none has begun, and waits for the answer; behind the above. */
MUST_CHECK enum status mariadb_begin(struct db *db);
MUST_CHECK enum status mariadb_refuse_writes(struct db *db);
/* Before a connection is closed: deletes old rows of others, now and then. */
void mariadb_forget_connections(struct db *db);

/* mariadb_ahead.c */
/* Whether the library can leave an answer unread. Asked once for each connection. */
bool mariadb_can_send_ahead(const struct db *db);
/* Whether there is a connection; a test has its turn. Before each command. */
MUST_CHECK enum status mariadb_check(struct db *db);
/* Reads all answers that are due. An error of any of them is the answer. */
MUST_CHECK enum status mariadb_read_answers(struct db *db);
/* Both: before each command whose answer is read at once. */
MUST_CHECK enum status mariadb_before_command(struct db *db);
/* Makes room for one more answer that is not waited for, of `prepared` or of a command without
 * values (NULL). */
MUST_CHECK enum status mariadb_make_room(struct db *db, const struct db_prepared *prepared);
/* Sends a command without values; its answer is not waited for. Behind mariadb_make_room. */
MUST_CHECK enum status mariadb_send_text(struct db *db, const char *sql, size_t length);
/* Sends a statement with the values that are bound to it, behind mariadb_make_room. */
MUST_CHECK enum status mariadb_send_statement(struct db *db, enum statement statement,
                                              struct db_prepared *prepared, uint64_t meant);
/* Executes a statement with the values that are bound to it, and reads its answer: behind those
 * that are due, which come with it. */
MUST_CHECK enum status mariadb_execute(struct db *db, enum statement statement,
                                       struct db_prepared *prepared);
/* Forgets what is due, with the connection. */
void mariadb_forget_answers(struct db *db);

/* mariadb_deferred.c */
/* Before any statement: writes what waits, unless the statement has nothing to do with it. */
MUST_CHECK enum status mariadb_settle(struct db *db);
/* Writes all that waits; no answer is waited for. */
MUST_CHECK enum status mariadb_write_deferred(struct db *db);
/* Forgets all but the first `count` that wait. */
void mariadb_forget_deferred(struct db *db, size_t count);

/* mariadb_transaction.c: before the part writes for the first time. */
MUST_CHECK enum status mariadb_mark_part(struct db *db);
/* The transaction has ended by `event`, with what it has sent and what waits. */
void mariadb_end_transaction(struct db *db, enum transaction_event event);

/* mariadb_connection.c: as db_open, for a look at it: answers are waited for as briefly as
 * connections are. *ret_error: the number of the error that stood in the way. */
MUST_CHECK enum status mariadb_open_briefly(const struct config *config, struct db **ret_db,
                                            unsigned *ret_error, struct failure *failure);
/* Until db_reopen every command answers DB_GONE. */
void mariadb_disconnect(struct db *db);
/* All statements that were prepared, so that each is prepared anew. */
void mariadb_forget_prepared(struct db *db);

/* mariadb_statement.c */
/* On a cluster a prepare inside a transaction may hide that another node has ended it. There
 * everything that the connection may execute is prepared when it is opened. */
MUST_CHECK enum status mariadb_prepare_ahead(struct db *db);
void mariadb_prepared_free(struct db_prepared *prepared); /* NULL is fine */
/* Rows of values, with lists of any length, by one command that may be sent ahead. `meant`: rows
 * that all of them together are to change; where it is fewer, this or a later command answers
 * DB_RETRY. */
MUST_CHECK enum status mariadb_run_rows(struct db *db, enum statement statement, const void *values,
                                        size_t values_size, size_t row_count, uint64_t meant);
/* Rows that a row of values of a statement with ALL is to change. */
uint64_t mariadb_rows_meant(const struct statement_definition *definition, const char *values);

#endif
