/* SPDX-License-Identifier: Apache-2.0 */
/* What a run is made of: a text file of lines "name value"; # begins a comment. */
#ifndef TOOLS_LAB_VOLUNTEERS_CROWD_SCENARIO_H
#define TOOLS_LAB_VOLUNTEERS_CROWD_SCENARIO_H

#include "server/base/text.h"
#include "tools/lab/volunteers/host/population.h"

struct scenario {
    double hosts, days, seed;
    double begin;                           /* s since 1970 */
    double sample_hours;                    /* from one sample of the figures to the next */
    double rpc_minutes;                     /* that RPCs are counted by */
    double transition_hours;                /* from one run of the transition command to the next */
    double outage_begin_days, outage_hours; /* when no project answers; 0 hours: never */
    double window;                          /* s that requests under way at once may lie apart */
    double arrival_days;                    /* over which the hosts attach, one after the other */
    double cpus_min, cpus_max;              /* of the population, here and below; 0 or 1: */
    double always_on, leave_in_memory, sleeps, drops_unstarted;
    /* The jobs of figures/oracle.h; 0: the run is a real one. */
    double oracle_operations, oracle_bounds[CLIENT_PROJECTS_MAX]; /* FLOP; s */
    size_t oracle_bound_count;
    double oracle_batch_jobs, oracle_batch_days; /* of a batch, and when it comes; 0 jobs: none */
    struct population population;
};

/* What the file does not name is as measured (population_measured). STATUS_INVALID: a mistake; the
 * failure names the line. */
MUST_CHECK enum status scenario_read(struct text file, struct scenario *ret_scenario,
                                     struct failure *failure);

/* When a host attaches, of those from 0. */
double scenario_arrival(const struct scenario *scenario, size_t host);
/* Whether the scenario has an outage at this time. */
bool scenario_is_out(const struct scenario *scenario, double time);

#endif
