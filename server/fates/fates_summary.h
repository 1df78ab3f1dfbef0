/* SPDX-License-Identifier: Apache-2.0 */
/* Versions, hosts and batches that fail: the rows of qm_fate summed up by version; pure. */
#ifndef SERVER_FATES_FATES_SUMMARY_H
#define SERVER_FATES_FATES_SUMMARY_H

#include "db/rows.h"
#include "server/base/text.h"
#include "server/fates/fates.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct app_version_row;
struct arena;

struct fates_summary {
    int64_t appid, app_version_id; /* of a version; see qm_fate */
    int64_t batch;                 /* 0: of no batch, or of all */
    int64_t sent, ended, failed; /* results; failed ones may have ended before the time looked at */
    int64_t by_fate[FATE_NUMBERS];   /* indexed by enum result_fate */
    int64_t worst_exit, worst_exits; /* the exit status of most errors, and how many; 0: none */
};

/* The hour since which the last `hours` hours count, the one that runs included. */
int64_t fates_since(int64_t now, int64_t hours);
/* By falling number of failures, then of results sent. The rows are in any order. NULL: no memory.
 */
struct fates_summary *fates_summarize(struct arena *arena, const struct fate_version_row *rows,
                                      size_t count, size_t *ret_count);
/* The same by batch. */
struct fates_summary *fates_summarize_batches(struct arena *arena,
                                              const struct fate_batch_row *rows, size_t count,
                                              size_t *ret_count);
/* The part of ended results that failed, 0 to 1. */
double fates_share(int64_t ended, int64_t failed);
/* Whether an administrator should look: more than a fifth of at least 20 failed, or all of at least
 * five. */
bool fates_alarm(int64_t ended, int64_t failed);

/* "demo 1.03 windows_x86_64 (cuda)". `app` empty, `version` NULL: it is not there. */
struct text fates_version_words(struct arena *arena, const struct fates_summary *summary,
                                struct text app, const struct app_version_row *version,
                                struct text platform);
/* "ERR_RESULT_DOWNLOAD: files could not be downloaded ...", or that it is the application's own. */
struct text fates_exit_words(struct arena *arena, int64_t exit_status);

#endif
