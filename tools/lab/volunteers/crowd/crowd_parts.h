/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the loop share, and nobody else includes: crowd.c runs the events, crowd_rpcs.c
 * carries the RPCs, crowd_masters.c numbers the schedulers that master pages name, and
 * crowd_clock.c does what is due by virtual time. All of them work on one struct crowd, so its
 * fields are one header; use goes from crowd.c to the others, and from crowd_rpcs.c to the last
 * two. */
#ifndef TOOLS_LAB_VOLUNTEERS_CROWD_CROWD_PARTS_H
#define TOOLS_LAB_VOLUNTEERS_CROWD_CROWD_PARTS_H

#include "server/base/buffer.h"
#include "tools/lab/volunteers/client/client.h"
#include "tools/lab/volunteers/crowd/accounts.h"
#include "tools/lab/volunteers/crowd/agenda.h"
#include "tools/lab/volunteers/crowd/effort.h"
#include "tools/lab/volunteers/crowd/http_lines.h"
#include "tools/lab/volunteers/crowd/observer.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct master_page;
struct metrics;
struct volunteer_question;

enum { CROWD_SCHEDULERS_MAX = 64 }; /* of a project, in a whole run */

/* URLs that master pages have named so far, by number; without --master the one URL of the command
 * line. */
struct schedulers {
    const char *urls[CROWD_SCHEDULERS_MAX];
    size_t count;
};

/* One request under way, on the HTTP line of its number. It is on from crowd_rpc_begin until its
 * host has heard an answer, or that there is none. */
struct flight {
    bool is_on;
    double time;     /* virtual */
    double retry_at; /* real: nobody was there, it goes out again then; 0: it is out */
    size_t host, project;
    struct volunteer_question *question;
    struct buffer request;
    struct arena *arena; /* of its reply */
};

/* What is known of a project's server. crowd_rpcs.c enters that it is away when no connection can
 * be made, and that it serves at the first reply with work or an account. */
struct crowd_server {
    double away_since; /* real; 0: it answers */
    bool serves;       /* it has done once what it was asked for */
    uint64_t idle;     /* requests before that */
    char words[128];   /* what became of the last of them */
};

struct crowd {
    const struct command_line *options;
    const struct scenario *scenario;
    struct arena *arena; /* of the accounts and schedulers */
    struct accounts accounts[CLIENT_PROJECTS_MAX];
    struct schedulers schedulers[CLIENT_PROJECTS_MAX];
    const volatile sig_atomic_t *is_stopped; /* not 0: a signal asked for the end of the run */
    double end;
    struct volunteer *volunteers;
    size_t count;
    struct agenda agenda;
    struct http_lines *http;
    struct flight flights[HTTP_LINES_MAX];
    size_t flight_count; /* lines */
    size_t on_count;     /* of those, with a request under way */
    struct crowd_server servers[CLIENT_PROJECTS_MAX];
    struct observer observers[CROWD_OBSERVERS_MAX];
    size_t observer_count;
    uint64_t samples; /* taken */
    struct metrics *metrics;
    bool misses_metrics; /* some page could not be read */
    struct crowd_effort effort;
    uint64_t complaints;
    double begun, told;   /* real; of the run, of the last progress line */
    double stopped_since; /* real; 0: it goes on */
    uint64_t told_rpcs;
};

double crowd_seconds(void); /* real time, of any beginning */

/* --- crowd_rpcs.c --- */

/* Sends the question of a free line; in an outage of the scenario its host hears at once that
 * nobody answers, and the line stays free. */
MUST_CHECK enum status crowd_rpc_begin(struct crowd *crowd, size_t line, struct failure *failure);
/* Waits for the next answer, for a moment at most. *ret_host: the host that heard an answer or that
 * there is none, and whose line is free again; crowd->count: no host did. */
MUST_CHECK enum status crowd_rpc_wait(struct crowd *crowd, size_t *ret_host,
                                      struct failure *failure);

/* STATUS_INVALID: a project was asked at least so often and has served nobody. */
MUST_CHECK enum status crowd_rpc_judge(const struct crowd *crowd, uint64_t least,
                                       struct failure *failure);

/* --- crowd_masters.c --- */

/* Reads all master pages once. STATUS_IO, STATUS_INVALID: as crowd_create. */
MUST_CHECK enum status crowd_read_masters(struct crowd *crowd, struct failure *failure);
/* The numbers of the schedulers that a page names; ret_numbers has room for MASTER_SCHEDULERS_MAX.
 * Returns how many. New ones get a number until CROWD_SCHEDULERS_MAX are known. */
size_t crowd_number_schedulers(struct crowd *crowd, size_t project, const struct master_page *page,
                               uint8_t *ret_numbers);

/* --- crowd_clock.c --- */

/* The next time at which a sample or command is due. It comes before all events of that time. */
double crowd_next_due(const struct crowd *crowd);
/* Takes the sample, or runs the commands. No request may be under way. */
MUST_CHECK enum status crowd_do_due(struct crowd *crowd, struct failure *failure);
void crowd_sample(struct crowd *crowd, double time, bool is_last);
void crowd_tell_progress(struct crowd *crowd, double time);
void crowd_live(struct crowd *crowd, size_t host, double until);

#endif
