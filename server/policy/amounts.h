/* SPDX-License-Identifier: Apache-2.0 */
/* How much work a request asks for, per resource (protocol 6.1, 6.9; seeds 2-1, 2-2, 3-6); pure. */
#ifndef SERVER_POLICY_AMOUNTS_H
#define SERVER_POLICY_AMOUNTS_H

#include <stdbool.h>

struct message;

/* Whether the client asks for any work: seconds or instances of any resource, or the old scalar;
 * never when it said dont_send_work. */
bool message_wants_work(const struct message *message);

#endif
