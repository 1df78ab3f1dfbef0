/* SPDX-License-Identifier: Apache-2.0 */
/* From what a client sent to what an XML parser accepts, a piece at a time. */
#ifndef SERVER_PARSE_REPAIR_H
#define SERVER_PARSE_REPAIR_H

#include "server/base/buffer.h"
#include "server/base/status.h"
#include "server/base/text.h"
#include "server/parse/elements.h"
#include "server/parse/scan.h"

enum {
    REPAIR_DEPTH_MAX = 8,            /* the table is not deeper */
    REPAIR_PIECE_BYTES = 128 * 1024, /* a piece ends with the first element beyond */
    REPAIR_ELEMENT_BYTES = 32 * 1024 /* one step of the walk writes less */
};

/* The repaired request: well-formed, UTF-8, only elements of the table in their contexts. A byte
 * of a text is one character of it (see values.h); a raw element holds "OFFSET LENGTH", its
 * place in the body. The document can be longer than the body, so it is never kept whole unless it
 * is one piece. */
struct repaired {
    size_t counts[ELEMENTS_MAX]; /* how often the document has each element of the table */
    /* Of items: how many of them have a text that goes to the start of their record. That is the
     * name, where an entry needs one. */
    size_t named[ELEMENTS_MAX];
    size_t dropped;
    size_t work; /* bytes of the body walked and searched, and bytes written, in all walks */

    /* The walk. */
    struct text body;
    size_t begin, at; /* offset behind the root's start tag; where the walk goes on */
    struct scan scan;
    size_t depth;
    enum context contexts[REPAIR_DEPTH_MAX];          /* by level; the root's is CONTEXT_REQUEST */
    const struct element *elements[REPAIR_DEPTH_MAX]; /* NULL: the root */
    bool has_name[REPAIR_DEPTH_MAX];
    struct scan_around around;
    bool is_counted, is_whole; /* the first walk is over; it made one piece, not yet handed out */
    struct buffer piece;       /* on the heap; repair_free */
};

/* Walks the whole body, so the counts are complete. STATUS_INVALID: not a complete
 * scheduler_request, with words for the volunteer in `failure`; STATUS_NO_MEMORY. The body has to
 * stay until repair_free. */
MUST_CHECK enum status repair_request(struct text body, struct repaired *ret_repaired,
                                      struct failure *failure);
/* The next piece of the document, valid until the next call; empty: there is no more, or no memory
 * for it, and then the document is not well-formed. */
struct text repair_next(struct repaired *repaired);
void repair_free(struct repaired *repaired);

#endif
