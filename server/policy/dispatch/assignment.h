/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs for given hosts, users and teams (policy(7) 10.5); pure. */
#ifndef SERVER_POLICY_DISPATCH_ASSIGNMENT_H
#define SERVER_POLICY_DISPATCH_ASSIGNMENT_H

#include <stdbool.h>
#include <stdint.h>

/* A workunit and its results, seen under lock. */
struct assignment_question {
    bool is_broadcast;
    int64_t error_mask, canonical_resultid, need_validate, transition_time, target_nresults;
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
