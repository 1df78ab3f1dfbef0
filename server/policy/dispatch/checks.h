/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a host may have a job now: an ordered table of checks, cheapest first, over what the
 * host is (fixed) and what it has been given so far (the tally); see policy(7) 7.1; pure. */
#ifndef SERVER_POLICY_DISPATCH_CHECKS_H
#define SERVER_POLICY_DISPATCH_CHECKS_H

#include "config/config.h"
#include "db/rows.h"
#include "server/policy/dispatch/host_view.h"
#include "server/policy/dispatch/tally.h"
#include "server/policy/limits/amounts.h"
#include "server/policy/refusal/reason.h"
#include "server/policy/version/version_choice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum job_assignment {
    JOB_GENERAL,
    JOB_TARGETED, /* for this host, its user or team */
    JOB_BROADCAST /* for every host that is meant */
};

/* What a job that could be taken is preferred by. */
struct job_rank {
    double clock; /* of its stream */
    bool fits;    /* in what is left of the request */
    double size, score;
};

/* A job and how this host would run it. */
struct job {
    int64_t resultid, priority;
    const struct workunit_row *workunit;
    const struct app_row *app; /* NULL: not known */
    enum job_assignment assignment;
    size_t stream;           /* by index in the view's streams */
    int64_t sent_version_id; /* of a resend: the version that it was sent for; else 0 */

    const struct version_option *option; /* set by job_check */
    struct amount_use use;               /* likewise */
    int64_t delay_bound; /* s, likewise: as sent; shorter than the workunit's for some retries */
    bool met_user;       /* the user has had a result of the workunit, and may have one only */
    bool met_host;       /* likewise the host */
    bool has_file;       /* some of its files are on the host; looked at for some apps only */
    bool is_gone;        /* taken or lost: not to be looked at again */
    size_t refused_on;   /* while choosing: 1 + the resource it was refused for */
    bool is_ranked;      /* likewise: it could be taken, unless its deadline is in the way */
    struct job_rank rank;
};

/* Whether it belongs to the end of a batch, and is for hosts with a low turnaround time. */
bool job_is_accelerated(const struct config *config, const struct job *job);

/* Chooses the version on `resource` and runs the checks. False: refused for *ret_refusal.
 * Everything but the deadline is judged before the deadline, so that REASON_DEADLINE means that
 * nothing else was in the way. */
enum check_kind {
    CHECK_NEW,
    CHECK_UNTIMED,   /* a new one, all but the deadline, which costs more than all the rest */
    CHECK_ALWAYS_ON, /* of a non-CPU-intensive app: neither amounts nor deadline count */
    CHECK_ASSIGNED,  /* for this host by the project's will: fit to run, and wanted at all */
    CHECK_RESEND     /* of the host already: fit to run, that is all */
};
bool job_check(const struct host_view *view, const struct tally *tally, enum check_kind kind,
               size_t resource, struct job *job, struct refusal *ret_refusal);

/* Why a resource gets no job whatever the job is (excluded by the user, a limit is reached): then
 * nothing else that may be wrong with jobs is worth a word. False: it may get some. */
bool resource_is_closed(const struct host_view *view, const struct tally *tally, size_t resource,
                        struct refusal *ret_refusal);

#endif
