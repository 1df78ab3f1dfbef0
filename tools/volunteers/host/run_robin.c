/* SPDX-License-Identifier: Apache-2.0 */
/* Round robin by short-term debt, endangered jobs first (schedule.h, robin.h). It is chosen when a
 * job ends or comes and after each period; what was chosen begins at once where something is idle
 * or in danger, else when one that is to stop writes a checkpoint. */
#include "tools/volunteers/client/marks.h"
#include "tools/volunteers/host/adapt.h"
#include "tools/volunteers/host/policy.h"

#include <math.h>

#include "server/base/banned.h"

#define MOMENT   1e-3 /* s */
#define NO_SHARE 1e-6 /* stands for a share of 0 */

/* What a project is owed as clients from 2012 on see it: what it got lately, by its share. Whoever
 * gets a processor gets that much more, for a period to come. */
static void owe_recent(const struct volunteer *volunteer, struct adaptation *adaptation)
{
    const struct fetch_host *host = &volunteer->fetch;
    double recent[FETCH_PROJECTS_MAX], all = 0, shares = 0;

    for (size_t p = 0; p < host->project_count; p++) {
        recent[p] = host->projects[p].recent + volunteer_unsettled_flops(volunteer, p);
        all += recent[p];
        shares += host->projects[p].share;
    }
    all += adaptation->host.period * marks_peak_flops(host); /* nobody got anything yet */
    for (size_t p = 0; p < host->project_count; p++)
        adaptation->projects[p].short_debt =
            -recent[p] / all * shares / fmax(host->projects[p].share, NO_SHARE);
    for (size_t i = 0; i < adaptation->count; i++) {
        const struct volunteer_job *job = adaptation->jobs[i];
        double flops = job->cpus * host->resources[FETCH_CPU].flops;

        if (job->coproc != FETCH_CPU)
            flops += job->coprocs * host->resources[job->coproc].flops;
        adaptation->results[i].charge = flops * adaptation->host.period / all * shares /
                                        fmax(host->projects[job->project].share, NO_SHARE);
    }
}

static void choose(struct volunteer *volunteer, struct adaptation *adaptation, bool by_recent)
{
    adapt_settle_debts(volunteer, adaptation);
    adapt_simulate(volunteer, adaptation, volunteer->machine.buffer);
    if (by_recent)
        owe_recent(volunteer, adaptation);
    schedule_choose(&adaptation->host, adaptation->projects, volunteer->project_count,
                    adaptation->results, adaptation->count, volunteer->now);
    volunteer->chosen_at = volunteer->now;
    volunteer->must_choose = false;
}

/* The next checkpoint of somebody who is to stop for somebody who waits; INFINITY: none. */
static double next_turn(const struct volunteer *volunteer, const struct adaptation *adaptation)
{
    double next = INFINITY;
    bool waits = false;

    for (size_t i = 0; i < adaptation->count; i++) {
        const struct schedule_result *result = &adaptation->results[i];

        waits = waits || (result->scheduled && !result->running);
        if (result->running && !result->scheduled)
            next = fmin(next, volunteer->now + volunteer->population->checkpoint -
                                  result->since_checkpoint);
    }
    return waits ? next : INFINITY;
}

static void run(struct volunteer *volunteer, bool by_recent)
{
    struct adaptation adaptation;

    adapt_host(volunteer, &adaptation);
    if (volunteer->must_choose ||
        volunteer->now >= volunteer->chosen_at + volunteer->population->period)
        choose(volunteer, &adaptation, by_recent);
    schedule_enforce(&adaptation.host, adaptation.results, adaptation.count, volunteer->chosen_at,
                     volunteer->now);
    for (size_t i = 0; i < adaptation.count; i++) {
        adaptation.jobs[i]->running = adaptation.results[i].running;
        adaptation.jobs[i]->scheduled = adaptation.results[i].scheduled;
        adaptation.jobs[i]->deadline_missed = adaptation.results[i].deadline_missed;
    }
    volunteer->next_choice = fmin(volunteer->chosen_at + volunteer->population->period,
                                  fmax(next_turn(volunteer, &adaptation), volunteer->now + MOMENT));
}

void run_by_robin(struct volunteer *volunteer)
{
    run(volunteer, false);
}

void run_by_recent(struct volunteer *volunteer)
{
    run(volunteer, true);
}
