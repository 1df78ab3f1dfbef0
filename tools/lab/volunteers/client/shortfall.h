/* SPDX-License-Identifier: Apache-2.0 */
/* How much work the clients of 2006 to 2008 ask for, and of whom. Pure; amounts in s of normalized
 * CPU time. */
#ifndef TOOLS_LAB_VOLUNTEERS_CLIENT_SHORTFALL_H
#define TOOLS_LAB_VOLUNTEERS_CLIENT_SHORTFALL_H

#include <stdbool.h>
#include <stddef.h>

struct shortfall_project {
    double share;
    double shortfall; /* of the round-robin simulation */
    double long_debt;
    bool suspended, deferred, no_new_work, overworked;
    bool no_cpu;              /* its applications need none */
    bool has_nearly_runnable; /* a result */
    double size;              /* to be asked for */
};

/* Sets the size of every project. */
void shortfall_set_sizes(struct shortfall_project *projects, size_t count, double total_shortfall);
/* The project to contact; `count` if there is none. */
size_t shortfall_choose_project(const struct shortfall_project *projects, size_t count);

#endif
