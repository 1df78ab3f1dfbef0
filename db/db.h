/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that the server asks of the database, as typed calls on one connection.
 *
 * A call goes this way: db_host_lock (db_*.c, admin_*.c) says which statement of the tables
 * (statements.def, admin.def, files.def) is to run, with its values by name; mariadb.h makes
 * structs of the tables' names; statement.c writes the statement out for the columns that this
 * database has (columns.def, inspect.c), where names become places; mariadb_run.c is the door to
 * the connection's transaction, below which each floor of mariadb_internal.h uses only those under
 * it: transaction, tail, statement, wire. mariadb_error.c says what an error means, and
 * mariadb_connection.c opens and opens again. db_schema.c makes and upgrades the tables
 * (schema.sql, upgrades/). Only mariadb_*.c know the client library.
 *
 * A struct db belongs to one thread. Rows and texts returned live in the given arena. Every call
 * may answer DB_RETRY, DB_GONE, DB_REFUSED or DB_BUG in addition to what it says; after one of
 * these the transaction is to be rolled back. Sets go in one round trip (or one for each few
 * hundred), never row by row. */
#ifndef DB_DB_H
#define DB_DB_H

#include "db/rows.h"
#include "db/states.h"
#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buffer;
struct config;
struct db;

/* --- connection --------------------------------------------------------------------------- */

/* Opens a connection by the db_* options: found-rows, READ COMMITTED, strict mode, no autocommit,
 * no transcoding. Finds out which optional columns exist. STATUS_DB_REFUSED with a reason that says
 * what to change: wrong schema, statement-format binary log, access. The caller owns *ret_db. */
MUST_CHECK enum status db_open(const struct config *config, struct db **ret_db,
                               struct failure *failure);
/* Of the client library, for --version. */
const char *db_library_version(void);
/* Every statement that a connection may prepare, for --print-sql. */
void db_print_sql(struct buffer *ret_text);
void db_close(struct db *db); /* NULL is fine; an open transaction is rolled back */
/* The same settings again after DB_GONE or DB_UNKNOWN; prepared statements are made anew. DB_GONE
 * also where a write was refused by a read-only server and it still is one: trying once is enough.
 */
MUST_CHECK enum status db_reopen(struct db *db);
/* From now on this connection only reads: the database refuses to write, and rows are read without
 * their locks. */
MUST_CHECK enum status db_read_only(struct db *db);
/* From now on the database undoes a transaction that has written and then says nothing for a
 * minute, and closes the connection: whoever stands still keeps no rows from others. Connections of
 * db_open are so from the beginning. Those of db_admin_open are not, as jobs may be made from a
 * slow pipe.
 */
MUST_CHECK enum status db_undo_idle(struct db *db);
/* No transaction is lost unnoticed: the server is no node of a cluster, or the database has the
 * table by which a loss is seen. That of a project has, or it cannot be opened; a file database may
 * be of an earlier version. */
bool db_sees_losses(const struct db *db);
/* The text of the last error of this connection, for the log; "" when none. */
const char *db_error(const struct db *db);
/* The failure of a call of this connection that answered `status`, for people: our words, and the
 * database's own in brackets. Valid until the next call. */
const char *db_explain(struct db *db, enum status status);
/* The same as a failure, "WHAT: " before it; answers `status`. Nothing is said of STATUS_OK. `db`
 * may be NULL: it could not be opened. */
enum status db_failed(struct db *db, enum status status, const char *what, struct failure *failure);

/* What is wrong with a database that a server cannot work with: a word for figures, words for
 * anybody, the option of config.xml to look at first ("": none). */
#define DB_TROUBLES(TROUBLE)                                                                  \
    TROUBLE(NONE, "ok", "can be read and written", "")                                        \
    TROUBLE(AWAY, "away", "cannot be reached or does not answer", "db_host")                  \
    TROUBLE(FULL, "connections", "takes no more connections", "threads")                      \
    TROUBLE(LOGIN, "login", "refuses the user or the password", "db_passwd")                  \
    TROUBLE(NO_DATABASE, "no_database", "is not there under this name, or not for this user", \
            "db_name")                                                                        \
    TROUBLE(UNFIT, "unfit", "lacks tables, or is set up in another way than a server needs",  \
            "db_name")                                                                        \
    TROUBLE(RIGHTS, "rights", "forbids the user what a server has to do", "db_user")          \
    TROUBLE(READ_ONLY, "read_only", "can only be read", "")                                   \
    TROUBLE(STATEMENTS, "statements", "takes no more prepared statements", "threads")         \
    TROUBLE(LOCKED, "locked",                                                                 \
            "lets nobody write for now: a backup or another program has locked it", "")       \
    TROUBLE(SPACE, "space", "has no space left", "")                                          \
    TROUBLE(OTHER, "other", "fails", "")
