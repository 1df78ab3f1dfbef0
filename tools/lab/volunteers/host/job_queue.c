/* SPDX-License-Identifier: Apache-2.0 */
/* How long a job really takes is drawn when it comes: its operations at the speed of what it uses,
 * longer or shorter by a factor. A host that abandons a job forgets it without a word to the
 * server, as one with a broken disk does. */
#include "tools/lab/volunteers/host/job_queue.h"

#include "tools/lab/volunteers/client/duration.h"
#include "tools/lab/volunteers/host/host_disk.h"
#include "tools/lab/volunteers/host/job_end.h"
#include "tools/lab/volunteers/host/network.h"
#include "tools/lab/volunteers/host/progress.h"
#include "tools/lab/volunteers/host/rpc_messages.h"
#include "tools/lab/volunteers/host/versions.h"
#include "tools/lab/volunteers/host/volunteer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

#define OPERATIONS_ANY 1e12 /* of a job whose workunit has no rsc_fpops_est */

static double speed_of(const struct volunteer *volunteer, const struct volunteer_job *job)
{
    double flops = job->cpus * volunteer->fetch.resources[CLIENT_CPU].flops;

    if (job->coproc != CLIENT_CPU)
        flops += job->coprocs * volunteer->fetch.resources[job->coproc].flops *
                 volunteer->population->gpu_efficiency;
    return flops;
}

/* False: the host has no such processor, or the job uses none. */
static bool take_usage(const struct volunteer *volunteer, const struct incoming_job *incoming,
                       struct volunteer_job *job)
{
    job->cpus = fmin(incoming->use.cpus, volunteer->fetch.resources[CLIENT_CPU].count);
    job->coproc = incoming->use.coproc;
    job->coprocs = incoming->use.coproc == CLIENT_CPU ? 0 : incoming->use.coprocs;
    if (job->coproc == CLIENT_CPU)
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
    job_end(volunteer, &volunteer->jobs[at]);
}

void job_queue_receive(struct volunteer *volunteer, size_t project,
                       const struct incoming_job *incoming)
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
        duration_of_unstarted(operations, incoming->use.flops > 0 ? incoming->use.flops : speed, 1);
    left = operations / speed * population_draw_error(population, &volunteer->random) *
           volunteer->machine.slowness *
           population_workunit_error(population, volunteer->seed, incoming->workunit);
    job.duration = left;
    job.will_fail = random_unit(&volunteer->random) < population->error_rate;
    if (job.will_fail) /* somewhere on the way */
        left *= random_unit(&volunteer->random);
    progress_init(&job, left);
    if (random_unit(&volunteer->random) < population->abandon_rate) {
        volunteer->tally.abandoned++;
        return;
    }
    fits = host_disk_admit(volunteer, &job, incoming, &bytes);
    network_fetch(volunteer, &job, bytes);
    job.name = text_keep(incoming->name);
    if (job.name == NULL) {
        host_disk_release(volunteer, &job);
        return;
    }
    job.version = versions_note(&volunteer->projects[project].versions, incoming);
    volunteer->next_number++;
    /* A job whose files find no room fails before it has begun. */
    insert(volunteer, &job, !fits);
}

static void forget_acked(struct volunteer *volunteer)
{
    size_t kept = 0;

    for (size_t i = 0; i < volunteer->job_count; i++)
        if (volunteer->jobs[i].acked) {
            host_disk_release(volunteer, &volunteer->jobs[i]);
            free(volunteer->jobs[i].name);
        } else {
            volunteer->jobs[kept++] = volunteer->jobs[i];
        }
    volunteer->job_count = kept;
}

/* Servers acknowledge in the order in which results were reported, so each is looked for behind
 * the one before. */
void job_queue_acknowledge(struct volunteer *volunteer, size_t project, const struct text *names,
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
    job_end_report_again(volunteer, project);
}

void job_queue_abort(struct volunteer *volunteer, size_t project, struct text name,
                     bool if_not_started)
{
    struct volunteer_job *job = find(volunteer, project, name);

    if (job == NULL || job->done || (if_not_started && job->begun))
        return;
    job->aborted = true;
    job_end(volunteer, job);
}

void job_queue_abandon(struct volunteer *volunteer)
{
    for (size_t i = 0; i < volunteer->job_count; i++) {
        const struct volunteer_job *job = &volunteer->jobs[i];
        bool counted = job->done && (job->failed || job->aborted || job->deadline < volunteer->now);

        volunteer->tally.abandoned += !job->done;
        volunteer->tally.flops_wasted += counted ? 0 : job->flops;
    }
    job_queue_free(volunteer);
}

void job_queue_free(struct volunteer *volunteer)
{
    for (size_t i = 0; i < volunteer->job_count; i++) {
        host_disk_release(volunteer, &volunteer->jobs[i]);
        free(volunteer->jobs[i].name);
    }
    free(volunteer->jobs);
    volunteer->jobs = NULL;
    volunteer->job_count = volunteer->job_capacity = 0;
}
