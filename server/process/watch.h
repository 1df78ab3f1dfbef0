/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that notices what the administrator changes: configuration, keys, trigger files, and
 * the catalog in the database. */
#ifndef SERVER_PROCESS_WATCH_H
#define SERVER_PROCESS_WATCH_H

#include "server/base/status.h"

struct server;
struct watcher;

/* Checks once, in the caller's thread, so that the first request finds a catalog if the database is
 * there; then goes on in a thread of its own. */
MUST_CHECK enum status watcher_start(struct server *server, struct watcher **ret_watcher,
                                     struct failure *failure);
/* Any thread: everything is read again soon, changed or not. */
void watcher_reload(struct watcher *watcher);
void watcher_stop(struct watcher *watcher); /* waits for the thread; NULL is fine */

#endif
