/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that writes and reads figures that outlive the process (qm_figures): once a minute, on
 * a connection that it opens for that. Once an hour it looks for what is wrong in the database, for
 * all servers. Counting a large project and reading its versions' files may take seconds, for which
 * neither the watcher nor a request waits. */
#ifndef SERVER_PROCESS_FIGURES_H
#define SERVER_PROCESS_FIGURES_H

#include "server/base/status.h"

struct figures_thread;
struct server;

MUST_CHECK enum status figures_start(struct server *server, struct figures_thread **ret_thread,
                                     struct failure *failure);
/* Any thread: a turn soon, and with it a look. */
void figures_reload(struct figures_thread *thread);
/* Writes what was counted last, and waits for the thread; NULL is fine. */
void figures_stop(struct figures_thread *thread);

#endif
