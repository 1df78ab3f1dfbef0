/* SPDX-License-Identifier: Apache-2.0 */
/* What the status page shows of the moment, from all parts of the process
 * (server/status/status_page.h has its looks, status_keeper.h the past). */
#ifndef SERVER_PROCESS_STATUS_GATHER_H
#define SERVER_PROCESS_STATUS_GATHER_H

#include <stdbool.h>

struct buffer;
struct server;
struct snapshot;

/* Every second or so: this moment becomes part of the past. */
void status_gather_turn(struct server *server);
/* The page. False: no memory. */
bool status_gather_page(struct server *server, const struct snapshot *snapshot,
                        struct buffer *ret_page);

#endif
