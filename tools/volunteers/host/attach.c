/* SPDX-License-Identifier: Apache-2.0 */
/* Projects stand in the order in which the host comes to them, and only those that it came to are
 * counted: for all else the others are not there. */
#include "tools/volunteers/host/attach.h"

#include "tools/volunteers/host/volunteer.h"

#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

#define DAY 86400.0

bool attach_begin(struct volunteer *volunteer, struct random *random)
{
    const struct population *population = volunteer->population;
    struct attachment attachments[POPULATION_PROJECTS_MAX];
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
    attach_live(volunteer);
    return true;
}

double attach_next(const struct volunteer *volunteer)
{
    size_t count = volunteer->project_count;

    return fmin(volunteer->shares_change, count < volunteer->attachment_count
                                              ? volunteer->projects[count].attached
                                              : INFINITY);
}

void attach_live(struct volunteer *volunteer)
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
