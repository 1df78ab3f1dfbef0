/* SPDX-License-Identifier: Apache-2.0 */
/* The request room: the walk of one scheduler RPC, and those of its steps that are not rooms of
 * their own.
 *
 * request_run parses the body and screens it without the database (parse, screen). Then it begins
 * the transaction (transaction.c): authenticate finds the account and locks the host's row, report
 * takes finished jobs, resend and select (server/handout/) give the host its jobs, messages passes
 * on trickles, record writes the host. After the commit the reply is written, and the file
 * database and the availability log follow. If the request cannot be answered, short_answers.c
 * writes one that changes nothing at the client but its next contact. */
#ifndef SERVER_REQUEST_WALK_H
#define SERVER_REQUEST_WALK_H

#include "server/base/arena.h"
#include "server/rpc/request.h"

struct buffer;
struct request_group;

/* Walks the request, commits, and writes the whole scheduler_reply into `ret_reply` (never the
 * HTTP head). Always produces a reply. Afterwards attempt.answer and the bookkeeping tell what
 * happened; request_log writes the line. A refusal does not wait for the database: when it is on
 * its way, the caller rolls back what is open (db_end). */
void request_run(struct request *request, struct buffer *ret_reply);
void request_log(const struct request *request, size_t reply_bytes);

/* A reply to a request that is not even looked at, because it is too large or too many wait: it
 * asks the client to come again. Needs config, arena, seed and load; the reply is never empty. */
void request_turn_away(struct request *request, bool is_too_large, struct buffer *ret_reply);

/* How a request, or an attempt at its transaction, ended. */
enum outcome {
    OUTCOME_NONE,   /* it needed no transaction: the answer stands */
    OUTCOME_JOINED, /* it has not: COMMIT is to follow (request_group.h) */
    OUTCOME_COMMITTED,
    OUTCOME_REPLY, /* a step gave the final answer; nothing is kept */
    OUTCOME_AGAIN,
    OUTCOME_GONE, /* lost before COMMIT: connect, then again */
    OUTCOME_DOWN,
    OUTCOME_LATER,
    OUTCOME_TOO_LARGE
};

/* The first step that belongs to the transaction. */
#define STEP_TRANSACTION STEP_authenticate

/* request_run in its parts. request_begin does what comes before the transaction; false: none is
 * needed. request_end does what comes after it, and writes the reply. */
bool request_begin(struct request *request);
void request_end(struct request *request, enum outcome outcome, struct buffer *ret_reply);

/* --- steps.c ---------------------------------------------------------------------------------- */

/* For the administrator: in the log and among the counters. */
const char *request_step_word(enum step step);
const char *request_step_brief(enum step step);
/* Runs and times one step, and fails it if it has filled the arena. */
enum next request_run_step(struct request *request, enum step step);

/* --- transaction.c ---------------------------------------------------------------------------- */

/* Tries the transaction until it has an end that the client can be told, or others wait who may
 * join in (`group`; NULL: nobody may): OUTCOME_JOINED. */
enum outcome request_transact(struct request *request, struct request_group *group);
/* Tries it once. */
enum outcome request_attempt(struct request *request, struct request_group *group);
/* Commits the transaction of these requests, whose parts have ended, and finds out what became of
 * it where COMMIT does not tell. */
enum outcome request_commit_all(struct request *const *requests, size_t count);
/* What follows the COMMIT that kept the request. */
void request_committed(struct request *request);

/* --- short_answers.c -------------------------------------------------------------------------- */

/* Each replaces the answer by a short one that changes nothing at the client but its patience. */
void request_answer_down(struct request *request); /* the project is stopped */
void request_answer_away(struct request *request); /* the database is not there */
void request_answer_later(struct request *request);
void request_answer_too_large(struct request *request);
void request_answer_unreadable(struct request *request);

#endif
