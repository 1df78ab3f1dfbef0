/* SPDX-License-Identifier: Apache-2.0 */
/* Plan classes: what an app version demands of a host, and what a job of it then uses
 * (policy(7) 4.2); pure. */
#ifndef SERVER_POLICY_PLAN_CLASS_PLAN_CLASS_H
#define SERVER_POLICY_PLAN_CLASS_PLAN_CLASS_H

#include "config/config.h"
#include "server/base/status.h"
#include "server/base/text.h"
#include "server/policy/plan_class/usage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct coproc;
struct message;

struct plan_compiled;
struct plan_regex {
    const void *compiled; /* NULL: none given */
    struct text text;
};
struct real_list {
    const double *items;
    size_t count;
};

#define PLAN_FIELD_FLAG    bool
#define PLAN_FIELD_NUMBER  double
#define PLAN_FIELD_STRING  struct text
#define PLAN_FIELD_STRINGS struct text_list
#define PLAN_FIELD_NUMBERS struct real_list
#define PLAN_FIELD_REGEX   struct plan_regex

struct plan_class {
#define FIELD(name, type, default_) PLAN_FIELD_##type name;
#include "server/policy/plan_class/plan_class_fields.def"
#undef FIELD
    struct text opencl_cpu_vendor; /* built-in: the CPU's OpenCL is to be of this one */
    bool peak_unscaled;            /* built-in GPU classes count the whole peak for credit */
};

/* The classes of a project: those of its file, or the built-in ones. Immutable. */
struct plan_classes {
    const struct plan_class *items;
    size_t count;
    bool is_builtin;
    struct arena *arena; /* owns all texts; NULL for the built-in ones */
    struct plan_compiled *compiled;
};

/* The text of plan_class_spec.xml. STATUS_INVALID, with the line in `failure`: not to be used, and
 * then no plan class is usable at all. Unknown elements are passed over. */
MUST_CHECK enum status plan_classes_parse(struct text document, struct plan_classes *ret_classes,
                                          struct failure *failure);
struct plan_classes plan_classes_builtin(void);
void plan_classes_free(struct plan_classes *classes);

/* Whether there is a class of that name. */
bool plan_class_is_known(const struct plan_classes *classes, struct text name);

/* The host as a class sees it. */
struct plan_host {
    const struct message *message;
    int64_t client_version, userid;
    double cpus;                  /* usable ones */
    double memory;                /* usable bytes */
    double cpu_flops;             /* of one CPU, bounded to what is credible */
    struct text primary_platform; /* by its name: 64 bits or not */
    struct text project_prefs;    /* of the user, raw */
    struct text venue;            /* of the host */
    double chance;                /* uniform in [0, 1) */
};

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
/* FLOPS of one instance, worked out from the properties where the client did not say; 0: unknown.
 */
double coproc_peak_flops(const struct coproc *coproc);

/* Versions as numbers, as plan classes write them; -1: not to be determined. */
double plan_os_version(struct text os_name, struct text os_version);
double plan_android_version(struct text os_version);
double plan_libc_version(struct text os_version); /* 0: absent */

#endif
