/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP to schedulers and master pages: several requests at once, on connections that are kept. Each
 * line carries one request at a time. */
#ifndef TOOLS_VOLUNTEERS_CROWD_HTTP_LINES_H
#define TOOLS_VOLUNTEERS_CROWD_HTTP_LINES_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct buffer;
struct exchange;

enum { EXCHANGE_LINES_MAX = 256, EXCHANGE_REPLY_BYTES_MAX = 64 << 20 };

/*      name       words */
#define EXCHANGE_ENDS(END)                                                                     \
    END(GOOD, "answered")                                                                      \
    END(AWAY, "no server there")     /* no connection, or the web server has none behind it */ \
    END(STATUS, "other HTTP status") /* than 200 */                                            \
    END(BROKEN, "broken off")        /* connection lost, too slow, too long */

enum exchange_end {
#define EXCHANGE_END_ENUM(name, words) EXCHANGE_##name,
    EXCHANGE_ENDS(EXCHANGE_END_ENUM)
#undef EXCHANGE_END_ENUM
        EXCHANGE_END_COUNT
};

const char *exchange_end_words(enum exchange_end end);

/* NULL: no memory. One for the whole process. */
struct exchange *exchange_create(size_t lines);
void exchange_destroy(struct exchange *exchange); /* NULL is fine */

/* The body stays the caller's and as it is until the line is done. False: no memory. */
MUST_CHECK bool exchange_post(struct exchange *exchange, size_t line, const char *url, double now,
                              struct text body);

/* The same for a page. */
MUST_CHECK bool exchange_fetch(struct exchange *exchange, size_t line, const char *url, double now);

struct exchange_result {
    size_t line;
    enum exchange_end end;
    struct text reply; /* until the next request on this line */
    bool is_simulated; /* the server took the time that it was told */
    char words[128];   /* what went wrong */
};
/* Waits for the next line to be done, for so many seconds at most. False: none is. */
bool exchange_wait(struct exchange *exchange, double seconds, struct exchange_result *ret_result);

/* A page, at once. False: it cannot be had. */
bool exchange_get(struct exchange *exchange, const char *url, struct buffer *ret_page);

#endif
