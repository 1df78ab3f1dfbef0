/* SPDX-License-Identifier: Apache-2.0 */
/* What clients of all ages do, by name: each way is a row of a table, over the pure rooms. */
#ifndef TOOLS_VOLUNTEERS_HOST_POLICY_H
#define TOOLS_VOLUNTEERS_HOST_POLICY_H

#include "server/base/text.h"
#include "tools/volunteers/client/fetch.h"

#include <stdbool.h>
#include <stddef.h>

struct volunteer;
struct volunteer_job;

enum { POLICY_ANY_PROJECT = FETCH_PROJECTS_MAX };

struct run_policy {
    const char *name;
    /* Marks what runs from now on, and sets next_choice. Whatever runs must fit: coprocessors
     * without exception, CPUs but for what coprocessor jobs use of them. */
    void (*choose)(struct volunteer *volunteer);
};

struct fetch_policy {
    const char *name;
    bool in_sessions; /* it chooses schedulers and master pages too */
    /* Whom to ask for what; of one project, if it is contacted anyway. Sets lacks_work. In sessions
     * it may be another one all the same. */
    bool (*choose)(struct volunteer *volunteer, size_t project, struct fetch_request *ret_request);
    /* What the reply means for the next choice. NULL: nothing. */
    void (*hear)(struct volunteer *volunteer, const struct fetch_request *request,
                 const enum fetch_answer answers[FETCH_RESOURCES_MAX]);
    /* Nobody answered, or the answer is that the project is down. NULL: by contact.h. */
    void (*hear_nothing)(struct volunteer *volunteer, size_t project, bool is_down);
    /* Books `used` of all projects for an interval of presence. NULL: nothing is owed. */
    void (*settle)(struct volunteer *volunteer, double interval);
    /* When somebody may be asked for what is lacking. */
    double (*next)(const struct volunteer *volunteer);
    /* A job of a project failed. NULL: nothing. */
    void (*job_failed)(struct volunteer *volunteer, size_t project);
};

struct estimate_policy {
    const char *name;
    /* The run time that is left of a job, as the client has it. */
    double (*left)(const struct volunteer *volunteer, const struct volunteer_job *job);
    /* A job took as long as it did. NULL: nothing is learned. */
    void (*learn)(struct volunteer *volunteer, const struct volunteer_job *job);
};

/* How amounts go into the request. */
struct request_policy {
    const char *name;
    bool is_scalar; /* one number, in the wall time of the project's share */
};

/* What is done about disk space. */
struct disk_policy {
    const char *name;
    bool keeps_files, tells_amounts;
    bool tells_free_alone; /* whatever could be deleted: to see what that costs */
};

struct policy_table {
    const char *name; /* in scenario files */
    const void *rows; /* each begins with its name */
    size_t count, size;
};

extern const struct run_policy run_policies[];
extern const struct fetch_policy fetch_policies[];
extern const struct estimate_policy estimate_policies[];
extern const struct request_policy request_policies[];
extern const struct disk_policy disk_policies[];
/* The index of a word in a table; its count: there is none. */
size_t policy_find(const struct policy_table *table, struct text word);
const char *policy_word(const struct policy_table *table, size_t index);

enum { POLICY_RUN, POLICY_FETCH, POLICY_ESTIMATE, POLICY_REQUEST, POLICY_DISK, POLICY_TABLES };
extern const struct policy_table policy_tables[POLICY_TABLES];

/* The rows. */
void run_by_deadline(struct volunteer *volunteer);
void run_by_debt(struct volunteer *volunteer);
void run_by_robin(struct volunteer *volunteer);
void run_by_recent(struct volunteer *volunteer);
/* Marks coprocessor jobs that run, earliest deadline first. Returns the CPUs left for others. */
double run_coprocs(struct volunteer *volunteer);

bool fetch_by_resources(struct volunteer *volunteer, size_t project,
                        struct fetch_request *ret_request);
void fetch_by_resources_hear(struct volunteer *volunteer, const struct fetch_request *request,
                             const enum fetch_answer answers[FETCH_RESOURCES_MAX]);
void fetch_by_resources_settle(struct volunteer *volunteer, double interval);
double fetch_by_resources_next(const struct volunteer *volunteer);
bool fetch_by_marks(struct volunteer *volunteer, size_t project, struct fetch_request *ret_request);
double fetch_by_marks_next(const struct volunteer *volunteer);

bool fetch_by_demand(struct volunteer *volunteer, size_t project,
                     struct fetch_request *ret_request);
bool fetch_by_debt(struct volunteer *volunteer, size_t project, struct fetch_request *ret_request);
bool fetch_by_sessions(struct volunteer *volunteer, size_t project,
                       struct fetch_request *ret_request);
void fetch_by_sessions_hear(struct volunteer *volunteer, const struct fetch_request *request,
                            const enum fetch_answer answers[FETCH_RESOURCES_MAX]);
void fetch_by_sessions_hear_nothing(struct volunteer *volunteer, size_t project, bool is_down);
void fetch_by_sessions_settle(struct volunteer *volunteer, double interval);
void fetch_by_sessions_job_failed(struct volunteer *volunteer, size_t project);
/* Of policies without back-offs for resources: projects that sent nothing wait longer and longer.
 */
void fetch_wait_if_empty(struct volunteer *volunteer, const struct fetch_request *request,
                         const enum fetch_answer answers[FETCH_RESOURCES_MAX]);
double fetch_next_free(const struct volunteer *volunteer);

/* By the policy of the volunteer. */
double estimate_left(const struct volunteer *volunteer, const struct volunteer_job *job);
/* The jobs that are not done, for fetch_simulate, in room for VOLUNTEER_JOBS_MAX; returns how many.
 */
size_t estimate_queue(const struct volunteer *volunteer, struct fetch_job *ret_jobs);
void estimate_learn(struct volunteer *volunteer, const struct volunteer_job *job);
double estimate_by_server(const struct volunteer *volunteer, const struct volunteer_job *job);
double estimate_corrected(const struct volunteer *volunteer, const struct volunteer_job *job);
void estimate_correct(struct volunteer *volunteer, const struct volunteer_job *job);

#endif
