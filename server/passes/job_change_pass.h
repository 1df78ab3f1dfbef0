/* SPDX-License-Identifier: Apache-2.0 */
/* One change of many jobs (db/job_changes.h), a transaction for each part of them. */
#ifndef SERVER_PASSES_JOB_CHANGE_PASS_H
#define SERVER_PASSES_JOB_CHANGE_PASS_H

#include "db/job_changes.h"
#include "server/passes/pass.h"

/* What a pass over them did, added up. */
struct job_change_sums {
    struct jobs_changed jobs;
    bool is_whole; /* false: it was to end before all were looked at */
};

/* Who takes failed jobs up again waits while input files are deleted (inputs_lock.h). `what` stands
 * in lines of progress, and counts the jobs that were changed, or in a rehearsal all
 * that were selected. After a failure *ret_sums is what was committed. */
MUST_CHECK enum status job_change_pass(struct pass_owner *owner,
                                       const struct job_selection *selection,
                                       const struct job_change *change, const char *what,
                                       struct job_change_sums *ret_sums);

#endif
