/* SPDX-License-Identifier: Apache-2.0 */
/* From chosen jobs to jobs that are this host's (policy(7) 10.4). */
#ifndef SERVER_HANDOUT_CLAIM_H
#define SERVER_HANDOUT_CLAIM_H

#include "server/base/status.h"
#include "server/policy/dispatch/checks.h"
#include "server/policy/dispatch/choose.h"

#include <stddef.h>

struct answer_job;
struct job_documents;
struct request;

struct claimed {
    struct answer_job *jobs; /* what was got, in order of choice */
    const struct job **of;   /* the chosen job of each */
    size_t count;
    size_t lost;    /* others got there first */
    size_t refused; /* by a rule that needs the lock */
    size_t over;    /* of these, because the workunit is over */
};

/* Locks the workunits and results, checks what can only be decided under the lock, and takes the
 * results that are still unsent. What was lost or refused is added to `refused`. After any other
 * status than STATUS_OK nothing of it counts: the caller rolls back. */
MUST_CHECK enum status claim_jobs(struct request *request, const struct host_view *view,
                                  struct job *const *chosen, size_t count, struct refusals *refused,
                                  struct claimed *ret_claimed);

/* What a reply says about a job, apart from its deadline. */
struct answer_job claim_describe(const struct job *job, const struct job_documents *documents);

#endif
