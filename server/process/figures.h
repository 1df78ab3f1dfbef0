/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that writes and reads figures that outlive the process (qm_figures): once a minute, on
 * a connection that it opens for that. Counting a large project may take seconds, for which neither
 * the watcher nor a request waits. */
#ifndef SERVER_PROCESS_FIGURES_H
#define SERVER_PROCESS_FIGURES_H

#include "server/base/status.h"

struct figures_thread;
struct server;

MUST_CHECK enum status figures_start(struct server *server, struct figures_thread **ret_thread,
                                     struct failure *failure);
/* Any thread: soon, not only when the minute is over. */
void figures_wake(struct figures_thread *thread);
/* Writes what was counted last, and waits for the thread; NULL is fine. */
void figures_stop(struct figures_thread *thread);

#endif
