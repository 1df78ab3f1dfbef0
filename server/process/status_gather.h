/* SPDX-License-Identifier: Apache-2.0 */
/* Current figures for the pages, from all parts of the process (server/status/ lays them out;
 * status_keeper.h and project_keeper.h have the past). The database is not asked. */
#ifndef SERVER_PROCESS_STATUS_GATHER_H
#define SERVER_PROCESS_STATUS_GATHER_H

#include "server/base/status.h"
#include "server/status/page_frame.h"
#include "server/status/public_page.h"

#include <stdbool.h>

struct buffer;
struct server;
struct snapshot;

/* Every second or so: this moment becomes part of the past. */
void status_gather_turn(struct server *server);
/* The page of that kind. False: no memory. */
bool status_gather_page(struct server *server, const struct snapshot *snapshot, enum page_kind kind,
                        struct buffer *ret_page);

/* What anybody may know (server/status/public_page.h). STATUS_NOT_FOUND: it is not known yet. */
MUST_CHECK enum status status_gather_public(struct server *server, const struct snapshot *snapshot,
                                            enum public_page kind, struct buffer *ret_page);

#endif