enum db_trouble {
#define DB_TROUBLE_ENUM(name, word, words, option) DB_TROUBLE_##name,
    DB_TROUBLES(DB_TROUBLE_ENUM)
#undef DB_TROUBLE_ENUM
        DB_TROUBLE_COUNT
};
struct db_trouble_words {
    const char *word, *words, *option;
    const char *sentence; /* "the database ..." */
};
extern const struct db_trouble_words db_trouble_words[DB_TROUBLE_COUNT];
/* Opens a connection as a server does, has each of a server's statements prepared, by which the
 * database says whether the user may execute it, and commits a row that it writes and deletes.
 * Waits 5 s for an answer at most. `failure`: the database's own words. *ret_ahead (may be NULL):
 * how far the database's clock is ahead of this machine's, in s, negative where it is behind; 0
 * where that is not known. Any thread. */
enum db_trouble db_examine(const struct config *config, int64_t *ret_ahead,
                           struct failure *failure);
/* From a minute on. Ours are the times of jobs and hosts, the database's those of leases and beats.
 */
bool db_clocks_are_apart(int64_t ahead);
/* "the database's clock is 90 s behind this machine's", and likewise for any number. */
void db_clock_words(int64_t ahead, char *ret_words, size_t size);
/* The same without the statements, for those whom anybody may ask: a connection and the row. */
enum db_trouble db_examine_writing(const struct config *config, struct failure *failure);
/* What the database or its library answers instead of what was asked for, by what becomes of it: a
 * word for figures, words for people. */
#define DB_ERRORS(ERROR)                                                                       \
    ERROR(DEADLOCK, "deadlock", "deadlocks, which the database resolved by ending one of two") \
    ERROR(LOCK_WAIT, "lock_wait", "locked rows that were not waited for, or for too long")     \
    ERROR(AGAIN, "again", "others after which the transaction is tried again")                 \
    ERROR(LOST, "lost", "connections lost or refused, and servers that can only be read")      \
    ERROR(REFUSED, "refused", "statements that the database refuses")                          \
    ERROR(OTHER, "other", "all others")
enum db_error_kind {
#define DB_ERROR_ENUM(name, word, words) DB_ERROR_##name,
    DB_ERRORS(DB_ERROR_ENUM)
#undef DB_ERROR_ENUM
        DB_ERROR_COUNT
};
struct db_error_words {
    const char *word, *words;
};
extern const struct db_error_words db_error_words[DB_ERROR_COUNT];
/* Statements executed, round trips made, time waited for answers and errors since the last call of
 * db_count_reset. Preparing is counted by itself: it happens once per connection and statement. */
struct db_count {
    uint64_t statements;
    uint64_t round_trips;
    uint64_t commits;
    uint64_t prepares;
    uint64_t waited_ns;
    uint64_t errors[DB_ERROR_COUNT];
};
struct db_count db_count(const struct db *db);
void db_count_reset(struct db *db);
/* Adds what was counted to *count, and resets. */
void db_count_take(struct db *db, struct db_count *count);
/* For tests: the nth command from now on (1: the next) is not sent and answers `status`. 0: none.
 */
void db_fail_nth(struct db *db, uint64_t nth, enum status status);
/* For tests, between two transactions: from now on transactions are proved as on a cluster,
 * whatever the server is. */
void db_keep_token(struct db *db);
/* For tests, between two transactions: whether statements are sent before the answers to earlier
 * ones are read. Where they are not, each call tells by itself what became of it. */
void db_send_ahead(struct db *db, bool may);

/* --- transaction -------------------------------------------------------------------------- */

/* Where a call says "may be sent ahead", it does not wait for the answer: what it tells is what was
 * meant, and where that turns out to be wrong a later call, db_commit or db_host_commit at the
 * latest, answers STATUS_DB_RETRY. The attempt that follows waits for each answer.
 *
 * The transaction that commits is the one that began, or db_commit answers DB_RETRY: nodes of a
 * cluster may end a transaction without telling (mariadb_transaction.c). It begins with the first
 * statement that locks or writes; db_begin begins it earlier, where something else is done while
 * the server does it (on a single server there is nothing to do). What only reads needs no
 * beginning, and works on a server that is read-only: what it found holds for no longer than it
 * took, whether something is written behind it or not. */
enum status db_begin(struct db *db);
MUST_CHECK enum status db_commit(struct db *db); /* may answer DB_UNKNOWN */
/* What is written of a host at the end of its request. */
struct host_ending {
    int64_t hostid;
    uint64_t token;
    int64_t now;
    const struct host_row *contact; /* not NULL: the host as it is to be, of which the columns of
                                       host_contact are written */
    struct text presence;           /* empty: what is known of it stays */
    bool has_guard; /* the guard row is there, as far as the caller knows, so that one statement
                       writes all; where it is not after all, DB_RETRY */
};
/* The same as db_commit, and changes the host's guard row (below) with it. */
MUST_CHECK enum status db_host_commit(struct db *db, const struct host_ending *ending);
/* Where it fails, the connection is closed: everything answers DB_GONE until db_reopen. */
enum status db_rollback(struct db *db);
/* The same, if anything is open. */
enum status db_end(struct db *db);
MUST_CHECK enum status db_savepoint(struct db *db);
MUST_CHECK enum status db_rollback_to_savepoint(struct db *db);

