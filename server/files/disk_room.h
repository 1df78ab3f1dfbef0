/* SPDX-License-Identifier: Apache-2.0 */
/* Room made on a host by deleting this project's sticky files, for clients that wait for an order
 * to do it (the third pass). */
#ifndef SERVER_FILES_DISK_ROOM_H
#define SERVER_FILES_DISK_ROOM_H

#include "server/base/status.h"
#include "server/base/text.h"
#include "server/policy/disk/deletion.h"

#include <stdbool.h>
#include <stddef.h>

struct request;

/* Whether this client deletes what it is told to, and may be told: configuration, its version, and
 * the file database is there. */
bool room_is_ordered(const struct request *request);

/* Bytes that can be deleted at most, from the request alone; 0 when nothing may be ordered. */
double room_bound(const struct request *request);

/* What the host holds; files that its jobs need, or that are awaited, are marked. */
struct room {
    struct stored_file *files;
    size_t count;
};
/* STATUS_NOT_FOUND: it cannot be known, so nothing is to be deleted. */
MUST_CHECK enum status room_look(struct request *request, struct room *ret_room);
/* Bytes that jobs may fill when all that can be is deleted. */
double room_space(const struct request *request, const struct room *room);
/* Marks what the jobs in the answer need, and orders the deletion of just enough of the rest for
 * them. False: they need more; nothing is ordered. */
bool room_order(struct request *request, struct room *room);

/* The same for jobs that are sent again, where no new ones were: if room can be made it is. */
MUST_CHECK enum status room_order_for_resent(struct request *request);

/* Names of the files that the host's jobs use, those of the answer too, sorted. STATUS_NOT_FOUND:
 * the client lists a job that the database does not know. */
MUST_CHECK enum status room_needed_names(struct request *request, struct text **ret_names,
                                         size_t *ret_count);

#endif
