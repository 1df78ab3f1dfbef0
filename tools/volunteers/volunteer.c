/* SPDX-License-Identifier: Apache-2.0 */
/* A host runs its jobs by deadline, one on each CPU, while it is on; nothing happens while it is
 * off. Its estimates are the server's; how long jobs really take is drawn for each. What it
 * abandons it forgets without a word, as a disk that broke does.
 *
 * It asks when its queue lacks something, or an hour after a job is done, never before its minimum
 * RPC time; each request reports what there is to report. */
#include "tools/volunteers/volunteer.h"

#include "tools/volunteers/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

#define REPORT_DELAY   3600.0 /* s after a job is done */
#define POLL           60.0   /* s from a shortfall to a request */
#define OPERATIONS_ANY 1e12   /* of a job that does not say */

bool volunteer_init(struct volunteer *volunteer, const struct population *population, uint64_t seed,
                    uint64_t number, double now)
{
    *volunteer = (struct volunteer){.population = population,
                                    .random = {.state = random_mix(seed, number)},
                                    .presence = {.state = random_mix(~seed, number)},
                                    .mark = random_mix(random_mix(seed, number), 1),
                                    .is_on = true,
                                    .now = now,
                                    .next_report = INFINITY};
    volunteer->machine = population_draw_machine(population, &volunteer->random);
    volunteer->next_change = population->always_on
                                 ? INFINITY
                                 : now + population_draw_presence(population, &volunteer->presence);
    volunteer->fetch.resource_count = 1;
    volunteer->fetch.resources[FETCH_CPU] = (struct fetch_resource){
        .count = (double)volunteer->machine.cpus, .flops = volunteer->machine.flops};
    volunteer->fetch.project_count = 1;
    volunteer->fetch.projects[0] = (struct fetch_project){.share = 1};
    volunteer->jobs = calloc(VOLUNTEER_JOBS_MAX, sizeof(*volunteer->jobs));
    return volunteer->jobs != NULL;
}

void volunteer_free(struct volunteer *volunteer)
{
    free(volunteer->jobs);
    volunteer->jobs = NULL;
}

/* The jobs are kept in order of deadline: the first that are not done run. */
static size_t runs_until(const struct volunteer *volunteer)
{
    int64_t cpus = volunteer->machine.cpus;
    size_t i = 0;

    for (; i < volunteer->job_count && cpus > 0; i++)
        cpus -= !volunteer->jobs[i].done;
    return i;
}

static double on_fraction(const struct volunteer *volunteer)
{
    /* A day of presence to begin with, so that the first hours do not count for everything. */
    double on = volunteer->on_time + 86400;

    return on / (on + volunteer->off_time);
}

static void end_job(struct volunteer *volunteer, struct volunteer_job *job)
{
    bool is_late = volunteer->now > job->deadline;

    job->done = true;
    volunteer->tally.jobs++;
    volunteer->tally.late += is_late;
    volunteer->tally.failed += job->will_fail;
    if (is_late || job->will_fail)
        volunteer->tally.wasted += job->elapsed;
    volunteer->next_report = fmin(volunteer->next_report, volunteer->now + REPORT_DELAY);
}

static void compute(struct volunteer *volunteer, double interval)
{
    size_t until = runs_until(volunteer);

    for (size_t i = 0; i < until; i++) {
        struct volunteer_job *job = &volunteer->jobs[i];

        if (job->done)
            continue;
        job->left -= interval;
        job->elapsed += interval;
        volunteer->tally.used += interval;
        if (job->left <= 1e-3)
            end_job(volunteer, job);
    }
    volunteer->on_time += interval;
    volunteer->tally.present += interval * (double)volunteer->machine.cpus;
}

void volunteer_live(struct volunteer *volunteer, double now)
{
    double interval = now - volunteer->now;

    volunteer->now = now;
    if (volunteer->is_on)
        compute(volunteer, interval);
    else
        volunteer->off_time += interval;
    if (now < volunteer->next_change)
        return;
    volunteer->is_on = !volunteer->is_on;
    volunteer->next_change =
        now + 1 +
        (volunteer->is_on ? population_draw_presence(volunteer->population, &volunteer->presence)
                          : population_draw_absence(volunteer->population, &volunteer->presence));
}

