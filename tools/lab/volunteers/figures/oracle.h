/* SPDX-License-Identifier: Apache-2.0 */
/* The most that a crowd could do if it knew the future: a bound for policies, computed without a
 * server from the same hosts at the same times. Every processor takes one job after the other from
 * a queue that never ends, without waiting for a contact. It knows how long each job really takes
 * and when the host will be there, and takes only jobs that will be in time; it is offered
 * several, and is idle for an hour if none is. It does not know which jobs will fail.
 *
 * Of a batch (oracle_batch_jobs) it says how soon its jobs could be back: from its day on every
 * processor computes nothing else, and its jobs are those that are finished first. Pure. */
#ifndef TOOLS_LAB_VOLUNTEERS_FIGURES_ORACLE_H
#define TOOLS_LAB_VOLUNTEERS_FIGURES_ORACLE_H

#include "server/base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct buffer;
struct scenario;

struct oracle {
    double flops_total, flops_useful, flops_wasted;
    double *latencies; /* s, of each job that was finished within the run; sorted at the end. Of a
                        * batch from its beginning, else from when the job was taken */
    size_t count, capacity;
};

/* By oracle_operations and oracle_bounds of the scenario, which stand for the jobs of the queue,
 * the bounds in turn. False: no memory. */
MUST_CHECK bool oracle_run(const struct scenario *scenario, struct oracle *ret_oracle);
void oracle_free(struct oracle *oracle);
/* s; `part` of the latencies are no longer. */
double oracle_latency(const struct oracle *oracle, double part);
/* s from the beginning of the scenario's batch until `part` of its jobs are back; until the end of
 * the run if they are not. */
double oracle_batch_back(const struct oracle *oracle, const struct scenario *scenario, double part);
/* "name": value for each, with commas between; the names are those by which
 * scenarios/margins.experiment asks the database of a project. */
void oracle_write_json(const struct oracle *oracle, const struct scenario *scenario,
                       struct buffer *buffer);

#endif
