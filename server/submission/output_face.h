/* SPDX-License-Identifier: Apache-2.0 */
/* The outputs of jobs: get_output.php. One file as it is, or several as a zip archive.
 *
 * A form that is posted says who asks by its field `authenticator`. BOINC's own programs put a
 * proof into the address instead, where logs and histories keep it: an MD5 that never expires, or
 * the key itself. They are taken only with the option submission_url_keys. */
#ifndef SERVER_SUBMISSION_OUTPUT_FACE_H
#define SERVER_SUBMISSION_OUTPUT_FACE_H

#include "server/submission/rpc_reply.h"
#include "server/submission/spool.h"

#include <stdbool.h>

struct desk;

struct output_exchange {
    struct desk *desk;
    struct text parameters; /* urlencoded, as in a query */
    bool is_posted;         /* they came in a body */
    struct spool *spool;    /* for an archive's list */
    rpc_send *send;         /* gets HTTP's head and body */
    void *context;

    /* What became of it. */
    int64_t userid;
    int status;     /* of HTTP */
    bool is_broken; /* the body is not whole: no proper end must follow it */
};

/* Answers in every case. */
void output_answer(struct output_exchange *exchange);

#endif
