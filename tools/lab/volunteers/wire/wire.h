/* SPDX-License-Identifier: Apache-2.0 */
/* What hosts say and hear, as bytes. A host's request (host/rpc_messages.h) becomes a
 * scheduler_request document in outgoing.c; the server's scheduler_reply becomes plain data again
 * in incoming.c. Around the RPC itself lie two pages: the master page of a project, which names
 * its schedulers (server/base/master_page.h), and the server's own page of counters
 * (metrics_page.h), which no host reads; figures of the run are taken from it. Nothing here sends
 * or receives: that is crowd/. */
#ifndef TOOLS_LAB_VOLUNTEERS_WIRE_WIRE_H
#define TOOLS_LAB_VOLUNTEERS_WIRE_WIRE_H

#include "server/base/text.h"

struct arena;
struct buffer;
struct incoming;
struct outgoing;

/* As clients write it: those of today, or those that asked in one amount for all resources. The
 * buffer says whether there was room. */
void outgoing_write(const struct outgoing *outgoing, struct buffer *request);

/* STATUS_INVALID: the reply is not a whole one. STATUS_NO_MEMORY: the arena is full. Texts and
 * lists of *ret_incoming live in the arena. */
MUST_CHECK enum status incoming_read(struct text reply, struct arena *arena,
                                     struct incoming *ret_incoming, struct failure *failure);

#endif