/* One transaction of several parts, which one COMMIT ends (server/request/request_group.c). A part
 * may have its own savepoint, as above. */

/* Whether the connection can: not on a cluster, and not where each answer has to be waited for. */
bool db_can_share(const struct db *db);
/* From now on a row that another transaction has locked is waited for (2 s, as on a connection that
 * was just opened), or it is DB_RETRY at once. May be sent ahead. */
MUST_CHECK enum status db_wait_for_locks(struct db *db, bool waits);
/* What follows is another part, and waits for no locks. May be sent ahead. */
MUST_CHECK enum status db_part_begin(struct db *db);
/* Undoes what followed the last db_part_begin; its locks stay. If it fails, the whole transaction
 * is gone, or nobody knows what became of it, or this part cannot be undone without others. */
MUST_CHECK enum status db_part_undo(struct db *db);
/* Ends a part: as db_host_commit, without COMMIT. What it writes may wait for COMMIT, as may the
 * part's claims and statistics, which are then written for all parts together. */
MUST_CHECK enum status db_part_end(struct db *db, const struct host_ending *ending);

/* The guard row of a host (table qm_host): a counter that every RPC really changes, and the token
 * of the last transaction, by which an unknown outcome is looked up. */
MUST_CHECK enum status db_host_guard(struct db *db, int64_t hostid, uint64_t token, int64_t now);
MUST_CHECK enum status db_host_token(struct db *db, int64_t hostid, uint64_t *ret_token);
/* Whether another node of a cluster may have committed what is not here yet. */
bool db_may_lag(const struct db *db);
/* Between transactions: waits until what other nodes have committed by now is here. */
MUST_CHECK enum status db_catch_up(struct db *db);

/* What waits for other programs of the project: transitions that are due (the oldest one's time, 0:
 * none, or only those that an administrator set to 0), validation, assimilation. Each is counted up
 * to `most`: what the count costs has a bound, however much there is. */
struct backlog {
    int64_t transitions, oldest_transition;
    int64_t validations, assimilations;
};
enum { BACKLOG_COUNTED_MOST = 100000 };
MUST_CHECK enum status db_backlog(struct db *db, int64_t now, int64_t most,
                                  struct backlog *ret_backlog);

/* --- catalog ------------------------------------------------------------------------------ */

struct catalog_rows {
    struct app_row *apps; /* all, deprecated ones too; by id */
    size_t app_count;
    struct app_version_row *versions; /* all not deprecated; by id */
    size_t version_count;
    struct platform_row *platforms; /* not deprecated; by id */
    size_t platform_count;
    struct retired_version_row *retired; /* the deprecated ones, for explanations; by id */
    size_t retired_count;
    struct hurry_row *hurries; /* batches in a hurry; by id */
    size_t hurry_count;
};
MUST_CHECK enum status db_catalog(struct db *db, struct arena *arena,
                                  struct catalog_rows *ret_rows);
/* Batches in a hurry (policy(7) 13.9), by number. */
MUST_CHECK enum status db_hurries(struct db *db, struct arena *arena, struct hurry_row **ret_rows,
                                  size_t *ret_count);
/* Benchmarks of hosts that did work lately, FLOPS of one CPU: at most so many, of those with
 * the most credit. */
MUST_CHECK enum status db_host_flops(struct db *db, struct arena *arena, int64_t most,
                                     double **ret_flops, size_t *ret_count);
/* What is kept of the presence of those among the newest hosts of whom something is: so many hosts
 * are looked at. */
MUST_CHECK enum status db_host_presences(struct db *db, struct arena *arena, int64_t most,
                                         struct text **ret_presences, size_t *ret_count);

/* --- who is speaking ---------------------------------------------------------------------- */

/* NOT_FOUND is an answer in all of these. _lock calls take the row's lock until the end of the
 * transaction. Locks are taken in one order: user, host, workunits by id, results by id. */
MUST_CHECK enum status db_host_lock(struct db *db, struct arena *arena, int64_t id,
                                    struct host_row *ret_host);
/* A host with its user and the name of his team as they are under the host's lock. */
struct host_with_user {
    struct host_row host;
    struct user_row user;
    struct text team_name;
    bool has_user;
    bool has_guard; /* its guard row was there. False: it may have been made meanwhile */
    uint64_t said;  /* digest of what it said last, as in db_host_say; 0: nothing is kept */
    struct text
        presence; /* as server/policy/version/presence.h writes it; empty: nothing is known */
};
MUST_CHECK enum status db_host_lock_with_user(struct db *db, struct arena *arena, int64_t id,
                                              struct host_with_user *ret_host);
