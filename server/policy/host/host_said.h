/* SPDX-License-Identifier: Apache-2.0 */
/* What a host last reported about itself: platforms, client version and capabilities, coprocessors
 * with their drivers, processor features, containers, own app versions. It is kept next to the
 * host's row (qm_host_said), so that `qmctl why` can tell what the host could run without waiting
 * for its next request; pure. */
#ifndef SERVER_POLICY_HOST_HOST_SAID_H
#define SERVER_POLICY_HOST_HOST_SAID_H

#include "server/base/text.h"

struct arena;
struct message;

/* Most hosts say 1,000 to 4,000 bytes. */
enum { HOST_SAID_BYTES_MAX = 32000 };

/* The lasting elements (server/parse/elements.h) as a scheduler_request, which the parser reads
 * again. Empty: longer than what is kept, or no memory. */
struct text host_said_write(const struct message *message, struct arena *arena);

#endif
