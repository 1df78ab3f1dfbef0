/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a plan class on a host: whether it can run jobs of the class, and what one of
 * them uses there; pure. */
#ifndef SERVER_POLICY_PLAN_CLASS_PLAN_VERDICT_H
#define SERVER_POLICY_PLAN_CLASS_PLAN_VERDICT_H

#include "server/base/text.h"
#include "server/policy/plan_class/plan_class.h"
#include "server/policy/plan_class/plan_demands.h"

#include <stdbool.h>
#include <stdint.h>

/* What one job of an app version uses of a host (policy(7) 4.2, 5.2; protocol(7) 3.3). */
struct usage {
    double avg_ncpus;
    struct text coproc_type; /* empty: CPU only */
    double coproc_count;
    double gpu_ram;         /* bytes; 0: unknown */
    double projected_flops; /* sent to the client, basis of run time */
    double peak_flops;      /* of the devices it uses */
    struct text cmdline;
};

/* Whether there is a class of that name. */
bool plan_class_is_known(const struct plan_classes *classes, struct text name);

/* Workunits and batches that a class takes, both ends included; 0: no bound. */
struct plan_bounds {
    double min_wu_id, max_wu_id, min_batch, max_batch;
};
bool plan_bounds_take(const struct plan_bounds *bounds, int64_t workunitid, int64_t batch);

struct plan_verdict {
    bool is_usable;
    bool is_fit; /* the computer could: at most chance and its user's choice are against it */
    struct usage usage; /* coproc_type also of a refusal: what the class is for */
    struct plan_bounds bounds;
    double memory;   /* bytes, instead of the workunit's bound in what is sent; 0: the bound */
    struct text why; /* of a refusal, with its numbers, for people; never empty */
};

/* Whether the host can run jobs of the class, and what one uses. Unknown classes are unusable. */
struct plan_verdict plan_class_judge(const struct plan_classes *classes, struct text name,
                                     const struct plan_host *host, struct arena *arena);

#endif
