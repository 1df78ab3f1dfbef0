/* SPDX-License-Identifier: Apache-2.0 */
#include "server/process/health.h"

#include "server/base/buffer.h"
#include "server/base/counters.h"
#include "server/base/metric.h"
#include "server/request/reason_counts.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "server/base/banned.h"

/* Of late: the last ten minutes, in steps. */
enum { STEP_S = 30, STEPS = 20 };

/* Replies of the process so far, of all kinds and of some. */
struct replies {
    uint64_t all, down, later, other_key;
};

struct health {
    /* The last request; 0: none yet. Not under the lock, since each request writes it. */
    _Atomic int64_t served;
    pthread_mutex_t lock;
    enum db_trouble trouble;
    int64_t examined; /* 0: not yet */
    int64_t clock_ahead;
    struct check_counts folder;
    size_t restarts_wanted;
    bool was_refused; /* config.xml, when it was read last */
    struct backlog backlog;
    int64_t backlog_read; /* 0: not yet, or it could not be had */
    bool is_stopped, sends_no_jobs;
    struct replies seen[STEPS];
    int64_t seen_at[STEPS]; /* a ring; 0: not yet */
    size_t next;
};

struct health *health_create(void)
{
    struct health *health = calloc(1, sizeof(*health));

    if (health != NULL)
        pthread_mutex_init(&health->lock, NULL);
    return health;
}

void health_destroy(struct health *health)
{
    if (health == NULL)
        return;
    pthread_mutex_destroy(&health->lock);
    free(health);
}

void health_note_database(struct health *health, enum db_trouble trouble, int64_t now)
{
    pthread_mutex_lock(&health->lock);
    health->trouble = trouble;
    health->examined = now;
    pthread_mutex_unlock(&health->lock);
}

void health_note_clock(struct health *health, int64_t ahead)
{
    pthread_mutex_lock(&health->lock);
    health->clock_ahead = ahead;
    pthread_mutex_unlock(&health->lock);
}

void health_note_folder(struct health *health, const struct check_counts *counts)
{
    pthread_mutex_lock(&health->lock);
    health->folder = *counts;
    pthread_mutex_unlock(&health->lock);
}

void health_note_config(struct health *health, size_t restarts_wanted)
{
    pthread_mutex_lock(&health->lock);
    health->restarts_wanted = restarts_wanted;
    health->was_refused = false;
    pthread_mutex_unlock(&health->lock);
}

void health_note_refusal(struct health *health)
{
    pthread_mutex_lock(&health->lock);
    health->was_refused = true;
    pthread_mutex_unlock(&health->lock);
}

void health_note_backlog(struct health *health, const struct backlog *backlog, int64_t now)
{
    pthread_mutex_lock(&health->lock);
    health->backlog_read = backlog == NULL ? 0 : now;
    if (backlog != NULL)
        health->backlog = *backlog;
    pthread_mutex_unlock(&health->lock);
}

void health_note_stop(struct health *health, bool is_stopped, bool sends_no_jobs)
{
    pthread_mutex_lock(&health->lock);
    health->is_stopped = is_stopped;
    health->sends_no_jobs = sends_no_jobs;
    pthread_mutex_unlock(&health->lock);
}

void health_note_served(struct health *health, int64_t now)
{
    atomic_store(&health->served, now);
}

static struct replies replies_so_far(void)
{
    return (struct replies){.all = counter_value(COUNTER_requests) +
                                   counter_value(COUNTER_requests_turned_away),
                            .down = counter_value(COUNTER_replies_down),
                            .later = counter_value(COUNTER_replies_later),
                            .other_key = reason_count(REASON_CODE_SIGN_KEY)};
}

void health_note_counters(struct health *health, int64_t now)
{
    pthread_mutex_lock(&health->lock);
    size_t last = (health->next + STEPS - 1) % STEPS;
    if (health->seen_at[last] == 0 || now >= health->seen_at[last] + STEP_S ||
        now < health->seen_at[last]) {
        health->seen[health->next] = replies_so_far();
        health->seen_at[health->next] = now;
        health->next = (health->next + 1) % STEPS;
    }
    pthread_mutex_unlock(&health->lock);
}

/* Since the oldest time that is known, ten minutes at most; under the lock. */
static struct replies replies_of_late(const struct health *health)
{
    size_t oldest = health->seen_at[health->next] != 0 ? health->next : 0;
    struct replies now = replies_so_far(), then = health->seen[oldest];

    return (struct replies){.all = now.all - then.all,
                            .down = now.down - then.down,
                            .later = now.later - then.later,
                            .other_key = now.other_key - then.other_key};
}

