/* SPDX-License-Identifier: Apache-2.0 */
/* What the status page shows of the past: the last day, by the watcher's turns, and what was read
 * again of late. And the page, with the figures of the moment (server/status/status_page.h has its
 * looks). */
#ifndef SERVER_PROCESS_STATUS_KEEPER_H
#define SERVER_PROCESS_STATUS_KEEPER_H

#include "server/base/text.h"

#include <stdbool.h>

struct buffer;
struct server;
struct snapshot;
struct status_keeper;

struct status_keeper *status_keeper_create(void); /* NULL: no memory */
void status_keeper_destroy(struct status_keeper *keeper);

/* Any thread. `what` was read again, by its name, and taken or refused; `words`: one line for each
 * change, or why. */
void status_keeper_note(struct status_keeper *keeper, const char *what, bool is_refused,
                        struct text words);
/* Every second or so: what the counters rose by goes into the day. */
void status_keeper_turn(struct server *server);
/* The page. False: no memory. */
bool status_keeper_write(struct server *server, const struct snapshot *snapshot,
                         struct buffer *ret_page);

#endif
