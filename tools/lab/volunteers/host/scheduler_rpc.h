/* SPDX-License-Identifier: Apache-2.0 */
/* A scheduler RPC as the host sees it: the question that it asks now, if any, and what it makes of
 * the answer. The code that carries the question (crowd/) afterwards calls exactly one of the
 * volunteer_hear functions with it. */
#ifndef TOOLS_LAB_VOLUNTEERS_HOST_SCHEDULER_RPC_H
#define TOOLS_LAB_VOLUNTEERS_HOST_SCHEDULER_RPC_H

#include "tools/lab/volunteers/client/fetch.h"
#include "tools/lab/volunteers/host/rpc_messages.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct volunteer;

/* What an RPC needs besides the account. Zero it before use, use it for any number of RPCs, free it
 * at the end. Names in it belong to the host's jobs, so the host must not live on before it has
 * heard an answer. */
struct volunteer_question {
    size_t project;               /* whom to ask, by the crowd's number */
    size_t attached;              /* the same project by the host's number */
    struct fetch_request request; /* if it is for the master page, the rest is not filled in */
    size_t scheduler;             /* by number; 0 where no master page is read */
    struct outgoing outgoing;
    struct outgoing_job *jobs;
    size_t job_capacity;
    struct outgoing_file *files;
    size_t file_capacity;
};
/* False: there is nothing to ask or report now, or no memory. */
bool volunteer_ask(struct volunteer *volunteer, struct volunteer_question *question);
bool volunteer_wants_work(const struct volunteer_question *question);
/* A reply came. */
void volunteer_hear(struct volunteer *volunteer, const struct volunteer_question *question,
                    const struct incoming *incoming);
/* Nobody answered, or the answer could not be read. */
void volunteer_hear_nothing(struct volunteer *volunteer, const struct volunteer_question *question);
/* The numbers of the schedulers that the master page names; a count of 0: the page could not be
 * read, or names none. */
void volunteer_hear_master(struct volunteer *volunteer, const struct volunteer_question *question,
                           const uint8_t *schedulers, size_t count);
void volunteer_question_free(struct volunteer_question *question);

#endif
