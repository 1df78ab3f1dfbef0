/* SPDX-License-Identifier: Apache-2.0 */
/* What a request writes into the record of its host (policy(7) 1.4); pure. */
#ifndef SERVER_POLICY_HOST_HOST_RECORD_H
#define SERVER_POLICY_HOST_HOST_RECORD_H

#include "db/rows.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct message;

/* Whether the request describes its host at all; the short one that carries a trickle does not. */
bool host_record_is_described(const struct message *message);

/* Copies all that the client says about its host, cut to the size of the columns, texts as slices
 * of the message or in the arena: what it leaves out becomes 0 or empty, but a described host's
 * CPID only changes when one came (it is stored hashed with `email_addr`). Counts how often the
 * same address was seen. A request without a description changes nothing. */
void host_record_copy(const struct message *message, struct text email_addr, struct arena *arena,
                      struct host_row *host);

/* The address that the server sees: the peer's, or, while that is one of the trusted proxies, the
 * one that it added to X-Forwarded-For; "?.?.?.?": none. */
struct text host_record_external_address(struct text forwarded_for, struct text remote_addr,
                                         const struct text *trusted, size_t trusted_count);

/* host.misc: a JSON object of what has no column of its own. */
struct text host_record_misc(const struct message *message, struct arena *arena);
/* The client's version that it tells, as message_client_version gives it; 0: none. */
int64_t host_record_client_version(struct text misc);

/* Whether it ever said how much of its disk is free: 0 of a disk is a full one, 0 of 0 was not
 * measured. */
bool host_record_has_disk(const struct host_row *host);
/* What the client did not say of the disk is as it was said before. */
void host_record_complete(const struct host_row *stored, struct message *message);

#endif