/* Also reads the name of the user's team ("" for none). */
MUST_CHECK enum status db_user_by_id(struct db *db, struct arena *arena, int64_t id,
                                     struct user_row *ret_user, struct text *ret_team_name);
MUST_CHECK enum status db_user_by_authenticator(struct db *db, struct arena *arena,
                                                struct text authenticator,
                                                struct user_row *ret_user,
                                                struct text *ret_team_name);
MUST_CHECK enum status db_user_lock(struct db *db, int64_t id);

/* --- joining ------------------------------------------------------------------------------ */

/* The database compares as its collation says, mostly without case. */
MUST_CHECK enum status db_account_by_email(struct db *db, struct arena *arena,
                                           struct text email_addr, struct user_row *ret_user);
/* STATUS_OK: some account had this address before; STATUS_NOT_FOUND: none had. */
MUST_CHECK enum status db_account_had_email(struct db *db, struct text email_addr);
MUST_CHECK enum status db_account_has_name(struct db *db, struct text name); /* likewise */
struct new_account {
    struct text email_addr, name, authenticator, passwd_hash, cross_project_id;
    struct text team_name; /* it joins this team, if there is one that can be joined */
    bool hides_hosts;
    int64_t now;
};
/* STATUS_DB_REFUSED: another account has the address or, where names are unique, the name. */
MUST_CHECK enum status db_account_create(struct db *db, const struct new_account *account,
                                         int64_t *ret_id);
/* Notes that the user gave his consent to the terms of use, or was not asked for it; nothing where
 * the project keeps no such notes. */
MUST_CHECK enum status db_account_consent(struct db *db, int64_t userid, bool consents,
                                          struct text source, int64_t now);
/* Replaces `former`, and nothing else. */
MUST_CHECK enum status db_account_save_passwd_hash(struct db *db, int64_t id, struct text former,
                                                   struct text passwd_hash);

/* --- hosts -------------------------------------------------------------------------------- */

/* The newest host of the user with this stored (hashed) host_cpid. */
MUST_CHECK enum status db_host_newest_by_cpid(struct db *db, struct arena *arena, int64_t userid,
                                              struct text host_cpid, struct host_row *ret_host);
/* The newest host of the user that is alike in all five columns. */
MUST_CHECK enum status db_host_newest_alike(struct db *db, struct arena *arena, int64_t userid,
                                            const struct host_row *like, struct host_row *ret_host);
/* Inserts every column of the row (and 0 or "" in columns we do not know); sets *ret_id. */
MUST_CHECK enum status db_host_insert(struct db *db, const struct host_row *host, int64_t *ret_id);
/* Writes the columns that a scheduler writes: not id, create_time, userid, credit, venue,
 * avg_turnaround, max_results_day and error_rate, which belong to other programs. May be sent
 * ahead. */
MUST_CHECK enum status db_host_save(struct db *db, const struct host_row *host);
/* Keeps what the host says of what it can do, and its digest, which is read with the host. Under
 * the host's lock. May be sent ahead. */
MUST_CHECK enum status db_host_say(struct db *db, int64_t hostid, uint64_t digest,
                                   struct text request);
/* Whether the host is as it was but for what it says anew with each request (host_contact of
 * columns.def): then db_host_commit can write that along. `was`: the row as it was read under the
 * lock that still holds. */
bool db_host_says_the_same(const struct host_row *was, const struct host_row *host);
struct host_contact_row db_host_contact(const struct host_row *host);
/* All IN_PROGRESS results of the host become OVER/CLIENT_DETACHED, received now, and their
 * workunits' transition_time becomes now, so that other instances are made. */
MUST_CHECK enum status db_host_detach_results(struct db *db, int64_t hostid, int64_t now);
MUST_CHECK enum status db_user_save_global_prefs(struct db *db, int64_t userid,
                                                 struct text global_prefs);
MUST_CHECK enum status db_user_save_cross_project_id(struct db *db, int64_t userid,
                                                     struct text cross_project_id);
/* The owners of some hosts: ret_userids[i] belongs to hostids[i], -1 where there is no such host.
 */
MUST_CHECK enum status db_host_owners(struct db *db, struct arena *arena, const int64_t *hostids,
                                      size_t count, int64_t *ret_userids);

/* --- variants of science apps --------------------------------------------------------------- */

/* Their numbers are those of server/policy/version/buda.h. Rows come and go in rising order. */
MUST_CHECK enum status db_host_variants(struct db *db, struct arena *arena, int64_t hostid,
                                        struct host_variant_row **ret_rows, size_t *ret_count);
/* The host is locked. May be sent ahead. */
MUST_CHECK enum status db_host_variants_save(struct db *db, struct arena *arena, int64_t hostid,
                                             const struct host_variant_row *rows, size_t count);
/* What these workunits were estimated to take, by rising id; those that are gone are left out. */
MUST_CHECK enum status db_workunit_estimates(struct db *db, struct arena *arena, const int64_t *ids,
                                             size_t count, struct workunit_estimate_row **ret_rows,
                                             size_t *ret_count);

