/* SPDX-License-Identifier: Apache-2.0 */
/* Which candidates belong to workunits that this user, or this host, has had a result of already.
 */
#ifndef SERVER_HANDOUT_ALREADY_HAD_H
#define SERVER_HANDOUT_ALREADY_HAD_H

#include "server/base/status.h"
#include "server/policy/dispatch/checks.h"
#include "server/pool/pool.h"

#include <stddef.h>

struct request;

/* Sets user_had_one and host_had_one of the jobs where the configuration has a rule about them.
 * Without a rule nothing is asked. */
MUST_CHECK enum status met_mark(struct request *request, struct job *jobs, size_t count);

/* Tells the question whose rules hold, and which workunits are in the reply. False: no memory. */
bool met_ask(struct request *request, struct pool_question *question);

/* Of an answer to such a question only what was not met, as much as each class was to give: the
 * rest goes back, is remembered, and more of the same classes is looked at, until *looks jobs were.
 * The answer is request->taken's already, and so is what takes its place. *ret_example: one that
 * was met; resultid 0: none. */
MUST_CHECK enum status met_sift(struct request *request, const struct pool_question *question,
                                size_t *looks, struct pool_answer *answer,
                                struct pool_job *ret_example);

#endif
