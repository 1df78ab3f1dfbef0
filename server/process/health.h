/* SPDX-License-Identifier: Apache-2.0 */
/* What this server has found out about itself: whether its database can be worked with, what is
 * wrong in the project's folder, how requests of late ended. The watcher finds it out; the pages
 * that show it wait for nothing. */
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
    int64_t examined;    /* the database; 0: not yet */
    int64_t clock_ahead; /* the database's, of ours, in s */
    struct check_counts folder;
    size_t restarts_wanted;
    bool was_refused; /* config.xml, when it was read last */
    bool is_stopped, sends_no_jobs;
    bool has_backlog;
    struct backlog backlog;
};
void health_figures(struct health *health, struct health_figures *ret_figures);
/* NULL: it can serve. Else why not, in words for anybody, without names or figures. */
const char *health_problem(struct health *health);
/* Gauges, in the text format of Prometheus. */
void health_write(struct health *health, int64_t now, struct buffer *ret_page);

#endif
