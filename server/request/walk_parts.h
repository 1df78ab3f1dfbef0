/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the walk share: how an attempt ends, and the short answers. */
#ifndef SERVER_REQUEST_WALK_PARTS_H
#define SERVER_REQUEST_WALK_PARTS_H

#include "server/base/arena.h"
#include "server/rpc/request.h"

/* How an attempt at the transaction ended. */
enum outcome {
    OUTCOME_COMMITTED,
    OUTCOME_REPLY, /* a step answered; nothing is to be kept */
    OUTCOME_AGAIN,
    OUTCOME_GONE, /* lost before COMMIT: connect, then again */
    OUTCOME_DOWN,
    OUTCOME_LATER,
    OUTCOME_TOO_LARGE
};

/* The first step that belongs to the transaction. */
#define STEP_TRANSACTION STEP_authenticate

/* Runs and times one step, and fails it when it has filled the arena. */
enum next request_run_step(struct request *request, enum step step);

/* --- request_transact.c ----------------------------------------------------------------------- */

/* Tries the transaction until it has an end that the client can be told. `mark`: the arena as each
 * attempt finds it. */
enum outcome request_transact(struct request *request, struct arena_mark mark);

/* --- request_answers.c ------------------------------------------------------------------------ */

/* Each replaces the answer by a short one that changes nothing at the client but its patience. */
void request_answer_down(struct request *request, const char *reason, const char *text);
void request_answer_away(struct request *request); /* the database is not there */
void request_answer_later(struct request *request);
void request_answer_too_large(struct request *request);
void request_answer_unreadable(struct request *request);

#endif
