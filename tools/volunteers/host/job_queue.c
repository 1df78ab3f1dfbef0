/* SPDX-License-Identifier: Apache-2.0 */
/* How long a job really takes is drawn when it comes: its operations at the speed of what it uses,
 * longer or shorter by a factor. What a host abandons it forgets without a word, as a disk that
 * broke does.
 *
 * A job that is done is reported within an hour, or at once if it is due within a day or the time
 * that is buffered, or if many wait. */
#include "tools/volunteers/host/job_queue.h"

#include "tools/volunteers/client/duration.h"
#include "tools/volunteers/host/host_disk.h"
#include "tools/volunteers/host/network.h"
#include "tools/volunteers/host/policy.h"
#include "tools/volunteers/host/progress.h"
#include "tools/volunteers/host/volunteer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

#define REPORT_DELAY   3600.0  /* s after a job is done */
#define REPORT_CUSHION 86400.0 /* s before its deadline */
#define REPORTS_MAX    64      /* that wait for an hour to be over */
#define OPERATIONS_ANY 1e12    /* of a job that does not say */

static double speed_of(const struct volunteer *volunteer, const struct volunteer_job *job)
{
    double flops = job->cpus * volunteer->fetch.resources[FETCH_CPU].flops;

    if (job->coproc != FETCH_CPU)
        flops += job->coprocs * volunteer->fetch.resources[job->coproc].flops *
                 volunteer->population->gpu_efficiency;
    return flops;
}

/* False: the host has no such processor, or the job uses none. */
static bool take_usage(const struct volunteer *volunteer, const struct incoming_job *incoming,
                       struct volunteer_job *job)
{
    job->cpus = fmin(incoming->cpus, volunteer->fetch.resources[FETCH_CPU].count);
    job->coproc = incoming->coproc;
    job->coprocs = incoming->coproc == FETCH_CPU ? 0 : incoming->coprocs;
    if (job->coproc == FETCH_CPU)
        return job->cpus > 0;
    return job->coproc < volunteer->fetch.resource_count && job->coprocs > 0 &&
           job->coprocs <= volunteer->fetch.resources[job->coproc].count;
}

static struct volunteer_job *find(const struct volunteer *volunteer, size_t project,
                                  struct text name)
{
    for (size_t i = 0; i < volunteer->job_count; i++)
        if (volunteer->jobs[i].project == project && text_is(name, volunteer->jobs[i].name))
            return &volunteer->jobs[i];
    return NULL;
}

static bool make_room(struct volunteer *volunteer)
{
    size_t capacity = volunteer->job_capacity == 0 ? 8 : volunteer->job_capacity * 2;
    void *grown;

    if (volunteer->job_count >= VOLUNTEER_JOBS_MAX)
        return false;
    if (volunteer->job_count < volunteer->job_capacity)
        return true;
    grown = realloc(volunteer->jobs, capacity * sizeof(*volunteer->jobs));
    if (grown == NULL)
        return false;
    volunteer->jobs = grown;
    volunteer->job_capacity = capacity;
    return true;
}

static void insert(struct volunteer *volunteer, const struct volunteer_job *job, bool is_over)
{
    size_t at = volunteer->job_count++;

    for (; at > 0 && volunteer->jobs[at - 1].deadline > job->deadline; at--)
        volunteer->jobs[at] = volunteer->jobs[at - 1];
    volunteer->jobs[at] = *job;
    volunteer->stale = true;
    if (!is_over)
        return;
    volunteer->jobs[at].will_fail = true;
    queue_end_job(volunteer, &volunteer->jobs[at]);
}

