/* SPDX-License-Identifier: Apache-2.0 */
/* The only user of libxml2: walks one document as a row of events, within bounds; no DTD, no
 * entities of its own, no network. Used for requests (after repair), config.xml and templates. */
#ifndef SERVER_BASE_XML_H
#define SERVER_BASE_XML_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>

struct xml_limits {
    size_t bytes_max;
    size_t depth_max;
    size_t elements_max;
    bool recover; /* go on after an error, as far as libxml2 can; else the first error ends it */
};

/* All callbacks may be NULL. A callback that does not return STATUS_OK ends the walk with that
 * status. Texts live until the callback returns. Text arrives in pieces. `line` is 1-based. */
struct xml_handler {
    void *context;
    enum status (*start)(void *context, struct text name, int line);
    enum status (*text)(void *context, struct text piece, int line);
    enum status (*end)(void *context, struct text name, int line);
};

/* STATUS_INVALID: not well-formed (with the line in `failure`); STATUS_TOO_LARGE: a bound. */
MUST_CHECK enum status xml_walk(struct text document, const struct xml_limits *limits,
                                const struct xml_handler *handler, struct failure *failure);

/* Where the text of a document comes from when it is not kept whole: each call gives the next
 * piece, which lives until the next call; an empty one is the end. */
struct xml_source {
    void *context;
    struct text (*next)(void *context);
};

/* The same of a document in pieces; only what libxml2 is about to read is in memory. How long it
 * may be is for the source to say: bytes_max does not count. */
MUST_CHECK enum status xml_walk_pieces(const struct xml_source *source,
                                       const struct xml_limits *limits,
                                       const struct xml_handler *handler, struct failure *failure);

/* Once per process, before the first thread. */
void xml_startup(void);
void xml_shutdown(void);
/* Of the library, for --version. */
const char *xml_library_version(void);

#endif
