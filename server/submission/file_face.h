/* SPDX-License-Identifier: Apache-2.0 */
/* BOINC's XML before the files of submitters: job_file.php. A form has the request first, and then
 * the files in the order of their names, which are taken as they come. */
#ifndef SERVER_SUBMISSION_FILE_FACE_H
#define SERVER_SUBMISSION_FILE_FACE_H

#include "server/submission/file_desk.h"
#include "server/submission/form.h"
#include "server/submission/rpc_face.h"
#include "server/submission/rpc_request.h"

struct file_face {
    struct rpc_exchange *exchange;
    struct rpc_request request;
    struct submitter submitter;
    struct files_named named;
    struct files_upload upload;
    bool is_in_request, is_in_file;
    bool is_ready;  /* the request is read, and allowed */
    bool is_upload; /* else a query */
};

void file_face_begin(struct file_face *face, struct rpc_exchange *exchange);
struct form_taker file_face_taker(struct file_face *face);
/* Answers in every case. `status`: of reading the form. */
void file_face_answer(struct file_face *face, enum status status);

#endif
