/* SPDX-License-Identifier: Apache-2.0 */
/* Where requests come in: the listening socket, inherited or our own, and its stop. */
#ifndef SERVER_WEB_LISTEN_H
#define SERVER_WEB_LISTEN_H

#include "server/base/status.h"

#include <stdbool.h>

struct listener;

/* Who may use a socket file of ours: its mode, and the group that it is given to; NULL: as it
 * comes. */
struct socket_access {
    unsigned mode;
    const char *group;
};

/* `where` is "unix:PATH" or "tcp:ADDRESS:PORT"; NULL takes the socket that systemd passes, or the
 * one on fd 0. A socket file left behind by a dead process is replaced, one that a living process
 * listens on is not. STATUS_INVALID: `where` cannot be read; STATUS_NOT_FOUND: no socket was
 * inherited, or there is no such group. */
MUST_CHECK enum status listener_open(const char *where, struct socket_access access,
                                     struct listener **ret_listener, struct failure *failure);
void listener_close(struct listener *listener); /* removes a socket file of ours; NULL is fine */

/* Never waits: *ret_connection is -1 when nobody is there. STATUS_NOT_FOUND: stopped, nothing more
 * will come; STATUS_IO: try again after a moment (out of descriptors). One thread at a time.
 * Writing to the connection has a time limit per call. */
MUST_CHECK enum status listener_accept(struct listener *listener, int *ret_connection);
/* Whether others than this machine may reach it: TCP that is not loopback. */
bool listener_is_exposed(const struct listener *listener);
/* What to poll for: readable when a connection waits, and for ever once it is stopped. */
int listener_socket(const struct listener *listener);
int listener_stop_event(const struct listener *listener);
bool listener_is_stopped(const struct listener *listener);
/* Any thread. */
void listener_stop(struct listener *listener);

/* Whether fd 0 is a listening socket, as spawn-fcgi, mod_fcgid and inetd-like starters give it. */
bool listener_is_inherited(void);

#endif
