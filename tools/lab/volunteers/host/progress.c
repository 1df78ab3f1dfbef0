/* SPDX-License-Identifier: Apache-2.0 */
/* A running job writes a checkpoint every so many seconds. When its process ends before the job
 * does, the job goes on from the last checkpoint: what it did since then is lost, and starting
 * again takes a while in which it gets no further. Debts and shares count what was used, lost or
 * not.
 *
 * All processes end when the host is switched off. When a job makes way for another, it depends on
 * the preference to leave jobs in memory, with two exceptions of today's clients: a job that has
 * written no checkpoint yet always stays in memory, a coprocessor job never does. */
#include "tools/lab/volunteers/host/progress.h"

#include "tools/lab/volunteers/host/volunteer.h"

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

/* Calling it twice changes nothing more. */
static void end_process(struct volunteer *volunteer, struct volunteer_job *job)
{
    const struct volunteer_saved *saved = &job->saved;
    double restart = saved->progress > 0 ? volunteer->population->restart : 0;

    if (job->done)
        return;
    count_lost(volunteer, job->flops - saved->flops);
    job->booked -= job->elapsed - saved->elapsed; /* debts keep what it used */
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

/* Jobs that were running begin a new period: a period is the run time of a process. */
void progress_begin_processes(struct volunteer *volunteer)
{
    for (size_t i = 0; i < volunteer->job_count; i++)
        volunteer->jobs[i].begun_at = volunteer->now;
}
