/* SPDX-License-Identifier: Apache-2.0 */
/* The jobs that a host has, in order of deadline; those of equal deadlines in the order in which
 * they came. */
#ifndef TOOLS_LAB_VOLUNTEERS_HOST_JOB_QUEUE_H
#define TOOLS_LAB_VOLUNTEERS_HOST_JOB_QUEUE_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct incoming_job;
struct volunteer;
struct volunteer_job;

/* A job from a reply joins the queue. It does not if it is there already, if the host lacks the
 * processor, the room in its list or the memory, or if it is one that the host abandons at once. */
void job_queue_receive(struct volunteer *volunteer, size_t project,
                       const struct incoming_job *incoming);
/* Forgets the reported jobs of a project that are named. */
void job_queue_acknowledge(struct volunteer *volunteer, size_t project, const struct text *names,
                           size_t count);
/* The server has ordered that the job be aborted. */
void job_queue_abort(struct volunteer *volunteer, size_t project, struct text name,
                     bool if_not_started);
/* Forgets all jobs; what was spent on those without a good end is wasted. */
void job_queue_abandon(struct volunteer *volunteer);
void job_queue_free(struct volunteer *volunteer);

#endif
