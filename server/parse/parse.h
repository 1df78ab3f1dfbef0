/* SPDX-License-Identifier: Apache-2.0 */
/* From the bytes of a request body to struct message.
 *
 * What comes in is the body of a POST: bytes of any encoding, in which a scheduler_request is
 * written with tags, but not reliably as XML. Three files handle it, in this order:
 *
 * - repair.c walks the bytes, guided by the table of elements, and writes a small well-formed
 *   document, or several. scan.c finds where an element ends and bounds the cost of looking;
 *   values.c reads and writes single texts.
 * - parse.c reads that document with libxml2 and puts each text where its row of the table
 *   (elements.def, elements.h) says: into a field, a list, or nowhere.
 * - message.h has the result: plain structs, which all later rooms read and none changes.
 *   client_ages.def lists from which version on clients say and read what.
 *
 * This comes before anything is known of who asks, so the memory that it takes is bounded by the
 * body: 9 MB and four times its length if the body fills one list, 12 MB if it fills them all.
 *
 * An element that cannot be read is skipped and counted in `elements_dropped`; everything else
 * counts as usual. The first step of a request (parse, in request/walk.c) asks; so do qmctl why,
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
