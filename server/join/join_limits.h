/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps people from guessing passwords and from using up the processor: a token bucket for
 * each address and each account that was tried lately, and a gate before the hashing of passwords,
 * which takes 50 ms each.
 *
 * One of these belongs to a process and is shared by its threads. Its memory is fixed. Where more
 * addresses are seen than there are places, the one that has spent least is forgotten, so that a
 * flood of others gives nobody new tries. */
#ifndef SERVER_JOIN_JOIN_LIMITS_H
#define SERVER_JOIN_JOIN_LIMITS_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct join_limits;

/* At most `threads_max` threads (1 at least) are beyond the gate or wait there. NULL: no memory. */
struct join_limits *join_limits_create(size_t threads_max);
void join_limits_destroy(struct join_limits *limits); /* NULL is fine */

enum join_bucket { JOIN_OF_ADDRESS, JOIN_OF_ACCOUNT };
/* Takes one of `per_hour` tokens, which come back evenly; a new bucket is full. False: there is
 * none. `whose`: an address (of IPv6 the first half counts) or an e-mail address. */
bool join_limits_take(struct join_limits *limits, enum join_bucket bucket, struct text whose,
                      int64_t per_hour, uint64_t now_ns);
/* It turned out that it needed none. */
void join_limits_give_back(struct join_limits *limits, enum join_bucket bucket, struct text whose,
                           int64_t per_hour, uint64_t now_ns);

/* Waits until no other thread hashes; false at once where too many threads wait already. */
bool join_limits_enter(struct join_limits *limits);
void join_limits_leave(struct join_limits *limits);
bool join_limits_is_full(struct join_limits *limits); /* who came now would not be let in */

/* The greatest cost of a hash that was seen, for refusing in equal time. */
int join_limits_cost(struct join_limits *limits, int cost_seen);

#endif
