/* SPDX-License-Identifier: Apache-2.0 */
/* The file database: which sticky files hosts hold, and what they are to do with them. It has its
 * own connection and schema (files.sql), and nothing depends on it: every caller can go on without
 * an answer. Conventions as in db.h; the caller commits. */
#ifndef DB_FILES_H
#define DB_FILES_H

#include "db/db.h"

/* By the files_db_* options. STATUS_NOT_FOUND: files_db_name is empty. The caller owns *ret_db. */
MUST_CHECK enum status db_files_open(const struct config *config, struct db **ret_db,
                                     struct failure *failure);
/* Makes the database and its tables where they are not there yet; may be repeated. */
MUST_CHECK enum status db_files_make(const struct config *config, struct failure *failure);
extern const char *const files_sql; /* the file, as it was when the program was built */

/* Longer names are not kept. */
enum { DB_FILE_NAME_MOST = 255, DB_FILES_MOST = 100000 };

/* struct host_file_row: a ROWS of files.def. */
/* By name, bytewise. */
MUST_CHECK enum status db_files_of_host(struct db *db, struct arena *arena, int64_t hostid,
                                        struct host_file_row **ret_rows, size_t *ret_count);
/* The hosts behind `after` that hold a file, by number; without priority, expiry, last_seen and
 * last_used. */
MUST_CHECK enum status db_files_holders(struct db *db, struct arena *arena, struct text name,
                                        int64_t after, size_t most, struct host_file_row **ret_rows,
                                        size_t *ret_count);
/* Inserts or updates; priority, expiry and times never fall, first_seen stays. */
MUST_CHECK enum status db_files_save(struct db *db, struct arena *arena,
                                     const struct host_file_row *rows, size_t count);
MUST_CHECK enum status db_files_seen(struct db *db, int64_t hostid, int64_t now);
MUST_CHECK enum status db_files_forget(struct db *db, int64_t hostid, const struct text *names,
                                       size_t count);

/* Of a host that is deleted nothing stays, neither files nor orders. */
MUST_CHECK enum status db_files_delete_host(struct db *db, int64_t hostid);

enum file_action { FILE_SEND = 1, FILE_GET, FILE_DELETE };
/* How an order ended; the numbers are stored. */
#define FILE_OUTCOMES(OUTCOME)                                                        \
    OUTCOME(OPEN, "open")               /* not yet */                                 \
    OUTCOME(DONE, "done")               /* the host has it, we have it, it is gone */ \
    OUTCOME(FAILED, "failed")           /* the host cannot get it; or lost it */      \
    OUTCOME(EXPIRED, "expired")         /* nothing came of it */                      \
    OUTCOME(UNSUPPORTED, "unsupported") /* the host's client does not know how */
enum file_outcome {
#define OUTCOME(name, word) FILE_OUTCOME_##name,
    FILE_OUTCOMES(OUTCOME)
#undef OUTCOME
        FILE_OUTCOME_COUNT
};
const char *file_outcome_word(int64_t outcome); /* "?" for a number without one */

/* How often a host is told; after how many days an order ends as it is, and after how many since it
 * was first told if it was told so often; how long it stays after its end. */
enum {
    FILE_ORDER_TRIES = 10,
    FILE_ORDER_DAYS = 60,
    FILE_ORDER_TOLD_DAYS = 7,
    FILE_ORDER_KEPT_DAYS = 7
};

/* struct file_order_row: a ROWS of files.def. delivered: when it was told for the first time, 0:
 * not yet; tries: replies that told it; ended: 0 while it is open; nbytes: of a file to get, on the
 * host, 0: not known. */
/* Orders of one host, or with hostid 0 of all, ended or not, without xml; oldest first. */
MUST_CHECK enum status db_file_orders(struct db *db, struct arena *arena, int64_t hostid,
                                      size_t most, struct file_order_row **ret_orders,
                                      size_t *ret_count);
/* The open ones of one host, as many as a reply can hold. */
MUST_CHECK enum status db_file_orders_open(struct db *db, struct arena *arena, int64_t hostid,
                                           struct file_order_row **ret_orders, size_t *ret_count);
/* An open one that is there keeps its date, `delivered` never falls and `tries` are added; one that
 * has ended begins anew. */
MUST_CHECK enum status db_file_orders_add(struct db *db, struct arena *arena,
                                          const struct file_order_row *orders, size_t count);
/* What became of open ones: delivered, tries, ended and outcome. */
MUST_CHECK enum status db_file_orders_save(struct db *db, struct arena *arena,
                                           const struct file_order_row *orders, size_t count);
/* Ends what is open for too long and drops what ended too long ago; of all hosts, or (only the
 * latter) of one. */
MUST_CHECK enum status db_file_orders_clean(struct db *db, int64_t now);
MUST_CHECK enum status db_file_orders_clean_host(struct db *db, int64_t hostid, int64_t now);

#endif
