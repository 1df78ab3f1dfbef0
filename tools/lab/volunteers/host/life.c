/* SPDX-License-Identifier: Apache-2.0 */
/* A host runs what its policy chose while it is on; nothing happens while it is off. From one event
 * to the next the set of running jobs stays the same, so each step is a sum.
 *
 * Jobs of coprocessors use CPUs too, and operating systems serve those first: where they leave
 * fewer CPUs than the CPU jobs need, the CPU jobs become slower. So no more is ever used than is
 * there. */
#include "tools/lab/volunteers/host/life.h"

#include "tools/lab/volunteers/host/contact.h"
#include "tools/lab/volunteers/host/habits.h"
#include "tools/lab/volunteers/host/host_disk.h"
#include "tools/lab/volunteers/host/job_end.h"
#include "tools/lab/volunteers/host/job_queue.h"
#include "tools/lab/volunteers/host/network.h"
#include "tools/lab/volunteers/host/progress.h"
#include "tools/lab/volunteers/host/volunteer.h"

#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

#define DAY  86400.0
#define DONE 1e-3 /* s: a job with less left is done */

/* --- arrival ------------------------------------------------------------------------------- */

/* When the next project is attached, or shares change; INFINITY: never again. */
static double next_attachment(const struct volunteer *volunteer)
{
    size_t count = volunteer->project_count;

    return fmin(volunteer->shares_change, count < volunteer->attachment_count
                                              ? volunteer->projects[count].attached
                                              : INFINITY);
}

/* Projects stand in the order in which the host comes to them, and only those that it came to are
 * counted: for all other code the later ones are not there yet. */
static void attach_due(struct volunteer *volunteer)
{
    while (volunteer->project_count < volunteer->attachment_count &&
           volunteer->projects[volunteer->project_count].attached <= volunteer->now) {
        volunteer->fetch.project_count = ++volunteer->project_count;
        volunteer->next_poll = volunteer->now;
    }
    if (volunteer->now < volunteer->shares_change)
        return;
    for (size_t p = 0; p < volunteer->attachment_count; p++)
        volunteer->fetch.projects[p].share = volunteer->projects[p].later_share;
    volunteer->shares_change = INFINITY;
    volunteer->next_poll = volunteer->now;
    volunteer->stale = true;
}

/* False: no memory. */
static bool attach_all(struct volunteer *volunteer, struct random *random)
{
    const struct population *population = volunteer->population;
    struct attachment attachments[CLIENT_PROJECTS_MAX];
    size_t count = population_draw_attachments(population, random, attachments);

    volunteer->projects = calloc(count, sizeof(*volunteer->projects));
    volunteer->fetch.projects = calloc(count, sizeof(*volunteer->fetch.projects));
    if (volunteer->projects == NULL || volunteer->fetch.projects == NULL)
        return false;
    volunteer->attachment_count = count;
    for (size_t p = 0; p < count; p++) {
        volunteer->projects[p] =
            (struct volunteer_project){.which = attachments[p].which,
                                       .attached = volunteer->now + attachments[p].delay,
                                       .later_share = attachments[p].later_share,
                                       .file_scale = attachments[p].file_scale,
                                       .next_report = INFINITY,
                                       .correction = 1};
        volunteer->fetch.projects[p].share = attachments[p].share;
        contact_attach(volunteer, p);
    }
    volunteer->shares_change = population->later_shares_days > 0
                                   ? volunteer->now + population->later_shares_days * DAY
                                   : INFINITY;
    attach_due(volunteer);
    return true;
}

