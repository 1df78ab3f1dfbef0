/* SPDX-License-Identifier: Apache-2.0 */
/* Which version of an app runs a job on this host (policy(7) 4.5); pure.
 *
 * For each request that asks for work, server/handout/view.c makes a struct version_option of
 * every app version that the host's platforms allow, or of those that an anonymous platform
 * brings: what its plan class said (server/policy/plan_class/), how fast it is here (estimate.h),
 * and whether the host's results with it are reliable or trusted (reliability.h). This is done
 * once per request, and the options do not change.
 *
 * Then the check of each job (server/policy/dispatch/checks.c) asks version_choose() with what
 * that job demands, for one resource at a time: the fastest option that is allowed, or the most
 * useful reason why there is none. The run time of the job follows from the option that was
 * chosen. */
#ifndef SERVER_POLICY_VERSION_VERSION_CHOICE_H
#define SERVER_POLICY_VERSION_VERSION_CHOICE_H

#include "db/rows.h"
#include "server/parse/message.h"
#include "server/policy/plan_class/plan_verdict.h"
#include "server/policy/refusal/reason.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buda_apps;
struct buda_variant;
struct own_versions;
struct version_offer;

/* One version, the project's or the client's own, as this host would run it. */
struct version_option {
    const struct app_row *app;
    const struct app_version_row *version;      /* NULL: anonymous platform */
    const struct client_app_version *anonymous; /* the client's own, else NULL */
    struct text platform;
    size_t platform_rank; /* 0: the host's first platform */
    bool is_64bit;
    bool is_current;  /* not superseded by a newer one */
    bool is_runnable; /* the host has what its plan class asks for */
    bool is_fit;      /* usable but for chance and the user's choice: enough for a resend */
    struct text why;  /* not runnable: in words, with figures */
    struct plan_bounds bounds; /* workunits that it takes */
    bool is_untried;           /* it has finished no job on this host yet */
    bool is_failing;           /* every job of it failed on this host */
    bool is_unproven;          /* its quota is so low that it is shared: limits_is_unproven */
    bool is_reliable;          /* this host's results with it come soon and are right */
    bool is_trusted;           /* this host's results with it need no check */
    size_t resource;           /* what it runs on; see struct amounts */
    struct usage usage;        /* projected_flops without chance, as sent */
    double stored_peak;        /* FLOPS: see estimate_stored_peak */
    double turnaround;      /* s, until its jobs came back from this host, on the average; 0: none
                             * did */
    double memory_peak;     /* bytes, the most of its last jobs on this host; 0: not known */
    double memory;          /* bytes, instead of the workunit's bound when sent; 0: the bound */
    double choice_flops;    /* blended and randomized, for comparing */
    double fpops_scale;     /* 1 but for anonymous platform */
    double bound_scale;     /* times which rsc_fpops_bound is sent; see estimate_bound_scale */
    int64_t daily_limit;    /* jobs, or LIMIT_NONE */
    int64_t jobs_today;     /* before this request */
    int64_t app_version_id; /* as in result: > 0, or -2..-6 */
    int64_t statistics_id;  /* as in host_app_version */
    const struct buda_variant *variant; /* of a science app, in the wrapper `version`; NULL: none */
    const struct version_option *wrapper; /* likewise: the wrapper alone; NULL: there is none */
    const struct version_option
        *counted_with; /* the first one with the same statistics, or unproven like it, whose jobs of
                          this reply are counted with its own; NULL: itself */
};
/* Either the project's, in the order of the catalog, or the client's own, as they are listed.
 * Behind the project's come wrappers with variants of science apps, app by app. */
struct version_options {
    struct version_option *items;
    size_t count;                 /* without wrappers with variants */
    size_t variant_count;         /* of those */
    const struct buda_apps *buda; /* NULL: the project has no science apps */
    const size_t
        *buda_first; /* by place in buda->apps: its first one behind `count`; and the end */
    const struct own_versions *own; /* the client's, sorted; NULL: all of `items` are looked at */
    const struct version_offer *offer; /* for explanations; NULL: they tell the platform alone */
};
/* The option of one of these versions; the other is NULL. NULL: there is none. */
const struct version_option *version_option_of(const struct version_options *options,
                                               const struct app_version_row *version,
                                               const struct client_app_version *anonymous,
                                               const struct buda_variant *variant);
/* Those that could run jobs of a science app; 0: of none, whatever their apps are. */
struct option_span {
    const struct version_option *items;
    size_t count;
};
struct option_span version_options_for(const struct version_options *options, int64_t buda_app);
struct option_span version_options_all(const struct version_options *options);
/* The first option of the app (0: of any) with this app_version_id, and this variant of a science
 * app if it is known (0: it is not, or there is none). NULL: there is none. */
const struct version_option *version_option_find(const struct version_options *options,
                                                 int64_t appid, int64_t app_version_id,
                                                 int64_t variant);

/* Where jobs of the option are counted: the place of one of the options. */
size_t version_counter(const struct version_options *options, const struct version_option *option);

/* Whether clients take its jobs for containers, in which variants of science apps run: by the name
 * of its plan class. */
bool version_is_wrapper(const struct app_version_row *version);

/* Whether a platform name is of a 64-bit system, and the bytes beyond which a job needs one on an
 * operating system. */
bool platform_is_64bit(struct text platform);
double memory_of_32bit(struct text os_name);

/* The app_version_id of a client's own version in result (-2 CPU .. -6), and its row in
 * host_app_version. 0: a coprocessor that cannot be stored. */
int64_t anonymous_version_id(struct text coproc_type);
int64_t anonymous_statistics_id(int64_t appid, int64_t app_version_id);

/* The coprocessor that a plan class means by its name; "CPU" when none. */
struct text plan_class_type(struct text plan_class);

/* Multiplies the speed for comparing: chance gives versions with few samples a try, and nearly
 * buries one that only fails. `normal` has variance 1, `chance` is uniform in [0, 1). */
double version_randomize(double flops, double samples, double factor, bool is_failing,
                         double normal, double chance);

/* What the job and the user demand of a version. */
struct version_demand {
    int64_t appid;
    int64_t workunitid, batch;
    int64_t buda_app;     /* science app; 0: none */
    int64_t variant;      /* of it, if it is there: a lost job's; 0: any */
    int64_t version_num;  /* only this one; 0: any current */
    int64_t committed_id; /* homogeneous app version: only this one; 0: not committed */
    bool is_homogeneous;  /* the app's jobs of one workunit go to one version */
    bool needs_64bit;
    size_t resource;
    int64_t client_version;
    bool allow_beta, prefer_primary_platform;
    bool needs_reliable;
    bool is_resend; /* limits and preferences do not count */
};
/* Whether the job may use this version of its app at all, by its number. */
bool version_is_asked_for(const struct version_option *option, const struct version_demand *demand);
/* The fastest usable one; `jobs_chosen`, by version_counter, counts jobs already in this reply.
 * NULL: none, with the reason; its name is empty when the host has no version of the app at all. */
const struct version_option *version_choose(const struct version_options *options,
                                            const struct version_demand *demand,
                                            const int64_t *jobs_chosen,
                                            struct refusal *ret_refusal);

#endif
