/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the service manager how the server is, when there is one that wants to know. */
#ifndef SERVER_PROCESS_NOTIFY_H
#define SERVER_PROCESS_NOTIFY_H

/* `state` as sd_notify(3) has it: "READY=1", "STOPPING=1". Nothing happens without NOTIFY_SOCKET.
 */
void notify_manager(const char *state);

#endif