/* --- statistics of a host's versions ------------------------------------------------------- */

MUST_CHECK enum status db_host_app_versions(struct db *db, struct arena *arena, int64_t hostid,
                                            struct host_app_version_row **ret_rows,
                                            size_t *ret_count);
/* A change of one row; the counters change relatively where other programs write them too. A
 * missing row is inserted (all else 0) with n_jobs_today = jobs_sent and max_jobs_per_day. */
struct host_app_version_change {
    int64_t app_version_id;
    int64_t jobs_sent; /* added to n_jobs_today */
    bool inherits;     /* a missing row begins as a copy of that of the newest other version of the
                          same app, platform and plan class, if the host has one */
    bool reset_today;  /* a new day: n_jobs_today starts at 0 before jobs_sent */
    bool sets_max_jobs_per_day; /* of a row that is there; a missing one has it in any case, unless
                                   it begins as a copy */
    int64_t max_jobs_per_day;
    bool resets_consecutive_valid;
};
/* May be sent ahead, but for rows that begin as copies. */
MUST_CHECK enum status db_host_app_versions_save(struct db *db, int64_t hostid,
                                                 const struct host_app_version_change *changes,
                                                 size_t count);

/* --- reports ------------------------------------------------------------------------------ */

/* Rows by name, in no order; names are compared as the database does (maybe ignoring case): the
 * caller compares bytes. */
MUST_CHECK enum status db_results_by_name(struct db *db, struct arena *arena,
                                          const struct text *names, size_t count,
                                          struct result_row **ret_rows, size_t *ret_count);
struct result_report {
    int64_t id, workunitid, hostid, teamid;
    int64_t received_time, client_state, outcome, validate_state;
    int64_t exit_status, app_version_num;
    double cpu_time, elapsed_time;
    double peak_working_set_size, peak_swap_size, peak_disk_usage;
    struct text stderr_out, xml_doc_out;
};
/* Workunits first (transition_time = now), then results, only where a report may still be booked:
 * IN_PROGRESS, or OVER with NO_REPLY or CLIENT_DETACHED, received_time 0. ret_booked[i] tells
 * whether row i was written. May be sent ahead. */
MUST_CHECK enum status db_reports_save(struct db *db, struct arena *arena,
                                       const struct result_report *reports, size_t count,
                                       int64_t now, bool *ret_booked);

/* --- jobs that the host should have --------------------------------------------------------- */

struct host_job {
    struct result_row result;
    struct workunit_row workunit; /* id 0: the workunit is gone */
};
/* The most memory that jobs of a version took on a host, by the client's reports. */
struct memory_peak {
    int64_t appid, app_version_id; /* as in result */
    double bytes;                  /* above 0 */
};
/* Of those among the host's newest `most` results that are over and tell it. */
MUST_CHECK enum status db_host_memory_peaks(struct db *db, struct arena *arena, int64_t hostid,
                                            size_t most, struct memory_peak **ret_peaks,
                                            size_t *ret_count);
/* What a request will ask of its host, sent so that the answers come in one round trip: the
 * versions (db_host_app_versions), and db_results_in_progress or, `with_workunits`,
 * db_jobs_in_progress with the same `most`. They are asked for before anything is written;
 * otherwise they are asked anew. */
MUST_CHECK enum status db_host_ask_ahead(struct db *db, int64_t hostid, bool with_workunits,
                                         size_t most);
/* All IN_PROGRESS results of the host, oldest first; if there are more than `most`, any of them. */
MUST_CHECK enum status db_results_in_progress(struct db *db, struct arena *arena, int64_t hostid,
                                              size_t most, struct result_row **ret_rows,
                                              size_t *ret_count);
/* The same with their workunits. */
MUST_CHECK enum status db_jobs_in_progress(struct db *db, struct arena *arena, int64_t hostid,
                                           size_t most, struct host_job **ret_jobs,
                                           size_t *ret_count);
/* Whatever the order of these is: by age, as those calls give them. */
int db_compare_results_by_age(const void *result, const void *other);
int db_compare_jobs_by_age(const void *job, const void *other);
/* What the requests of several hosts ask first, read for all of them by one statement of each kind.
 */
struct host_rows {
    /* asked */
    int64_t hostid;
    bool wants_versions, wants_results;
    /* answered */
    bool is_found;               /* otherwise nothing is known */
    struct host_with_user known; /* locked, as by db_host_lock_with_user */
    bool has_versions;           /* as by db_host_app_versions */
    struct host_app_version_row *versions;
    size_t version_count;
    bool has_results; /* as by db_results_in_progress */
    struct result_row *results;
    size_t result_count;
};
/* Their results are not given where all hosts together have `results_most` or more. */
MUST_CHECK enum status db_hosts_read_rows(struct db *db, struct arena *arena,
                                          struct host_rows *hosts, size_t count,
                                          size_t results_most);
