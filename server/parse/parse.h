/* SPDX-License-Identifier: Apache-2.0 */
/* From the bytes of a request body to struct message. */
#ifndef SERVER_PARSE_PARSE_H
#define SERVER_PARSE_PARSE_H

#include "server/base/status.h"
#include "server/parse/message.h"

struct arena;

struct parse_limits {
    size_t results_max; /* reported results kept; the others are left unacknowledged */
    size_t depth_max;
};

/* STATUS_INVALID: not a complete scheduler_request (the reason, in words for the volunteer, is in
 * `failure`); STATUS_TOO_LARGE: the arena is full. On STATUS_OK every readable element is in
 * `*ret_message`, whose texts point into `body` or `arena`. */
MUST_CHECK enum status parse_request(struct text body, const struct parse_limits *limits,
                                     struct arena *arena, struct message *ret_message,
                                     struct failure *failure);

/* All defaults, nothing said; parse_request begins with it, tests too. */
void message_init(struct message *message);

#endif
