/* SPDX-License-Identifier: Apache-2.0 */
/* Round robin by short-term debt, endangered jobs first (schedule.h, robin.h). It is chosen when a
 * job ends or comes and after each period; what was chosen begins at once where something is idle
 * or in danger, else when one that is to stop writes a checkpoint. */
#include "tools/volunteers/adapt.h"
#include "tools/volunteers/policy.h"

#include <math.h>

#include "server/base/banned.h"

#define MOMENT 1e-3 /* s */

static void choose(struct volunteer *volunteer, struct adaptation *adaptation)
{
    adapt_settle_debts(volunteer, adaptation);
    adapt_simulate(volunteer, adaptation, volunteer->machine.buffer);
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

void run_by_robin(struct volunteer *volunteer)
{
    struct adaptation adaptation;

    adapt_host(volunteer, &adaptation);
    if (volunteer->must_choose ||
        volunteer->now >= volunteer->chosen_at + volunteer->population->period)
        choose(volunteer, &adaptation);
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
