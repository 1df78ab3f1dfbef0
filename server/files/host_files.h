/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's link to the file database. It is never needed: every call does without. */
#ifndef SERVER_FILES_HOST_FILES_H
#define SERVER_FILES_HOST_FILES_H

#include "db/files.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct config;
struct files;
struct request;

/* Shared by all workers of a process, so that what happened is logged once. Zero it. */
struct files_health {
    atomic_bool is_away;
};

/* NULL: no memory. */
struct files *files_create(struct files_health *health);
void files_destroy(struct files *files); /* NULL is fine */
/* The link, connected as the configuration says; NULL while there is none to be had. After a
 * failure it is tried again after growing pauses. `now_ns` is monotonic. */
struct files *files_ready(struct files *files, struct config *config, uint64_t now_ns);

/* What is known of the host's files, and what it is to do with them. */
struct host_files {
    struct host_file_row *rows; /* by name */
    size_t row_count;
    struct file_order *orders;
    size_t order_count;
};
/* False: there is no file database now. */
bool files_read(struct request *request, struct host_files *ret_files);

/* After the commit, before the reply: stores what the request lists and the answer sends, and adds
 * the orders that are not done yet to the answer. */
void files_update(struct request *request);

#endif
