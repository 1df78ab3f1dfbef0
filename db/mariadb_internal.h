/* SPDX-License-Identifier: Apache-2.0 */
/* What mariadb_*.c share, the only files that know <mysql.h>: a connection with its prepared
 * statements. Everybody else uses mariadb.h.
 *
 * They are floors, each of which uses only those below it:
 *
 *   mariadb_connection.c   opens and closes, once all the others are there
 *   mariadb_ending.c       guard rows, and what the last statement writes
 *   mariadb_query.c        reading
 *   mariadb_run.c          the door: settles, marks, begins, and executes; writing, and ending
 *   mariadb_transaction.c  token, savepoints, parts, COMMIT
 *   mariadb_tail.c         writes that wait for the end
 *   mariadb_statement.c    prepares, binds, executes, fetches; apart from transactions
 *   mariadb_wire.c         commands out, answers in, in order
 *   mariadb_state.c        how far the transaction is (transaction_state.h)
 *   mariadb_error.c        what an error means */
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

/* Writes that wait: see mariadb_tail.c. */
enum { TAIL_MOST = 64 };
struct tail {
    struct waiting_row {
        enum statement statement;
        struct db_ids subjects; /* whose rows it writes */
        const void *values;     /* of the statement; what they point to is in the arena as well */
        size_t values_size;
    } rows[TAIL_MOST];
    size_t count;
    size_t part_from; /* how many there were when the part began */
    struct arena *arena;
};

struct db {
    uint32_t magic;
    char *host, *socket, *user, *password, *name;   /* as the options say */
    char *tls_ca, *tls_cert, *tls_key;              /* NULL: none */
    unsigned port, connect_timeout, answer_timeout; /* s */
    bool reads_only;                                /* see db_read_only */
    bool is_admin;                                  /* see db_admin_open */
    bool undoes_idle;                               /* see db_undo_idle */
    bool has_buda_apps;                             /* the project has science apps */
    bool with_database, inspects; /* whether db_reopen chooses a database, inspects it */
    MYSQL *mysql;
    bool was_refused; /* a write, since the server is read-only */
    /* What was sent and is not answered yet, in order: see mariadb_wire.c. */
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
    struct tail tail;
    int64_t connection, token;
    struct db_prepared *prepared[STATEMENT_COUNT][STATEMENT_SIZES];
    struct database_traits traits;
    struct arena *scratch; /* parameters of one execution */
    int64_t inserted_id;
    struct db_count count;
    uint64_t fail_at; /* for tests: calls until one fails; 0: never */
    enum status fail_with;
    unsigned error_number; /* of the server or its library; 0: the last error is our own */
    char error[512];
    char explained[704]; /* by db_explain */
};

/* What rows of values a statement has: an array of struct NAME_values; `size` of each, 0 for one.
 */
struct value_rows {
    const void *values;
    size_t size, count;
};
/* What is executed at a time: rows of values, of whose lists a part is taken. */
struct execution {
    struct value_rows rows;
    bool in_bulk;
    size_t list_from, list_count;
};

/* --- mariadb_error.c: what an error means ---------------------------------------------------- */

/* The class of an error, whose words are kept for db_error. */
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

/* --- mariadb_state.c: how far the transaction is --------------------------------------------- */

/* Changes the state, and asserts that the event may be. */
void mariadb_move(struct db *db, enum transaction_event event);
/* Of an open transaction nothing is to be committed any more. */
void mariadb_spoil(struct db *db);

/* --- mariadb_wire.c: commands out, answers in ------------------------------------------------ */

/* Adds the time since `begun_ns` to what was waited for the database. Around each call of the
 * library that waits for an answer. */
void mariadb_add_wait(struct db *db, uint64_t begun_ns);
/* Whether the library can leave an answer unread. Asked once for each connection. */
bool mariadb_can_send_ahead(const struct db *db);
/* Whether there is a connection; a test has its turn. Before each command. */
MUST_CHECK enum status mariadb_check(struct db *db);
/* Reads all answers that are due. An error of any of them is the answer. */
MUST_CHECK enum status mariadb_read_answers(struct db *db);
/* Both: before each command whose answer is read at once. */
MUST_CHECK enum status mariadb_before_command(struct db *db);
/* Sends a command without values, behind mariadb_check; its answer is read with the next one that
 * is waited for. */
MUST_CHECK enum status mariadb_send_text(struct db *db, const char *sql);
MUST_CHECK enum status mariadb_send_command(struct db *db, const char *sql); /* both */
/* Sends a command and waits for its answer, when no other is due. False: it is an error. */
bool mariadb_ask(struct db *db, const char *sql);
/* Sends a statement with the values that are bound to it. */
MUST_CHECK enum status mariadb_send_statement(struct db *db, enum statement statement,
                                              struct db_prepared *prepared, uint64_t meant);
/* Executes a statement with the values that are bound to it, and reads its answer: behind those
 * that are due, which come with it. */
MUST_CHECK enum status mariadb_execute(struct db *db, enum statement statement,
                                       struct db_prepared *prepared);
/* Closes the connection, and forgets what is due. */
void mariadb_close(struct db *db);

