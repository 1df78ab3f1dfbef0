/* SPDX-License-Identifier: Apache-2.0 */
/* Comments, CDATA sections and instructions between the elements of a file that people write,
 * for readers that are not XML parsers. */
#ifndef SERVER_BASE_MARKUP_H
#define SERVER_BASE_MARKUP_H

#include "server/base/text.h"

enum markup_kind {
    MARKUP_NONE,
    MARKUP_COMMENT,
    MARKUP_CDATA,
    MARKUP_INSTRUCTION, /* <?...?>, such as the declaration of an XML document */
};

struct markup {
    enum markup_kind kind;
    struct text inside;
    size_t length; /* with its two ends; 0: it has no end */
};

/* What `text` begins with. */
struct markup markup_at(struct text text);

/* Without comments and instructions, and white space, that stand before the first element. */
struct text markup_skip(struct text text);

#endif
