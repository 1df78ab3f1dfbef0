/* SPDX-License-Identifier: Apache-2.0 */
/* The files that volunteers' hosts hold, and what is kept of them in the file database.
 *
 * The file database is no part of the project's database and no request needs it. It follows the
 * requests: each worker has a link to it (struct files, its own connection), and when the
 * scheduling transaction of a request is committed, the step before the reply is written calls
 * files_update (files_update.c). This function compares the list of sticky files in the request
 * with the host's rows, writes the difference, and advances the orders that are pending for this
 * host (file_orders.c): receive, upload or delete a file.
 *
 * One step asks before the commit: the third disk pass of the job selection, when jobs fit only if
 * files of this project go. deletable_files.c says which files may go and puts the deletions into
 * the answer. Which names the host's jobs need is found in needed_files.c, from the documents of
 * the jobs in the project's database.
 *
 * A file that a job on the host or in the answer needs is never ordered away; where the file
 * database or a job's document cannot be read, nothing is deleted. A failure of the file database
 * changes nothing that was committed and fails no request: the link is closed and opened again
 * after growing pauses, and the log says once for the whole process when it begins and when it
 * ends (struct files_health, the only state that threads share). Everything else belongs to one
 * worker; what is read lives in the arena of the request. */
#ifndef SERVER_FILES_HOST_FILES_H
#define SERVER_FILES_HOST_FILES_H

#include "server/base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct config;
struct db;
struct files;
struct host_files;
struct request;

/* Shared by all workers of a process, so that a failure is logged once. Zero it. */
struct files_health {
    atomic_bool is_away;
};

/* NULL: no memory. */
struct files *files_create(struct files_health *health);
void files_destroy(struct files *files); /* NULL is fine */
/* The link, connected as the configuration says; NULL while there is no connection. After a
 * failure it is tried again after growing pauses. `now_ns` is monotonic. */
struct files *files_ready(struct files *files, struct config *config, uint64_t now_ns);
struct db *files_connection(const struct files *files); /* of a link that is ready */

/* Reads what the file database knows of the host, without a commit: the caller ends with files_end.
 */
MUST_CHECK enum status files_begin(struct request *request, struct host_files *ret_files);
/* Commits, or rolls back where `status` is an error. False: nothing was written; a link that does
 * not work is closed. */
bool files_end(struct request *request, enum status status);
/* Both of them. False: there is no file database now. */
bool files_read(struct request *request, struct host_files *ret_files);
/* After the commit, before the reply: stores what the request lists and the answer sends, and adds
 * the orders that are not done yet to the answer. */
void files_update(struct request *request);

#endif
