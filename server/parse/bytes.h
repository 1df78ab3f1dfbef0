/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a client's texts: as they are written into the repaired document, and back again. */
#ifndef SERVER_PARSE_BYTES_H
#define SERVER_PARSE_BYTES_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct buffer;

/* A text between two tags of a request as the bytes that it means, in `to`: white space around it
 * is taken off, CDATA opened, entities decoded. False: longer than that. */
bool bytes_read_text(struct text text, size_t bytes_max, char *to, struct text *ret_text);

/* Each byte as one character of the document. */
void bytes_write(struct buffer *document, struct text bytes);
/* Turns a text of the document back into the client's bytes, in place or to `to`, which has at
 * least the text's length. Returns how many bytes there are. */
size_t bytes_restore(struct text text, char *to);

#endif
