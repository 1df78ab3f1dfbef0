/* SPDX-License-Identifier: Apache-2.0 */
/* What a request says about a host, as the checks see it: fixed while jobs are chosen. */
#ifndef SERVER_POLICY_DISPATCH_HOST_VIEW_H
#define SERVER_POLICY_DISPATCH_HOST_VIEW_H

#include "config/config.h"
#include "db/rows.h"
#include "server/parse/message.h"
#include "server/policy/disk/disk.h"
#include "server/policy/dispatch/stream.h"
#include "server/policy/edf/workload.h"
#include "server/policy/host/hr_class.h"
#include "server/policy/limits/amounts.h"
#include "server/policy/limits/limits.h"
#include "server/policy/limits/preferences.h"
#include "server/policy/version/estimate.h"
#include "server/policy/version/version_choice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct size_census;

struct id_list {
    const int64_t *ids;
    size_t count;
};
/* In whatever order they stand. */
bool id_list_has(struct id_list list, int64_t id);

/* Jobs of one app in progress. */
struct app_count {
    int64_t total, by_resource[RESOURCES_MAX];
};

/* What does not change while jobs are chosen. */
struct host_view {
    const struct config *config;
    const struct message *message;
    const struct host_row *host;
    const struct project_preferences *project;
    int64_t userid, client_version;
    double now;
    int64_t delay_bound_most; /* s: until deadline_latest, at least 1 */
    bool is_backup;           /* its user gives this project idle processors only */
    bool only_assigned;       /* the account gets assigned jobs only (user.seti_id) */
    double memory;            /* bytes that jobs may use */
    bool simulates_memory;    /* jobs may not all fit into it: see memory_may_run_short */
    bool memory_is_strict;    /* see the function */
    double memory_32bit;      /* bytes that a job of 32 bits may use: memory_of_32bit */
    struct disk_space space;
    bool is_above_disk_share; /* the project uses more of the disk than its share */
    bool disk_is_unknown;     /* nothing was said of free space, now or before */
    double disk;              /* bytes that jobs may fill in this pass: one of space.amounts */
    double correction;        /* see estimate_correction */
    struct availability availability; /* as its client reports it: for amounts */
    struct availability expected;     /* as it is expected from now on: for deadlines */
    struct availability stretch;      /* wall times by `expected`, of those by `availability` */
    struct amounts asked;
    struct job_limits limits;
    int64_t hr_classes[HR_COARSE + 1]; /* by kind of homogeneous redundancy; 0: unknown */
    bool is_excluded[RESOURCES_MAX];   /* by the user's preferences */
    int64_t in_progress[RESOURCES_MAX], in_progress_total; /* before this reply */
    const struct app_limit *app_limits;                    /* of some apps */
    struct app_count *app_counts;                          /* of the same, before this reply */
    size_t app_limit_count;
    struct id_list apps_held; /* with a job on the host; read where always-on apps are served */
    int64_t first_quota;      /* max_jobs_per_day of a version that the host has no row of */
    struct version_options options;
    struct id_list keywords_yes, keywords_no; /* what the volunteer wants and refuses */
    const struct size_census *size_censuses;  /* of some apps */
    size_t size_census_count;
    const struct hurry_row *hurries; /* batches in a hurry, by id */
    size_t hurry_count;
    const struct streams *streams; /* NULL: none */
    struct workload *workload;     /* NULL: deadlines are not judged */
    bool is_over_budget; /* the client's lists cost too much: nothing is known of jobs and queue */
};

/* Bytes that jobs may use of a host's memory. */
double memory_usable(double m_nbytes, const struct global_preferences *preferences);
/* Whether the client holds each job to its bound, so that nothing else counts. */
bool memory_is_strict(const struct config *config, int64_t client_version);
/* Whether this project's jobs that run at a time may need more than that: as many as the host can
 * run or may have, each with the largest bound (bytes) or what a version counts in its place. */
bool memory_may_run_short(const struct host_view *view, double largest_bound);
/* Bytes that a job counts in the deadline simulation, as its client counts it (policy(7) 8.1): its
 * bound, or what jobs of the version took here. `option` NULL: the version is not known. */
double memory_counted(const struct host_view *view, const struct version_option *option,
                      double bound);
/* Whether a resource type is excluded by the user. */
bool resource_is_excluded(const struct project_preferences *project, size_t resource,
                          struct text type);
/* Homogeneous redundancy of an app: its own, else the project's. */
enum hr_type app_hr_type(const struct config *config, const struct app_row *app);
/* The host's class for an app; 0: the app wants none, or the host is of no known kind. */
int64_t hr_class_for(const struct host_view *view, const struct app_row *app);
bool app_is_selected(const struct project_preferences *project, int64_t appid);

/* Seconds added to stored deadlines. */
int64_t grace_period(const struct config *config);
/* Whether the host can run jobs of the option, and its user allows what it runs on. */
bool option_runs(const struct host_view *view, const struct version_option *option);

#endif
