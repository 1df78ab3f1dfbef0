/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the files that a host's jobs need, from the documents of the jobs; no such file may be
 * deleted. The lists live in the arena of the request and are sorted (server/base/sorted.h). */
#ifndef SERVER_FILES_NEEDED_FILES_H
#define SERVER_FILES_NEEDED_FILES_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct request;

/* Of the jobs in the answer only, without the database. False: no memory. */
bool needed_files_of_answer(struct request *request, struct text **ret_names, size_t *ret_count);

/* Of all jobs that the host has by the database or lists, and those in the answer.
 * STATUS_NOT_FOUND: it lists a job that the database does not know, or more than the budget lets us
 * look up, so it may need any file. */
MUST_CHECK enum status needed_files_names(struct request *request, struct text **ret_names,
                                          size_t *ret_count);

#endif
