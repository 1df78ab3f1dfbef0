/* SPDX-License-Identifier: Apache-2.0 */
/* The two messages of a scheduler RPC as plain data: what a host says in its request (outgoing),
 * and what it takes from the reply (incoming). A host fills the one and reads the other; only wire/
 * knows how they look as bytes. All texts and lists are borrowed: those of a request from the host,
 * those of a reply from the arena that it was read into. */
#ifndef TOOLS_LAB_VOLUNTEERS_HOST_RPC_MESSAGES_H
#define TOOLS_LAB_VOLUNTEERS_HOST_RPC_MESSAGES_H

#include "server/base/text.h"
#include "tools/lab/volunteers/client/client.h"
#include "tools/lab/volunteers/client/fetch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host_versions;
struct machine;

/* --- the request ----------------------------------------------------------------------------- */

struct outgoing_job { /* one that the host has not reported yet */
    const char *name;
    size_t version;        /* of outgoing, or VERSIONS_NONE */
    double deadline, left; /* s since 1970; s of run time, estimated */
    bool is_own;           /* of the project that is asked; others' are in the workload only */
    bool done;             /* it is reported now */
    bool failed, aborted;  /* how it ended */
    bool unstarted_late;   /* aborted for that */
    double elapsed;        /* s of run time that it took */
    double cpus;
    size_t coproc; /* the kind that it uses besides, or CLIENT_CPU: none */
    double coprocs;
};

struct outgoing_demand {
    double seconds, instances; /* asked for */
    double delay;              /* s until an instance is free, as far as deadlines keep it busy */
};

struct outgoing_file { /* a sticky one */
    const char *name;
    double bytes;
};

struct outgoing_disk {
    double free, used, used_by_project, share; /* bytes */
    bool tells_amounts; /* as in 2004: free, with offenders' files gone, with its own too */
    double amounts[3];
    const struct outgoing_file *files;
    size_t file_count;
};

struct outgoing {
    struct text authenticator, platform;
    int64_t hostid, rpc_seqno;
    uint64_t mark; /* of which the host's name and cross-project id are made */
    const struct machine *machine;
    double on_fraction;
    double active_time; /* s in which it could compute, since it attached */
    /* Of all shares of the host: among all projects, those with jobs, those that may have some. */
    double share_fraction, runnable_fraction, potential_fraction;
    double correction; /* of durations */
    struct outgoing_demand demands[CLIENT_RESOURCES];
    bool is_scalar;   /* one number for all resources, as before 6.6 */
    double scalar;    /* s; beside demands what old servers would read */
    bool lists_queue; /* the server asked for the whole queue before */
    struct outgoing_disk disk;
    const struct host_versions *versions; /* of the project; NULL: none */
    const struct outgoing_job *jobs;
    size_t job_count;
};

/* --- the reply ------------------------------------------------------------------------------- */

enum {
    INCOMING_JOBS_MAX = 1000,
    INCOMING_ACKS_MAX = 10000,
    INCOMING_ABORTS_MAX = 10000,
    INCOMING_DELETIONS_MAX = 1000
};

struct incoming_file {
    struct text name;
    double bytes;
    int priority; /* 0: not told; here and below */
    double life;  /* s */
    bool sticky;
};

struct incoming_use {
    double flops;   /* 0: not told */
    double cpus;    /* that it uses while it runs */
    size_t coproc;  /* the kind that it uses besides, or CLIENT_CPU: none */
    double coprocs; /* instances of it */
};

struct incoming_job {
    struct text name, workunit, app, platform, plan_class;
    int64_t version;
    double deadline;                   /* s since 1970 */
    double operations;                 /* estimated; 0: not told */
    struct incoming_use use;           /* the version's, unless the workunit brings its own */
    struct incoming_use version_use;   /* which requests tell of the version */
    const struct incoming_file *files; /* that it reads */
    size_t file_count;
    struct incoming_file output; /* the first that it writes; without a name: none */
};

struct incoming_abort {
    struct text name;
    bool if_not_started;
};

struct incoming {
    bool is_down;            /* the project */
    bool is_full;            /* the account is known */
    struct text message;     /* the first one to the volunteer; empty: none */
    bool no_work_deadlines;  /* work there is, but it would be late */
    int64_t hostid;          /* 0: no new one */
    double request_delay;    /* s */
    double next_rpc_delay;   /* s, after which the server wants to be asked again; 0: any time */
    bool send_full_workload; /* lists of jobs in progress are wanted, from now on */
    enum fetch_answer answers[CLIENT_RESOURCES];
    struct incoming_job *jobs;
    size_t job_count;
    struct text *acks; /* names */
    size_t ack_count;
    struct incoming_abort *aborts;
    size_t abort_count;
    bool deletes_by_priority, deletes_by_expiry; /* the project's deletion policies */
    struct text *deletions;                      /* files that are to go */
    size_t deletion_count;
};

#endif
