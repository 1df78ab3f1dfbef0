/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a host may have a job now: an ordered table of checks, cheapest first, over what the
 * host is (fixed) and what it has been given so far (the tally); pure. */
#ifndef SERVER_POLICY_CHECKS_H
#define SERVER_POLICY_CHECKS_H

#include "config/config.h"
#include "db/rows.h"
#include "server/parse/message.h"
#include "server/policy/amounts.h"
#include "server/policy/deadline.h"
#include "server/policy/disk.h"
#include "server/policy/estimate.h"
#include "server/policy/hr_class.h"
#include "server/policy/limits.h"
#include "server/policy/preferences.h"
#include "server/policy/reason.h"
#include "server/policy/score.h"
#include "server/policy/stream.h"
#include "server/policy/version.h"
#include "server/policy/workload.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct id_list {
    const int64_t *ids;
    size_t count;
};

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
    bool is_backup;     /* its user gives this project idle processors only */
    bool only_assigned; /* the account gets assigned jobs only (user.seti_id) */
    double memory;      /* bytes that jobs may use */
    struct disk_space space;
    bool is_above_disk_share; /* the project uses more of the disk than its share */
    double disk;              /* bytes that jobs may fill in this pass: one of space.amounts */
    double correction;        /* see estimate_correction */
    struct availability availability;
    struct amounts asked;
    struct job_limits limits;
    int64_t hr_classes[HR_COARSE + 1]; /* by kind of homogeneous redundancy; 0: unknown */
    bool is_excluded[RESOURCES_MAX];   /* by the user's preferences */
    int64_t in_progress[RESOURCES_MAX], in_progress_total; /* before this reply */
    const struct app_limit *app_limits;                    /* of some apps */
    struct app_count *app_counts;                          /* of the same, before this reply */
    size_t app_limit_count;
    struct version_options options;
    struct id_list keywords_yes, keywords_no; /* what the volunteer wants and refuses */
    const struct size_census *size_censuses;  /* of some apps */
    size_t size_census_count;
    const struct streams *streams; /* NULL: none */
    struct stream_shares shares;
    struct workload *workload; /* NULL: deadlines are judged by the plain check */
};

/* Bytes that jobs may use of a host's memory. */
double memory_usable(double m_nbytes, const struct global_preferences *preferences);
/* Whether a resource type is excluded by the user. */
bool resource_is_excluded(const struct project_preferences *project, size_t resource,
                          struct text type);
/* Homogeneous redundancy of an app: its own, else the project's. */
enum hr_type app_hr_type(const struct config *config, const struct app_row *app);
/* The host's class for an app; 0: the app wants none, or the host is of no known kind. */
int64_t hr_class_for(const struct host_view *view, const struct app_row *app);
bool app_is_selected(const struct project_preferences *project, int64_t appid);

enum job_assignment {
    JOB_GENERAL,
    JOB_TARGETED, /* for this host, its user or team */
    JOB_BROADCAST /* for every host that is meant */
};

/* What a job that could be taken is preferred by. */
struct job_rank {
    double clock; /* of its stream */
    bool fits;    /* in what is left of the request */
    double size, score;
};

/* A job and how this host would run it. */
struct job {
    int64_t resultid, priority;
    const struct workunit_row *workunit;
    const struct app_row *app; /* NULL: not known */
    enum job_assignment assignment;
    size_t stream;           /* by index in the view's streams */
    int64_t sent_version_id; /* of a resend: the version that it was sent for; else 0 */

    const struct version_option *option; /* set by job_check */
    struct amount_use use;               /* likewise */
    int64_t delay_bound; /* s, likewise: as sent; shorter than the workunit's for some retries */
    bool met_user;       /* the user has had a result of the workunit, and may have one only */
    bool met_host;       /* likewise the host */
    bool has_file;       /* some of its files are on the host; looked at for some apps only */
    bool is_gone;        /* taken or lost: not to be looked at again */
    size_t refused_on;   /* while choosing: 1 + the resource it was refused for */
    bool is_ranked;      /* likewise: it could be taken, unless its deadline is in the way */
    struct job_rank rank;
};

/* Whether it belongs to the end of a batch, and is for hosts with a low turnaround time. */
bool job_is_accelerated(const struct config *config, const struct job *job);

/* What the host has been given in this reply. */
struct tally {
    struct amounts left;
    double disk_left;
    int64_t jobs; /* in the reply, resent ones too */
    int64_t in_progress[RESOURCES_MAX], in_progress_total;
    const struct app_limit *app_limits; /* of the view */
    struct app_count *app_counts;
    size_t app_limit_count;
    struct busy busy[RESOURCES_MAX]; /* of the plain check */
    struct workload *workload;       /* what was given joins it; NULL as in the view */
    int64_t *option_jobs;            /* by index in options */
    int64_t *workunits;              /* of the jobs in the reply */
    size_t workunit_count, workunit_capacity;
    struct stream_shares shares;
};

/* Nothing given yet; room for `jobs_max` jobs. False: no memory. */
bool tally_begin(const struct host_view *view, struct arena *arena, size_t jobs_max,
                 struct tally *ret_tally);
void tally_take(struct tally *tally, const struct host_view *view, const struct job *job);
/* A job that was sent before and is sent again: it takes its place, but is none of today's. */
struct tally_use {
    struct amount_use use;
    int64_t workunitid, appid;
    double disk; /* bytes */
    bool is_always_on;
    bool is_queued;  /* resent: part of the workload from the beginning */
    double deadline; /* s from now */
    double margin;   /* see deadline_margin */
};
void tally_take_resent(struct tally *tally, const struct tally_use *use);

/* What the run time of a job is multiplied by for deadlines: more than 1 while nobody knows how
 * long jobs of a version take on this host. */
double deadline_margin(const struct config *config, const struct version_option *option);

/* Chooses the version on `resource` and runs the checks. False: refused for *ret_refusal.
 * Everything but the deadline is judged before the deadline, so that REASON_DEADLINE means that
 * nothing else was in the way. */
enum check_kind {
    CHECK_NEW,
    CHECK_UNTIMED,   /* a new one, all but the deadline, which costs more than all the rest */
    CHECK_ALWAYS_ON, /* of a non-CPU-intensive app: neither amounts nor deadline count */
    CHECK_ASSIGNED,  /* for this host by the project's will: fit to run, and wanted at all */
    CHECK_RESEND     /* of the host already: fit to run, that is all */
};
bool job_check(const struct host_view *view, const struct tally *tally, enum check_kind kind,
               size_t resource, struct job *job, struct refusal *ret_refusal);

/* Why a resource gets no job whatever the job is (excluded by the user, a limit is reached): then
 * nothing else that may be wrong with jobs is worth a word. False: it may get some. */
bool resource_is_closed(const struct host_view *view, const struct tally *tally, size_t resource,
                        struct refusal *ret_refusal);

#endif
