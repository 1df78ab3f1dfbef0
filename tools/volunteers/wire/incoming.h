/* SPDX-License-Identifier: Apache-2.0 */
/* What an emulated host takes from a scheduler reply. */
#ifndef TOOLS_VOLUNTEERS_WIRE_INCOMING_H
#define TOOLS_VOLUNTEERS_WIRE_INCOMING_H

#include "server/base/text.h"
#include "tools/volunteers/client/fetch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

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

struct incoming_job {
    struct text name, workunit, app, platform, plan_class;
    int64_t version;
    double deadline;                   /* s since 1970 */
    double operations;                 /* estimated; 0: not told */
    double flops;                      /* of its version; 0: not told */
    double cpus;                       /* that it uses while it runs */
    size_t coproc;                     /* the kind that it uses besides, or FETCH_CPU: none */
    double coprocs;                    /* instances of it */
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
    bool send_full_workload; /* lists of jobs in progress are wanted, from now on */
    enum fetch_answer answers[FETCH_RESOURCES_MAX];
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

/* STATUS_INVALID: not a whole reply. Texts live in the arena. */
MUST_CHECK enum status incoming_read(struct text reply, struct arena *arena,
                                     struct incoming *ret_incoming, struct failure *failure);

#endif
