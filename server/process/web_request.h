/* SPDX-License-Identifier: Apache-2.0 */
/* The variables of one request that FastCGI and CGI have in common, and what the web server
 * expects around the reply. */
#ifndef SERVER_PROCESS_WEB_REQUEST_H
#define SERVER_PROCESS_WEB_REQUEST_H

#include "server/join/join_page.h"
#include "server/rpc/request.h"
#include "server/status/page_frame.h"
#include "server/status/public_page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct config;

struct web_request {
    struct transport transport;
    double now;        /* epoch */
    bool is_simulated; /* that is */
    uint64_t seed;
    bool is_unavailable; /* the page is to have the status 503 */
};

/* A web server's variable by its CGI name, NULL when it is not there. */
typedef const char *variable_reader(void *context, const char *name);

/* Time, addresses and seed from the web server's variables; the body is the caller's. */
void web_request_read(struct web_request *web, bool clock_from_request, variable_reader *read,
                      void *context);

/* The head that goes before a reply of this length. It repeats a simulated time, so that whoever
 * sent one sees that it was taken. */
void web_reply_head(struct buffer *head, const char *content_type, const struct web_request *web,
                    size_t length);

/* On the page for whoever looks: the server's state; `problem` NULL: it can serve. */
void web_write_state(struct web_request *web, const char *problem, struct buffer *ret_page);

/* Which page for joining is asked for by GET; JOIN_NONE where it is something else, or the
 * configuration leaves these pages to others. */
enum join_page web_request_join_page(variable_reader *read, void *context,
                                     const struct config *config);
/* The head before such a page, which nobody may keep. */
void web_page_head(struct buffer *head, size_t length);

/* Which page of server/status/ is asked for, which only a web server can do: by GET and QM_PAGE;
 * PAGE_KINDS where it is something else. */
enum page_kind web_request_status_page(variable_reader *read, void *context);
/* The head before it, with the Content-Security-Policy. */
void web_status_head(struct buffer *head, size_t length);

/* What is asked for of what anybody may know of the project: by QM_PAGE, by GET or by POST, as
 * programs that submit jobs do. */
enum public_page web_request_public_page(variable_reader *read, void *context);
/* The head before that, which anybody may keep for some minutes. */
void web_public_head(struct buffer *head, size_t length);

/* Whether this is a scheduler request at all; if not, a page for whoever looked is in `ret_page`.
 */
bool web_request_is_post(variable_reader *read, void *context, const struct config *config,
                         struct buffer *ret_page);

#endif
