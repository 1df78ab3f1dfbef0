/* SPDX-License-Identifier: Apache-2.0 */
/* When the clients of 2003 and 2004 talked to which scheduler of which project: in sessions of
 * several RPCs. A session is a machine that is asked for the next step and told how it went. Pure;
 * times in s, work in s of CPU. */
#ifndef TOOLS_LAB_VOLUNTEERS_CLIENT_RPC_SESSION_H
#define TOOLS_LAB_VOLUNTEERS_CLIENT_RPC_SESSION_H

#include <stdbool.h>
#include <stddef.h>

struct random;

enum { SESSION_MASTER_PERIOD = 10 }; /* failures from one reading of the master page to the next */
#define SESSION_BACKOFF_MAX 14400.0  /* s */

struct session_project {
    double share;
    double cpu_average, average_time; /* decaying sum of CPU time, and when it was true */
    double min_rpc_time;              /* no RPC before; 0: any time */
    unsigned failures;                /* in a row */
    bool fetch_master;                /* its master page is to be read again */
    bool contacted;                   /* in this session */
    bool has_overdue_results;
    size_t scheduler_count; /* URLs that the master page names; 0: it was never read */
};

/* CPU time spent for the project until `now`. Sums lose a factor of e in a week. */
void session_account_cpu(struct session_project *project, double cpu_time, double now);
/* How much the host owes the project: share by CPU time. INFINITY: it got none yet. */
double session_debt(const struct session_project *project, double now);
/* A delay after the n-th failure in a row. */
double session_backoff(unsigned failures, struct random *random);
/* None of its schedulers could be reached, or it said that it is down. */
void session_project_failed(struct session_project *project, double now, struct random *random);
/* Whether its master page is to be read now. */
bool session_master_is_due(const struct session_project *project, double now);
/* A result crashed, or a file of it did not come: the project waits as after a failed RPC. */
void session_computation_failed(struct session_project *project, double now, struct random *random);

enum session_kind { SESSION_NONE, SESSION_GET_WORK, SESSION_REPORT };
enum session_action {
    SESSION_RPC,         /* to the `url`-th scheduler; then session_rpc_done */
    SESSION_READ_MASTER, /* then session_master_done */
    SESSION_OVER
};

struct rpc_session {
    enum session_kind kind;
    bool talking; /* to `project`, where `url` schedulers failed so far */
    bool over;    /* but for master pages */
    size_t project, url;
};

struct session_queue {
    double estimated; /* work that the host has */
    double low, high; /* water marks */
};

struct session_step {
    enum session_action action;
    size_t project, url;
    double work_request; /* of an RPC; 0: none wanted */
};

/* Begins a session if none is on and one is due. */
void session_poll(struct rpc_session *session, struct session_project *projects, size_t count,
                  const struct session_queue *queue, double now);
/* What to do next; SESSION_OVER also when no session is on. */
struct session_step session_next(struct rpc_session *session, struct session_project *projects,
                                 size_t count, const struct session_queue *queue, double now);
/* request_delay: of the reply, 0 if it has none. */
void session_rpc_succeeded(struct rpc_session *session, struct session_project *projects,
                           double request_delay, double now);
void session_rpc_failed(struct rpc_session *session, struct session_project *projects, double now,
                        struct random *random);
/* The project answered that it is down: its other schedulers would say the same. */
void session_project_is_down(struct rpc_session *session, struct session_project *projects,
                             double now, struct random *random);
/* How many URLs are on the page, and how many of them were not known. */
void session_master_read(struct session_project *project, size_t schedulers, size_t new_schedulers);
/* It is not there, or names no scheduler. */
void session_master_failed(struct session_project *project, double now, struct random *random);

#endif
