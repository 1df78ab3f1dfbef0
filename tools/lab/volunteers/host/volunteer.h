/* SPDX-License-Identifier: Apache-2.0 */
/* One emulated host: what it is, what it has, and what its client remembers. The host has no
 * network and no clock: its caller sets the time. The host says when it next has something to do,
 * and says whom it asks for what.
 *
 * The journey of a host through this room: population.h draws its machine and projects; life.h
 * lets it come and go, and lets its jobs run; scheduler_rpc.h asks a project and takes in the
 * answer, whose jobs join job_queue.h, whose files host_disk.h keeps and network.h brings;
 * progress.h counts what jobs compute and what is lost; job_end.h ends them and says when they are
 * reported; contact.h says which scheduler is asked, and when a project may be asked again. What a
 * client of its age does at each of these places is a row of a table in habits.h. host_tally.h
 * counts what the run is judged by. */
#ifndef TOOLS_LAB_VOLUNTEERS_HOST_VOLUNTEER_H
#define TOOLS_LAB_VOLUNTEERS_HOST_VOLUNTEER_H

#include "server/base/random.h"
#include "tools/lab/volunteers/client/fetch.h"
#include "tools/lab/volunteers/client/rpc_session.h"
#include "tools/lab/volunteers/host/host_tally.h"
#include "tools/lab/volunteers/host/population.h"
#include "tools/lab/volunteers/host/versions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    VOLUNTEER_JOBS_MAX = 1000,
    CONTACT_SCHEDULERS_MAX = 16, /* of a project, that a host knows */
    DISK_FILES_MAX = 2000,
    DISK_JOB_FILES_MAX = 16 /* that a job reads */
};

/* A job as of its last checkpoint: what it goes back to when its process ends before the job does.
 * progress.c enters every job here as it came (nothing done), and again at each checkpoint. */
struct volunteer_saved {
    double left, progress, elapsed, flops; /* see volunteer_job */
};

/* A job from the reply that sent it until the reply that acknowledges its report. */
struct volunteer_job {
    char *name;
    size_t project;  /* of the host's */
    size_t version;  /* of the project's, or VERSIONS_NONE */
    uint64_t number; /* in the order in which they came */
    double deadline;
    double cpus;
    size_t coproc; /* the kind that it uses besides, or CLIENT_CPU: none */
    double coprocs;
    double estimate; /* s of run time in all, as the server has it */
    double coming;   /* bytes of its files that are not here yet */
    double left;     /* s, really */
    double elapsed;
    double progress; /* s of its own work that are done: less where CPUs are short */
    double duration; /* s of its own work in all, if it does not fail */
    double flops;    /* spent on it, but for what was lost with its process */
    struct volunteer_saved saved;
    bool will_fail;           /* drawn when it came: job_queue.c */
    bool aborted;             /* by the server's order, for lack of disk space, or: */
    bool unstarted_late;      /* it was not begun by its deadline */
    bool done, failed;        /* it is over, and how: job_end.c; then it waits for its report */
    bool acked;               /* its report was acknowledged, while that reply is read */
    bool running, ran;        /* chosen by the run policy; and the choice before: life.c */
    bool begun;               /* it has run at some time */
    double begun_at;          /* when it began to run, this time; for the run policies */
    double checkpoint;        /* when the last one was written */
    double since_checkpoint;  /* s of run time since; below 0: until it has started again */
    double booked;            /* s of run time that debts include (debt_policy.c) */
    bool deadline_missed;     /* in the last simulation (robin_policy.c) */
    bool scheduled;           /* it is to run as soon as it may (robin_policy.c) */
    struct disk_file **files; /* that it uses, while it is not over */
    size_t file_count;
};

/* Of a project's schedulers, which are told apart by number; how many there are: session. */
struct contact {
    uint8_t schedulers[CONTACT_SCHEDULERS_MAX];
    size_t first; /* the one that this contact began with */
    size_t turn;  /* so many of them failed in this contact; the next is tried at once */
};

struct volunteer_project {
    size_t which;       /* of the crowd's */
    double attached;    /* when */
    double later_share; /* from a day of the scenario on */
    double file_scale;  /* size of its jobs' own files, times that of others */
    int64_t hostid, rpc_seqno;
    unsigned empties, refusals, failed_jobs; /* in a row; failed contacts: session.failures */
    double next_report;                      /* or contact without a reason; INFINITY: none */
    bool full_workload;                      /* the server wants the whole queue in requests */
    bool no_work_deadlines;                  /* in the last reply, which asked for a delay until */
    double reply_delay_end;
    double correction;    /* duration correction factor */
    unsigned unsupported; /* bit r: the server said that it never has jobs for resource r */
    double used[CLIENT_RESOURCES]; /* instance-seconds that debts do not include yet */
    /* Kept for the policies. */
    double debt;                    /* client/debt.h */
    double short_debt, long_debt;   /* client/schedule.h */
    double cpu_time;                /* s on CPUs that those two do not include yet */
    struct session_project session; /* its failures and schedulers count for all policies */
    struct contact contact;
    bool deletes_by_priority, deletes_by_expiry;
    struct host_versions versions;
    struct tally_project tally;
};

struct disk_file {
    char *name; /* NULL: a job's own */
    size_t project;
    double bytes;
    int priority;
    double last_used, expires;
    bool sticky;
    size_t references; /* of jobs that are not over */
    size_t index;      /* in the list, while the rules of client/storage.h work on it */
};

struct host_disk {
    struct disk_file **files; /* in the order in which they came */
    size_t count, capacity;
    double others; /* bytes that are not the client's, of what it might have */
};

struct volunteer {
    const struct population *population;
    struct machine machine;
    struct attendance attendance;
    uint64_t seed;                  /* of the crowd */
    struct random random, presence; /* two, so that its jobs do not change when it is there */
    uint64_t mark;                  /* no other machine has it, of this run and of others */
    bool is_on, has_left;
    bool is_stuck;            /* more disk is used than may be: no job runs (host_disk.c) */
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
    bool stale;                   /* jobs came or ended: what runs is to be chosen again */
    double next_choice;           /* at the latest; by the run policy */
    double next_poll;             /* when the fetch policy is asked again */
    bool lacks_work;              /* by its last word */
    double booked_until;          /* s of on-time that debts include */
    double chosen_at;             /* kept for the run policies; and: something changed since */
    bool must_choose;
    struct rpc_session session;
    struct fetch_request asked; /* last */
    struct host_disk disk;
    struct host_tally tally;
};

/* The part of the time that the host has been on, as its client knows it. */
double volunteer_on_fraction(const struct volunteer *volunteer);
/* Operations done for a project that debts do not include yet, by peak speeds. */
double volunteer_unbooked_flops(const struct volunteer *volunteer, size_t project);

#endif