static void equip(struct volunteer *volunteer, struct random *random, struct random *network)
{
    const struct machine *machine = &volunteer->machine;

    volunteer->machine = population_draw_machine(volunteer->population, &volunteer->random);
    population_draw_gpus(volunteer->population, random, &volunteer->machine);
    population_draw_network(volunteer->population, network, &volunteer->machine);
    volunteer->fetch.resource_count = 1;
    volunteer->fetch.resources[CLIENT_CPU] =
        (struct fetch_resource){.count = machine_usable_cpus(machine), .flops = machine->flops};
    for (size_t kind = 0; kind < CLIENT_COPROCS; kind++) {
        volunteer->fetch.resources[kind + 1] = (struct fetch_resource){
            .count = (double)machine->gpus[kind].count, .flops = machine->gpus[kind].flops};
        if (machine->gpus[kind].count > 0)
            volunteer->fetch.resource_count = kind + 2;
    }
}

static double draw_stay(struct volunteer *volunteer)
{
    return population_draw_stay(volunteer->population, &volunteer->attendance, &volunteer->presence,
                                volunteer->is_on, volunteer->now);
}

/* Before it attached it came and went, which its client remembers. It attaches when it is on. */
static void live_before(struct volunteer *volunteer, double begin)
{
    const struct population *population = volunteer->population;
    double end = volunteer->now;

    volunteer->now = begin;
    volunteer->is_on = population_is_on(population, &volunteer->attendance, begin);
    while (volunteer->now < end) {
        double stay =
            fmin(population->always_on ? INFINITY : draw_stay(volunteer), end - volunteer->now);

        *(volunteer->is_on ? &volunteer->on_time : &volunteer->off_time) += stay;
        volunteer->now += stay;
        volunteer->is_on = !volunteer->is_on;
    }
    volunteer->booked_until = volunteer->on_time;
    volunteer->now = end;
    volunteer->is_on = population_is_on(population, &volunteer->attendance, end);
}

bool volunteer_init(struct volunteer *volunteer, const struct population *population, uint64_t seed,
                    uint64_t number, double now)
{
    /* Properties that were added later are drawn from states of their own, so that with the same
     * seed a host keeps the properties that it had before. */
    struct random more = {.state = random_mix(random_mix(seed, number), 2)};
    struct random network = {.state = random_mix(random_mix(seed, number), 3)};
    struct random attendance = {.state = random_mix(random_mix(seed, number), 4)};
    struct random slowness = {.state = random_mix(random_mix(seed, number), 5)};
    struct random kind = {.state = random_mix(random_mix(seed, number), 6)};

    *volunteer = (struct volunteer){.population = population,
                                    .random = {.state = random_mix(seed, number)},
                                    .presence = {.state = random_mix(~seed, number)},
                                    .mark = random_mix(random_mix(seed, number), 1),
                                    .seed = seed,
                                    .now = now,
                                    .next_choice = INFINITY,
                                    .next_poll = now};
    equip(volunteer, &more, &network);
    population_draw_system(population, &kind, &volunteer->machine);
    volunteer->machine.slowness = population_draw_slowness(population, &slowness);
    volunteer->attendance = population_draw_attendance(population, &attendance);
    live_before(volunteer, now - population->history_days * DAY);
    volunteer->next_change = population->always_on ? INFINITY : now + draw_stay(volunteer);
    volunteer->departure = now + population_draw_life(population, &more);
    if (attach_all(volunteer, &more))
        return true;
    volunteer_free(volunteer);
    return false;
}

void volunteer_free(struct volunteer *volunteer)
{
    job_queue_free(volunteer);
    host_disk_free(volunteer);
    for (size_t p = 0; p < volunteer->project_count; p++)
        versions_free(&volunteer->projects[p].versions);
    free(volunteer->projects);
    free(volunteer->fetch.projects);
    volunteer->projects = NULL;
    volunteer->fetch.projects = NULL;
    volunteer->project_count = volunteer->fetch.project_count = volunteer->attachment_count = 0;
}

/* --- computing ------------------------------------------------------------------------------ */

static double rate_of(const struct volunteer *volunteer, const struct volunteer_job *job)
{
    return job->coproc == CLIENT_CPU ? volunteer->cpu_rate : volunteer->coproc_rate;
}

