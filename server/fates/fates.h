/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of results, added up, so that an administrator sees which versions, hosts and
 * batches fail.
 *
 * Requests and passes add what they have committed (fates_add), which costs them a lock and a look
 * into a hash table. Every few seconds the process writes the sums to rows of its own, in a
 * transaction of its own (fates_flush). A process that is killed loses the sums of these seconds
 * and nothing else. The rows are read by qmctl, and by the server for its metrics and pages.
 *
 *   fates_add --> entries of this hour, in memory --fates_flush--> qm_fate, qm_host_fate
 *
 * The number of rows is bounded: a process has at most FATES_KEYS_MAX of an hour. Beyond that, an
 * entry is counted under its version without its exit status, and at last under no version. Rows
 * are kept for FATES_DAYS. Any thread may call. */
#ifndef SERVER_FATES_FATES_H
#define SERVER_FATES_FATES_H

#include "server/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum result_fate {
#define FATE(name, number, ends, fails, word) FATE_##name = (number),
#include "server/fates/fates.def"
#undef FATE
};
enum { FATE_NUMBERS = FATE_VALIDATE_ERROR + 1 };
/* NULL: there is no such fate. */
struct fate_kind {
    enum result_fate fate;
    bool ends, fails;
    const char *word;
};
const struct fate_kind *fate_kind_of(int64_t number);

/* What an exit status means; NULL: it is the application's own. */
struct exit_status_meaning {
    int64_t number;
    const char *name; /* BOINC's or the system's; "" where it has none */
    const char *words;
};
const struct exit_status_meaning *exit_status_meaning_of(int64_t number);

enum {
    FATES_KEYS_MAX = 2000,   /* of one process in an hour */
    FATES_HOSTS_MAX = 20000, /* between two flushes; what others did is not counted by host */
    FATES_DAYS = 8,
    FATES_HOST_DAYS = 60 /* without a result */
};

struct fate_entry {
    int64_t hostid, appid, app_version_id, batch; /* batch 0: none */
    enum result_fate fate;
    int64_t exit_status;
};

struct db;
struct fates;

struct fates *fates_create(void);        /* NULL: no memory */
void fates_destroy(struct fates *fates); /* NULL is fine */

/* These results were committed at `now` (epoch). What there is no memory for is not counted. A
 * fates that is NULL counts nothing. */
void fates_add(struct fates *fates, int64_t now, const struct fate_entry *entries, size_t count);

/* Writes what was added since the last flush, and commits. What could not be written is kept for
 * the next flush. Nothing added: STATUS_OK, without a statement. */
MUST_CHECK enum status fates_flush(struct fates *fates, struct db *db);

#endif
