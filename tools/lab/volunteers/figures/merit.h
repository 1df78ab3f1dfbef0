/* SPDX-License-Identifier: Apache-2.0 */
/* What a run is judged by. This room watches a crowd (crowd/observer.h) and writes down what it
 * showed.
 *
 * run_report.h is the observer: at each sample it adds up what the hosts counted
 * (host/host_tally.h) to the figures of merit in this header, and writes a row of them;
 * no_work_reasons.h adds why servers had no job. arrivals.h counts RPCs by time, trace.h keeps what
 * one host's processors did. At the end of the run plot.h draws all of it.
 * oracle.h needs no run: it is a bound that no policy is above.
 *
 * Here are the figures of merit themselves: amounts of the hosts added up, and what is made of
 * them. Each figure is a row of one table, from which JSON, CSV and pictures are written. Pure. */
#ifndef TOOLS_LAB_VOLUNTEERS_FIGURES_MERIT_H
#define TOOLS_LAB_VOLUNTEERS_FIGURES_MERIT_H

#include "tools/lab/volunteers/host/host_tally.h"

#include <stddef.h>

struct buffer;

struct merit {
    size_t hosts;
    double days; /* that they lived */
    struct host_tally sum;
    /* Of hosts of several projects: operations done, operations that a project did beyond or below
     * its share of its host, and a sum of each host's monotony. */
    double shared_flops, off_flops, monotony;
    size_t shared_hosts;
};

/* A host with what its projects got and should have got; period: s, of its CPU scheduling. */
void merit_add_host(struct merit *figures, const struct host_tally *tally,
                    const struct tally_project *const *projects, const double *shares,
                    size_t project_count, double period);
/* What happened from one moment to a later one. Share violation and monotony need a long time, so
 * they stay those since the beginning. */
struct merit merit_since(const struct merit *before, const struct merit *now);

struct merit_figure {
    const char *name;
    double (*value)(const struct merit *figures);
    int digits;        /* behind the point; below 0: as many as there are */
    const char *label; /* for pictures, with the unit */
};
size_t merit_count(void);
const struct merit_figure *merit_at(size_t which);
const struct merit_figure *merit_find(const char *name); /* NULL: there is none */

/* "name": value for each, with commas between, some to a line. */
void merit_write_json(const struct merit *figures, struct buffer *buffer);
/* Commas between; no end of line. */
void merit_write_names(struct buffer *buffer);
void merit_write_values(const struct merit *figures, struct buffer *buffer);

/* --- what each project got of what all of them used ------------------------------------------ */

/* Zero it before use. */
struct merit_projects {
    struct merit_project {
        double cpu, gpu, flops; /* instance-seconds; operations */
    } projects[CLIENT_PROJECTS_MAX];
    size_t count;
};

/* What a project of the crowd, from 0, got of one host. */
void merit_add_project(struct merit_projects *sums, size_t project,
                       const struct tally_project *tally);
/* Columns p1_cpu_fraction and so on; all begin with a comma. With one project there are none. */
void merit_write_project_names(const struct merit_projects *sums, struct buffer *buffer);
void merit_write_project_values(const struct merit_projects *sums, struct buffer *buffer);
void merit_write_project_json(const struct merit_projects *sums, struct buffer *buffer);

#endif