void queue_receive(struct volunteer *volunteer, size_t project, const struct incoming_job *incoming)
{
    const struct population *population = volunteer->population;
    double operations = incoming->operations > 0 ? incoming->operations : OPERATIONS_ANY;
    struct volunteer_job job = {
        .project = project, .number = volunteer->next_number, .deadline = incoming->deadline};
    double speed, left, bytes;
    bool fits;

    if (find(volunteer, project, incoming->name) != NULL ||
        !take_usage(volunteer, incoming, &job) || !make_room(volunteer))
        return;
    speed = speed_of(volunteer, &job);
    job.estimate =
        duration_of_unstarted(operations, incoming->flops > 0 ? incoming->flops : speed, 1);
    left = operations / speed * population_draw_error(population, &volunteer->random);
    job.duration = left;
    job.will_fail = random_unit(&volunteer->random) < population->error_rate;
    if (job.will_fail) /* somewhere on the way */
        left *= random_unit(&volunteer->random);
    progress_init(&job, left);
    if (random_unit(&volunteer->random) < population->abandon_rate) {
        volunteer->tally.abandoned++;
        return;
    }
    fits = disk_admit(volunteer, &job, incoming, &bytes);
    network_fetch(volunteer, &job, bytes);
    job.name = text_keep(incoming->name);
    if (job.name == NULL) {
        disk_release(volunteer, &job);
        return;
    }
    job.version = versions_note(&volunteer->projects[project].versions, incoming);
    volunteer->next_number++;
    /* A file that cannot be had ends a job that was never begun. */
    insert(volunteer, &job, !fits);
}

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

void queue_end_job(struct volunteer *volunteer, struct volunteer_job *job)
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
    if (job->failed && fetch_policies[volunteer->population->habits.fetch].job_failed != NULL)
        fetch_policies[volunteer->population->habits.fetch].job_failed(volunteer, job->project);
    if (is_late || job->failed || job->aborted)
        volunteer->tally.flops_wasted += job->flops;
    report_soon(volunteer, job);
    volunteer->stale = true;
}

static void forget_acked(struct volunteer *volunteer)
{
    size_t kept = 0;

    for (size_t i = 0; i < volunteer->job_count; i++)
        if (volunteer->jobs[i].acked) {
            disk_release(volunteer, &volunteer->jobs[i]);
            free(volunteer->jobs[i].name);
        } else {
            volunteer->jobs[kept++] = volunteer->jobs[i];
        }
    volunteer->job_count = kept;
}

/* Servers acknowledge in the order in which results were reported, so each is looked for behind
 * the one before. */
void queue_acknowledge(struct volunteer *volunteer, size_t project, const struct text *names,
                       size_t count)
{
    size_t at = 0;

    for (size_t a = 0; a < count; a++)
        for (size_t step = 0; step < volunteer->job_count; step++) {
            struct volunteer_job *job = &volunteer->jobs[at];

            at = at + 1 == volunteer->job_count ? 0 : at + 1;
            if (job->done && job->project == project && text_is(names[a], job->name)) {
                job->acked = true;
                break;
            }
        }
    forget_acked(volunteer);
    volunteer->projects[project].next_report = INFINITY;
    for (size_t i = 0; i < volunteer->job_count; i++)
        if (volunteer->jobs[i].done && volunteer->jobs[i].project == project) {
            volunteer->tally.lost_acks++;
            report_by(&volunteer->projects[project], volunteer->now + REPORT_DELAY);
        }
}

void queue_abort(struct volunteer *volunteer, size_t project, struct text name, bool if_not_started)
{
    struct volunteer_job *job = find(volunteer, project, name);

    if (job == NULL || job->done || (if_not_started && job->begun))
        return;
    job->aborted = true;
    queue_end_job(volunteer, job);
}

void queue_abandon(struct volunteer *volunteer)
{
    for (size_t i = 0; i < volunteer->job_count; i++) {
        const struct volunteer_job *job = &volunteer->jobs[i];
        bool counted = job->done && (job->failed || job->aborted || job->deadline < volunteer->now);

        volunteer->tally.abandoned += !job->done;
        volunteer->tally.flops_wasted += counted ? 0 : job->flops;
    }
    queue_free(volunteer);
}

void queue_free(struct volunteer *volunteer)
{
    for (size_t i = 0; i < volunteer->job_count; i++) {
        disk_release(volunteer, &volunteer->jobs[i]);
        free(volunteer->jobs[i].name);
    }
    free(volunteer->jobs);
    volunteer->jobs = NULL;
    volunteer->job_count = volunteer->job_capacity = 0;
}
