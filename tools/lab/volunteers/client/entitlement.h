/* SPDX-License-Identifier: Apache-2.0 */
/* How a host's resources are fairly divided between projects that can use only some of them. */
#ifndef TOOLS_LAB_VOLUNTEERS_CLIENT_ENTITLEMENT_H
#define TOOLS_LAB_VOLUNTEERS_CLIENT_ENTITLEMENT_H

#include <stddef.h>

enum { ENTITLEMENT_RESOURCES_MAX = 8 };

struct entitlement {
    double share;  /* of its project, in any unit */
    unsigned uses; /* resources that it can use: bit r for resource r */
    double instances[ENTITLEMENT_RESOURCES_MAX]; /* that are its own: the outcome */
};

/* flops: of all instances of a resource; counts: instances. A resource that nobody can use stays
 * undivided. */
void entitlement_divide(const double *flops, const double *counts, size_t resource_count,
                        struct entitlement *projects, size_t project_count);

#endif
