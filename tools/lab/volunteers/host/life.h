/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a host: it arrives with a machine and its projects, comes and goes, computes, and
 * leaves permanently. */
#ifndef TOOLS_LAB_VOLUNTEERS_HOST_LIFE_H
#define TOOLS_LAB_VOLUNTEERS_HOST_LIFE_H

#include "server/base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct population;
struct volunteer;

/* The host with this number of those that a seed gives. The population stays the caller's and must
 * outlive it. False: no memory. */
MUST_CHECK bool volunteer_init(struct volunteer *volunteer, const struct population *population,
                               uint64_t seed, uint64_t number, double now);
void volunteer_free(struct volunteer *volunteer);

/* Lives until `now`, which is not beyond what volunteer_next_event said. */
void volunteer_live(struct volunteer *volunteer, double now);
double volunteer_next_event(const struct volunteer *volunteer); /* INFINITY: it has left */

/* Lets the run policy choose what runs from now on. */
void volunteer_choose(struct volunteer *volunteer);
/* The host leaves, and its jobs end without a word to their servers. */
void volunteer_leave(struct volunteer *volunteer);

#endif
