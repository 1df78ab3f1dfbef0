/* SPDX-License-Identifier: Apache-2.0 */
/* Looking for tags and ends in bytes that may be anything, at a bounded cost. */
#ifndef SERVER_PARSE_SCAN_H
#define SERVER_PARSE_SCAN_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* All positions are offsets in `body`. */
struct scan {
    struct text body;
    size_t end;    /* what is behind it is not read */
    size_t budget; /* bytes that searches may still read; then every search fails */
};

enum scan_tag_kind { TAG_START, TAG_END, TAG_EMPTY };

struct scan_tag {
    struct text name;
    size_t start, end; /* of the '<', and behind the '>' */
    enum scan_tag_kind kind;
};

enum { SCAN_AROUND_MAX = 16 };

/* Names of the elements around a place, outermost first. */
struct scan_around {
    struct text names[SCAN_AROUND_MAX];
    size_t count;
};

/* Where an element's content ends and where the walk goes on. */
struct scan_span {
    size_t content_end;
    size_t after;
};

struct scan scan_begin(struct text body, size_t end);
struct text scan_slice(const struct scan *scan, size_t from, size_t until);

/* The next '<' from `from` on, or `until`. */
size_t scan_next(const struct scan *scan, size_t from, size_t until);

/* Whether what begins with the '<' at `at` is a tag: a name, and a '>' before the next '<' within
 * 256 bytes. */
bool scan_read_tag(const struct scan *scan, size_t at, struct scan_tag *ret_tag);

/* Behind the comment, CDATA section, declaration or processing instruction at `at`; `at` if there
 * is none, or it has no end. */
size_t scan_past_markup(struct scan *scan, size_t at);

/* The ends of elements whose start tag is given. False: there is none to be trusted. */

/* Of an element that means nothing to us, its children skipped; not beyond the end of an element
 * around it. */
bool scan_unknown(struct scan *scan, const struct scan_tag *tag, const struct scan_around *around,
                  struct scan_span *ret_span);
/* Of one text, which may hold stray '<' on its first line, no more than `bytes_max` of it. */
bool scan_text(struct scan *scan, const struct scan_tag *tag, const struct scan_around *around,
               size_t bytes_max, struct scan_span *ret_span);
/* Of raw text; `stops(name)` says which start tags cannot be in it, NULL: none. */
bool scan_blob(struct scan *scan, const struct scan_tag *tag, const struct scan_around *around,
               bool (*stops)(struct text name), struct scan_span *ret_span);
/* Of a raw text that begins with a CDATA section: its end tag within the section is none. */
bool scan_quoted(struct scan *scan, const struct scan_tag *tag, struct scan_span *ret_span);
/* Of a task's standard error output. When false, `after` is where its result may end. */
bool scan_stderr(struct scan *scan, const struct scan_tag *tag, struct scan_span *ret_span);

#endif
