/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting what clients send down to what a column holds; pure. */
#ifndef SERVER_POLICY_HOST_BOUNDS_H
#define SERVER_POLICY_HOST_BOUNDS_H

#include "server/base/text.h"

#include <stddef.h>
#include <stdint.h>

enum {
    BOUND_STRING = 254,    /* bytes of a varchar column (policy(7) 15.1) */
    BOUND_BLOB = 65535,    /* bytes of a blob or text column */
    BOUND_TRICKLE = 262143 /* bytes of a trickle, as handlers read them */
};

/* The first or last `most` bytes, a few less where the cut would go through a UTF-8 character. */
struct text bound_head(struct text text, size_t most);
struct text bound_tail(struct text text, size_t most);

/* The nearest number that a 32-bit column holds. */
int64_t bound_int32(int64_t number);
/* The same, but what some clients print as an unsigned 32-bit number keeps its sign: exit codes. */
int64_t bound_exit_status(int64_t number);

#endif
