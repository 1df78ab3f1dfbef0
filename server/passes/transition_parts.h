/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the pass over transitions share. */
#ifndef SERVER_PASSES_TRANSITION_PARTS_H
#define SERVER_PASSES_TRANSITION_PARTS_H

#include "db/admin.h"
#include "server/fates/fates.h"
#include "server/passes/complaints.h"
#include "server/passes/pass.h"
#include "server/policy/result/transition_rules.h"
#include "server/submit/template_output.h"

enum { TRANSITION_TEMPLATES_KEPT = 100 };

struct known_template {
    struct text path;
    struct output_template output;
    bool is_usable;
};

struct transition_pass {
    struct pass_owner *owner;
    const struct pass_settings *settings;
    struct transition_rules rules;
    struct pass_lease *lease;
    struct due_place place, next_place; /* behind what was done, and behind what was found */
    struct arena *part;                 /* of one transaction */
    struct arena *template_arena;
    struct known_template templates[TRANSITION_TEMPLATES_KEPT + DB_DUE_MOST];
    size_t template_count;
    struct documents *documents; /* NULL until a result is made */
    struct pass_counts counts;
    struct complaints complaints;
    bool is_over; /* what failed would fail again */
};

/* The rows of one transaction, before and after. */
struct transition_part {
    struct due_rows old, new;
    struct transition_wanted *wanted; /* of each workunit */
    int64_t wanted_count;
    struct pass_counts counts;
    struct fate_entry *fates; /* of those that timed out */
    size_t fate_count;
    int64_t *held_batches; /* rising; their jobs keep their files */
    size_t held_count;
};

/* Writes the results that are wanted, with their documents; a workunit for which that cannot be
 * done is put off. */
MUST_CHECK enum status transition_make_results(struct transition_pass *pass,
                                               struct transition_part *part);
/* To be called between transactions: drops the templates when there are too many. */
void transition_tidy_results(struct transition_pass *pass);

#endif
