/* SPDX-License-Identifier: Apache-2.0 */
/* What each project of a crowd got of what all of them used. */
#ifndef TOOLS_VOLUNTEERS_FIGURES_PROJECT_PARTS_H
#define TOOLS_VOLUNTEERS_FIGURES_PROJECT_PARTS_H

#include <stddef.h>

struct buffer;
struct tally_project;

enum { PARTS_PROJECTS_MAX = 64 };

/* Zero it before use. */
struct parts {
    struct part {
        double cpu, gpu, flops; /* instance-seconds; operations */
    } projects[PARTS_PROJECTS_MAX];
    size_t count;
};

/* What a project of the crowd, from 0, got of one host. */
void parts_add(struct parts *parts, size_t project, const struct tally_project *tally);
/* Columns p1_cpu_fraction and so on; all begin with a comma. With one project there are none. */
void parts_write_names(const struct parts *parts, struct buffer *buffer);
void parts_write_values(const struct parts *parts, struct buffer *buffer);
void parts_write_json(const struct parts *parts, struct buffer *buffer);

#endif
