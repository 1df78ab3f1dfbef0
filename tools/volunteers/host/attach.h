/* SPDX-License-Identifier: Apache-2.0 */
/* The projects of a host: from when on it is attached to each, and with what share. */
#ifndef TOOLS_VOLUNTEERS_HOST_ATTACH_H
#define TOOLS_VOLUNTEERS_HOST_ATTACH_H

#include <stdbool.h>

struct random;
struct volunteer;

/* False: no memory. */
bool attach_begin(struct volunteer *volunteer, struct random *random);
/* When something changes; INFINITY: never again. */
double attach_next(const struct volunteer *volunteer);
/* Makes what is due so. */
void attach_live(struct volunteer *volunteer);

#endif
