/* SPDX-License-Identifier: Apache-2.0 */
/* Holds the history against the database. It is meant for a moment when no request is under way and
 * every machine has had a full reply to its last one, as a run of the crowd ends; machines of which
 * that is not true are counted, and left out where it matters. */
#ifndef TOOLS_LAB_CAMPAIGN_AUDIT_H
#define TOOLS_LAB_CAMPAIGN_AUDIT_H

#include "tools/lab/campaign/extract.h"
#include "tools/lab/campaign/history.h"

#include <stdbool.h>
#include <stdint.h>

enum rule {
#define RULE(name, kind, words) RULE_##name,
#include "tools/lab/campaign/rules.def"
#undef RULE
    RULE_COUNT
};

enum rule_kind { RULES_OF_LOST, RULES_OF_DOUBLE, RULES_OF_BROKEN, RULE_KIND_COUNT };

/* What the project was told to keep; 0: no such limit. */
struct audit_limits {
    int64_t daily, in_progress; /* jobs of a host: of one version on a day; at a time */
    int64_t errors;             /* of 100 jobs, by their names: host_job_fails */
    /* Around the turn of a host's day, servers whose clocks differ see a new day again and again:
     * the daily limit is not looked at there, for hours or for seconds.
     *
     * A server whose clock is an hour ahead takes a delayed first contact for a machine that lost
     * all, and gives up what the host has; what it reports of that is acknowledged and not booked,
     * as policy(7) 1.2 and 3.1 have it. Where clocks were set so wrong, that is counted apart. */
    bool clocks_were_hours_apart;
};

enum { EXAMPLES_MAX = 5 };
struct audit_finding {
    int64_t count;
    char *examples[EXAMPLES_MAX]; /* as many as there are, up to so many */
};

struct audit {
    struct audit_finding findings[RULE_COUNT];
    int64_t machines, unsettled, in_progress;
    int64_t strangers; /* rows of hosts that nobody knows */
    int64_t gone; /* rows in progress, never told, of machines gone or that are other hosts now */
    int64_t detached; /* given up because of a clock */
};

const char *rule_name(enum rule rule);
const char *rule_words(enum rule rule);

/* The server's day of a host, by its number: days of hosts begin at different moments. */
int64_t audit_day(int64_t hostid, int64_t time);
/* Whether the daily limit is looked at for the row: not for jobs of one user or, as policy(7) 4.5
 * has it, of a workunit that is committed to a version. */
bool audit_counts_for_day(const struct audit_limits *limits, const struct extract_row *row);

/* Marks jobs of the history as met. */
struct audit audit_run(struct history *history, const struct extract *extract,
                       const struct audit_limits *limits);
void audit_clear(struct audit *audit);
int64_t audit_count(const struct audit *audit, enum rule_kind kind);

#endif