static void set_rates(struct volunteer *volunteer)
{
    double count = volunteer->fetch.resources[CLIENT_CPU].count, coproc_cpus = 0, cpus = 0;

    for (size_t i = 0; i < volunteer->job_count; i++) {
        const struct volunteer_job *job = &volunteer->jobs[i];

        if (job->running)
            *(job->coproc == CLIENT_CPU ? &cpus : &coproc_cpus) += job->cpus;
    }
    volunteer->coproc_rate = coproc_cpus > count ? count / coproc_cpus : 1;
    count -= coproc_cpus * volunteer->coproc_rate;
    volunteer->cpu_rate = cpus > count ? count / cpus : 1;
}

static void stop_all(struct volunteer *volunteer)
{
    for (size_t i = 0; i < volunteer->job_count; i++)
        volunteer->jobs[i].running = false;
}

/* As clients do since 2009. What was begun goes on, however late it is. */
static void drop_unstarted(struct volunteer *volunteer)
{
    for (size_t i = 0; i < volunteer->job_count; i++) {
        struct volunteer_job *job = &volunteer->jobs[i];

        if (job->done || job->begun || job->deadline >= volunteer->now)
            continue;
        job->aborted = job->unstarted_late = true;
        job_end(volunteer, job);
    }
}

void volunteer_choose(struct volunteer *volunteer)
{
    if (volunteer->population->drops_unstarted)
        drop_unstarted(volunteer);
    volunteer->must_choose = volunteer->stale;
    volunteer->stale = false;
    volunteer->next_choice = INFINITY;
    if (volunteer->is_stuck)
        stop_all(volunteer);
    else
        run_policies[volunteer->population->habits.run].choose(volunteer);
    for (size_t i = 0; i < volunteer->job_count; i++) {
        struct volunteer_job *job = &volunteer->jobs[i];

        if (job->running && !job->ran)
            job->begun_at = volunteer->now;
        if (!job->running && job->ran)
            progress_preempt(volunteer, job);
        job->begun = job->begun || job->running;
        job->ran = job->running;
    }
    set_rates(volunteer);
}

/* Returns the operations that it took. */
static double run_job(struct volunteer *volunteer, struct volunteer_job *job, double interval,
                      double *ret_used)
{
    const struct fetch_resource *resources = volunteer->fetch.resources;
    struct volunteer_project *project = &volunteer->projects[job->project];
    double rate = rate_of(volunteer, job);
    double cpus = job->cpus * interval * rate, coprocs = job->coprocs * interval;
    double flops = cpus * resources[CLIENT_CPU].flops;

    if (job->coproc != CLIENT_CPU)
        flops += coprocs * resources[job->coproc].flops;
    progress_run(volunteer, job, interval, rate, flops);
    project->cpu_time += job->cpus * interval;
    ret_used[CLIENT_CPU] += cpus;
    project->used[CLIENT_CPU] += cpus;
    project->tally.used[CLIENT_CPU] += cpus;
    if (job->coproc == CLIENT_CPU)
        return flops;
    ret_used[job->coproc] += coprocs;
    project->used[job->coproc] += coprocs;
    project->tally.used[job->coproc] += coprocs;
    return flops;
}

/* Whether some project may have jobs for a resource. */
static bool may_be_served(const struct volunteer *volunteer, size_t resource)
{
    for (size_t p = 0; p < volunteer->project_count; p++)
        if ((volunteer->projects[p].unsupported >> resource & 1) == 0)
            return true;
    return false;
}

static void count_resources(struct volunteer *volunteer, double interval, const double *used)
{
    for (size_t r = 0; r < volunteer->fetch.resource_count; r++) {
        const struct fetch_resource *resource = &volunteer->fetch.resources[r];
        struct tally_resource *tally = &volunteer->tally.resources[r];

        tally->present += resource->count * interval;
        tally->used += used[r];
        if (!volunteer->is_stuck && may_be_served(volunteer, r))
            tally->starved += fmax(0, resource->count * interval - used[r]);
        volunteer->tally.flops_total += resource->count * interval * resource->flops;
        volunteer->tally.flops_used += used[r] * resource->flops;
    }
}

