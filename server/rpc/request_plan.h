/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps of a request will do about jobs, decided once, at the end of authenticate. Each
 * step obeys the plan, so a step can also know what a later one will read, and read it first; pure.
 */
#ifndef SERVER_RPC_REQUEST_PLAN_H
#define SERVER_RPC_REQUEST_PLAN_H

#include <stdbool.h>

/* What the plan depends on. */
struct plan_conditions {
    /* the request */
    bool asks_for_work;        /* see message_wants_work */
    bool declines_work;        /* dont_send_work: not even jobs that nobody asks for */
    bool has_job_list;         /* it lists its jobs, if only none of them */
    bool lists_jobs;           /* it lists one at least */
    bool has_unread_reports;   /* some were cut off; their jobs are neither listed nor reported */
    bool counts_again;         /* it reports jobs, or the host's day is new */
    bool queue_lacks_own_jobs; /* see workload_needs_own */
    /* the host */
    bool is_new;        /* nothing can be in progress on it */
    bool is_forbidden;  /* nobody of its kind gets work, whatever was sent before */
    bool is_refused;    /* no new jobs for any reason, is_forbidden or another */
    bool is_too_recent; /* and the only reason is that the request came too early */
    /* the project */
    bool resends_lost, aborts_unneeded, assigns_targeted, assigns_broadcast;
    bool simulates_deadlines;
    bool limits_in_progress; /* some limit counts this host's jobs in progress */
    bool has_always_on_apps;
};

struct request_plan {
    /* select; policy(7) 10.1 to 10.6 */
    bool wants_work;       /* new jobs, within the amounts of the request */
    bool serves_always_on; /* jobs of always-on apps */
    bool serves_assigned;  /* jobs that are assigned to the host */
    bool serves_any;       /* one of the three */
    /* and then: */
    bool queue_needs_rows; /* this project's jobs of the host's queue come from the database */
    bool counts_rows;      /* the jobs in progress are counted in the database */
    /* resend; policy(7) 11.1 and 11.2 */
    bool will_resend;       /* lost jobs */
    bool resends_if_booked; /* likewise, once a success turns out to have been reported before */
    bool aborts;            /* listed jobs that nobody needs any more */
    /* what these read */
    bool reads_in_progress; /* all results in progress on the host; on a new one nothing is read */
    bool needs_workunits;   /* with their workunits, by whatever step they are read first */
    bool reads_versions;    /* what the host's statistics of its app versions say */
};

struct request_plan plan_of(const struct plan_conditions *conditions);

#endif
