/* SPDX-License-Identifier: Apache-2.0 */
/* Which files a result gives back, read from its own document (result.xml_doc_in), and where they
 * lie once they are uploaded; pure. The document is what a template became (template_output.h),
 * ours or that of BOINC's create_work, which copies whatever an administrator wrote: comments,
 * white space, elements that nobody knows. Anything else is skipped. */
#ifndef SERVER_SUBMIT_OUTPUT_FILES_H
#define SERVER_SUBMIT_OUTPUT_FILES_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct output_file {
    struct text name;      /* in upload_dir; the host's name for it is another, random one */
    struct text open_name; /* by which the application opens it; `name` where none is given */
    double max_nbytes;     /* the upload handler takes no more; 0: not said */
    bool optional;         /* the result is right without it */
    bool no_validate;      /* it is not compared with those of other results */
    bool no_delete;        /* it stays when the files of the job are deleted */
    bool sticky;           /* clients keep it, and may be told to upload it again */
    bool gzipped;          /* clients compress it before they upload it (gzip_when_done) */
};

#define OUTPUT_FILES_MAX 1000

/* One for each file_ref, in their order; a file_info without a file_ref is not uploaded, so it is
 * not listed, and a file_ref without a file_info is listed by what it says itself. The list and its
 * texts live in the arena. STATUS_TOO_LARGE: more than OUTPUT_FILES_MAX of either kind;
 * STATUS_NO_MEMORY. A document without files gives an empty list. */
MUST_CHECK enum status output_files_read(struct arena *arena, struct text xml_doc_in,
                                         struct output_file **ret_files, size_t *ret_count);

/* Where it lies below upload_dir. Empty for a name that could lead out of the folder, which no
 * upload handler takes: there is no such file. */
struct text output_file_path(struct arena *arena, const struct output_file *file,
                             struct text upload_dir, int64_t fanout);

/* The result, a slice of `name`, whose output file has this name by the form in which ours are made
 * (template_output.h): RESULT_rNUMBER_SUFFIX, where RESULT ends in _NUMBER. Empty: not that form.
 */
struct text output_file_result(struct text name);

#endif
