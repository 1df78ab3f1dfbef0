/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a host may have a job now: an ordered table of checks (checks.def), cheapest first, over
 * what the host is (fixed) and what it has been given so far (the tally); see policy(7) 7.1; pure.
 *
 * The table is walked at several depths. The nearer to the host, the less is known, and the more is
 * spared by a refusal: resource_is_closed, app_is_open, group_is_open, class_is_open, job_check,
 * and under the lock of the claim job_check_locked. */
#ifndef SERVER_POLICY_DISPATCH_CHECKS_H
#define SERVER_POLICY_DISPATCH_CHECKS_H

#include "server/policy/dispatch/class_limits.h"
#include "server/policy/dispatch/host_view.h"
#include "server/policy/dispatch/job.h"
#include "server/policy/dispatch/tally.h"
#include "server/policy/refusal/reason.h"

#include <stdbool.h>
#include <stddef.h>

struct locked_workunit;

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

/* Whether the host may have jobs of the app, as far as that alone says. */
bool app_is_open(const struct host_view *view, const struct app_row *app);

/* Whether it may have jobs like this one: of its app, hr_class, science app, and batch if that is
 * for one user; and of its priority, batch, size class and keywords besides. */
bool group_is_open(const struct host_view *view, struct job *job);
bool class_is_open(const struct host_view *view, struct job *job);
/* The most that a job of its kind may take; HUGE_VAL: any amount. `speed`: of the fastest version
 * that could run it, see class_speed. */
void class_limits(const struct host_view *view, enum check_kind kind, double speed,
                  double ret_limits[CLASS_LIMIT_COUNT]);

/* What the lock shows of a job whose version is chosen; `row` NULL: the workunit is gone.
 * REASON_COUNT: it may be taken. */
enum reason job_check_locked(const struct host_view *view, const struct job *job,
                             const struct locked_workunit *row);

#endif
