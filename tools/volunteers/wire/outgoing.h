/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler request of an emulated host, as clients write it: present-day ones, or those that
 * knew no resources. */
#ifndef TOOLS_VOLUNTEERS_WIRE_OUTGOING_H
#define TOOLS_VOLUNTEERS_WIRE_OUTGOING_H

#include "server/base/text.h"
#include "tools/volunteers/client/fetch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct versions;
struct machine;

struct outgoing_job { /* one that the host has not reported yet */
    const char *name;
    size_t version;        /* of outgoing, or VERSIONS_NONE */
    double deadline, left; /* s since 1970; s of run time, estimated */
    bool is_own;           /* of the project that is asked; others' are in the workload only */
    bool done;             /* it is reported now */
    bool failed, aborted;  /* how it ended */
    double elapsed;        /* s of run time that it took */
    double cpus;
    size_t coproc; /* the kind that it uses besides, or FETCH_CPU: none */
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
    uint64_t mark; /* tells machines of one run from each other, and runs too */
    const struct machine *machine;
    double on_fraction;
    /* Of all shares of the host: among all projects, those with jobs, those that may have some. */
    double share_fraction, runnable_fraction, potential_fraction;
    double correction; /* of durations */
    struct outgoing_demand demands[FETCH_RESOURCES_MAX];
    bool is_scalar;   /* one number for all resources, as before 6.6 */
    double scalar;    /* s; beside demands what old servers would read */
    bool lists_queue; /* as the server once asked for */
    struct outgoing_disk disk;
    const struct versions *versions; /* of the project; NULL: none */
    const struct outgoing_job *jobs;
    size_t job_count;
};

void outgoing_write(const struct outgoing *outgoing, struct buffer *request);

#endif
