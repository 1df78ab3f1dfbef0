/* SPDX-License-Identifier: Apache-2.0 */
/* What a client does at the places where clients of different ages differ: which jobs run, and whom
 * it asks for how much work. Each age's way is a few functions with these signatures, over the
 * rules in client/; the tables of habits.h give them the names that scenarios use. The functions
 * keep what they remember in the fields of struct volunteer that say so. */
#ifndef TOOLS_LAB_VOLUNTEERS_HOST_POLICY_H
#define TOOLS_LAB_VOLUNTEERS_HOST_POLICY_H

#include "tools/lab/volunteers/client/client.h"
#include "tools/lab/volunteers/client/fetch.h"

#include <stdbool.h>
#include <stddef.h>

struct volunteer;
struct volunteer_job;

enum { POLICY_ANY_PROJECT = CLIENT_PROJECTS_MAX };

struct run_policy {
    const char *name;
    /* Marks which jobs run from now on, and sets next_choice. Whatever runs must fit: coprocessors
     * without exception, CPUs but for what coprocessor jobs use of them. */
    void (*choose)(struct volunteer *volunteer);
};

struct fetch_policy {
    const char *name;
    bool in_sessions; /* it chooses schedulers and master pages by itself, in sessions of RPCs */
    /* Whom to ask for what; of one project, if that is contacted anyway (a policy of sessions may
     * answer with another one all the same). Sets lacks_work. False: nobody is asked. */
    bool (*choose)(struct volunteer *volunteer, size_t project, struct fetch_request *ret_request);
    /* What the reply means for the next choice. NULL: nothing. */
    void (*hear)(struct volunteer *volunteer, const struct fetch_request *request,
                 const enum fetch_answer answers[CLIENT_RESOURCES]);
    /* Nobody answered, or the answer is that the project is down. NULL: contact_failed does. */
    void (*hear_nothing)(struct volunteer *volunteer, size_t project, bool is_down);
    /* Adds `used` of all projects, in an interval of presence in s, to what the projects got. NULL:
     * this policy keeps no debts. */
    void (*book)(struct volunteer *volunteer, double interval);
    /* When somebody may be asked for what is lacking. */
    double (*next)(const struct volunteer *volunteer);
    /* A job was computed to its end, or failed. NULL: nothing. */
    void (*job_over)(struct volunteer *volunteer, const struct volunteer_job *job);
};

/* --- what runs ------------------------------------------------------------------------------- */

void run_by_deadline(struct volunteer *volunteer); /* deadline_policy.c */
/* Marks which coprocessor jobs run, earliest deadline first. Returns the CPUs left for others. */
double run_coprocs(struct volunteer *volunteer);
void run_by_debt(struct volunteer *volunteer);   /* debt_policy.c */
void run_by_robin(struct volunteer *volunteer);  /* robin_policy.c, as all ages until 2010 */
void run_by_recent(struct volunteer *volunteer); /* robin_policy.c, with the debts of 2012 */

/* --- work fetch ------------------------------------------------------------------------------ */

/* session_policy.c */
bool fetch_by_sessions(struct volunteer *volunteer, size_t project,
                       struct fetch_request *ret_request);
void fetch_by_sessions_hear(struct volunteer *volunteer, const struct fetch_request *request,
                            const enum fetch_answer answers[CLIENT_RESOURCES]);
void fetch_by_sessions_hear_nothing(struct volunteer *volunteer, size_t project, bool is_down);
void fetch_by_sessions_book(struct volunteer *volunteer, double interval);
void fetch_by_sessions_job_over(struct volunteer *volunteer, const struct volunteer_job *job);
/* debt_policy.c */
bool fetch_by_debt(struct volunteer *volunteer, size_t project, struct fetch_request *ret_request);
/* robin_policy.c */
bool fetch_by_demand(struct volunteer *volunteer, size_t project,
                     struct fetch_request *ret_request);
/* resource_policy.c */
bool fetch_by_resources(struct volunteer *volunteer, size_t project,
                        struct fetch_request *ret_request);
void fetch_by_resources_hear(struct volunteer *volunteer, const struct fetch_request *request,
                             const enum fetch_answer answers[CLIENT_RESOURCES]);
void fetch_by_resources_book(struct volunteer *volunteer, double interval);
double fetch_by_resources_next(const struct volunteer *volunteer);
bool fetch_by_marks(struct volunteer *volunteer, size_t project, struct fetch_request *ret_request);
double fetch_by_marks_next(const struct volunteer *volunteer);
void fetch_at_present_job_over(struct volunteer *volunteer, const struct volunteer_job *job);

#endif
