/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a host may have a job now: an ordered table of checks, cheapest first, over what the
 * host is (fixed) and what it has been given so far (the tally); see policy(7) 7.1; pure. */
#ifndef SERVER_POLICY_DISPATCH_CHECKS_H
#define SERVER_POLICY_DISPATCH_CHECKS_H

#include "server/policy/dispatch/host_view.h"
#include "server/policy/dispatch/job.h"
#include "server/policy/dispatch/tally.h"
#include "server/policy/refusal/reason.h"

#include <stdbool.h>
#include <stddef.h>

/* Chooses the version on `resource` and runs the checks. False: refused for *ret_refusal.
 * Everything but the deadline is judged before the deadline, so that REASON_DEADLINE means that
 * nothing else was in the way. */
enum check_kind {
    CHECK_NEW,
    CHECK_UNTIMED,   /* a new one, all but the deadline, which costs more than all the rest */
    CHECK_ALWAYS_ON, /* of a non-CPU-intensive app: amounts and deadline do not count */
    CHECK_ASSIGNED,  /* assigned by the project: what it needs to run, and what the user excludes */
    CHECK_RESEND     /* sent to the host before: only what it needs to run */
};
bool job_check(const struct host_view *view, const struct tally *tally, enum check_kind kind,
               size_t resource, struct job *job, struct refusal *ret_refusal);

/* Whether a resource is closed to all jobs (the user excludes it, a limit is reached), and why.
 * Then no other reason is worth saying. False: it may get some. */
bool resource_is_closed(const struct host_view *view, const struct tally *tally, size_t resource,
                        struct refusal *ret_refusal);

#endif
