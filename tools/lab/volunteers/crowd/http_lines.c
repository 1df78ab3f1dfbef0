/* SPDX-License-Identifier: Apache-2.0 */
/* libcurl keeps connections by itself, in a multi handle, as long as its easy handles live.
 * Options that are the same for all requests are set once; the rest changes from one request to
 * the next. */
#include "tools/lab/volunteers/crowd/http_lines.h"

#include "server/base/buffer.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/base/banned.h"

#define PROTOCOLS    "http,https"
#define TIME_HEADER  "X-Simulated-Time"
#define SECONDS_MAX  120L /* of one request */
#define CONNECT_MAX  10L
#define PAGE_SECONDS 5L
#define MOVES_MAX    5L /* redirections of a page */
enum { CONNECTIONS_SPARE = 64 };

struct http_line {
    CURL *easy;
    struct curl_slist *headers;
    struct buffer reply;
};

struct http_lines {
    CURLM *multi;
    CURL *getter;
    struct http_line *lines;
    size_t count, busy;
};

static size_t receive(char *data, size_t size, size_t count, void *context)
{
    struct buffer *buffer = context;

    buffer_add(buffer, (struct text){.at = data, .length = size * count});
    return buffer->overflowed ? 0 : size * count;
}

static bool prepare_line(struct http_line *line)
{
    line->reply = buffer_on_heap(HTTP_REPLY_BYTES_MAX);
    line->easy = curl_easy_init();
    if (line->easy == NULL)
        return false;
    curl_easy_setopt(line->easy, CURLOPT_PROTOCOLS_STR, PROTOCOLS);
    curl_easy_setopt(line->easy, CURLOPT_PROXY, ""); /* a proxy of others is not made for a crowd */
    curl_easy_setopt(line->easy, CURLOPT_MAXREDIRS, MOVES_MAX);
    curl_easy_setopt(line->easy, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(line->easy, CURLOPT_WRITEDATA, &line->reply);
    curl_easy_setopt(line->easy, CURLOPT_TIMEOUT, SECONDS_MAX);
    curl_easy_setopt(line->easy, CURLOPT_CONNECTTIMEOUT, CONNECT_MAX);
    curl_easy_setopt(line->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(line->easy, CURLOPT_PRIVATE, (char *)line);
    return true;
}

struct http_lines *http_create(size_t lines)
{
    struct http_lines *http = calloc(1, sizeof(*http));

    if (http == NULL)
        return NULL;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    http->multi = curl_multi_init();
    http->getter = curl_easy_init();
    http->lines = calloc(lines, sizeof(*http->lines));
    if (http->multi == NULL || http->getter == NULL || http->lines == NULL) {
        http_destroy(http);
        return NULL;
    }
    for (; http->count < lines; http->count++)
        if (!prepare_line(&http->lines[http->count])) {
            http_destroy(http);
            return NULL;
        }
    /* Hosts on one line may ask different projects, so there are more connections than lines. */
    curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS, (long)(2 * lines + CONNECTIONS_SPARE));
    return http;
}

void http_destroy(struct http_lines *http)
{
    if (http == NULL)
        return;
    for (size_t i = 0; i < http->count; i++) {
        struct http_line *line = &http->lines[i];

        curl_multi_remove_handle(http->multi, line->easy);
        curl_easy_cleanup(line->easy);
        curl_slist_free_all(line->headers);
        buffer_free(&line->reply);
    }
    free(http->lines);
    curl_easy_cleanup(http->getter);
    curl_multi_cleanup(http->multi);
    free(http);
    curl_global_cleanup();
}

static struct curl_slist *make_headers(double now)
{
    static const char *const fixed[] = {"Content-Type: text/xml", "Expect:"};
    char words[64];
    struct curl_slist *headers;

    snprintf(words, sizeof(words), TIME_HEADER ": %.3f", now);
    headers = curl_slist_append(NULL, words);
    for (size_t i = 0; headers != NULL && i < sizeof(fixed) / sizeof(fixed[0]); i++) {
        struct curl_slist *longer = curl_slist_append(headers, fixed[i]);

        if (longer == NULL)
            curl_slist_free_all(headers);
        headers = longer;
    }
    return headers;
}

static bool begin(struct http_lines *http, struct http_line *line, const char *url, double now)
{
    curl_slist_free_all(line->headers);
    line->headers = make_headers(now);
    if (line->headers == NULL)
        return false;
    line->reply.length = 0;
    line->reply.overflowed = false;
    curl_easy_setopt(line->easy, CURLOPT_URL, url);
    curl_easy_setopt(line->easy, CURLOPT_HTTPHEADER, line->headers);
    if (curl_multi_add_handle(http->multi, line->easy) != CURLM_OK)
        return false;
    http->busy++;
    return true;
}

bool http_post(struct http_lines *http, size_t number, const char *url, double now,
               struct text body)
{
    struct http_line *line = &http->lines[number];

    curl_easy_setopt(line->easy, CURLOPT_POST, 1L);
    curl_easy_setopt(line->easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(line->easy, CURLOPT_POSTFIELDS, body.at);
    curl_easy_setopt(line->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.length);
    return begin(http, line, url, now);
}

bool http_fetch(struct http_lines *http, size_t number, const char *url, double now)
{
    struct http_line *line = &http->lines[number];

    curl_easy_setopt(line->easy, CURLOPT_HTTPGET, 1L);
    curl_easy_setopt(line->easy, CURLOPT_FOLLOWLOCATION, 1L);
    return begin(http, line, url, now);
}

/* A web server without a scheduler behind it says 502 or 504; one that is stopping says 503. */
static enum http_end judge(CURLcode code, long status)
{
    if (code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST)
        return HTTP_AWAY;
    if (code != CURLE_OK)
        return HTTP_BROKEN;
    if (status == 502 || status == 503 || status == 504)
        return HTTP_AWAY;
    return status == 200 ? HTTP_GOOD : HTTP_STATUS;
}

static bool take_done(struct http_lines *http, struct http_result *ret_result)
{
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(http->multi, &left)) != NULL) {
        CURLcode code = message->data.result;
        CURL *easy = message->easy_handle;
        struct curl_header *header;
        struct http_line *line = NULL;
        long status = 0;

        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&line);
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        *ret_result = (struct http_result){
            .line = (size_t)(line - http->lines),
            .end = judge(code, status),
            .is_simulated =
                curl_easy_header(easy, TIME_HEADER, 0, CURLH_HEADER, -1, &header) == CURLHE_OK};
        curl_multi_remove_handle(http->multi, easy);
        http->busy--;
        ret_result->reply = buffer_text(&line->reply);
        if (code != CURLE_OK)
            snprintf(ret_result->words, sizeof(ret_result->words), "%s", curl_easy_strerror(code));
        else if (status != 200)
            snprintf(ret_result->words, sizeof(ret_result->words), "HTTP status %ld", status);
        return true;
    }
    return false;
}

