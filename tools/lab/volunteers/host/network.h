/* SPDX-License-Identifier: Apache-2.0 */
/* The files of jobs on their way to a host. */
#ifndef TOOLS_LAB_VOLUNTEERS_HOST_NETWORK_H
#define TOOLS_LAB_VOLUNTEERS_HOST_NETWORK_H

#include <stdbool.h>

struct volunteer;
struct volunteer_job;

/* The job needs so many bytes from the network before it can run. */
void network_fetch(const struct volunteer *volunteer, struct volunteer_job *job, double bytes);
/* The host was on for `interval` s, which is no longer than network_next said. */
void network_advance(struct volunteer *volunteer, double interval);
/* s of presence until the next job has all its files; INFINITY: none is waiting. */
double network_next(const struct volunteer *volunteer);
/* The job is not over, and its files are here. */
bool network_is_runnable(const struct volunteer_job *job);

#endif
