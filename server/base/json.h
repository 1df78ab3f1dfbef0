/* SPDX-License-Identifier: Apache-2.0 */
/* JSON: texts as it has them, and objects that others wrote. */
#ifndef SERVER_BASE_JSON_H
#define SERVER_BASE_JSON_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;

/* --- writing ---------------------------------------------------------------------------------- */

/* "TEXT", quoted and escaped; what is no UTF-8 becomes U+FFFD. */
void json_add_string(struct buffer *buffer, struct text text);
/* Whether the whole text comes back as it is: it is UTF-8. */
bool json_can_hold(struct text text);

/* --- reading ---------------------------------------------------------------------------------- */

/* Strict (RFC 8259): UTF-8, no name twice, no NUL in a text, no number that does not fit, nothing
 * behind it. A document may have JSON_BYTES_MAX bytes and take JSON_MEMORY_MAX of memory. */
enum { JSON_BYTES_MAX = 1024 * 1024, JSON_MEMORY_MAX = 16 * 1024 * 1024 };

struct json_object {
    void *value; /* the library's; NULL: an object without members */
};

/* The document is one object. INVALID: it is none, with the line; TOO_LARGE: beyond the bounds. */
MUST_CHECK enum status json_read(struct text document, struct json_object *ret_object,
                                 struct failure *failure);
void json_object_free(struct json_object *object);

enum json_kind {
    JSON_KIND_ABSENT,
    JSON_KIND_TEXT,
    JSON_KIND_WHOLE,
    JSON_KIND_OTHER, /* another number, true, false, null, an array, an object */
};
struct json_member {
    enum json_kind kind;
    struct text text; /* lives as long as the object */
    int64_t whole;
};
struct json_member json_member(const struct json_object *object, const char *name);
size_t json_member_count(const struct json_object *object);

/* The items of a member that is an array, else none. */
size_t json_item_count(const struct json_object *object, const char *name);
/* False: the item is no object. It lives as long as the whole, and is not freed. */
bool json_item(const struct json_object *object, const char *name, size_t index,
               struct json_object *ret_item);

#endif
