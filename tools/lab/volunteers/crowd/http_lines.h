/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP to schedulers and master pages: several requests at once, on connections that are kept. Each
 * line carries one request at a time. */
#ifndef TOOLS_LAB_VOLUNTEERS_CROWD_HTTP_LINES_H
#define TOOLS_LAB_VOLUNTEERS_CROWD_HTTP_LINES_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct buffer;
struct http_lines;

enum { HTTP_LINES_MAX = 256, HTTP_REPLY_BYTES_MAX = 64 << 20 };

/* How a request ended. */
enum http_end {
    HTTP_GOOD,   /* answered with status 200 */
    HTTP_AWAY,   /* no connection, or the web server has no scheduler behind it */
    HTTP_STATUS, /* answered with another status */
    HTTP_BROKEN, /* connection lost, too slow, or the answer too long */
    HTTP_ENDS
};

/* NULL: no memory. One for the whole process. */
struct http_lines *http_create(size_t lines);
void http_destroy(struct http_lines *http); /* NULL is fine */

/* Posts the body, which stays the caller's and must not change until the line is done. `now` is the
 * virtual time that the server is told. False: no memory. */
MUST_CHECK bool http_post(struct http_lines *http, size_t line, const char *url, double now,
                          struct text body);

/* Gets a page in the same way; redirections are followed. */
MUST_CHECK bool http_fetch(struct http_lines *http, size_t line, const char *url, double now);

struct http_result {
    size_t line;
    enum http_end end;
    struct text reply; /* valid until the next request on this line */
    bool
        is_simulated; /* the server took the time that it was told, and not that of its own clock */
    char words[128];  /* what went wrong */
};
/* Waits for the next line to be done, for so many seconds at most. False: none is. */
bool http_wait(struct http_lines *http, double seconds, struct http_result *ret_result);

/* Gets a page and waits for it. False: no answer with status 200. */
bool http_get(struct http_lines *http, const char *url, struct buffer *ret_page);

#endif