static void compute(struct volunteer *volunteer, double interval)
{
    double flops[CLIENT_PROJECTS_MAX] = {0}, used[CLIENT_RESOURCES] = {0};
    bool runs[CLIENT_PROJECTS_MAX] = {false};

    volunteer->on_time += interval;
    network_advance(volunteer, interval);
    for (size_t i = 0; i < volunteer->job_count; i++) {
        struct volunteer_job *job = &volunteer->jobs[i];

        if (!job->running)
            continue;
        flops[job->project] += run_job(volunteer, job, interval, used);
        runs[job->project] = true;
        if (job->left <= DONE)
            job_end(volunteer, job);
    }
    count_resources(volunteer, interval, used);
    for (size_t p = 0; p < volunteer->project_count; p++)
        if (runs[p])
            tally_project_runs(&volunteer->projects[p].tally, interval, flops[p]);
        else
            tally_project_waits(&volunteer->projects[p].tally, interval);
}

/* --- presence, and the end ------------------------------------------------------------------ */

static void come_or_go(struct volunteer *volunteer)
{
    volunteer->is_on = !volunteer->is_on;
    volunteer->next_change = volunteer->now + 1 + draw_stay(volunteer);
    volunteer->stale = volunteer->is_on;
    volunteer->next_poll = volunteer->now;
    if (!volunteer->population->sleeps && volunteer->is_on)
        progress_begin_processes(volunteer);
    else if (!volunteer->population->sleeps)
        progress_end_processes(volunteer);
    if (volunteer->is_on)
        host_disk_change_others(volunteer);
}

void volunteer_leave(struct volunteer *volunteer)
{
    job_queue_abandon(volunteer);
    volunteer->has_left = true;
    volunteer->is_on = false;
}

void volunteer_live(struct volunteer *volunteer, double now)
{
    double interval = now - volunteer->now;

    volunteer->now = now;
    if (volunteer->has_left)
        return;
    if (volunteer->is_on)
        compute(volunteer, interval);
    else
        volunteer->off_time += interval;
    if (now >= volunteer->departure) {
        volunteer_leave(volunteer);
        return;
    }
    if (now >= volunteer->next_change)
        come_or_go(volunteer);
    if (now >= next_attachment(volunteer))
        attach_due(volunteer);
    if (volunteer->stale)
        volunteer->next_poll = now;
    if (volunteer->is_on && (volunteer->stale || now >= volunteer->next_choice))
        volunteer_choose(volunteer);
}

double volunteer_next_event(const struct volunteer *volunteer)
{
    double next =
        fmin(fmin(volunteer->next_change, volunteer->departure), next_attachment(volunteer));

    if (volunteer->has_left)
        return INFINITY;
    if (!volunteer->is_on)
        return next;
    for (size_t i = 0; i < volunteer->job_count; i++) {
        const struct volunteer_job *job = &volunteer->jobs[i];

        if (job->running && rate_of(volunteer, job) > 0)
            next = fmin(next, volunteer->now + fmax(job->left, 0) / rate_of(volunteer, job));
    }
    for (size_t p = 0; p < volunteer->project_count; p++)
        next = fmin(next, fmax(volunteer->projects[p].next_report,
                               volunteer->fetch.projects[p].min_rpc_time));
    next = fmin(next, volunteer->now + network_next(volunteer));
    next = fmin(next, fmin(volunteer->next_choice, volunteer->next_poll));
    if (!fetch_policies[volunteer->population->habits.fetch].in_sessions)
        next = fmin(next, contact_next_master(volunteer));
    return fmax(next, volunteer->now);
}
