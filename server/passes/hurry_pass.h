/* SPDX-License-Identifier: Apache-2.0 */
/* Near the end of a batch that is in a hurry, its late jobs get one result more, and the servers
 * learn which hosts may have what is left (server/policy/result/hurry.h). Done by batch_pass. */
#ifndef SERVER_PASSES_HURRY_PASS_H
#define SERVER_PASSES_HURRY_PASS_H

#include "server/passes/pass.h"

struct hurries;

/* The batches that are in a hurry. *ret_hurries: in the owner's arena; those of batches that are
 * over are forgotten. */
MUST_CHECK enum status hurry_begin(struct pass_owner *owner, struct hurries **ret_hurries);
/* For a batch in progress with so many jobs that have neither an answer nor an error. Does nothing
 * if it is in no hurry, or far from its end. */
MUST_CHECK enum status hurry_batch(struct pass_owner *owner, const struct hurries *hurries,
                                   int64_t batch, int64_t unfinished, int64_t now);

/* Whether it is in one, near its end or not. */
bool hurry_is_wanted(const struct pass_owner *owner, const struct hurries *hurries, int64_t batch);

#endif
