/* SPDX-License-Identifier: Apache-2.0 */
/* How the clients of 2006 to 2010 choose what to run: round robin by short-term debt, but what is
 * in danger of missing its deadline first. Also the states of projects and results, and both kinds
 * of debt. Pure; times in s. */
#ifndef TOOLS_LAB_VOLUNTEERS_CLIENT_SCHEDULE_H
#define TOOLS_LAB_VOLUNTEERS_CLIENT_SCHEDULE_H

#include "tools/lab/volunteers/client/client.h"

#include <stdbool.h>
#include <stddef.h>

#define SCHEDULE_SHORT_DEBT_MAX 86400.0

struct schedule_host {
    double cpus;
    double coprocs[CLIENT_COPROCS]; /* instances by kind */
    double period;                  /* a result once begun runs so long, if it can */
};

/* By schedule_judge_projects. */
struct schedule_state {
    bool runnable, downloading, deferred, overworked, fetchable, latency_limited;
    bool potentially_runnable;
};

struct schedule_project {
    double share;
    bool suspended, no_new_work, master_pending;
    double min_rpc_time;
    bool no_work_deadlines; /* the last reply said so; it holds until its delay is over: */
    double reply_delay_end;
    struct schedule_state state;
    double short_debt, long_debt;
    double cpu_time;         /* wall time on CPUs in the period, of all its results */
    size_t deadlines_missed; /* as simulated */
    double anticipated;      /* short-term debt after what is scheduled; while choosing */
    size_t endangered;       /* missed deadlines that nothing is done about; while choosing */
};

enum schedule_files { SCHEDULE_FILES_HERE, SCHEDULE_FILES_COMING, SCHEDULE_FILES_DEFERRED };

/* In the order in which they were received. */
struct schedule_result {
    size_t project;
    bool suspended, done;
    enum schedule_files files;
    double deadline;
    double cpus;
    size_t coproc; /* the kind that it uses, or CLIENT_NO_COPROC */
    double coprocs;
    bool deadline_missed; /* as simulated */
    bool running;
    double begun;            /* when it began to run, this time */
    double checkpoint;       /* when the last one was written */
    double since_checkpoint; /* wall time on a CPU since */
    bool scheduled;          /* by schedule_choose */
    double charge;           /* off what its project is owed; 0: a period of one CPU */
};

bool schedule_result_is_runnable(const struct schedule_result *result,
                                 const struct schedule_project *projects);
bool schedule_result_is_nearly_runnable(const struct schedule_result *result,
                                        const struct schedule_project *projects);
void schedule_judge_projects(const struct schedule_host *host, struct schedule_project *projects,
                             size_t project_count, const struct schedule_result *results,
                             size_t result_count, double now);

/* Books the CPU time of the period that ended: short-term debt among runnable projects, long-term
 * debt among potentially runnable ones. */
void schedule_adjust_debts(struct schedule_project *projects, size_t count);

/* What should run; what does, stays for schedule_enforce. Returns how many. */
size_t schedule_choose(const struct schedule_host *host, struct schedule_project *projects,
                       size_t project_count, struct schedule_result *results, size_t result_count,
                       double now);
/* Makes it so as far as that may be: who is not endangered waits for a checkpoint later than
 * `chosen_at`. */
void schedule_enforce(const struct schedule_host *host, struct schedule_result *results,
                      size_t count, double chosen_at, double now);

#endif