/* The results of this host among these names that are IN_PROGRESS or OVER/NO_REPLY. */
MUST_CHECK enum status db_jobs_by_name(struct db *db, struct arena *arena, int64_t hostid,
                                       const struct text *names, size_t count,
                                       struct host_job **ret_jobs, size_t *ret_count);
/* New sent_time and deadline of lost jobs that are sent again. */
struct resent_job {
    int64_t resultid, workunitid;
    int64_t sent_time, report_deadline; /* as stored: grace included */
    int64_t app_version_id;             /* as in result.app_version_id */
    double flops_estimate;              /* peak FLOPS of the devices used */
    int64_t variant;                    /* of a science app; 0: none */
};
/* DB_RETRY, of both calls: some of them are not the host's any more, or were not written. */
MUST_CHECK enum status db_jobs_resend(struct db *db, struct arena *arena,
                                      const struct resent_job *jobs, size_t count);
/* Lost jobs that cannot be sent again: deadline as given, transition_time lowered to it. */
MUST_CHECK enum status db_jobs_give_up(struct db *db, const struct host_job *jobs, size_t count,
                                       int64_t deadline);

/* A later deadline of jobs that are under way; a job that is over by then, or has a later one,
 * stays as it is. transition_time stays too: who looks then finds nothing overdue, and sets it. */
struct extended_result {
    int64_t id, workunitid;
    int64_t deadline; /* as stored: grace included */
};
MUST_CHECK enum status db_results_extend(struct db *db, struct arena *arena,
                                         const struct extended_result *results, size_t count);

/* --- hand-out ----------------------------------------------------------------------------- */

struct candidate {
    int64_t resultid, workunitid, appid;
    int64_t priority; /* of the result */
    struct workunit_row workunit;
};
/* How far unsent results were looked at, in order of falling priority and number. */
struct candidate_place {
    int64_t priority, resultid; /* of the last one */
    bool is_end;                /* there is nothing behind it, or nothing that will be looked at */
};
#define CANDIDATE_TOP ((struct candidate_place){.priority = INT64_MAX, .resultid = INT64_MAX})

/* What a candidate query is narrowed by; rows that fail these can never be right for the host. */
struct candidate_filter {
    const int64_t *appids;
    size_t appid_count;
    double memory_max, disk_max; /* bytes; a workunit that needs more is not returned */
    double speed_max;            /* FLOPS; nor one that takes longer than its delay bound; 0: any */
    int64_t userid;              /* for batch restriction; 0: not restricted */
    size_t rows_max;
    int64_t examined_max; /* rows that a query looks at; 0: as many as is good */
    uint64_t spread; /* hosts with different numbers get different rows of equal priority first */
    /* NULL: the first rows are returned, whatever they are. Otherwise of the next
     * CANDIDATES_BELOW those that suit, and the place is moved behind what was looked at. */
    struct candidate_place *below;
    bool (*suits)(const void *context, const struct candidate *candidate);
    const void *context;
};
enum { CANDIDATES_BELOW = 8192 };
/* Unsent results in order of falling priority, with their workunits; nothing is locked. */
MUST_CHECK enum status db_candidates(struct db *db, struct arena *arena,
                                     const struct candidate_filter *filter,
                                     struct candidate **ret_candidates, size_t *ret_count);
/* Locks the workunits of these results in order of id, and the results, and reads what per-workunit
 * rules need and what is sent, all in one query. Results of one workunit share what is said of it;
 * `row` is NULL where there is no such result or workunit. */
struct locked_workunit {
    int64_t id, hr_class, app_version_id, error_mask, canonical_resultid, transition_time;
    int64_t results_of_user, results_of_host; /* sent to this user, to this host, in any state */
};
struct job_documents {
    struct text result_name, result_xml; /* result.xml_doc_in */
    struct text workunit_name, workunit_xml;
};
struct job_key {
    int64_t resultid, workunitid;
};
struct locked_job {
    struct locked_workunit *row; /* NULL: there is no such result of this workunit */
    bool is_unsent;
    struct job_documents documents;
};
/* Whose results of a workunit are counted. */
struct counted_results {
    int64_t userid, hostid;
};
/* ret_jobs[i] is that of keys[i]; `counts` NULL: nothing is counted. */
MUST_CHECK enum status db_jobs_lock(struct db *db, struct arena *arena, const struct job_key *keys,
                                    size_t count, const struct counted_results *counts,
                                    struct locked_job *ret_jobs);
/* Which of these workunits a result was sent of to this user or this host, in order of id. Takes no
 * locks: what is sent at the same moment may be missing. */
struct had_workunit {
    int64_t id;
    bool by_user, by_host;
};
MUST_CHECK enum status db_workunits_had(struct db *db, struct arena *arena, const int64_t *ids,
                                        size_t count, int64_t userid, int64_t hostid,
                                        struct had_workunit **ret_rows, size_t *ret_count);
