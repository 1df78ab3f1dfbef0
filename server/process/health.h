/* SPDX-License-Identifier: Apache-2.0 */
/* The server's findings about itself and its project: whether it can work with the database, what
 * checks found, how recent requests ended. Other threads find out; the pages that show it wait for
 * nothing. */
#ifndef SERVER_PROCESS_HEALTH_H
#define SERVER_PROCESS_HEALTH_H

#include "db/db.h"
#include "server/check/project_check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct health;

struct health *health_create(void); /* NULL: no memory */
void health_destroy(struct health *health);

/* Any thread, all of these. Times are epochs. */
void health_note_database(struct health *health, enum db_trouble trouble, int64_t now);
void health_note_clock(struct health *health, int64_t ahead); /* s, as db_examine says */
void health_note_folder(struct health *health, const struct check_counts *counts);
/* What some process of the project, or qmctl, found last in the database, and of the project's
 * pages. `at`: when; 0: not known. */
void health_note_checks(struct health *health, const struct check_counts *counts, int64_t at);
void health_note_web(struct health *health, const struct check_counts *counts, int64_t at);
/* config.xml was read again; so many options that changed wait for a restart. */
void health_note_config(struct health *health, size_t restarts_wanted);
/* The config.xml that is there was refused; the one before stays in force. */
void health_note_refusal(struct health *health);
/* `backlog` NULL: it cannot be had. */
void health_note_backlog(struct health *health, const struct backlog *backlog, int64_t now);
void health_note_stop(struct health *health, bool is_stopped, bool sends_no_jobs);
void health_note_served(struct health *health, int64_t now); /* a request was done as it asked */
/* Once in a while: how many replies of each kind there have been, by the counters. */
void health_note_counters(struct health *health, int64_t now);

/* What was found out, and when. */
struct health_figures {
    enum db_trouble trouble;
    int64_t examined;           /* the database; 0: not yet */
    int64_t clock_ahead;        /* the database's, of ours, in s */
    struct check_counts checks; /* of all looks that are current */
    int64_t checks_at, web_at;  /* those beyond the folder; 0: none is known */
    size_t restarts_wanted;
    bool was_refused; /* config.xml, when it was read last */
    bool is_stopped, sends_no_jobs;
    bool has_backlog;
    struct backlog backlog;
};
void health_figures(struct health *health, int64_t now, struct health_figures *ret_figures);
/* NULL: it can serve. Else why not, in words for anybody, without names or figures. */
const char *health_problem(struct health *health);
/* Gauges, in the text format of Prometheus. */
void health_write(struct health *health, int64_t now, struct buffer *ret_page);

#endif
