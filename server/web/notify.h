/* SPDX-License-Identifier: Apache-2.0 */
/* A word to the manager that started this process, where it is systemd. */
#ifndef SERVER_WEB_NOTIFY_H
#define SERVER_WEB_NOTIFY_H

/* `state` as in sd_notify(3): READY=1, STOPPING=1. A failure is not reported: the manager's own
 * time limit then says what is wrong. */
void notify_manager(const char *state);

#endif
