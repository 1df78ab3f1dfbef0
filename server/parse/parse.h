/* SPDX-License-Identifier: Apache-2.0 */
/* From the bytes of a request body to struct message.
 *
 * What comes in is the body of a POST: bytes of any encoding, in which a scheduler_request is
 * written with tags, but not reliably as XML. It goes through three hands, in this order:
 *
 *   repair.c    walks the bytes, guided by the table of elements, and writes a small document, in
 *               pieces if it is not small, that is well-formed. Where an element ends is found by
 * scan.c, which bounds the cost of looking; how single texts are written and read is the matter of
 * values.c. parse.c     reads that document with libxml2 and puts each text where its row of the
 * table (elements.def, elements.h) says: into a field, a list, or nowhere. message.h   is what the
 * request said: plain structs that all later rooms read, and only read. client_age.h lists from
 * which version on clients say and read what.
 *
 * This comes before anything is known of who asks, so the memory that it takes is bounded by the
 * body: 9 MB and four times its length if the body fills one list, 12 MB if it fills them all.
 *
 * What cannot be read costs only itself: it is counted in `elements_dropped`, and everything beside
 * it counts as usual. The first step of a request (parse, in request/walk.c) asks; so do qmctl why,
 * which writes a request and lets it be read, and the tests. */
#ifndef SERVER_PARSE_PARSE_H
#define SERVER_PARSE_PARSE_H

#include "server/base/status.h"
#include "server/parse/message.h"

struct arena;

struct parse_limits {
    size_t results_max; /* reported results kept; the others are left unacknowledged */
    size_t depth_max;
};

/* STATUS_INVALID: not a complete scheduler_request (the reason, in words for the volunteer, is in
 * `failure`); STATUS_TOO_LARGE: the arena is full. On STATUS_OK every readable element is in
 * `*ret_message`, whose texts point into `body` or `arena`. */
MUST_CHECK enum status parse_request(struct text body, const struct parse_limits *limits,
                                     struct arena *arena, struct message *ret_message,
                                     struct failure *failure);

#endif
