/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the workunits that are due: some hundred at a time, each time in a transaction of
 * its own. */
#ifndef TOOLS_QMCTL_TRANSITION_PASS_H
#define TOOLS_QMCTL_TRANSITION_PASS_H

#include "tools/qmctl/project_session.h"

struct transition_counts {
    int64_t jobs;          /* workunits looked at */
    int64_t timed_out;     /* results */
    int64_t made;          /* results */
    int64_t not_needed;    /* results that will not be sent */
    int64_t to_validate;   /* workunits, from here on newly so */
    int64_t accepted;      /* canonical without a validator */
    int64_t given_up;      /* with an error */
    int64_t to_assimilate; /* because of either, or at last */
    int64_t put_off;       /* could not be done; looked at again later */
};

struct transition_pass_settings {
    int64_t now;
    int64_t jobs_max; /* 0: all that are due */
    bool trusts;
    bool shows_progress;
};

/* Adds to *counts, also on failure what was committed before it. */
MUST_CHECK enum status transition_pass(struct session *session,
                                       const struct transition_pass_settings *settings,
                                       struct transition_counts *counts);

#endif
