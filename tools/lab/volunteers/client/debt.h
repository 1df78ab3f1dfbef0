/* SPDX-License-Identifier: Apache-2.0 */
/* How the clients of 2004 shared CPUs between projects and fetched work: by debt, and by the time
 * until a project's queue starves. Pure; times in s, work in s of CPU. */
#ifndef TOOLS_LAB_VOLUNTEERS_CLIENT_DEBT_H
#define TOOLS_LAB_VOLUNTEERS_CLIENT_DEBT_H

#include <stdbool.h>
#include <stddef.h>

struct debt_project {
    double share; /* in any unit, as all shares */
    double debt;
    double anticipated;  /* the debt when the period to come is over */
    double work_request; /* by debt_request_work */
};

struct debt_result {
    size_t project;
    double deadline;
    double cpu_time, cpu_time_at_schedule; /* spent; and what it was when last scheduled */
    double cpu_time_left;                  /* estimated */
    bool runnable;
    bool active;    /* has a slot: it was begun */
    bool running;   /* active, and not preempted */
    bool scheduled; /* by debt_schedule: to run from now on */
};

/* Brings debts up to date with the CPU time spent since the last call, chooses what `cpus`
 * processors run from now on, and makes it so. Returns how many results run. */
size_t debt_schedule(struct debt_project *projects, size_t project_count,
                     struct debt_result *results, size_t result_count, size_t cpus);

struct debt_host {
    size_t cpus;
    double active_fraction;   /* of the time that the client may compute */
    double connection_period; /* T */
};

/* In order of urgency. */
enum debt_urgency { DEBT_WORK_NOT_NEEDED, DEBT_WORK_NEEDED, DEBT_WORK_NEEDED_NOW };

/* How many results a project must have so that no processor of its share is idle. */
size_t debt_min_results(const struct debt_host *host, const struct debt_project *projects,
                        size_t project_count, size_t project);
/* The time until no more than `kept` runnable results are left of a project (ETTPRC). */
double debt_time_to_count(const struct debt_host *host, const struct debt_project *projects,
                          size_t project_count, const struct debt_result *results,
                          size_t result_count, size_t project, size_t kept);
/* Sets the work request of every project. */
enum debt_urgency debt_request_work(const struct debt_host *host, struct debt_project *projects,
                                    size_t project_count, const struct debt_result *results,
                                    size_t result_count);

#endif
