/* SPDX-License-Identifier: Apache-2.0 */
#include "server/policy/result/extension.h"

#include <math.h>

#include "server/base/banned.h"

#define CONTACT_MOST   21600.0 /* s */
#define CONTACT_LEAST  900.0   /* s */
#define CONTACT_BEFORE 600.0   /* s before a deadline */

#define LEFT_FACTOR        1.2 /* estimates are too short more often than too long */
#define AVAILABILITY_LEAST 0.2

/* Twice the time that the job had at first. */
static double latest(const struct extension_facts *facts)
{
    return (double)facts->sent_time + 2 * (double)facts->delay_bound;
}

static double wanted(const struct extension_facts *facts)
{
    double stored = (double)facts->stored;

    if (facts->is_computed)
        return facts->now + EXTENSION_SPAN;
    if (!extension_concerns(facts->told, facts->now))
        return stored;
    /* Clients abort what they have not begun by its deadline, so this job runs. */
    if (facts->told < facts->now)
        return facts->now + EXTENSION_SPAN +
               LEFT_FACTOR * facts->left / fmax(facts->availability, AVAILABILITY_LEAST);
    /* The stored deadline is later than the client's by the grace period, or was moved before. */
    if (stored - (double)facts->grace <= facts->told &&
        facts->now + facts->left / facts->availability > facts->told)
        return stored + EXTENSION_SPAN;
    return stored;
}

bool extension_concerns(double told, double now)
{
    return told < now + EXTENSION_SPAN;
}

int64_t extension_deadline(const struct extension_facts *facts)
{
    double deadline = fmin(wanted(facts), latest(facts));

    return deadline > (double)facts->stored ? (int64_t)deadline : facts->stored;
}

double extension_contact(double now, double first_deadline, double least)
{
    double wait = fmin(CONTACT_MOST, first_deadline - CONTACT_BEFORE - now);

    return fmax(wait, fmax(least, CONTACT_LEAST));
}
