/* SPDX-License-Identifier: Apache-2.0 */
/* A job that runs writes a checkpoint every so many seconds. When its process ends before the job
 * does, it will go on from the last one: what it did since was for nothing, and starting again
 * takes a while that brings it no further. Debts and shares go by what was used, lost or not.
 *
 * All processes end when the host is switched off. Of what ends when a job makes way for another
 * the old text knows the preference alone; the rest is as clients of today have it: a job that has
 * written no checkpoint yet stays in memory in any case, one of a coprocessor never does. */
#include "tools/volunteers/host/progress.h"

#include "tools/volunteers/host/volunteer.h"

#include <math.h>

#include "server/base/banned.h"

#define MOMENT 1e-3 /* s */

void progress_init(struct volunteer_job *job, double left)
{
    job->left = job->saved.left = left;
}

static void count_lost(struct volunteer *volunteer, double flops)
{
    volunteer->tally.flops_lost += flops;
    volunteer->tally.flops_wasted += flops;
}

void progress_run(struct volunteer *volunteer, struct volunteer_job *job, double interval,
                  double rate, double flops)
{
    double checkpoint = volunteer->population->checkpoint, since, lost = 0;

    if (job->since_checkpoint < 0 && interval > 0) /* it is starting again */
        lost = flops * fmin(1, -job->since_checkpoint / interval);
    count_lost(volunteer, lost);
    job->flops += flops - lost;
    job->left -= interval * rate;
    job->progress += interval * rate;
    job->elapsed += interval;
    job->since_checkpoint += interval;
    if (job->since_checkpoint < checkpoint - MOMENT)
        return;
    since = job->since_checkpoint = fmod(job->since_checkpoint + MOMENT, checkpoint);
    job->checkpoint = volunteer->now - since;
    job->saved = (struct volunteer_saved){.left = job->left + since * rate,
                                          .progress = job->progress - since * rate,
                                          .elapsed = job->elapsed - since,
                                          .flops = job->flops - flops * fmin(1, since / interval)};
}

/* The same twice is the same. */
static void end_process(struct volunteer *volunteer, struct volunteer_job *job)
{
    const struct volunteer_saved *saved = &job->saved;
    double restart = saved->progress > 0 ? volunteer->population->restart : 0;

    if (job->done)
        return;
    count_lost(volunteer, job->flops - saved->flops);
    job->booked -= job->elapsed - saved->elapsed; /* what it used stays used */
    job->left = saved->left + restart;
    job->progress = saved->progress - restart;
    job->elapsed = saved->elapsed;
    job->flops = saved->flops;
    job->since_checkpoint = -restart; /* no checkpoint before it has started */
}

void progress_preempt(struct volunteer *volunteer, struct volunteer_job *job)
{
    bool stays = volunteer->population->leave_in_memory || job->saved.progress <= 0;

    if (!stays || job->coproc != CLIENT_CPU)
        end_process(volunteer, job);
}

void progress_end_processes(struct volunteer *volunteer)
{
    for (size_t i = 0; i < volunteer->job_count; i++)
        end_process(volunteer, &volunteer->jobs[i]);
}

/* What ran has its period before it again: it is the process that has run for so long. */
void progress_begin_processes(struct volunteer *volunteer)
{
    for (size_t i = 0; i < volunteer->job_count; i++)
        volunteer->jobs[i].begun_at = volunteer->now;
}
