/* SPDX-License-Identifier: Apache-2.0 */
/* What would become of a queue under weighted round robin: which results would miss their
 * deadlines, and how much work is lacking. Pure; times in s from now, work in normalized CPU time:
 * what a CPU does in a second of wall time, away or not. */
#ifndef TOOLS_LAB_VOLUNTEERS_CLIENT_ROBIN_H
#define TOOLS_LAB_VOLUNTEERS_CLIENT_ROBIN_H

#include "tools/lab/volunteers/client/client.h"

#include <stdbool.h>
#include <stddef.h>

struct robin_host {
    double cpus;
    double coprocs[CLIENT_COPROCS]; /* instances by kind */
    double available_fraction;      /* of the time that it computes */
};

struct robin_project {
    double share;            /* 0: it does not count */
    double shortfall;        /* outcome */
    size_t deadlines_missed; /* outcome */
    double rate, wish;       /* CPUs that it gets, and could use; of the simulation */
};

struct robin_result {
    size_t project;
    double left; /* s to run */
    double deadline;
    double cpus;   /* while it runs */
    size_t coproc; /* the kind it needs, or CLIENT_NO_COPROC */
    double coprocs;
    bool nearly_runnable;
    double finish; /* outcome; INFINITY: never */
    bool deadline_missed;
    double simulated_left, rate; /* of the simulation; 1: at full speed */
};

/* Returns the total shortfall: what all CPUs lack to be busy for the next `queue` s. */
double robin_simulate(const struct robin_host *host, struct robin_project *projects,
                      size_t project_count, struct robin_result *results, size_t result_count,
                      double queue);

#endif
