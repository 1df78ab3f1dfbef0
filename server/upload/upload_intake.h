/* SPDX-License-Identifier: Apache-2.0 */
/* One request to upload, from the first byte of its body to its answer; upload_lines.h or
 * upload_cgi.c brings the bytes. Memory: the head until it is whole, then nothing; the file's
 * bytes go to the disk as they come.
 *
 * The order of calls is: begin; add, as bytes come; end, when no more will; once it is to be
 * finished, finish, which may take as long as the disk does; then the answer stands. Drop it in
 * the end, or wherever the peer goes away. */
#ifndef SERVER_UPLOAD_UPLOAD_INTAKE_H
#define SERVER_UPLOAD_UPLOAD_INTAKE_H

#include "server/base/text.h"
#include "server/upload/upload_decision.h"
#include "server/upload/upload_head.h"

#include <stddef.h>
#include <stdint.h>

struct upload_project;
struct buffer;

enum { UPLOAD_ADDRESS_SIZE = 46 }; /* the longest of IPv6, and a final NUL */

struct upload_intake {
    enum upload_stage {
        UPLOAD_HEARING,   /* the head */
        UPLOAD_TAKING,    /* the file's bytes */
        UPLOAD_TO_FINISH, /* upload_intake_finish is to be called */
        UPLOAD_ANSWERED   /* `decision` says it; what comes is ignored */
    } stage;
    struct upload_project *project;
    struct upload_head head;
    struct upload_decision decision;
    char *head_bytes; /* NULL: none came yet, or the head is read */
    size_t head_length;
    size_t next_reading; /* the head is tried again when it is as long */
    int descriptor;      /* of the partial file; -1: none, or it rests */
    int64_t at;          /* of the next byte in the file */
    int64_t reserved;    /* of the disk's free bytes; see upload_reserved */
    uint64_t begun_ns;
    char address[UPLOAD_ADDRESS_SIZE];
};

/* The peer's address is for the log. */
void upload_intake_begin(struct upload_intake *intake, struct upload_project *project,
                         struct text address);
void upload_intake_add(struct upload_intake *intake, struct text body);
/* Nothing comes for a while, perhaps since the line is dead and nobody knows: the file may be taken
 * over by another connection. If none does, it goes on with the next bytes. */
void upload_intake_rest(struct upload_intake *intake);
/* The disk is too small for all: what came stays, and the client is asked to come again. */
void upload_intake_yield_disk(struct upload_intake *intake);
/* Bytes of the disk that may still be given to uploads under way in this process, beside what they
 * count for; negative: they count for more than there is. */
int64_t upload_intake_unreserved(const struct upload_project *project);
void upload_intake_end(struct upload_intake *intake);
void upload_intake_finish(struct upload_intake *intake);
/* What came of an unfinished file stays, for the client to continue. */
void upload_intake_drop(struct upload_intake *intake);

/* The whole response for the web server. */
void upload_intake_response(const struct upload_intake *intake, struct buffer *ret_response);

#endif
