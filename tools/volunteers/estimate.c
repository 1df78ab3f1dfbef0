/* SPDX-License-Identifier: Apache-2.0 */
/* How long the jobs of a host will still take, as its client has it. */
#include "tools/volunteers/policy.h"
#include "tools/volunteers/volunteer.h"

#include <math.h>

#include "server/base/banned.h"

#define LEAST 60.0 /* s: what is not done is never said to be */

double estimate_left(const struct volunteer *volunteer, const struct volunteer_job *job)
{
    return estimate_policies[volunteer->population->habits.estimate].left(volunteer, job);
}

void estimate_learn(struct volunteer *volunteer, const struct volunteer_job *job)
{
    const struct estimate_policy *policy =
        &estimate_policies[volunteer->population->habits.estimate];

    if (policy->learn != NULL)
        policy->learn(volunteer, job);
}

/* The server's word, less the time that it has run. */
double estimate_by_server(const struct volunteer *volunteer, const struct volunteer_job *job)
{
    (void)volunteer;
    return fmax(LEAST, job->estimate - job->elapsed);
}
