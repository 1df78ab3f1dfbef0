/* SPDX-License-Identifier: Apache-2.0 */
/* One job as it is asked for: on the command line, or as a line of a batch (policy(7) 14.6). */
#ifndef SERVER_SUBMIT_JOB_LINE_H
#define SERVER_SUBMIT_JOB_LINE_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

#define JOB_LINE_MAX  4095 /* bytes */
#define JOB_FILES_MAX 256  /* files of one line */

struct job_argument {
    struct text name; /* of a file */
    bool is_content;  /* or what it holds, when its name is made of its MD5 */
    struct text content;
    int64_t sandbox_of; /* or it is a file of this user's sandbox, named likewise; 0: it is not */
    struct text remote_url; /* --remote_file URL BYTES MD5 */
    struct text md5;
    int64_t bytes;
};

struct job_line {
    struct text wu_name, wu_template, result_template, command_line;
    struct text wu_document, result_document; /* templates themselves, in place of their paths */
    bool has_priority;
    int64_t priority;
    uint64_t number; /* of the line; 0: there are no lines */
    struct job_argument *files;
    size_t file_count;
};

/* Words are separated by blanks; quotes of either kind hold blanks together. Options have one dash
 * or two. */
MUST_CHECK enum status job_line_read(struct arena *arena, struct text line,
                                     struct job_line *ret_line, struct failure *failure);
MUST_CHECK enum status job_remote_file_read(struct text url, struct text bytes, struct text md5,
                                            struct job_argument *ret_file, struct failure *failure);

#endif
