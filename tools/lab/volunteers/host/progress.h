/* SPDX-License-Identifier: Apache-2.0 */
/* How far the jobs of a host are, and what is lost of it when their processes end. */
#ifndef TOOLS_LAB_VOLUNTEERS_HOST_PROGRESS_H
#define TOOLS_LAB_VOLUNTEERS_HOST_PROGRESS_H

struct volunteer;
struct volunteer_job;

/* A job that was not begun, of so many s. */
void progress_init(struct volunteer_job *job, double left);
/* It ran for `interval` s until now, at `rate` of its full speed, which took `flops`. */
void progress_run(struct volunteer *volunteer, struct volunteer_job *job, double interval,
                  double rate, double flops);
/* It makes way for others. */
void progress_preempt(struct volunteer *volunteer, struct volunteer_job *job);
/* All processes of the host end, and begin again when it is switched on. */
void progress_end_processes(struct volunteer *volunteer);
void progress_begin_processes(struct volunteer *volunteer);

#endif
