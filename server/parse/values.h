/* SPDX-License-Identifier: Apache-2.0 */
/* How single values of a request are read. */
#ifndef SERVER_PARSE_VALUES_H
#define SERVER_PARSE_VALUES_H

#include "server/base/text.h"
#include "server/parse/message.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;

/* As BOINC reads them (protocol(7) 1.3): empty is 0, integers also as 0x...; but nothing that is
 * not finite or does not fit. False leaves the number alone. */
MUST_CHECK bool value_integer(struct text text, int64_t *ret_number);
MUST_CHECK bool value_real(struct text text, double *ret_number);

/* The content of a msg_from_host. Texts are slices of `raw`, except `xml` when the variety had to
 * be taken out of its middle. */
struct trickle_up value_trickle(struct arena *arena, struct text raw);

#endif
