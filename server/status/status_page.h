/* SPDX-License-Identifier: Apache-2.0 */
/* From figures to the bytes of the page "Server"; pure. Each page of this room is one document with
 * all it needs within: no picture, font or program is asked for. It can be read without its script,
 * which only fetches the page again and puts the new figures in the place of the old.
 *
 * It shows numbers, applications' names, and options of config.xml that changed (nothing that is
 * secret): no hosts, no users, no jobs. */
#ifndef SERVER_STATUS_STATUS_PAGE_H
#define SERVER_STATUS_STATUS_PAGE_H

#include "db/db.h"
#include "server/base/text.h"
#include "server/policy/refusal/reason.h"
#include "server/rpc/request.h"
#include "server/status/page_frame.h"
#include "server/status/slot_ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;

/* Counters of counters.def that are shown, with a few words: COUNT(name, words). */
#define STATUS_TRAFFIC(COUNT)                                   \
    COUNT(requests, "requests processed")                       \
    COUNT(replies_full, "served in full")                       \
    COUNT(replies_refused, "rejected: invalid request")         \
    COUNT(replies_later, "answered: come again later")          \
    COUNT(requests_turned_away, "turned away: too many waited") \
    COUNT(replies_down, "answered: project is down")            \
    COUNT(jobs_sent, "jobs handed out")                         \
    COUNT(jobs_resent, "lost jobs sent again")                  \
    COUNT(reports_booked, "results booked")                     \
    COUNT(hosts_created, "new hosts")
#define STATUS_DATABASE(COUNT)                                           \
    COUNT(db_statements, "statements executed")                          \
    COUNT(db_round_trips, "round trips that requests waited for")        \
    COUNT(db_retries, "transactions tried again")                        \
    COUNT(db_reconnects, "connections opened again after a loss")        \
    COUNT(db_connections_failed, "connections that could not be opened") \
    COUNT(db_unknown_outcomes, "commits whose outcome had to be looked up")

enum { STATUS_STEPS = STEP_COUNT + 1 /* the commit */ };

/* The totals of a process, which the rings keep; all but the last four kinds by their tables.
 */
enum status_total {
#define STATUS_ENUM(name, words) STATUS_##name,
    STATUS_TRAFFIC(STATUS_ENUM) STATUS_DATABASE(STATUS_ENUM)
#undef STATUS_ENUM
        STATUS_ERRORS, /* DB_ERROR_COUNT of them */
    STATUS_REASONS = STATUS_ERRORS + DB_ERROR_COUNT,
    STATUS_STEP_NS = STATUS_REASONS + REASON_COUNT,
    STATUS_STEP_TIMES = STATUS_STEP_NS + STATUS_STEPS,
    STATUS_TIMED = STATUS_STEP_TIMES + STATUS_STEPS, /* requests, of which these are the times */
    STATUS_SERVED_NS,
    STATUS_WAITED_NS, /* for a thread, before */
    STATUS_ASKED,     /* requests that waited for the database */
    STATUS_ASKED_NS,
    STATUS_TOTALS
};
enum status_level { STATUS_UNSENT };
_Static_assert((int)STATUS_UNSENT < (int)SLOT_LEVELS, "the ring has room for the levels");

struct status_step {
    const char *word, *brief;
    double bound; /* s that 99 of 100 took at most, since the process began; infinite: longer than
                     any bound; 0: none yet */
};

/* An application, with the kinds of processors that its versions are for. */
struct status_app {
    struct text name, title;
    struct text resources; /* "CPU, NVIDIA"; empty: it has no version */
    size_t jobs;           /* unsent, in memory */
};
/* A kind of processor. */
struct status_resource {
    struct text type;
    size_t apps, jobs; /* applications with a version for it, and their unsent jobs */
};

/* A server process of the project. */
struct status_process {
    struct text name; /* "machine:number" */
    bool is_this, is_silent;
    double up_for, silent_for;             /* s */
    uint64_t requests, jobs_sent, reports; /* of the last hour */
    double mean;                           /* time of a request, s; NAN: there was none */
};

/* What the upload handler has left of itself. */
struct status_uploads {
    int64_t at, began; /* epochs; at 0: nothing is known */
    bool is_stopped;
    uint64_t done, bytes, later, refused, cut, yielded; /* since it began */
};
enum { UPLOADS_SILENT_S = 120 };

/* Something was read again. */
struct status_event {
    int64_t at; /* epoch */
    bool is_refused;
    struct text what;  /* "config.xml" */
    struct text words; /* one line for each change, or why it was refused */
};

struct status_finding {
    const char *topic;
    unsigned errors, warnings;
};

struct status_figures {
    struct text project;
    const char *version;
    int64_t now, began; /* epochs */
    int64_t process;    /* its number */
    size_t threads;     /* 0: not known */
    size_t servers;     /* that share the database's jobs, this one too; 0: not known */

    const struct status_process *processes;
    size_t process_count;

    const struct slot_ring *hour, *day;
    const uint64_t *totals; /* STATUS_TOTALS, since the process began */
    struct status_step steps[STATUS_STEPS];
    double served_bound, waited_bound, asked_bound; /* as status_step.bound */

    bool is_stopped, sends_no_jobs;
    size_t reading, waiting; /* connections, requests */
    double oldest_wait;      /* s */
    uint64_t waiting_bytes;

    bool has_pool;
    size_t pool_jobs, pool_taken, pool_own;
    uint64_t pool_bytes;
    bool pool_is_filled, pool_is_complete;
    double pool_lag, pool_sweep_seconds; /* s */
    uint64_t pool_sweeps;
    const struct status_app *apps;
    size_t app_count;
    const struct status_resource *resources;
    size_t resource_count;

    enum db_trouble trouble;
    int64_t examined;              /* epoch; 0: not yet */
    int64_t clock_ahead;           /* s, of the database's clock */
    double away_for;               /* s; 0: it was there */
    const struct backlog *backlog; /* NULL: not known */

    struct status_uploads uploads;

    const struct status_finding *findings; /* by topic */
    size_t finding_count;
    int64_t database_checked, web_checked; /* epochs; 0: not of late */
    size_t restarts_wanted;
    bool config_was_refused;
    const struct status_event *events; /* newest first */
    size_t event_count;
};

void status_page_write(const struct status_figures *figures, struct buffer *ret_page);
#endif
