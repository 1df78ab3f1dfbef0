/* SPDX-License-Identifier: Apache-2.0 */
/* How the clients from 2009 on fetch work for CPUs and coprocessors: whom they ask, for which
 * resource, for how much, and what they make of the reply. Pure; times in s, and amounts of a
 * resource in s of one instance. */
#ifndef TOOLS_LAB_VOLUNTEERS_CLIENT_FETCH_H
#define TOOLS_LAB_VOLUNTEERS_CLIENT_FETCH_H

#include "tools/lab/volunteers/client/client.h"

#include <stdbool.h>
#include <stddef.h>

struct random;

#define FETCH_BACKOFF_MIN 600.0   /* s */
#define FETCH_BACKOFF_MAX 86400.0 /* s */

struct fetch_account {      /* of one project and resource */
    double debt;            /* that the host owes it */
    bool supplies;          /* it would probably have a job if asked */
    double backoff;         /* the present interval; 0: none */
    double backoff_end;     /* not asked before */
    double share;           /* instances that it should get, as rivals stand; here and below */
    double used, shortfall; /* of one simulation */
    double queued;          /* instances that all its jobs would use at once */
};

struct fetch_project {
    double share;
    double min_rpc_time;
    bool excluded; /* suspended, or no new work */
    double recent; /* operations done for it lately: see marks.h */
    struct fetch_account accounts[CLIENT_RESOURCES];
};

struct fetch_resource {
    double count;           /* instances; 0: the host has none of it */
    double flops;           /* of one */
    double used, shortfall; /* of one simulation */
    double idle;            /* instances that have nothing to do now */
    double saturated;       /* s until the first one has; INFINITY: not while it was simulated */
};

struct fetch_host {
    struct fetch_resource resources[CLIENT_RESOURCES]; /* the first is CLIENT_CPU */
    size_t resource_count;
    struct fetch_project *projects; /* CLIENT_PROJECTS_MAX at most */
    size_t project_count;
};

struct fetch_job {
    size_t project;
    double uses[CLIENT_RESOURCES]; /* instances; of a coprocessor at most of one kind */
    double left;                   /* s to run */
    double simulated_left;         /* of one simulation */
    bool running;                  /* at present, or in the simulation's present */
    struct fetch_job *next;        /* of one simulation */
};

/* Begins a simulation: shares among the projects that are not backed off, no shortfalls. */
void fetch_init(struct fetch_host *host, double now);
/* After the first jobs were assigned: what is idle. */
void fetch_set_idle(struct fetch_host *host);
/* For `interval` the present use lasts. */
void fetch_accumulate_shortfall(struct fetch_host *host, double interval, double now);
/* The whole simulation of the next `buffer` s: jobs are run in their order, those of coprocessors
 * first. Leaves `running` for the jobs that run at its beginning. */
void fetch_simulate(struct fetch_host *host, struct fetch_job *jobs, size_t job_count,
                    double buffer, double now);

/* What was owed and was used in the last `interval` by the jobs that ran. */
void fetch_accumulate_debt(struct fetch_host *host, const struct fetch_job *jobs, size_t job_count,
                           double interval, double now);
/* Over all resources, in s of one CPU. */
double fetch_overall_debt(const struct fetch_host *host, size_t project);

struct fetch_request {
    size_t project;
    bool reads_master;                /* its master page is read: no RPC yet */
    size_t turn;                      /* so many of its schedulers failed before, in this contact */
    double seconds[CLIENT_RESOURCES]; /* nothing of both: no job of it is wanted */
    double instances[CLIENT_RESOURCES];
    double scalar; /* for servers that know no resources: the largest of the seconds */
};

/* The best project to ask for the resource; project_count if there is none. */
size_t fetch_select_project(const struct fetch_host *host, size_t resource, double now);
/* After a simulation. False: nobody is to be asked now. */
bool fetch_choose(const struct fetch_host *host, double now, struct fetch_request *ret_request);
/* As a contact for another reason does: of this project what it would be chosen for. False:
 * nothing. */
bool fetch_add_to_contact(const struct fetch_host *host, size_t project, double now,
                          struct fetch_request *ret_request);
/* When a project may be asked for something that is lacking; INFINITY: nothing is. */
double fetch_next_contact(const struct fetch_host *host, size_t project);

enum fetch_answer {
    FETCH_SILENCE,     /* nothing sent, nothing said: an old server */
    FETCH_SENT,        /* a job of it */
    FETCH_NONE_NOW,    /* supported, but nothing now */
    FETCH_UNSUPPORTED, /* never for this host */
};
/* What a reply says of each resource of the request. */
void fetch_handle_reply(struct fetch_host *host, const struct fetch_request *request,
                        const enum fetch_answer answers[CLIENT_RESOURCES], double now,
                        struct random *random);

#endif
