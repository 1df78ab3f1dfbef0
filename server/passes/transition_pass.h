/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the workunits that are due: some hundred at a time, each time in a transaction of
 * its own. */
#ifndef SERVER_PASSES_TRANSITION_PASS_H
#define SERVER_PASSES_TRANSITION_PASS_H

#include "db/admin.h"
#include "server/passes/complaints.h"
#include "server/policy/result/transition_rules.h"
#include "server/submit/template_output.h"
#include "tools/qmctl/session/project_session.h"

/*  COUNT(name): the columns of the table that `qmctl transition` prints, in their order. Counted
 * are workunits, but timed_out, made, not_needed, valid, invalid and undecided are results. */
#define TRANSITION_COUNTS(COUNT)                                                 \
    COUNT(jobs) /* that were due */                                              \
    COUNT(timed_out)                                                             \
    COUNT(made)                                                                  \
    COUNT(not_needed)  /* will not be sent */                                    \
    COUNT(to_validate) /* newly so */                                            \
    COUNT(accepted)    /* have a canonical result now */                         \
    COUNT(valid)                                                                 \
    COUNT(invalid)                                                               \
    COUNT(undecided)     /* no quorum of them is the same */                     \
    COUNT(to_assimilate) /* newly so: an answer, an error, or deferred before */ \
    COUNT(assimilated)                                                           \
    COUNT(deferred)      /* by the command that assimilates */                   \
    COUNT(files_deleted) /* files */                                             \
    COUNT(given_up)      /* with an error */                                     \
    COUNT(put_off)       /* could not be done; due again later */

struct transition_counts {
#define COUNT_FIELD(name) int64_t name;
    TRANSITION_COUNTS(COUNT_FIELD)
#undef COUNT_FIELD
};

struct transition_pass_settings {
    int64_t now;
    int64_t jobs_max; /* 0: all that are due */
    bool trusts;
    bool deletes_files;
    const char *assimilate;  /* a command that takes answers; NULL: none */
    const char *validate;    /* "bitwise", or a command that compares; NULL: neither */
    int64_t command_seconds; /* for one call of a command */
};

/* Adds to *counts, also on failure what was committed before it. */
MUST_CHECK enum status transition_pass(struct session *session,
                                       const struct transition_pass_settings *settings,
                                       struct transition_counts *counts);

/* --- what the files of a pass share ---------------------------------------------------------- */

enum { TRANSITION_TEMPLATES_KEPT = 100, TRANSITION_PUT_OFF = 600 /* s */ };

struct known_template {
    struct text path;
    struct output_template output;
    bool is_usable;
};

struct transition_pass {
    struct session *session;
    const struct transition_pass_settings *settings;
    struct transition_rules rules;
    struct pass_lease *lease;
    struct due_place place, next_place; /* behind what was done, and behind what was found */
    struct arena *part;                 /* of one transaction */
    struct arena *template_arena;
    struct known_template templates[TRANSITION_TEMPLATES_KEPT + DB_DUE_MOST];
    size_t template_count;
    struct documents *documents; /* NULL until a result is made */
    struct transition_counts counts;
    struct complaints complaints;
    bool is_over; /* what failed would fail again */
};

/* The rows of one transaction, before and after. */
struct transition_part {
    struct due_rows old, new;
    struct transition_wanted *wanted; /* of each workunit */
    int64_t wanted_count;
    struct transition_counts counts;
};

/* Writes the results that are wanted, with their documents; a workunit for which that cannot be
 * done is put off. */
MUST_CHECK enum status transition_make_results(struct transition_pass *pass,
                                               struct transition_part *part);
/* To be called between transactions: drops the templates when there are too many. */
void transition_tidy_results(struct transition_pass *pass);

#endif
