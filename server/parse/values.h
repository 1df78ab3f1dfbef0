/* SPDX-License-Identifier: Apache-2.0 */
/* How single values of a request are read: the bytes of a text, as they are written into the
 * repaired document and back again, numbers, and the content of a trickle. */
#ifndef SERVER_PARSE_VALUES_H
#define SERVER_PARSE_VALUES_H

#include "server/base/text.h"
#include "server/parse/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buffer;

/* A text between two tags of a request as the bytes that it means, in `to`: white space around it
 * is taken off, CDATA opened, entities decoded. False: longer than that. */
bool bytes_read_text(struct text text, size_t bytes_max, char *to, struct text *ret_text);

/* Each byte as one character of the document. */
void bytes_write(struct buffer *document, struct text bytes);
/* Turns a text of the document back into the client's bytes, in place or to `to`, which has at
 * least the text's length. Returns how many bytes there are. */
size_t bytes_restore(struct text text, char *to);

/* Numbers as BOINC reads them: empty is 0, and integers may be written as 0x...; but nothing that
 * is not finite or does not fit (protocol(7) 1.3). False leaves the number alone. The bounds leave
 * room for what is computed of a number: a product with a million, a quotient, a sum of all in a
 * request. */
#define VALUE_INTEGER_MOST INT64_C(1000000000000000)
#define VALUE_REAL_MOST    1e100
#define VALUE_REAL_LEAST   1e-100 /* what is closer to 0 is 0 */
MUST_CHECK bool value_integer(struct text text, int64_t *ret_number);
MUST_CHECK bool value_real(struct text text, double *ret_number);

/* The content of a msg_from_host. Texts are slices of `raw`, except `xml` when the variety had to
 * be taken out of its middle. */
struct trickle_up value_trickle(struct arena *arena, struct text raw);

#endif
