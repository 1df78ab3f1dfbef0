/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a job: what it counts for, and when it is reported. */
#ifndef TOOLS_LAB_VOLUNTEERS_HOST_JOB_END_H
#define TOOLS_LAB_VOLUNTEERS_HOST_JOB_END_H

#include <stddef.h>

struct volunteer;
struct volunteer_job;

/* The job is over: done, failed, or aborted where its flag says so. It stays in the queue until its
 * report is acknowledged. */
void job_end(struct volunteer *volunteer, struct volunteer_job *job);
/* After a report to the project was acknowledged: those of its jobs that wait for their report
 * still, because the server did not name them, are reported again within the usual delay. */
void job_end_report_again(struct volunteer *volunteer, size_t project);

#endif
