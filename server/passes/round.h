/* SPDX-License-Identifier: Apache-2.0 */
/* The passes that follow each other in the life of a job, once each. */
#ifndef SERVER_PASSES_ROUND_H
#define SERVER_PASSES_ROUND_H

#include "server/passes/assimilation_pass.h"
#include "server/passes/batch_pass.h"
#include "server/passes/deletion_pass.h"
#include "server/passes/output_count.h"

/* What is kept from round to round; zeroed at first. */
struct round_memory {
    struct assimilation_failures failures;
    struct batch_schedule batches;
    struct output_schedule outputs;
    struct deletion_schedule schedule;
};

/* Transition, validation, assimilation, batches and their outputs, deletion of files; the first
 * that fails ends the round. What is to be validated was often found a moment ago; what that makes
 * due comes in the next round. Adds to *counts, also on failure what was committed before it. */
MUST_CHECK enum status pass_round(struct pass_owner *owner, const struct pass_settings *settings,
                                  struct round_memory *memory, struct pass_counts *counts);

#endif
