/* SPDX-License-Identifier: Apache-2.0 */
/* The two lists of files that are compared for each request: the rows of the file database, which
 * say what was known of the host, and the request's own, which says what the host holds now. */
#ifndef SERVER_FILES_FILE_LISTS_H
#define SERVER_FILES_FILE_LISTS_H

#include "db/files.h"
#include "server/parse/message.h"

#include <stdbool.h>
#include <stddef.h>

struct request;

enum { FILE_STATUS_PRESENT = 1 }; /* as clients say it: protocol(7) 2.12 */

/* What the file database knows of a host's files, and its open orders. */
struct host_files {
    struct host_file_row *rows; /* by name */
    size_t row_count;
    struct file_order_row *orders;
    size_t order_count;
};
/* NULL: the database does not know the file. */
const struct host_file_row *host_files_find(const struct host_files *files, struct text name);

/* The sticky files that the request lists, by name, each once; not those whose names are too long
 * for the database. */
struct listed_files {
    struct host_file *files;
    size_t count;
};
/* Charges the budget for the request's list; false: it is too long to be looked at. */
bool listed_files_charge(struct request *request);
/* False: no memory. */
bool listed_files_read(struct request *request, struct listed_files *ret_listed);
/* NULL: the request does not list it. */
const struct host_file *listed_files_find(const struct listed_files *listed, struct text name);

#endif
