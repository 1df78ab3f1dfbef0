/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a scheduler_reply back and judges its layout (protocol(7) 1.5), for tests. */
#ifndef TESTS_SUPPORT_REPLY_CHECK_H
#define TESTS_SUPPORT_REPLY_CHECK_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct reply_element {
    struct text name, text; /* text: of its own, trimmed, bytes as the client gets them */
    struct reply_element *parent, *first, *last, *next;
};

/* The root element, or NULL and what is wrong with the reply for a client of this version. */
const struct reply_element *reply_read(struct arena *arena, struct text reply, int64_t version,
                                       const char **ret_fault);

/* The first child of that name, or the next of the same name after one; NULL: none. */
const struct reply_element *reply_child(const struct reply_element *parent, const char *name);
const struct reply_element *reply_again(const struct reply_element *element);
size_t reply_children(const struct reply_element *parent, const char *name);
/* The text of the first child of that name, "" when there is none. */
struct text reply_child_text(const struct reply_element *parent, const char *name);
/* Whether the text of a child of that name (and of its child `name` when it is a block) is so. */
bool reply_names(const struct reply_element *parent, const char *block, struct text name);

#endif
