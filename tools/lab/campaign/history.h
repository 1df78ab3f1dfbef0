/* SPDX-License-Identifier: Apache-2.0 */
/* What hosts were told, kept outside the database that is on trial.
 *
 * qmcampaign is a crowd and an auditor. The crowd (campaign_crowd.h) are hosts of qmload's kind
 * that lose replies, repeat requests to the letter, come and go, while somebody else
 * (tools/lab/campaign/drive) kills what they speak to. Each writes a line into the history before
 * it acts on it. The auditor (audit.h) reads the history and an extract of the database
 * (extract.h), and looks at the rules of rules.def; violations.h breaks each of them on purpose, to
 * show that the auditor sees it.
 *
 * A line is a letter, the number of a machine, and what follows:
 *
 *   b MACHINE USER VENDOR       it is born; the vendor is a word
 *   q MACHINE SEQNO             it sends a request, the same one again perhaps
 *   r MACHINE JOB               which reports this job
 *   i MACHINE HOST              a reply says which host it is
 *   a MACHINE JOB REPORTED      a reply acknowledges the job; 1: the request reported it
 *   g MACHINE HOST JOB LISTED   a reply brings the job; 1: the request listed or reported it
 *   e MACHINE                   it had a full reply to its last request; no other is under way
 *   d MACHINE                   it is gone permanently
 *   n NAME COUNT                a figure of a run, to be summed; it has no number of a machine
 *
 * A line that is not whole, the last one of a crowd that was killed, counts for nothing, and is cut
 * off before the next crowd writes. */
#ifndef TOOLS_LAB_CAMPAIGN_HISTORY_H
#define TOOLS_LAB_CAMPAIGN_HISTORY_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <uthash.h>

/* A machine, whatever host the project takes it for. */
struct told_machine {
    int64_t number, user;
    char *vendor;
    int64_t hostid, rpc_seqno;
    bool is_settled, is_gone;
    struct told_machine *next_born;
    UT_hash_handle hh;
};

/* A host of the project, and the machine that heard that it is this one. */
struct told_host {
    int64_t id;
    struct told_machine *machine;
    /* Jobs told and not acknowledged; but for those for one user, which are beyond the limit and
     * whose names begin with "aimed_". */
    int64_t in_progress, most_in_progress;
    int64_t detached; /* of these, jobs that a server gave up because of a clock: for the auditor */
    UT_hash_handle hh;
};

struct told_job {
    char *name;
    struct told_machine *machine; /* who heard of it first; NULL: nobody did */
    int64_t hostid;
    struct told_machine *acked_for; /* whose report was acknowledged; NULL: nobody's */
    bool is_reported;               /* by anybody, heard or not */
    bool went_to_two;               /* machines */
    bool came_again;                /* to a machine that has it or had it acknowledged */
    bool has_odd_ack;               /* for what the request did not report */
    bool is_in_database;            /* the auditor met it */
    UT_hash_handle hh;
};

enum { FIGURES_MAX = 64 };
struct told_figure {
    char name[32];
    int64_t count;
};

struct history {
    struct told_machine *machines, *first_born, *last_born;
    struct told_host *hosts;
    struct told_job *jobs;
    int64_t handouts, acks, reports, requests, odd_lines;
    struct told_figure figures[FIGURES_MAX];
    size_t figure_count;
};

/* Takes one line, without its end. One that cannot be read is counted as odd. */
void history_take(struct history *history, struct text line);
/* Reads a whole file; a missing one is an empty history. False: it cannot be read. */
bool history_read(struct history *history, const char *path);
/* Opens the file for lines behind its last whole one. NULL: it cannot be written. */
FILE *history_append(const char *path);
void history_clear(struct history *history);

struct told_machine *history_machine(const struct history *history, int64_t number);
struct told_host *history_host(const struct history *history, int64_t id);
/* Who heard that it is this host; NULL: nobody. */
struct told_machine *history_machine_of_host(const struct history *history, int64_t id);
struct told_job *history_job(const struct history *history, struct text name);

#endif
