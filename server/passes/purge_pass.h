/* SPDX-License-Identifier: Apache-2.0 */
/* Old finished jobs leave the database, some at a time: locked, archived, and deleted in one
 * transaction, which is committed after the disk has the archive. Interrupted at any moment, the
 * jobs are in the archive or in the database, or in both; then the next pass archives them again.
 * Between two transactions it gives way to waiting hosts. */
#ifndef SERVER_PASSES_PURGE_PASS_H
#define SERVER_PASSES_PURGE_PASS_H

#include "db/purge.h"
#include "server/passes/pass.h"

struct archive;

struct purge_settings {
    struct purge_filter filter;
    struct archive *archive; /* NULL: without */
    int64_t jobs_max;        /* 0: all that may go */
};

struct purge_counts {
    int64_t jobs, results;
};

/* How many jobs are purged in one transaction, after one of `part` whose rows took so much memory:
 * so the documents of jobs bound it. */
size_t purge_part_after(size_t part, size_t bytes);

/* Adds to *counts, also on failure what was committed before it. */
MUST_CHECK enum status purge_pass(struct pass_owner *owner, const struct purge_settings *settings,
                                  struct purge_counts *counts);

#endif
