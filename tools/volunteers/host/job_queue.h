/* SPDX-License-Identifier: Apache-2.0 */
/* The jobs that a host has: in order of deadline, of equals in the order of coming. */
#ifndef TOOLS_VOLUNTEERS_HOST_JOB_QUEUE_H
#define TOOLS_VOLUNTEERS_HOST_JOB_QUEUE_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct incoming_job;
struct volunteer;
struct volunteer_job;

/* Unless it is there already, cannot be kept, or is abandoned at once. */
void queue_receive(struct volunteer *volunteer, size_t project,
                   const struct incoming_job *incoming);
/* A job is over, by itself or not: it is to be reported. */
void queue_end_job(struct volunteer *volunteer, struct volunteer_job *job);
/* Forgets the reported jobs of a project that are named. */
void queue_acknowledge(struct volunteer *volunteer, size_t project, const struct text *names,
                       size_t count);
/* The server needs it no more. */
void queue_abort(struct volunteer *volunteer, size_t project, struct text name,
                 bool if_not_started);
/* Forgets everything; what was spent on it is wasted. */
void queue_abandon(struct volunteer *volunteer);
void queue_free(struct volunteer *volunteer);

#endif