/* --- mariadb_statement.c: prepare, bind, execute, fetch -------------------------------------- */

/* The statement for a list of that many elements, prepared if it is not yet. */
MUST_CHECK enum status mariadb_find(struct db *db, enum statement statement, size_t list_count,
                                    struct db_prepared **ret_prepared);
/* On a cluster a prepare inside a transaction may hide that another node has ended it. There
 * everything that the connection may execute is prepared when it is opened. */
MUST_CHECK enum status mariadb_prepare_ahead(struct db *db);
/* All statements that were prepared, so that each is prepared anew. */
void mariadb_forget_prepared(struct db *db);
/* Binds the values and executes; the second waits for no answer. */
MUST_CHECK enum status mariadb_execute_with(struct db *db, enum statement statement,
                                            struct db_prepared *prepared,
                                            const struct execution *execution);
MUST_CHECK enum status mariadb_send_with(struct db *db, enum statement statement,
                                         struct db_prepared *prepared,
                                         const struct execution *execution, uint64_t meant);
/* How long the statement's lists are; 1 where it has none. */
MUST_CHECK enum status mariadb_measure_lists(struct db *db,
                                             const struct statement_definition *definition,
                                             const char *values, size_t *ret_count);
/* How much of a list goes out at a time. */
size_t mariadb_part_of(size_t list_count, size_t from);
/* How many rows all of them are to change; DB_ANY_COUNT: nothing is compared. */
uint64_t mariadb_meant(const struct statement_definition *definition,
                       const struct value_rows *rows);
/* Writes rows of values, with lists of any length, in as few commands as may be, and waits for the
 * answers. */
MUST_CHECK enum status mariadb_write_now(struct db *db, enum statement statement,
                                         const struct value_rows *rows, uint64_t *ret_affected);
/* The same by one command that is not waited for, where statements are sent ahead and the rows fit
 * into it. Then those that are meant count as affected; where they were others, a later command
 * answers DB_RETRY. */
MUST_CHECK enum status mariadb_write_ahead(struct db *db, enum statement statement,
                                           const struct value_rows *rows, uint64_t *ret_affected);
/* DB_RETRY where they are fewer than are meant. */
MUST_CHECK enum status mariadb_check_count(struct db *db,
                                           const struct statement_definition *definition,
                                           const struct value_rows *rows, uint64_t affected);
/* Reads all rows of the answer into the client. */
MUST_CHECK enum status mariadb_store_rows(struct db *db, enum statement statement,
                                          struct db_prepared *prepared);
/* Fetches from the part at hand; false at its end. */
bool mariadb_fetch(struct db_rows *rows, void *ret_row);

/* --- mariadb_tail.c: writes that wait -------------------------------------------------------- */

bool mariadb_tail_is_full(const struct db *db);
/* Keeps a row of values with all that it points to. */
MUST_CHECK enum status mariadb_tail_keep(struct db *db, enum statement statement,
                                         const struct value_rows *row);
/* Forgets all but the first `count`. */
void mariadb_tail_forget(struct db *db, size_t count);
/* Writes those from `from` to `to`; no answer is waited for. */
MUST_CHECK enum status mariadb_tail_write(struct db *db, size_t from, size_t to);
/* Whether the statement with these values may have to do with what waits. */
bool mariadb_tail_concerns(const struct db *db, enum statement statement,
                           const struct value_rows *rows);

/* --- mariadb_transaction.c: token, savepoints, parts, COMMIT --------------------------------- */

/* Whether each transaction is to begin with a token: asked once for each connection that is
 * opened, when it is known what it is connected to. */
bool mariadb_wants_token(const struct db *db);
/* Begins a transaction if none has begun, and waits for the answer; behind mariadb_check. */
MUST_CHECK enum status mariadb_begin(struct db *db);
/* Before the part writes for the first time. */
MUST_CHECK enum status mariadb_mark_part(struct db *db);
/* Writes all that waits; no answer is waited for. */
MUST_CHECK enum status mariadb_settle(struct db *db);
/* The savepoint to which db_rollback_to_savepoint goes back. */
MUST_CHECK enum status mariadb_save_part(struct db *db);
/* COMMIT, if the last statement changed what it changes on condition of the token (`is_kept`). */
MUST_CHECK enum status mariadb_commit_if(struct db *db, bool is_kept);
/* Whether rows of values that may wait would wait now. */
bool db_defers(const struct db *db);
/* Until db_reopen every command answers DB_GONE. */
void mariadb_disconnect(struct db *db);

/* --- mariadb_run.c: the door ----------------------------------------------------------------- */

/* Before a query: finds the statement, and brings the transaction to where it may be executed. */
MUST_CHECK enum status mariadb_pass_reading(struct db *db, enum statement statement,
                                            const struct value_rows *values, size_t list_count,
                                            struct db_prepared **ret_prepared);

/* --- mariadb_connection.c, on top ------------------------------------------------------------ */

/* As db_open, for a look at it: answers are waited for as briefly as connections are. *ret_error:
 * the number of the error that stood in the way. */
MUST_CHECK enum status mariadb_open_briefly(const struct config *config, struct db **ret_db,
                                            unsigned *ret_error, struct failure *failure);

#endif
