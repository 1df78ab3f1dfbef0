/* SPDX-License-Identifier: Apache-2.0 */
/* The hosts of a campaign. Each asks again as soon as it has its answer, holds some jobs back and
 * reports others, a few as failed. As in life, replies get lost: a transfer is broken off at any
 * moment, or its reply thrown away; then the same bytes are sent again, or a new request. Now and
 * then the same bytes come twice at the same moment. A host that has had its share of jobs leaves,
 * and another is born in its place. */
#ifndef TOOLS_LAB_CAMPAIGN_CAMPAIGN_CROWD_H
#define TOOLS_LAB_CAMPAIGN_CAMPAIGN_CROWD_H

#include "tools/lab/campaign/history.h"
#include "tools/lab/qmload/load_host.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct crowd_plan {
    const char *url;
    struct load_profile profile; /* its authenticators, platforms and vendors are machine N's */
    int64_t hosts;
    int64_t lost, doubled; /* of 100 requests: reply lost; sent twice at once */
    int64_t life;          /* jobs, at most, until a machine leaves */
    int64_t pause;         /* s between two requests of the slowest machines; 0: of all */
    double time;           /* s; 0: until is_over */
    double settling;       /* s, at most, for the last requests */
    bool is_quiet;
    /* Set from outside: lose no more replies, so that what is left of lost requests may run out of
     * the servers; settle and end. */
    volatile sig_atomic_t *is_calm, *is_over;
};

/* Goes on where the history ends, and writes on into the file. False: the file cannot be written. A
 * crowd that could not settle says so in the history, machine by machine. */
bool campaign_crowd_run(const struct crowd_plan *plan, struct history *history, const char *path);

#endif
