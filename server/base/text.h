/* SPDX-License-Identifier: Apache-2.0 */
/* Text as a pointer and a length: slices of a request, a row, a file; never NUL-terminated by
 * promise, and free to hold any byte. */
#ifndef SERVER_BASE_TEXT_H
#define SERVER_BASE_TEXT_H

#include "server/base/status.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct text {
    const char *at; /* NULL only when length is 0 */
    size_t length;
};

#define TEXT(literal)   ((struct text){.at = "" literal, .length = sizeof(literal) - 1})
#define NO_TEXT         ((struct text){0})
#define TEXT_FORMAT     "%.*s"
#define TEXT_ARG(text_) (int)(text_).length, (text_).at == NULL ? "" : (text_).at

/* A number with what it counts: "1 job", "2 jobs". */
#define COUNT_FORMAT           "%" PRId64 " %s%s"
#define COUNT_ARG(count, noun) (int64_t)(count), (noun), (int64_t)(count) == 1 ? "" : "s"

struct text text_from(const char *string); /* NULL gives empty text */
bool text_equal(struct text a, struct text b);
bool text_equal_nocase(struct text a, struct text b); /* ASCII only */
bool text_is(struct text text, const char *string);
bool text_starts(struct text text, struct text prefix);
bool text_ends(struct text text, struct text suffix);
bool text_contains(struct text text, struct text part);
bool text_contains_nocase(struct text text, struct text part);
int text_compare(struct text a, struct text b); /* bytewise, as memcmp, shorter first */
struct text text_trim(struct text text);        /* ASCII white space at both ends */
/* Without the byte order mark that some editors write at the beginning of a file. */
struct text text_without_mark(struct text text);
struct text text_first(struct text text, size_t most);
/* FNV-1a of 64 bits: for tables and seeds, no secret. */
uint64_t text_hash(struct text text);
/* Offset of `part` in `text`, or text.length when it is not there. */
size_t text_find(struct text text, struct text part);
/* Length of the UTF-8 character that the text begins with; 0: it begins with none. */
size_t text_character(struct text text);
/* Cuts off and returns what stands before the first `separator`; the rest stays in `*rest`. */
struct text text_split(struct text *rest, char separator);
/* What stands behind the last `separator`; all of it where there is none. */
struct text text_behind_last(struct text text, char separator);

/* Copies live in the arena; on a full arena the result is empty and the arena says so. */
struct text text_copy(struct arena *arena, struct text text);
struct text text_lower_case(struct arena *arena, struct text text); /* letters of ASCII */
const char *text_string(struct arena *arena, struct text text);     /* NUL-terminated, "" if full */
struct text text_print(struct arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);
/* On the heap, NUL-terminated, the caller's to free; NULL: no memory. Not by strndup, which may
 * look behind the text for an end. */
char *text_keep(struct text text);

/* Numbers: the whole text (white space around it aside) must be the number; overflow, NaN and
 * infinity are refused, and then the result is left alone. */
MUST_CHECK bool text_to_i64(struct text text, int64_t *ret_number); /* decimal */
/* The same where people or programs may have written it as a real number: "864000.000000". */
MUST_CHECK bool text_to_whole(struct text text, int64_t *ret_number);
MUST_CHECK bool text_to_real(struct text text, double *ret_number); /* finite, any locale */
int text_hex_digit(char character);                                 /* 0 to 15; -1: it is none */
/* Nothing but `length` hex digits, of either case or of lower case. */
bool text_is_hex(struct text text, size_t length);
bool text_is_lower_hex(struct text text, size_t length);

#endif
