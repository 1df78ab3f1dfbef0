/* SPDX-License-Identifier: Apache-2.0 */
/* What a host has been given so far in this reply, and what is left of its request; pure. */
#ifndef SERVER_POLICY_DISPATCH_TALLY_H
#define SERVER_POLICY_DISPATCH_TALLY_H

#include "server/policy/dispatch/host_view.h"
#include "server/policy/limits/amounts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct job;

/* What the host has been given in this reply. */
struct tally {
    struct amounts left;
    double disk_left;
    int64_t jobs; /* in the reply, resent ones too */
    int64_t in_progress[RESOURCES_MAX], in_progress_total;
    const struct app_limit *app_limits; /* of the view */
    struct app_count *app_counts;
    size_t app_limit_count;
    struct workload *workload;      /* what was given joins it; NULL as in the view */
    struct availability stretch;    /* of the view */
    double occupied[RESOURCES_MAX]; /* instances that the workload and what was given occupy */
    int64_t *option_jobs;           /* by version_counter */
    int64_t *workunits;             /* of the jobs in the reply */
    size_t workunit_count, workunit_capacity;
};

/* Nothing given yet; room for `jobs_max` jobs. False: no memory. */
bool tally_begin(const struct host_view *view, struct arena *arena, size_t jobs_max,
                 struct tally *ret_tally);
/* A job that was chosen. */
void tally_take(struct tally *tally, const struct host_view *view, const struct job *job);
/* What any job of the reply takes up. */
struct tally_use {
    struct amount_use use;
    int64_t workunitid, appid;
    double disk;   /* bytes */
    double memory; /* bytes, as memory_counted says */
    bool is_always_on;
    bool is_queued;  /* resent: part of the workload from the beginning */
    double deadline; /* s from now */
    double margin;   /* see deadline_margin */
};
/* Without counting it as one of its version today: for jobs that are sent again, and for those of
 * the reply when the tally is made anew. */
void tally_take_use(struct tally *tally, const struct tally_use *use);

/* What the run time of a job is multiplied by for deadlines: deadline_margin, unless instances idle
 * that it can have at once (`is_at_once`), and untried_margin while nobody knows how long jobs of a
 * version take on this host. */
double deadline_margin(const struct config *config, const struct version_option *option,
                       bool is_at_once);

#endif
