/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler request of an emulated host, as a present-day client writes it. */
#ifndef TOOLS_VOLUNTEERS_OUTGOING_H
#define TOOLS_VOLUNTEERS_OUTGOING_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct machine;

struct outgoing_job { /* one that the host has not reported yet */
    const char *name;
    double deadline, left; /* s since 1970; s of run time, estimated */
    bool done, failed;     /* done: it is reported now */
    double elapsed;        /* s of run time that it took */
};

struct outgoing {
    struct text authenticator, platform;
    int64_t hostid, rpc_seqno;
    uint64_t mark; /* tells machines of one run from each other, and runs too */
    const struct machine *machine;
    double on_fraction;
    double cpu_seconds, cpu_instances; /* asked for */
    const struct outgoing_job *jobs;
    size_t job_count;
};

void outgoing_write(const struct outgoing *outgoing, struct buffer *request);

#endif
