/* SPDX-License-Identifier: Apache-2.0 */
/* What a run is judged by, of one host or summed over many. Amounts only grow while a host lives,
 * so the difference of two moments is what happened between them. */
#ifndef TOOLS_LAB_VOLUNTEERS_HOST_HOST_TALLY_H
#define TOOLS_LAB_VOLUNTEERS_HOST_HOST_TALLY_H

#include "tools/lab/volunteers/client/client.h"

#include <stddef.h>
#include <stdint.h>

/* Instance-seconds. */
struct tally_resource {
    double present; /* while the host was on */
    double used;    /* of that, spent on jobs */
    double starved; /* of that, idle though a project may have work for it */
};

/* Counts, one field each; what they mean stands in qmvolunteers.1.md. */
#define TALLY_COUNTS(COUNT) \
    COUNT(rpcs)             \
    COUNT(failed_rpcs)      \
    COUNT(empty_replies)    \
    COUNT(jobs)             \
    COUNT(late)             \
    COUNT(failed)           \
    COUNT(aborted)          \
    COUNT(abandoned)        \
    COUNT(lost_acks)        \
    COUNT(deadline_flags)   \
    COUNT(disk_deletions)   \
    COUNT(disk_refusals)

struct host_tally {
    /* Peak operations of CPUs and coprocessors: while on; of that, spent on jobs; of that, on jobs
     * that ended after their deadline, failed, were aborted or abandoned, or lost; of that, lost:
     * done after the last checkpoint of a process that ended, and to start again. */
    double flops_total, flops_used, flops_wasted, flops_lost;
    struct tally_resource resources[CLIENT_RESOURCES];
#define TALLY_FIELD(name) uint64_t name;
    TALLY_COUNTS(TALLY_FIELD)
#undef TALLY_FIELD
};

/* Of one project on one host. */
struct tally_project {
    double flops_used;
    double used[CLIENT_RESOURCES]; /* instance-seconds */
    double present;                /* s that the host was on */
    double gap;                    /* of these, since one of its jobs last ran */
    double gap_squares;            /* integral of the squares of the gap over `present`, s^3 */
};

void tally_add(struct host_tally *sum, const struct host_tally *one);
double tally_idle_fraction(const struct host_tally *tally);
double tally_wasted_fraction(const struct host_tally *tally);
double tally_lost_fraction(const struct host_tally *tally);
/* The project's jobs ran, or did not, for an interval of presence. */
void tally_project_runs(struct tally_project *project, double interval, double flops);
void tally_project_waits(struct tally_project *project, double interval);
/* How far what each project got is from its share: 0 as it should be, towards 2 nothing of it. */
double tally_share_violation(const struct tally_project *const *projects, const double *shares,
                             size_t count);
/* 0: all projects run all the time, towards 1: one for very long. Period: s, of scheduling. */
double tally_monotony(const struct tally_project *const *projects, size_t count, double period);

#endif
