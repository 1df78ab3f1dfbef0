/* SPDX-License-Identifier: Apache-2.0 */
/* Which waiting jobs hosts can have: classes of unsent jobs, judged for hosts that asked within the
 * last week, each as it would be on an idle day. Neither all jobs nor all hosts are read. */
#ifndef TOOLS_QMCTL_WHY_WHY_JOBS_H
#define TOOLS_QMCTL_WHY_WHY_JOBS_H

#include "db/admin.h"
#include "server/policy/refusal/reason.h"
#include "tools/qmctl/session/project_session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job_chances_bounds {
    const char *job;       /* NULL: all of them; else it alone is judged */
    const char *app;       /* NULL: all of them */
    size_t hosts;          /* asked */
    bool until_known;      /* no more than that: some host was found for each class */
    size_t classes;        /* judged, those with most jobs */
    size_t jobs_looked_at; /* of each application: the oldest, and as many of the newest */
};

/* How a class of jobs fares. */
struct job_chance {
    struct job_class class;
    struct text app_name;
    const struct holder_row *holders; /* who had an instance, where that matters */
    size_t holder_count;
    size_t hosts;             /* that can have it */
    struct refusals *refused; /* once for each host that cannot */
};

struct job_chances {
    struct job_chance *items; /* those with most jobs first */
    size_t count;
    size_t hosts;       /* asked; 0: it is not known of any host what it is */
    bool are_all_asked; /* if none fits: all that came within the week and said what they are */
    bool is_limited;    /* some application has more unsent jobs than were looked at */
};

/* Reads config.xml's project, and its database by a connection of its own, which refuses to write.
 * STATUS_NOT_FOUND: there is no such application or job, or the job has no unsent result. */
MUST_CHECK enum status why_jobs(struct session *session, const struct job_chances_bounds *bounds,
                                struct job_chances *ret_chances);

/* What stands against hosts by this reason, which some were refused for; without their count. */
struct text job_chance_reason_words(struct arena *arena, const struct job_chance *chance,
                                    enum reason reason);

/* None of the hosts asked can have it. */
bool job_chance_is_none(const struct job_chances *chances, const struct job_chance *chance);
/* Then: nor can any other; else a few may, which were not asked. */
bool job_chance_is_sure(const struct job_chances *chances, const struct job_chance *chance);

/* What stands against most hosts, in a sentence with its count; empty: nothing does. */
struct text job_chance_words(struct arena *arena, const struct job_chance *chance,
                             enum reason *ret_reason);

#endif
