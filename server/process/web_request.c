/* SPDX-License-Identifier: Apache-2.0 */
#include "server/process/web_request.h"

#include "config/config.h"
#include "server/base/buffer.h"
#include "server/base/random.h"
#include "server/process/metrics.h"

#include <time.h>

#include "server/base/banned.h"

/* Simulated requests are to be the same in every run: their seed comes from what they say, behind
 * the account key, which each fresh project draws anew. */
static uint64_t seed_from(const struct web_request *web)
{
    struct text body = web->transport.body;
    size_t key = text_find(body, TEXT("</authenticator>"));

    if (key < body.length)
        body = (struct text){.at = body.at + key, .length = body.length - key};
    return random_mix(text_hash(body), (uint64_t)(int64_t)(web->now * 1000));
}

void web_request_read(struct web_request *web, bool clock_from_request, variable_reader *read,
                      void *context)
{
    struct text simulated = text_from(read(context, "HTTP_X_SIMULATED_TIME"));
    struct timespec now;

    web->transport.remote_addr = text_from(read(context, "REMOTE_ADDR"));
    web->transport.forwarded_for = text_from(read(context, "HTTP_X_FORWARDED_FOR"));
    if (clock_from_request && text_to_real(simulated, &web->now) && web->now >= 0 &&
        web->now < 1e11) {
        web->is_simulated = true;
        web->seed = seed_from(web);
        return;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    web->now = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
    web->seed = random_u64();
}

void web_reply_head(struct buffer *head, const char *content_type, const struct web_request *web,
                    size_t length)
{
    if (web->is_unavailable)
        buffer_add_string(head, "Status: 503 Service Unavailable\r\n");
    buffer_print(head, "Content-Type: %s\r\nContent-Length: %zu\r\n", content_type, length);
    if (web->is_simulated)
        buffer_print(head, "X-Simulated-Time: %.3f\r\n", web->now);
    buffer_add_string(head, "\r\n");
}

void web_write_state(struct web_request *web, const char *problem, struct buffer *ret_page)
{
    web->is_unavailable = problem != NULL;
    if (problem == NULL)
        buffer_add_string(ret_page, "State: ok\n");
    else
        buffer_print(ret_page, "State: FAILED: %s\n", problem);
}

enum join_page web_request_join_page(variable_reader *read, void *context,
                                     const struct config *config)
{
    if (!config->joining || read(context, "QM_PAGE") != NULL)
        return JOIN_NONE;
    return join_page_asked(text_from(read(context, "REQUEST_METHOD")),
                           text_from(read(context, "SCRIPT_NAME")),
                           text_from(read(context, "PATH_INFO")));
}

void web_page_head(struct buffer *head, size_t length)
{
    buffer_print(head,
                 "Content-Type: text/xml\r\nContent-Length: %zu\r\n"
                 "Cache-Control: no-store\r\n\r\n",
                 length);
}

enum page_kind web_request_status_page(variable_reader *read, void *context)
{
    return text_is(text_from(read(context, "REQUEST_METHOD")), "GET")
               ? page_of_word(text_from(read(context, "QM_PAGE")))
               : PAGE_KINDS;
}

static bool has_parameter(struct text query, const char *parameter)
{
    while (query.length > 0)
        if (text_is(text_split(&query, '&'), parameter))
            return true;
    return false;
}

enum public_page web_request_public_page(variable_reader *read, void *context)
{
    struct text method = text_from(read(context, "REQUEST_METHOD"));

    if (!text_is(text_from(read(context, "QM_PAGE")), "server_status") ||
        (!text_is(method, "GET") && !text_is(method, "POST")))
        return PUBLIC_NONE;
    return has_parameter(text_from(read(context, "QUERY_STRING")), "counts=1") ? PUBLIC_COUNTS
                                                                               : PUBLIC_STATUS;
}

void web_public_head(struct buffer *head, size_t length)
{
    buffer_print(head,
                 "Content-Type: text/xml; charset=utf-8\r\nContent-Length: %zu\r\n"
                 "Cache-Control: max-age=300\r\nX-Content-Type-Options: nosniff\r\n\r\n",
                 length);
}

void web_status_head(struct buffer *head, size_t length)
{
    buffer_print(head,
                 "Content-Type: text/html; charset=utf-8\r\nContent-Length: %zu\r\n"
                 "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                 "Referrer-Policy: no-referrer\r\nContent-Security-Policy: ",
                 length);
    page_policy(head);
    buffer_add_string(head, "\r\n\r\n");
}

bool web_request_is_post(variable_reader *read, void *context, const struct config *config,
                         struct buffer *ret_page)
{
    struct text method = text_from(read(context, "REQUEST_METHOD"));

    if (method.length == 0 || text_is(method, "POST"))
        return true;
    /* Only a web server can set this: a client's headers come with HTTP_ before their names. */
    if (text_is(text_from(read(context, "QM_PAGE")), "metrics")) {
        metrics_write(ret_page);
        return false;
    }
    buffer_print(ret_page,
                 "This is the scheduler of " TEXT_FORMAT ".\n"
                 "BOINC clients post their requests here; there is nothing to be seen.\n",
                 TEXT_ARG(config->long_name.length > 0 ? config->long_name
                                                       : TEXT("a volunteer computing project")));
    if (config->master_url.length > 0)
        buffer_print(ret_page, "To take part, add this project to your client: " TEXT_FORMAT "\n",
                     TEXT_ARG(config->master_url));
    return false;
}
