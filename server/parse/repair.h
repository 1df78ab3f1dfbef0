/* SPDX-License-Identifier: Apache-2.0 */
/* From what a client sent to what an XML parser accepts. */
#ifndef SERVER_PARSE_REPAIR_H
#define SERVER_PARSE_REPAIR_H

#include "server/base/buffer.h"
#include "server/base/status.h"
#include "server/base/text.h"
#include "server/parse/elements.h"

/* The repaired request: well-formed, UTF-8, only elements of the table in their contexts. A byte
 * of a text is one character of it (see values.h); a raw element holds "OFFSET LENGTH", its
 * place in the body. */
struct repaired {
    struct buffer document;      /* on the heap; repair_free */
    size_t counts[ELEMENTS_MAX]; /* how often the document has each element of the table */
    size_t dropped;
};

/* STATUS_INVALID: not a complete scheduler_request, with words for the volunteer in `failure`;
 * STATUS_NO_MEMORY. */
MUST_CHECK enum status repair_request(struct text body, struct repaired *ret_repaired,
                                      struct failure *failure);
void repair_free(struct repaired *repaired);

#endif