const char *health_problem(struct health *health)
{
    const char *problem = NULL;

    pthread_mutex_lock(&health->lock);
    if (health->is_stopped)
        problem = "it is stopped by the project (stop_sched)";
    else if (health->examined == 0)
        problem = "its database was not asked yet";
    else if (health->trouble != DB_TROUBLE_NONE)
        problem = db_trouble_words[health->trouble].sentence;
    pthread_mutex_unlock(&health->lock);
    return problem;
}

void health_figures(struct health *health, struct health_figures *ret_figures)
{
    pthread_mutex_lock(&health->lock);
    *ret_figures = (struct health_figures){.trouble = health->trouble,
                                           .examined = health->examined,
                                           .clock_ahead = health->clock_ahead,
                                           .folder = health->folder,
                                           .restarts_wanted = health->restarts_wanted,
                                           .was_refused = health->was_refused,
                                           .is_stopped = health->is_stopped,
                                           .sends_no_jobs = health->sends_no_jobs,
                                           .has_backlog = health->backlog_read != 0,
                                           .backlog = health->backlog};
    pthread_mutex_unlock(&health->lock);
}

static void write_folder(const struct health *health, struct buffer *page)
{
    metric_head(page, "check_findings", "gauge",
                "what check-config finds, but for what is in the database");
    for (int i = 0; i < TOPIC_COUNT; i++) {
        const char *topic = check_topic_word((enum check_topic)i);

        buffer_print(page, METRIC_PREFIX "check_findings{severity=\"error\",topic=\"%s\"} %u\n",
                     topic, health->folder.errors[i]);
        buffer_print(page, METRIC_PREFIX "check_findings{severity=\"warning\",topic=\"%s\"} %u\n",
                     topic, health->folder.warnings[i]);
    }
}

static void write_backlog(const struct health *health, int64_t now, struct buffer *page)
{
    const struct backlog *backlog = &health->backlog;
    int64_t oldest = backlog->oldest_transition;

    if (health->backlog_read == 0)
        return;
    metric_gauge(page, "transitions_waiting",
                 "workunits whose transition is due, counted up to 100000",
                 (double)backlog->transitions);
    metric_gauge(page, "transitions_waiting_seconds", "how long the oldest has been waiting",
                 oldest == 0 || oldest > now ? 0 : (double)(now - oldest));
    metric_gauge(page, "validations_waiting",
                 "workunits that wait for validation, counted up to 100000",
                 (double)backlog->validations);
    metric_gauge(page, "assimilations_waiting",
                 "workunits that wait for assimilation, counted up to 100000",
                 (double)backlog->assimilations);
}

void health_write(struct health *health, int64_t now, struct buffer *ret_page)
{
    pthread_mutex_lock(&health->lock);
    struct replies late = replies_of_late(health);
    int64_t served = atomic_load(&health->served);
    metric_head(ret_page, "database_state", "gauge",
                "1 for the state of the database when it was last examined");
    for (int i = 0; i < DB_TROUBLE_COUNT; i++)
        buffer_print(ret_page, METRIC_PREFIX "database_state{state=\"%s\"} %d\n",
                     db_trouble_words[i].word,
                     health->examined != 0 && health->trouble == (enum db_trouble)i);
    metric_gauge(ret_page, "database_examined_seconds", "since it was last examined",
                 health->examined == 0 ? -1 : (double)(now - health->examined));
    metric_gauge(ret_page, "database_clock_ahead_seconds",
                 "how far its clock was ahead of this machine's then; negative: behind",
                 (double)health->clock_ahead);
    write_folder(health, ret_page);
    metric_gauge(ret_page, "restarts_wanted", "options that changed and wait for a restart",
                 (double)health->restarts_wanted);
    metric_gauge(ret_page, "config_refused",
                 "1 while the config.xml that is there was refused, and an older one is in force",
                 health->was_refused);
    write_backlog(health, now, ret_page);
    metric_gauge(ret_page, "stop_sched", "1 while clients are told that the project is down",
                 health->is_stopped);
    metric_gauge(ret_page, "sends_no_jobs", "1 while nobody gets jobs", health->sends_no_jobs);
    metric_gauge(ret_page, "last_served_seconds",
                 "since the last request that was done; -1: none yet",
                 served == 0 ? -1 : (double)(now - served));
    metric_gauge(ret_page, "recent_replies", "replies in the last ten minutes", (double)late.all);
    metric_gauge(ret_page, "recent_replies_down", "of these, that the project is down",
                 (double)late.down);
    metric_gauge(ret_page, "recent_replies_later", "of these, to come again later",
                 (double)late.later);
    metric_gauge(ret_page, "recent_replies_other_key",
                 "of these, to clients that have another code-signing key and get no jobs",
                 (double)late.other_key);
    pthread_mutex_unlock(&health->lock);
}
