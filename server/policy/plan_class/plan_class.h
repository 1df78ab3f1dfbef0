/* SPDX-License-Identifier: Apache-2.0 */
/* Plan classes: what an app version demands of a host, and what a job of it then uses (policy(7)
 * 4.2); pure.
 *
 * An app version has the name of a plan class or none. The name stands for a struct plan_class: a
 * row of fields, each a demand or a figure. It comes from the project's plan_class_spec.xml
 * (plan_class.c), or, without such a file, is made from the name (plan_class_builtin.c).
 * server/project/ reads the file with the other pictures of the project.
 *
 * For each request that asks for work, server/handout/view.c puts every version of the host's
 * platforms before the class it names: plan_class_judge() (plan_verdict.h) puts the demands to the
 * host in order (plan_demands.h), with the help of what coprocessors and versions are worth as
 * numbers (coproc_figures.h, plan_versions.h). Out comes either a refusal in words that end in the
 * volunteer's event log, or what one job uses: CPUs, a part of a coprocessor, memory, and the
 * speed that estimates and credit begin with. server/policy/version/ goes on from there. */
#ifndef SERVER_POLICY_PLAN_CLASS_PLAN_CLASS_H
#define SERVER_POLICY_PLAN_CLASS_PLAN_CLASS_H

#include "config/config.h"
#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

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
#define FIELD(name, type, default_, of) PLAN_FIELD_##type name;
#include "server/policy/plan_class/plan_class_fields.def"
#undef FIELD
    struct text opencl_cpu_vendor; /* built-in: the CPU's OpenCL is to be of this one */
    bool peak_unscaled;            /* built-in GPU classes count the whole peak for credit */
};

/* All defaults, no demands. */
void plan_class_init(struct plan_class *ret_class);

/* The classes of a project: those of its file, or the built-in ones. Immutable. */
struct plan_classes {
    const struct plan_class *items;
    size_t count;
    bool is_builtin;
    struct text source;  /* the text that they were read from; empty: there is none */
    uint64_t source_key; /* equal for equal texts; 0: there is none */
    /* What was mended, or has no effect, or may not be meant so: with its line. */
    const struct text *warnings;
    size_t warning_count;
    struct arena *arena; /* owns all texts; NULL for the built-in ones */
    struct plan_compiled *compiled;
};

/* The text of plan_class_spec.xml. STATUS_INVALID, with the line in `failure`: not to be used, and
 * then no plan class is usable at all. Unknown elements are passed over and a field that is not
 * closed ends before the next tag, with a warning each. */
MUST_CHECK enum status plan_classes_parse(struct text document, struct plan_classes *ret_classes,
                                          struct failure *failure);
void plan_classes_free(struct plan_classes *classes);

/* The class of that name among those of a file; NULL: none. */
const struct plan_class *plan_class_find(const struct plan_classes *classes, struct text name);
/* Whether its versions run in containers: by what the file says, or by the name, as clients take
 * it. */
bool plan_class_is_docker(const struct plan_class *class);

#endif
