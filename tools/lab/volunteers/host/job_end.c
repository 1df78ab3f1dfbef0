/* SPDX-License-Identifier: Apache-2.0 */
/* A job that is over is reported within an hour; at once if it is due within a day or within the
 * time that the host buffers, or if many wait. */
#include "tools/lab/volunteers/host/job_end.h"

#include "tools/lab/volunteers/host/habits.h"
#include "tools/lab/volunteers/host/runtime_estimate.h"
#include "tools/lab/volunteers/host/volunteer.h"

#include <math.h>

#include "server/base/banned.h"

#define REPORT_DELAY   3600.0  /* s after a job is done */
#define REPORT_CUSHION 86400.0 /* s before its deadline */
#define REPORTS_MAX    64      /* that wait for an hour to be over */

static void report_by(struct volunteer_project *project, double time)
{
    project->next_report = fmin(project->next_report, time);
}

static void report_soon(struct volunteer *volunteer, const struct volunteer_job *job)
{
    double cushion = fmax(REPORT_CUSHION, volunteer->machine.buffer);
    size_t waiting = 0;

    for (size_t i = 0; i < volunteer->job_count; i++)
        waiting += volunteer->jobs[i].done && volunteer->jobs[i].project == job->project;
    report_by(&volunteer->projects[job->project],
              volunteer->now + (job->deadline < volunteer->now + cushion || waiting >= REPORTS_MAX
                                    ? 0
                                    : REPORT_DELAY));
}

void job_end(struct volunteer *volunteer, struct volunteer_job *job)
{
    bool is_late = volunteer->now > job->deadline;

    job->done = true;
    job->running = false;
    job->failed = job->will_fail && !job->aborted;
    if (job->aborted) {
        volunteer->tally.aborted++;
    } else {
        estimate_learn(volunteer, job);
        volunteer->tally.jobs++;
        volunteer->tally.late += is_late;
        volunteer->tally.failed += job->failed;
        volunteer->projects[job->project].failed_jobs =
            job->failed ? volunteer->projects[job->project].failed_jobs + 1 : 0;
    }
    if (!job->aborted && fetch_policies[volunteer->population->habits.fetch].job_over != NULL)
        fetch_policies[volunteer->population->habits.fetch].job_over(volunteer, job);
    if (is_late || job->failed || job->aborted)
        volunteer->tally.flops_wasted += job->flops;
    report_soon(volunteer, job);
    volunteer->stale = true;
}

void job_end_report_again(struct volunteer *volunteer, size_t project)
{
    volunteer->projects[project].next_report = INFINITY;
    for (size_t i = 0; i < volunteer->job_count; i++)
        if (volunteer->jobs[i].done && volunteer->jobs[i].project == project) {
            volunteer->tally.lost_acks++;
            report_by(&volunteer->projects[project], volunteer->now + REPORT_DELAY);
        }
}
