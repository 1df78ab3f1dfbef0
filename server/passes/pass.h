/* SPDX-License-Identifier: Apache-2.0 */
/* What is done to many jobs at a time, as passes that any program can run.
 *
 * A pass gets its owner, which is the program's side: the database, the configuration, whom to tell
 * of jobs that fail, and whether to end. It gets what to do as a struct of settings, and adds up
 * what it did in a struct of counts. It prints nothing and ends nobody: why it failed is in the
 * owner's failure, and what was committed before stays done.
 *
 * round.h has the passes that follow each other in the life of a job: transition_pass.h,
 * validation_pass.h, assimilation_pass.h, batch_pass.h, deletion_pass.h. job_change_pass.h changes
 * many jobs as an administrator wants it. purge_pass.h takes old jobs out of the
 * database; upload_sweep.h, orphan_count.h and download_look.h search the folders for files that
 * nothing leads to. Copies of a program share a pass by leases (pass_lease.h). */
#ifndef SERVER_PASSES_PASS_H
#define SERVER_PASSES_PASS_H

#include "server/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct config;
struct db;
struct fates;

/* One thread at a time. A function that is NULL is not called. */
struct pass_owner {
    struct db *db;
    const struct config *config;
    struct arena *arena;     /* lasts as long as the pass */
    struct fates *fates;     /* what becomes of results is added to it; NULL: nobody counts */
    struct failure *failure; /* why the pass failed, in words */
    /* A sentence about one job or file that failed; it may hold what others wrote. */
    void (*say)(void *context, const char *sentence);
    /* For every piece of the work: `count` of `what` ("jobs purged") are done. */
    void (*progress)(void *context, const char *what, int64_t count);
    /* Nothing new is to be begun: what is under way is ended, and the pass returns. */
    bool (*is_to_end)(void *context);
    void *context;
};

void pass_progress(const struct pass_owner *owner, const char *what, int64_t count);
bool pass_is_to_end(const struct pass_owner *owner);
/* "WHAT: " and the database's words for `status`, into the owner's failure, unless that has some
 * already; answers `status`, and does nothing for STATUS_OK. */
enum status pass_failed(const struct pass_owner *owner, enum status status, const char *what);

enum { PASS_PUT_OFF = 600 /* s */, PASS_PARALLEL_MOST = 256 };

/*  COUNT(name): what the passes of a round did, in the order of the table that `qmctl transition`
 * prints. Counted are workunits, but timed_out, made, not_needed, valid, invalid and undecided are
 * results. */
#define PASS_COUNTS(COUNT)                                                       \
    COUNT(jobs) /* that were due */                                              \
    COUNT(timed_out)                                                             \
    COUNT(made)                                                                  \
    COUNT(not_needed)  /* will not be sent */                                    \
    COUNT(to_validate) /* newly so */                                            \
    COUNT(accepted)    /* have a canonical result now */                         \
    COUNT(valid)                                                                 \
    COUNT(invalid)                                                               \
    COUNT(undecided)     /* no quorum of them is the same */                     \
    COUNT(to_assimilate) /* newly so: an answer, an error, or deferred before */ \
    COUNT(assimilated)                                                           \
    COUNT(deferred)      /* by the command that assimilates */                   \
    COUNT(files_deleted) /* files */                                             \
    COUNT(given_up)      /* with an error */                                     \
    COUNT(put_off)       /* could not be done; due again later */

struct pass_counts {
#define COUNT_FIELD(name) int64_t name;
    PASS_COUNTS(COUNT_FIELD)
#undef COUNT_FIELD
};

struct pass_settings {
    int64_t now;
    int64_t jobs_max; /* in each pass; 0: all that are due */
    bool trusts;
    bool deletes_files;
    double deletion_seconds;      /* after which files wait for the next round; 0: never */
    const char *assimilate;       /* "none", or a command that takes an answer; NULL: neither */
    const char *assimilate_batch; /* a command that takes many; at most one of the two */
    const char *validate;         /* "bitwise", or a command that compares two results */
    const char *validate_batch;   /* a command that compares many; at most one of the two */
    int64_t command_seconds;      /* for one job of a command */
    int64_t parallel;             /* processes of a command for one job; 0: 1 */
};

#endif