bool http_wait(struct http_lines *http, double seconds, struct http_result *ret_result)
{
    int running = 0;

    if (take_done(http, ret_result))
        return true;
    curl_multi_perform(http->multi, &running);
    if (take_done(http, ret_result))
        return true;
    if (http->busy > 0)
        curl_multi_poll(http->multi, NULL, 0, (int)(seconds * 1000), NULL);
    curl_multi_perform(http->multi, &running);
    return take_done(http, ret_result);
}

bool http_get(struct http_lines *http, const char *url, struct buffer *ret_page)
{
    long status = 0;
    CURLcode code;

    curl_easy_setopt(http->getter, CURLOPT_PROTOCOLS_STR, PROTOCOLS);
    curl_easy_setopt(http->getter, CURLOPT_PROXY, "");
    curl_easy_setopt(http->getter, CURLOPT_URL, url);
    curl_easy_setopt(http->getter, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(http->getter, CURLOPT_MAXREDIRS, MOVES_MAX);
    curl_easy_setopt(http->getter, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(http->getter, CURLOPT_WRITEDATA, ret_page);
    curl_easy_setopt(http->getter, CURLOPT_TIMEOUT, PAGE_SECONDS);
    curl_easy_setopt(http->getter, CURLOPT_NOSIGNAL, 1L);
    code = curl_easy_perform(http->getter);
    curl_easy_getinfo(http->getter, CURLINFO_RESPONSE_CODE, &status);
    return code == CURLE_OK && status == 200;
}
