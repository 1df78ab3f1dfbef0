/* SPDX-License-Identifier: Apache-2.0 */
/* A whole emulated host against servers of a few lines, without network: each sends as many jobs as
 * are asked for and acknowledges everything. */
#ifndef TESTS_SUPPORT_EMULATION_H
#define TESTS_SUPPORT_EMULATION_H

#include "tools/lab/volunteers/host/scheduler_rpc.h"
#include "tools/lab/volunteers/host/volunteer.h"

#include <stdbool.h>
#include <stddef.h>

#define EMULATION_BEGIN 1e9
enum { EMULATION_PROJECTS_MAX = 16 };

/* What the server of a project does. */
struct emulated_project {
    bool serves[CLIENT_RESOURCES]; /* it has jobs for the resource, and always more */
    double run_time;               /* s of a job on the host's processor, as estimated */
    double optimism;               /* jobs take so many times as long as estimated; 0: once */
    double bound;                  /* s from sending to the deadline */
    double coproc_cpus;            /* that jobs of coprocessors use beside them */
    double request_delay, next_rpc_delay;
    size_t jobs_max;                      /* in a reply; 0: 100 */
    bool is_silent;                       /* nobody answers */
    bool is_down;                         /* it says that it is */
    uint8_t page[CONTACT_SCHEDULERS_MAX]; /* its master page, where the population reads any */
    size_t page_count;                    /* 0: it cannot be read */
    uint8_t dead;                         /* bit n: scheduler n of 0 to 7 does not answer */
    bool refuses_for_deadlines;
    bool keeps_silent_of_resources; /* as servers of other makes */
    bool no_full_workload;          /* the queue is not asked for */
    double file_bytes;              /* of a sticky file that each job brings; 0: none */
    bool file_is_output;            /* of the job, which sets its size by itself */
    int file_priority;
    double file_life; /* s */
    bool deletes_by_priority, deletes_by_expiry;
    /* Outcome. */
    uint64_t rpcs, sent, reported, refused;
    uint64_t rpcs_of[8], pages_read; /* by scheduler */
    double last_rpc;
    uint8_t read[CONTACT_SCHEDULERS_MAX]; /* what the host read last */
    size_t read_count;
};

struct emulation {
    struct population population;
    struct emulated_project projects[EMULATION_PROJECTS_MAX];
    struct volunteer volunteer;
    struct volunteer_question question;
    /* Called for each request before it is answered; NULL: nobody looks. */
    void (*look)(struct emulation *emulation, void *context);
    void *context;
    uint64_t number, events;
};

/* Steady hosts of a 1 GFLOPS CPU, always on, without errors, whose jobs take what is estimated. */
struct population emulation_steady(void);
/* Every project serves CPUs with jobs of an hour, due in 30 days. Population and projects may be
 * changed before emulation_begin. */
struct emulation *emulation_create(void);
void emulation_begin(struct emulation *emulation, uint64_t seed);
/* Until so many days after the beginning. */
void emulation_run(struct emulation *emulation, double days);
void emulation_free(struct emulation *emulation);

#endif