struct claim {
    int64_t resultid, workunitid;
    int64_t sent_time;
    int64_t report_deadline;                        /* as stored: grace included */
    int64_t app_version_id;                         /* > 0, or -2..-6 */
    double flops_estimate;                          /* peak FLOPS of the devices used */
    int64_t variant;                                /* of a science app; 0: none */
    int64_t commit_hr_class, commit_app_version_id; /* 0: leave alone */
    /* Not 0: a job of an unreplicated workunit goes to a version that is not trusted: where
     * target_nresults is 1, it and min_quorum become this (min_quorum unless it is more), so many
     * more results and successes are allowed, and transition_time becomes sent_time. */
    int64_t replicate_target;
    bool is_due_before; /* transition_time of the locked workunit is not after report_deadline */
};
/* Takes results for this host and lowers transition_time of their workunits. Both are locked
 * already (db_jobs_lock), by which the results are unsent; where one is not, STATUS_DB_RETRY. May
 * be sent ahead. */
MUST_CHECK enum status db_results_claim(struct db *db, struct arena *arena, int64_t hostid,
                                        int64_t userid, const struct claim *claims, size_t count);
/* Results that are still UNSENT and never can be sent become OVER/COULDNT_SEND, and their workunits
 * get transition_time now. The workunits are locked already. */
MUST_CHECK enum status db_results_reject(struct db *db, struct arena *arena,
                                         const int64_t *resultids, const int64_t *workunitids,
                                         size_t count, int64_t now);
/* The documents of results to be sent, in the order of the ids; an empty xml_doc for a missing
 * row. */
MUST_CHECK enum status db_job_documents(struct db *db, struct arena *arena,
                                        const int64_t *resultids, size_t count,
                                        struct job_documents *ret_documents);

/* --- assigned jobs ------------------------------------------------------------------------ */

/* A job for a given host, user or team, or for all hosts that a broadcast names. */
struct assignment {
    int64_t id, workunitid;
    bool is_broadcast;
    struct workunit_row workunit; /* id 0: the workunit is gone */
};
/* Those that mean this host, its user or the user's team, at most `most`: the user's first, then
 * the host's, the team's, and those of all hosts. */
struct assignment_filter {
    int64_t hostid, userid, teamid;
    bool targeted, broadcast; /* which kinds are wanted */
    size_t most;
};
MUST_CHECK enum status db_assignments(struct db *db, struct arena *arena,
                                      const struct assignment_filter *filter,
                                      struct assignment **ret_assignments, size_t *ret_count);
/* Locks these workunits in order of id and tells what becomes of their results (ROWS of
 * statements.def), in order of id. */
MUST_CHECK enum status db_assigned_lock(struct db *db, struct arena *arena, const int64_t *ids,
                                        size_t count, int64_t hostid,
                                        struct assigned_workunit_row **ret_rows, size_t *ret_count);
/* A new UNSENT result of a workunit that is locked. */
struct assigned_result {
    const struct workunit_row *workunit;
    struct text name, xml_doc_in;
    int64_t create_time, random;
};
MUST_CHECK enum status db_assigned_insert(struct db *db, const struct assigned_result *result,
                                          int64_t *ret_id);
MUST_CHECK enum status db_assignments_delete(struct db *db, const int64_t *ids, size_t count);

/* --- job pool ----------------------------------------------------------------------------- */

/* A result and what decides who may have it. */
struct unsent_job {
    int64_t resultid, priority;
    bool is_free; /* unsent, of a workunit that is open and reserved for nobody */
    struct workunit_row workunit;
};
/* The highest priority of any unsent result that is not above `most`; NOT_FOUND: none. */
MUST_CHECK enum status db_unsent_priority(struct db *db, struct arena *arena, int64_t most,
                                          int64_t *ret_priority);
/* Unsent results of one priority behind `id`, by rising id: whole, or their ids only, which the
 * index knows. Fewer than `most`: there are no others. */
MUST_CHECK enum status db_unsent_page(struct db *db, struct arena *arena, int64_t priority,
                                      int64_t id, size_t most, struct unsent_job **ret_jobs,
                                      size_t *ret_count);
MUST_CHECK enum status db_unsent_ids(struct db *db, struct arena *arena, int64_t priority,
                                     int64_t id, size_t most, int64_t **ret_ids, size_t *ret_count);
/* All results behind `id` by rising id, whatever their state. */
MUST_CHECK enum status db_unsent_new(struct db *db, struct arena *arena, int64_t id, size_t most,
                                     struct unsent_job **ret_jobs, size_t *ret_count);
MUST_CHECK enum status db_unsent_by_id(struct db *db, struct arena *arena, const int64_t *ids,
                                       size_t count, struct unsent_job **ret_jobs,
                                       size_t *ret_count);
MUST_CHECK enum status db_result_last_id(struct db *db, struct arena *arena, int64_t *ret_id);

