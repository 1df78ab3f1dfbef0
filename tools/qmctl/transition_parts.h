/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a transition pass share: the pass, and the rows of one of its transactions. */
#ifndef TOOLS_QMCTL_TRANSITION_PARTS_H
#define TOOLS_QMCTL_TRANSITION_PARTS_H

#include "db/admin.h"
#include "server/submit/template_output.h"
#include "server/submit/transition_rules.h"
#include "tools/qmctl/transition_pass.h"

enum { TRANSITION_TEMPLATES_KEPT = 100, TRANSITION_PUT_OFF = 600 /* s */ };

struct known_template {
    struct text path;
    struct output_template output;
    bool is_usable;
};

struct pass {
    struct session *session;
    const struct transition_pass_settings *settings;
    struct transition_rules rules;
    struct arena *part; /* of one transaction */
    struct arena *template_arena;
    struct known_template templates[TRANSITION_TEMPLATES_KEPT + DB_DUE_MOST];
    size_t template_count;
    struct documents *documents; /* NULL until a result is made */
    struct transition_counts counts;
    int64_t complaints;
    bool is_over; /* what failed would fail again */
};

/* The rows of one transaction, before and after. */
struct part {
    struct due_rows old, new;
    struct transition_wanted *wanted; /* of each workunit */
    int64_t wanted_count;
    struct transition_counts counts;
};

void transition_complain(struct pass *pass, const char *what, struct text name, const char *why);

/* Writes the results that are wanted, with their documents; a workunit for which that cannot be
 * done is put off. */
MUST_CHECK enum status transition_make_results(struct pass *pass, struct part *part);
/* To be called between transactions: templates are kept as long as there is room. */
void transition_tidy_results(struct pass *pass);

#endif
