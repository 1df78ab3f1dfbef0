/* SPDX-License-Identifier: Apache-2.0 */
/* Disk space that deleting this project's sticky files makes on a host, for clients that wait for
 * an order to do it: the third disk pass, policy(7) 9.2 and 9.3. */
#ifndef SERVER_FILES_DELETABLE_FILES_H
#define SERVER_FILES_DELETABLE_FILES_H

#include "server/base/status.h"
#include "server/base/text.h"
#include "server/policy/disk/deletion.h"

#include <stdbool.h>
#include <stddef.h>

struct request;

/* Whether deletions may be ordered: by the configuration, the client's version and its request, if
 * there is a file database. */
bool deletion_can_be_ordered(const struct request *request);

/* Bytes that can be deleted at most, from the request alone; 0 when nothing may be ordered. */
double deletable_bytes_bound(const struct request *request);

/* What the host holds; files that its jobs need, or that are to be uploaded, are marked. */
struct deletable_files {
    struct stored_file *files;
    size_t count;
};
/* STATUS_NOT_FOUND: it cannot be known, so nothing is to be deleted. */
MUST_CHECK enum status deletable_files_find(struct request *request,
                                            struct deletable_files *ret_deletable);
/* Bytes that jobs may fill when all that can be is deleted. */
double deletable_files_space(const struct request *request,
                             const struct deletable_files *deletable);
/* Marks what the jobs in the answer need, and orders the deletion of just enough of the rest for
 * them. False: they need more; nothing is ordered. */
bool deletable_files_order(struct request *request, struct deletable_files *deletable);

/* The same for jobs that are sent again, in an answer without new ones: deletes what is needed if
 * it can. */
MUST_CHECK enum status deletable_files_order_for_resent(struct request *request);

#endif
