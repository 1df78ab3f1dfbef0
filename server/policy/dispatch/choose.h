/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the jobs at hand a host gets (policy(7) 10.1); pure.
 *
 * This is where all other rooms of server/policy/ come together. server/handout/view.c collects
 * what they say of a host in a struct host_view (host_view.h), which does not change any more. The
 * candidates come from the job pool or the database as a list of struct job (job.h), in order of
 * falling level (stream_level). A tally (tally.h) begins with the view's figures.
 *
 * For one resource after the other, each job goes through the checks (checks.h), an ordered table:
 * its row of the database, a version of its app, the limits, all but the deadline. Jobs that pass
 * are ranked by the clock of its stream (stream.h), by whether it fits what is asked for, and by
 * its score (score.h). The best one is then judged by its deadline; the first that is in time is
 * taken, and the tally with it. Every choice therefore changes the next one. Refused jobs are
 * noted with the reason. Nothing is written: server/handout/claim.c takes the chosen jobs under
 * lock. */
#ifndef SERVER_POLICY_DISPATCH_CHOOSE_H
#define SERVER_POLICY_DISPATCH_CHOOSE_H

#include "server/policy/dispatch/checks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why jobs were not chosen. */
struct choice_notes {
    struct refusals refusals;
    bool late[RESOURCES_MAX]; /* a job of this requested resource failed on its deadline alone */
};

/* Notes the reason of every requested resource that is closed to all jobs; true: each is closed. */
bool choose_is_idle(const struct host_view *view, const struct tally *tally,
                    struct choice_notes *notes);

/* Takes jobs for every requested resource, coprocessors before the CPU, until it is served or the
 * reply is full, and adds what they use to the tally. `jobs` come in order of falling level.
 * Within one level and, if there are any, the stream that is behind the others, of the jobs of its
 * highest priority that fit what is left the one of the best score is taken (the earlier of two
 * equals); if none fits, the one that takes least, by score among equals. `ret_chosen` has room for
 * as many as `limits.reply` or `count`, the smaller of the two. Returns how many were chosen. */
size_t choose_jobs(const struct host_view *view, struct tally *tally, struct job *jobs,
                   size_t count, struct job **ret_chosen, struct choice_notes *notes);

/* Notes why jobs are refused beside what the tally holds, deadlines apart; takes none of them. */
void choose_none(const struct host_view *view, const struct tally *tally, struct job *jobs,
                 size_t count, struct choice_notes *notes);

/* One job of each always-on app (non-CPU-intensive) that `has_job` does not name, whatever was
 * asked for. Why one is refused is noted for the resources that were. */
size_t choose_always_on(const struct host_view *view, struct tally *tally, struct job *jobs,
                        size_t count, struct id_list has_job, struct job **ret_chosen,
                        struct choice_notes *notes);

/* --- assigned jobs, policy(7) 10.5 ------------------------------------------------------------ */

/* A workunit and its results, seen under lock. */
struct assignment_question {
    bool is_broadcast;
    int64_t error_mask, canonical_resultid, need_validate, transition_time;
    int64_t wanted_results;               /* the target, or the quorum where that is more */
    int64_t results_of_host;              /* in any state */
    int64_t unsent, in_progress, success; /* unsent: INACTIVE too; success: not INVALID */
    bool has_unsent;                      /* one that could be sent as it is */
    int64_t now;
};

enum assignment_verdict {
    ASSIGNMENT_NOT,    /* nothing for this host now */
    ASSIGNMENT_UNSENT, /* the result that is there */
    ASSIGNMENT_NEW     /* one is to be made */
};
enum assignment_verdict assignment_decide(const struct assignment_question *question);

#endif