/* Servers of this database: each says now and then that it lives. Silent for longer than
 * `patience` seconds by the database's clock, it is none of those that are alive. */
MUST_CHECK enum status db_server_beat(struct db *db, int64_t id, struct text name);
MUST_CHECK enum status db_server_leave(struct db *db, int64_t id);
MUST_CHECK enum status db_servers_alive(struct db *db, struct arena *arena, int64_t patience,
                                        int64_t *ret_ids, size_t most, size_t *ret_count);

/* Hosts wait for a thread of this server: written again while that is so. */
MUST_CHECK enum status db_server_hosts_wait(struct db *db, int64_t id);
/* Whether hosts waited for any of them a moment ago. */
MUST_CHECK enum status db_servers_hosts_wait(struct db *db, bool *ret_do);

/* --- job streams -------------------------------------------------------------------------- */

/* Whether the database has the tables of batches and submitters (batches.h, submitters.h). One of
 * former years has not: BOINC's own upgrade script brings them. */
bool db_has_batches(const struct db *db);

struct app_name_row;
struct batch_owner_row;
struct stream_given_row;
struct submitter_quota_row;

/* Whose each of these batches is, in any order, and the quota as a submitter; user_id 0: nobody's,
 * or there is no such batch; quota below 0: none. `ret_owners` has room for `count`. */
MUST_CHECK enum status db_batch_owners(struct db *db, struct arena *arena, const int64_t *batches,
                                       size_t count, struct batch_owner_row *ret_owners);
MUST_CHECK enum status db_submitter_quotas(struct db *db, struct arena *arena,
                                           struct submitter_quota_row **ret_quotas,
                                           size_t *ret_count);
/* By rising id. */
MUST_CHECK enum status db_app_names(struct db *db, struct arena *arena,
                                    struct app_name_row **ret_apps, size_t *ret_count);

/* What a server handed out of a stream (server/policy/dispatch/stream.h) since it last said so. */
struct stream_added {
    int64_t kind, id;
    double begin; /* its clock before */
    double clock, flops;
};
/* Of several servers all is added up. */
MUST_CHECK enum status db_streams_add(struct db *db, struct arena *arena,
                                      const struct stream_added *added, size_t count);
/* Those that were written in the last `age` seconds by the database's clock; the last ones first.
 */
MUST_CHECK enum status db_streams_given(struct db *db, struct arena *arena, int64_t age,
                                        struct stream_given_row **ret_streams, size_t *ret_count);

/* --- messages ----------------------------------------------------------------------------- */

struct message_from_host {
    struct text variety, xml;
};
MUST_CHECK enum status db_messages_from_host_save(struct db *db, int64_t hostid, int64_t now,
                                                  const struct message_from_host *messages,
                                                  size_t count);
/* Unhandled messages to the host, oldest first; marks them handled in this transaction. */
MUST_CHECK enum status db_messages_to_host_take(struct db *db, struct arena *arena, int64_t hostid,
                                                struct text **ret_xml, size_t *ret_count);

/* --- duties that one server does for all ----------------------------------------------------- */

/* Moves the duty's date to `interval` seconds from now if it has come; *ret_is_ours tells. Undone
 * with the transaction, in which the duty is to be done. */
MUST_CHECK enum status db_duty_take(struct db *db, struct text name, int64_t interval,
                                    bool *ret_is_ours);
/* The statistics of every version that is not deprecated, by id, as they are now. */
MUST_CHECK enum status db_version_samples(struct db *db, struct arena *arena,
                                          struct version_samples_row **ret_rows, size_t *ret_count);
/* New scales; a row that changed since it was read stays as it is and is not counted. */
struct version_scale {
    struct version_samples_row read;
    double pfc_scale;
};
MUST_CHECK enum status db_version_scales_save(struct db *db, struct arena *arena,
                                              const struct version_scale *scales, size_t count,
                                              uint64_t *ret_saved);
struct app_efficiency {
    int64_t appid;
    double min_avg_pfc;
};
MUST_CHECK enum status db_app_efficiencies_save(struct db *db, struct arena *arena,
                                                const struct app_efficiency *apps, size_t count);

/* Where a round over users, hosts, teams and versions stands: zeroed at first. */
enum fading_table { FADING_USERS, FADING_HOSTS, FADING_TEAMS, FADING_VERSIONS, FADING_END };
struct fading_place {
    enum fading_table table; /* FADING_END: the round is over */
    int64_t after;           /* id */
};
/* The next part: of at most FADING_ROWS rows along the key, credit a day that is above 0.1 and was
 * computed more than a day before `now` becomes what it is by now, and teams have as many users as
 * there are. To be committed each time. *ret_looked_at: rows. */
enum { FADING_ROWS = 256 };
MUST_CHECK enum status db_credit_fade(struct db *db, struct arena *arena, int64_t now,
                                      struct fading_place *place, size_t *ret_looked_at);

#endif
