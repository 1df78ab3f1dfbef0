/* SPDX-License-Identifier: Apache-2.0 */
/* A job that could be handed out, and how this host would run it: what the checks, the score and
 * the choice say of it stands in it. */
#ifndef SERVER_POLICY_DISPATCH_JOB_H
#define SERVER_POLICY_DISPATCH_JOB_H

#include "config/config.h"
#include "db/rows.h"
#include "server/base/text.h"
#include "server/policy/dispatch/stream.h"
#include "server/policy/limits/amounts.h"
#include "server/policy/version/version_choice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum job_assignment {
    JOB_GENERAL,
    JOB_TARGETED, /* for this host, its user or team */
    JOB_BROADCAST /* for every host that the assignment names */
};

/* What a job that could be taken is preferred by. */
struct job_rank {
    double clock; /* of its stream */
    int64_t priority;
    bool fits; /* in what is left of the request */
    int slack; /* powers of two of its wall time until its deadline; 0 where no margin counts */
    double size, score;
};

/* A job and how this host would run it. */
struct job {
    int64_t resultid, priority;
    const struct workunit_row *workunit;
    const struct app_row *app; /* NULL: not known */
    enum job_assignment assignment;
    struct stream stream;
    int64_t sent_version_id; /* of a resend: the version that it was sent for; else 0 */
    int64_t sent_variant;    /* likewise: the variant, if it is known */

    const struct version_option *option; /* set by job_check */
    struct amount_use use;               /* likewise */
    double margin;       /* likewise: by it the wall time is multiplied for deadlines */
    int64_t delay_bound; /* s, likewise: as sent; shorter than the workunit's for some retries, and
                          * at the end of a batch in a hurry */
    int64_t open_bound;  /* s, likewise: after it the job times out; in a hurry longer than that */
    bool user_had_one;   /* the user has had a result of the workunit, and may have one only */
    bool host_had_one;   /* likewise the host */
    bool has_file;       /* some of its files are on the host; set for apps with locality only */
    bool is_gone;        /* taken or lost: out of the choice */
    size_t refused_on;   /* while choosing: 1 + the resource it was refused for */
    bool is_late;        /* likewise: its deadline alone was in the way, of some resource */
    bool is_candidate;   /* likewise: all but its deadline, which is not judged, is well */
    struct job_rank rank;
};

/* Whether it belongs to the end of a batch, and is for hosts with a low turnaround time. */
bool job_is_accelerated(const struct config *config, const struct job *job);

/* Ids separated by blanks (workunit.keywords): how many of them are among `ids`. */
size_t keywords_among(struct text keywords, const int64_t *ids, size_t count);

#endif
