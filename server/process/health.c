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
    struct check_counts folder, checks, web;
    int64_t checks_at, web_at; /* 0: not known */
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

void health_note_checks(struct health *health, const struct check_counts *counts, int64_t at)
{
    pthread_mutex_lock(&health->lock);
    health->checks = *counts;
    health->checks_at = at;
    pthread_mutex_unlock(&health->lock);
}

void health_note_web(struct health *health, const struct check_counts *counts, int64_t at)
{
    pthread_mutex_lock(&health->lock);
    health->web = *counts;
    health->web_at = at;
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

static bool is_current(int64_t at, int64_t now)
{
    return at > now - CHECKS_CURRENT_S;
}

/* This server looks at the folder each minute; of what else it may have heard. Under the lock. */
static struct check_counts checks_together(const struct health *health, int64_t now)
{
    struct check_counts together = health->folder;

    for (int i = 0; i < TOPIC_COUNT; i++) {
        enum check_topic topic = (enum check_topic)i;
        const struct check_counts *other = NULL;

        if (topic == TOPIC_web && is_current(health->web_at, now))
            other = &health->web;
        if (check_topic_wants_database(topic) && is_current(health->checks_at, now))
            other = &health->checks;
        if (other == NULL)
            continue;
        if (other->errors[i] > together.errors[i])
            together.errors[i] = other->errors[i];
        if (other->warnings[i] > together.warnings[i])
            together.warnings[i] = other->warnings[i];
    }
    return together;
}

void health_figures(struct health *health, int64_t now, struct health_figures *ret_figures)
{
    pthread_mutex_lock(&health->lock);
    *ret_figures = (struct health_figures){
        .trouble = health->trouble,
        .examined = health->examined,
        .clock_ahead = health->clock_ahead,
        .checks = checks_together(health, now),
        .checks_at = is_current(health->checks_at, now) ? health->checks_at : 0,
        .web_at = is_current(health->web_at, now) ? health->web_at : 0,
        .restarts_wanted = health->restarts_wanted,
        .was_refused = health->was_refused,
        .is_stopped = health->is_stopped,
        .sends_no_jobs = health->sends_no_jobs,
        .has_backlog = health->backlog_read != 0,
        .backlog = health->backlog};
    pthread_mutex_unlock(&health->lock);
}

/* s since then; -1: it is not known. */
static double age(int64_t at, int64_t now)
{
    return !is_current(at, now) ? -1 : at > now ? 0 : (double)(now - at);
}

static void write_checks(const struct health *health, int64_t now, struct buffer *page)
{
    struct check_counts checks = checks_together(health, now);

    metric_head(page, "check_findings", "gauge", "what qmctl check-config finds, by topic");
    for (int i = 0; i < TOPIC_COUNT; i++) {
        const char *topic = check_topic_word((enum check_topic)i);

        buffer_print(page, METRIC_PREFIX "check_findings{severity=\"error\",topic=\"%s\"} %u\n",
                     topic, checks.errors[i]);
        buffer_print(page, METRIC_PREFIX "check_findings{severity=\"warning\",topic=\"%s\"} %u\n",
                     topic, checks.warnings[i]);
    }
    metric_gauge(page, "check_database_seconds",
                 "time since the database was last checked for such findings; -1: unknown",
                 age(health->checks_at, now));
    metric_gauge(page, "check_web_seconds",
                 "time since qmctl last asked for the project's pages (topic web); -1: unknown",
                 age(health->web_at, now));
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
    metric_gauge(page, "transitions_waiting_seconds",
                 "how long the oldest due transition has been waiting",
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
    metric_gauge(ret_page, "database_examined_seconds",
                 "time since the database was last examined; -1: never",
                 health->examined == 0 ? -1 : (double)(now - health->examined));
    metric_gauge(ret_page, "database_clock_ahead_seconds",
                 "how far the database's clock was ahead of this machine's; negative: behind",
                 (double)health->clock_ahead);
    write_checks(health, now, ret_page);
    metric_gauge(ret_page, "restarts_wanted", "changed options that need a restart",
                 (double)health->restarts_wanted);
    metric_gauge(ret_page, "config_refused",
                 "1 while the current config.xml is refused and the previous one stays in force",
                 health->was_refused);
    write_backlog(health, now, ret_page);
    metric_gauge(ret_page, "stop_sched", "1 while clients hear that the project is down",
                 health->is_stopped);
    metric_gauge(ret_page, "sends_no_jobs", "1 while nobody gets jobs", health->sends_no_jobs);
    metric_gauge(ret_page, "last_served_seconds",
                 "time since the last request was served; -1: none yet",
                 served == 0 ? -1 : (double)(now - served));
    metric_gauge(ret_page, "recent_replies", "replies in the last ten minutes", (double)late.all);
    metric_gauge(ret_page, "recent_replies_down", "recent replies that the project is down",
                 (double)late.down);
    metric_gauge(ret_page, "recent_replies_later", "recent replies to come again later",
                 (double)late.later);
    metric_gauge(ret_page, "recent_replies_other_key",
                 "recent replies to clients that know another code-signing key and get no jobs",
                 (double)late.other_key);
    pthread_mutex_unlock(&health->lock);
}