/* What its queue lacks, as its estimates have it. */
static void simulate(struct volunteer *volunteer)
{
    struct fetch_job jobs[VOLUNTEER_JOBS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < volunteer->job_count; i++) {
        const struct volunteer_job *job = &volunteer->jobs[i];

        if (!job->done)
            jobs[count++] =
                (struct fetch_job){.uses = {1}, .left = fmax(60, job->estimate - job->elapsed)};
    }
    /* The buffer is wall time, of which the host is on a part. */
    fetch_simulate(&volunteer->fetch, jobs, count,
                   volunteer->machine.buffer * on_fraction(volunteer), volunteer->now);
}

/* Whether the queue lacks enough for a request: something idle, or a tenth of the buffer. */
static bool lacks_work(const struct volunteer *volunteer)
{
    const struct fetch_resource *cpus = &volunteer->fetch.resources[FETCH_CPU];

    return volunteer->job_count < VOLUNTEER_JOBS_MAX &&
           (cpus->idle > 0 || cpus->shortfall > volunteer->machine.buffer * cpus->count / 10);
}

double volunteer_next_event(const struct volunteer *volunteer)
{
    double next = volunteer->next_change, contact = fetch_next_contact(&volunteer->fetch, 0);
    size_t until = runs_until(volunteer);

    if (!volunteer->is_on)
        return next;
    for (size_t i = 0; i < until; i++)
        if (!volunteer->jobs[i].done)
            next = fmin(next, volunteer->now + fmax(volunteer->jobs[i].left, 0));
    next = fmin(next, fmax(volunteer->next_report, volunteer->fetch.projects[0].min_rpc_time));
    if (lacks_work(volunteer))
        next = fmin(next, fmax(contact, volunteer->now + POLL));
    return fmax(next, volunteer->now);
}

static void describe_jobs(const struct volunteer *volunteer, struct volunteer_question *question)
{
    for (size_t i = 0; i < volunteer->job_count; i++) {
        const struct volunteer_job *job = &volunteer->jobs[i];

        question->jobs[i] = (struct outgoing_job){.name = job->name,
                                                  .deadline = job->deadline,
                                                  .left = fmax(60, job->estimate - job->elapsed),
                                                  .done = job->done,
                                                  .failed = job->will_fail,
                                                  .elapsed = job->elapsed};
    }
    question->outgoing.jobs = question->jobs;
    question->outgoing.job_count = volunteer->job_count;
}

bool volunteer_ask(struct volunteer *volunteer, struct volunteer_question *ret_question)
{
    bool wants_work, reports = volunteer->next_report <= volunteer->now;

    if (!volunteer->is_on || volunteer->fetch.projects[0].min_rpc_time > volunteer->now)
        return false;
    simulate(volunteer);
    ret_question->request = (struct fetch_request){.project = 0};
    wants_work = lacks_work(volunteer) &&
                 fetch_choose(&volunteer->fetch, volunteer->now, &ret_question->request);
    if (!wants_work && !reports)
        return false;
    volunteer->rpc_seqno++;
    volunteer->tally.rpcs++;
    ret_question->outgoing =
        (struct outgoing){.platform = TEXT("x86_64-pc-linux-gnu"),
                          .hostid = volunteer->hostid,
                          .rpc_seqno = volunteer->rpc_seqno,
                          .mark = volunteer->mark,
                          .machine = &volunteer->machine,
                          .on_fraction = on_fraction(volunteer),
                          .cpu_seconds = ret_question->request.seconds[FETCH_CPU],
                          .cpu_instances = ret_question->request.instances[FETCH_CPU]};
    describe_jobs(volunteer, ret_question);
    return true;
}

static void forget(struct volunteer *volunteer, size_t which)
{
    volunteer->job_count--;
    memmove(&volunteer->jobs[which], &volunteer->jobs[which + 1],
            (volunteer->job_count - which) * sizeof(*volunteer->jobs));
}

