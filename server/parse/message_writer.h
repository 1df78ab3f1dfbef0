/* SPDX-License-Identifier: Apache-2.0 */
/* A message as a scheduler_request again, element by element along the table by which it was read,
 * so that an element that is added there is written too. Blobs are not: nobody knows what stands in
 * them. What is written can be read again by parse.h. */
#ifndef SERVER_PARSE_MESSAGE_WRITER_H
#define SERVER_PARSE_MESSAGE_WRITER_H

#include "server/parse/elements.h"

#include <stdbool.h>

struct buffer;
struct message;

struct message_writer {
    const struct message *message;
    struct buffer *buffer;
    const void *context; /* of the functions */
    /* Whether the element is written, with all that is in it. NULL: each. */
    bool (*takes)(const struct message_writer *writer, const struct element *element);
    /* Writes the element with what becomes of its text, which is not empty. NULL: as it is. */
    void (*write_text)(const struct message_writer *writer, const struct element *element,
                       struct text text);
    bool skips_zero; /* numbers that are 0, as they are when nothing is said */
};

void message_write(const struct message_writer *writer);

#endif
