/* SPDX-License-Identifier: Apache-2.0 */
/* BOINC's XML before the operations: submit_rpc_handler.php, as BOINC's clients speak it. */
#ifndef SERVER_SUBMISSION_RPC_FACE_H
#define SERVER_SUBMISSION_RPC_FACE_H

#include "server/submission/rpc_reply.h"
#include "server/submission/spool.h"

#include <stdbool.h>

struct desk;
struct rpc_request;

struct rpc_exchange {
    struct desk *desk;
    struct spool *spool; /* the request */
    rpc_send *send;      /* gets the reply */
    void *context;
    bool is_stopped; /* the project is */

    /* What became of it, for the log. */
    struct text command; /* empty: none that we know */
    int64_t userid;      /* 0: nobody known */
    int error;           /* 0: answered */
};

/* Answers in every case. `status`: of reading the form, whose failure is the desk's. */
void rpc_answer(struct rpc_exchange *exchange, enum status status);

/* For other pages in this XML: what the spool holds, and the end of a reply. */
MUST_CHECK enum status rpc_read_request(struct rpc_exchange *exchange,
                                        struct rpc_request *ret_request);
void rpc_reply_status(struct rpc_exchange *exchange, struct rpc_reply *reply, enum status status);

/* BOINC's numbers. */
enum { RPC_ERROR = -1, RPC_DATABASE_AWAY = -138, RPC_STOPPED = -183 };

#endif
