/* SPDX-License-Identifier: Apache-2.0 */
/* Where a file lies below download_dir and upload_dir, and under which URL (policy(7) 14.7). */
#ifndef SERVER_PROJECT_HIERARCHY_H
#define SERVER_PROJECT_HIERARCHY_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buffer;

/* "DIR/NAME", or with a fanout "DIR/3ff/NAME"; the same for a URL. A slash at the end of `dir` is
 * not doubled. */
struct text hierarchy_path(struct arena *arena, struct text dir, struct text name, int64_t fanout);
/* The same into a buffer, escaped for XML. */
void hierarchy_write(struct buffer *buffer, struct text dir, struct text name, int64_t fanout);
/* The folder's name alone; empty without fanout. */
#define HIERARCHY_FOLDER_SIZE 16
void hierarchy_folder(struct text name, int64_t fanout, char ret_folder[HIERARCHY_FOLDER_SIZE]);

/* Whether it is there, with at least so many bytes (of a file that is still being uploaded there
 * are fewer). */
bool hierarchy_has_file(struct arena *arena, struct text dir, struct text name, int64_t fanout,
                        double bytes);

/* Why no client can fetch anything from this URL, in words to follow "the URL"; NULL: it may. */
const char *url_fault(struct text url);
/* Why clients upload no file to this URL, in words to follow it; NULL: they do. Since 6.13.2 they
 * tell by its words, and download the file from any other URL that a <url> gives. */
const char *url_upload_fault(struct text url);

/* Why clients do not take this as the name of a file, or a URL needs escapes for it, in words to
 * follow the name; NULL: they take it. */
const char *file_name_fault(struct text name);
/* Likewise of the name under which a job's program opens the file. */
const char *open_name_fault(struct text name);
/* Likewise of a job, whose result's files are named after it: these are not fetched by a URL, and
 * HTCondor's bridge calls jobs condor#HOST#OWNER#TIME#1.0. */
const char *job_name_fault(struct text name);
/* Fail with 'the WHAT "a b" has a blank in it'; `what` is "file name", or the like. */
MUST_CHECK enum status file_name_check(const char *what, struct text name, struct failure *failure);
MUST_CHECK enum status job_name_check(const char *what, struct text name, struct failure *failure);

#endif
