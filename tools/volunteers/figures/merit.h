/* SPDX-License-Identifier: Apache-2.0 */
/* What a crowd is judged by: amounts of its hosts added up, and the figures made of them, each a
 * row of one table that JSON, CSV and pictures are written by. Pure. */
#ifndef TOOLS_VOLUNTEERS_FIGURES_MERIT_H
#define TOOLS_VOLUNTEERS_FIGURES_MERIT_H

#include "tools/volunteers/host/host_tally.h"

#include <stddef.h>

struct buffer;

struct figures {
    size_t hosts;
    double days; /* that they lived */
    struct tally sum;
    /* Of hosts of several projects: operations done, operations that a project did beyond or below
     * its share of its host, and a sum of each host's monotony. */
    double shared_flops, off_flops, monotony;
    size_t shared_hosts;
};

/* A host with what its projects got and should have got; period: s, of its CPU scheduling. */
void figures_add_host(struct figures *figures, const struct tally *tally,
                      const struct tally_project *const *projects, const double *shares,
                      size_t project_count, double period);
/* What happened from one moment to a later one. Shares and monotony are matters of a long time:
 * they stay those since the beginning. */
struct figures figures_since(const struct figures *before, const struct figures *now);

struct figure {
    const char *name;
    double (*value)(const struct figures *figures);
    int digits;        /* behind the point; below 0: as many as there are */
    const char *label; /* for pictures, with the unit */
};
size_t figures_count(void);
const struct figure *figures_at(size_t which);
const struct figure *figures_find(const char *name); /* NULL: there is none */

/* "name": value for each, with commas between, some to a line. */
void figures_write_json(const struct figures *figures, struct buffer *buffer);
/* Commas between; no end of line. */
void figures_write_names(struct buffer *buffer);
void figures_write_values(const struct figures *figures, struct buffer *buffer);

#endif