static void acknowledge(struct volunteer *volunteer, struct text name)
{
    for (size_t i = 0; i < volunteer->job_count; i++)
        if (volunteer->jobs[i].done && text_is(name, volunteer->jobs[i].name)) {
            forget(volunteer, i);
            return;
        }
}

static bool has_job(const struct volunteer *volunteer, struct text name)
{
    for (size_t i = 0; i < volunteer->job_count; i++)
        if (text_is(name, volunteer->jobs[i].name))
            return true;
    return false;
}

static void receive(struct volunteer *volunteer, const struct incoming_job *incoming)
{
    double flops = incoming->flops > 0 ? incoming->flops : volunteer->machine.flops;
    double operations = incoming->operations > 0 ? incoming->operations : OPERATIONS_ANY;
    struct volunteer_job job = {.deadline = incoming->deadline, .estimate = operations / flops};
    size_t at = volunteer->job_count;

    if (has_job(volunteer, incoming->name) || incoming->name.length >= sizeof(job.name) ||
        volunteer->job_count == VOLUNTEER_JOBS_MAX)
        return;
    if (incoming->name.length > 0)
        memcpy(job.name, incoming->name.at, incoming->name.length);
    job.left = operations / volunteer->machine.flops *
               population_draw_error(volunteer->population, &volunteer->random);
    job.will_fail = random_unit(&volunteer->random) < volunteer->population->error_rate;
    if (job.will_fail) /* somewhere on the way */
        job.left *= random_unit(&volunteer->random);
    if (random_unit(&volunteer->random) < volunteer->population->abandon_rate) {
        volunteer->tally.abandoned++;
        return;
    }
    while (at > 0 && volunteer->jobs[at - 1].deadline > job.deadline) {
        volunteer->jobs[at] = volunteer->jobs[at - 1];
        at--;
    }
    volunteer->jobs[at] = job;
    volunteer->job_count++;
}

void volunteer_hear_nothing(struct volunteer *volunteer)
{
    volunteer->tally.failed_rpcs++;
    volunteer->failures++;
    volunteer->fetch.projects[0].min_rpc_time =
        volunteer->now + session_backoff(volunteer->failures, &volunteer->random);
}

void volunteer_hear(struct volunteer *volunteer, const struct volunteer_question *question,
                    const struct incoming *incoming)
{
    enum fetch_answer answers[FETCH_RESOURCES_MAX] = {incoming->cpu};

    if (incoming->is_down) {
        volunteer_hear_nothing(volunteer);
        volunteer->fetch.projects[0].min_rpc_time = fmax(volunteer->fetch.projects[0].min_rpc_time,
                                                         volunteer->now + incoming->request_delay);
        return;
    }
    volunteer->failures = 0;
    if (incoming->hostid > 0 && incoming->hostid != volunteer->hostid) {
        volunteer->hostid = incoming->hostid;
        volunteer->rpc_seqno = 0;
    }
    for (size_t i = 0; i < incoming->ack_count; i++)
        acknowledge(volunteer, incoming->acks[i]);
    volunteer->next_report = INFINITY;
    for (size_t i = 0; i < volunteer->job_count; i++)
        if (volunteer->jobs[i].done) {
            volunteer->tally.lost_acks++;
            volunteer->next_report = volunteer->now + REPORT_DELAY;
        }
    for (size_t i = 0; i < incoming->job_count; i++)
        receive(volunteer, &incoming->jobs[i]);
    if (incoming->job_count > 0)
        answers[FETCH_CPU] = FETCH_SENT;
    else if (question->outgoing.cpu_seconds > 0)
        volunteer->tally.empty_replies++;
    volunteer->tally.deadline_flags += incoming->no_work_deadlines;
    fetch_handle_reply(&volunteer->fetch, &question->request, answers, volunteer->now,
                       &volunteer->random);
    volunteer->fetch.projects[0].min_rpc_time = volunteer->now + incoming->request_delay;
    simulate(volunteer);
}
