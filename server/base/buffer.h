/* SPDX-License-Identifier: Apache-2.0 */
/* A growing text, in an arena or on the heap, with a sticky overflow mark: write on, ask once. */
#ifndef SERVER_BASE_BUFFER_H
#define SERVER_BASE_BUFFER_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
    struct arena *arena; /* NULL: heap, to be freed with buffer_free */
    char *at;
    size_t length;
    size_t capacity;
    size_t length_max; /* 0: only the arena's bound */
    bool overflowed;
};

struct buffer buffer_in(struct arena *arena);
struct buffer buffer_on_heap(size_t length_max);
void buffer_free(struct buffer *buffer); /* heap buffers; harmless on others */

/* Appends are ignored once the mark is set. */
void buffer_add(struct buffer *buffer, struct text text);
void buffer_add_string(struct buffer *buffer, const char *string);
void buffer_add_char(struct buffer *buffer, char character);
void buffer_add_integer(struct buffer *buffer, int64_t number);
void buffer_print(struct buffer *buffer, const char *format, ...) PRINTF_LIKE(2, 3);
/* Escaped as BOINC's parsers read it (protocol(7) 1.3): & < > escaped, bytes above 127 as &#N; one
 * by one, tab, LF and CR as &#9; &#10; &#13;, other control characters dropped. */
void buffer_add_xml(struct buffer *buffer, struct text text);
/* A line "<NAME>VALUE</NAME>" with the value escaped, `indent` blanks before it. */
void buffer_add_element(struct buffer *buffer, int indent, const char *name, struct text value);
struct text buffer_text(const struct buffer *buffer);

#endif
