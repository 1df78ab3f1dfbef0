/* SPDX-License-Identifier: Apache-2.0 */
/* One emulated host, attached to one project or several: comes and goes, computes, fetches work,
 * reports, and leaves for good. Knows no network and no clock: it is told the time, says when it
 * next has something to do, and whom it asks what. What its client does is chosen from the tables
 * of policy.h. */
#ifndef TOOLS_VOLUNTEERS_HOST_VOLUNTEER_H
#define TOOLS_VOLUNTEERS_HOST_VOLUNTEER_H

#include "server/base/random.h"
#include "tools/volunteers/client/fetch.h"
#include "tools/volunteers/client/rpc_session.h"
#include "tools/volunteers/host/contact.h"
#include "tools/volunteers/host/host_disk.h"
#include "tools/volunteers/host/host_tally.h"
#include "tools/volunteers/host/population.h"
#include "tools/volunteers/host/versions.h"
#include "tools/volunteers/wire/incoming.h"
#include "tools/volunteers/wire/outgoing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VOLUNTEER_JOBS_MAX = 1000 };

/* A job as of its last checkpoint. */
struct volunteer_saved {
    double left, progress, elapsed, flops; /* see volunteer_job */
};

struct volunteer_job {
    char *name;
    size_t project;  /* of the host's */
    size_t version;  /* of the project's, or VERSIONS_NONE */
    uint64_t number; /* in the order in which they came */
    double deadline;
    double cpus;
    size_t coproc; /* the kind that it uses besides, or FETCH_CPU: none */
    double coprocs;
    double estimate; /* s of run time in all, as the server has it */
    double coming;   /* bytes of its files that are not here yet */
    double left;     /* s, really */
    double elapsed;
    double progress; /* s of its own work that are done: less where CPUs are short */
    double duration; /* s of its own work in all, if it does not fail */
    double flops;    /* spent on it, but for what was lost with its process */
    struct volunteer_saved saved;
    bool will_fail, done, failed, aborted;
    bool acked;   /* while a reply is read */
    bool running; /* while the host is on; by the policy */
    bool ran;     /* the same before it was chosen again */
    bool begun;
    /* Kept for the policies. */
    double begun_at;         /* when it began to run, this time */
    double checkpoint;       /* when the last one was written */
    double since_checkpoint; /* s of run time since; below 0: until it has started again */
    double booked;           /* s of run time that debts know of */
    bool deadline_missed;    /* as simulated */
    bool scheduled;
    struct disk_file **files;
    size_t file_count;
};

struct volunteer_project {
    size_t which;       /* of the crowd's */
    double attached;    /* when */
    double later_share; /* from a day of the scenario on */
    double file_scale;  /* size of its jobs' own files, times that of others */
    int64_t hostid, rpc_seqno;
    unsigned empties, refusals, failed_jobs; /* in a row; failed contacts: session.failures */
    double next_report;                      /* INFINITY: nothing to report */
    bool full_workload;                      /* wanted by the server */
    bool no_work_deadlines;                  /* said by the last reply, which asked for a delay: */
    double reply_delay_end;
    double correction;                /* of durations */
    unsigned unsupported;             /* bit r: it will never have jobs for resource r */
    double used[FETCH_RESOURCES_MAX]; /* instance-seconds that debts do not know of yet */
    /* Kept for the policies. */
    double debt;                    /* debt.h */
    double short_debt, long_debt;   /* schedule.h */
    double cpu_time;                /* s on CPUs that those do not know of yet */
    struct session_project session; /* its failures and schedulers count for all of them */
    struct contact contact;
    bool deletes_by_priority, deletes_by_expiry;
    struct versions versions;
    struct tally_project tally;
};

struct volunteer {
    const struct population *population;
    struct machine machine;
    struct random random, presence; /* two, so that its jobs do not change when it is there */
    uint64_t mark;
    bool is_on, has_left;
    bool is_stuck;            /* more disk is used than may be: nothing runs */
    double now, next_change;  /* of presence */
    double departure;         /* INFINITY: never */
    double on_time, off_time; /* so far, s: what it takes for its on-fraction */
    /* Shares, minimum RPC times and what is known of resources; for each project one entry. */
    struct fetch_host fetch;
    struct volunteer_project *projects;
    size_t project_count, attachment_count; /* so far; in the end */
    double shares_change;                   /* when; INFINITY: never again */
    struct volunteer_job *jobs;             /* by deadline */
    size_t job_count, job_capacity;
    uint64_t next_number;
    double cpu_rate, coproc_rate; /* of jobs that run: less than 1 where CPUs are short */
    bool stale;                   /* what runs is to be chosen again */
    double next_choice;           /* at the latest; by the policy */
    double next_poll;             /* when to think of fetching */
    bool lacks_work;              /* as it was thought of last */
    double settled;               /* on-time that debts know of */
    double chosen_at;             /* kept for the policies; and: something changed since */
    bool must_choose;
    struct session session;
    struct fetch_request asked; /* last */
    struct disk disk;
    struct tally tally;
};

/* False: no memory. */
MUST_CHECK bool volunteer_init(struct volunteer *volunteer, const struct population *population,
                               uint64_t seed, uint64_t number, double now);
void volunteer_free(struct volunteer *volunteer);

/* Lives until `now`: not beyond what volunteer_next_event said. */
void volunteer_live(struct volunteer *volunteer, double now);
double volunteer_next_event(const struct volunteer *volunteer); /* INFINITY: it has left */

/* What an RPC needs besides the account. Zero it before use, use it again, free it at the end.
 * Names are those of the host's jobs: it may not live on before it heard an answer. */
struct volunteer_question {
    size_t project;               /* of the crowd's: which to ask */
    size_t attached;              /* the same of the host's */
    struct fetch_request request; /* if it reads the master page, nothing below holds */
    size_t scheduler;             /* by number; 0 where no master page is read */
    struct outgoing outgoing;
    struct outgoing_job *jobs;
    size_t job_capacity;
    struct outgoing_file *files;
    size_t file_capacity;
};
/* False: nothing to ask or report now. */
bool volunteer_ask(struct volunteer *volunteer, struct volunteer_question *question);
bool volunteer_wants_work(const struct volunteer_question *question);
void volunteer_hear(struct volunteer *volunteer, const struct volunteer_question *question,
                    const struct incoming *incoming);
void volunteer_hear_nothing(struct volunteer *volunteer, const struct volunteer_question *question);
/* The numbers of the schedulers that the master page names; 0: it could not be had, or names none.
 */
void volunteer_hear_master(struct volunteer *volunteer, const struct volunteer_question *question,
                           const uint8_t *schedulers, size_t count);
void volunteer_question_free(struct volunteer_question *question);

/* For policies and those who look on. */
double volunteer_on_fraction(const struct volunteer *volunteer);
/* Operations done for a project that debts do not know of yet, by peak speeds. */
double volunteer_unsettled_flops(const struct volunteer *volunteer, size_t project);
/* What runs from now on. */
void volunteer_choose(struct volunteer *volunteer);
/* Its jobs end without a word. */
void volunteer_leave(struct volunteer *volunteer);

#endif
