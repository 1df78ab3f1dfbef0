/* SPDX-License-Identifier: Apache-2.0 */
/* libcurl keeps connections by itself, in a multi handle, as long as its easy handles stay. What
 * can be set once is; the rest changes from one request to the next. */
#include "tools/volunteers/crowd/http_lines.h"

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

struct line {
    CURL *easy;
    struct curl_slist *headers;
    struct buffer reply;
};

struct exchange {
    CURLM *multi;
    CURL *getter;
    struct line *lines;
    size_t count, busy;
};

const char *exchange_end_words(enum exchange_end end)
{
    static const char *const words[] = {
#define EXCHANGE_END_WORDS(name, text) text,
        EXCHANGE_ENDS(EXCHANGE_END_WORDS)
#undef EXCHANGE_END_WORDS
    };

    return (unsigned)end < EXCHANGE_END_COUNT ? words[end] : "?";
}

static size_t receive(char *data, size_t size, size_t count, void *context)
{
    struct buffer *buffer = context;

    buffer_add(buffer, (struct text){.at = data, .length = size * count});
    return buffer->overflowed ? 0 : size * count;
}

static bool prepare_line(struct line *line)
{
    line->reply = buffer_on_heap(EXCHANGE_REPLY_BYTES_MAX);
    line->easy = curl_easy_init();
    if (line->easy == NULL)
        return false;
    curl_easy_setopt(line->easy, CURLOPT_PROTOCOLS_STR, PROTOCOLS);
    curl_easy_setopt(line->easy, CURLOPT_PROXY, ""); /* a crowd is too much for others' proxies */
    curl_easy_setopt(line->easy, CURLOPT_MAXREDIRS, MOVES_MAX);
    curl_easy_setopt(line->easy, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(line->easy, CURLOPT_WRITEDATA, &line->reply);
    curl_easy_setopt(line->easy, CURLOPT_TIMEOUT, SECONDS_MAX);
    curl_easy_setopt(line->easy, CURLOPT_CONNECTTIMEOUT, CONNECT_MAX);
    curl_easy_setopt(line->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(line->easy, CURLOPT_PRIVATE, (char *)line);
    return true;
}

struct exchange *exchange_create(size_t lines)
{
    struct exchange *exchange = calloc(1, sizeof(*exchange));

    if (exchange == NULL)
        return NULL;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    exchange->multi = curl_multi_init();
    exchange->getter = curl_easy_init();
    exchange->lines = calloc(lines, sizeof(*exchange->lines));
    if (exchange->multi == NULL || exchange->getter == NULL || exchange->lines == NULL) {
        exchange_destroy(exchange);
        return NULL;
    }
    for (; exchange->count < lines; exchange->count++)
        if (!prepare_line(&exchange->lines[exchange->count])) {
            exchange_destroy(exchange);
            return NULL;
        }
    /* Hosts on one line may be of different projects. */
    curl_multi_setopt(exchange->multi, CURLMOPT_MAXCONNECTS, (long)(2 * lines + CONNECTIONS_SPARE));
    return exchange;
}

void exchange_destroy(struct exchange *exchange)
{
    if (exchange == NULL)
        return;
    for (size_t i = 0; i < exchange->count; i++) {
        struct line *line = &exchange->lines[i];

        curl_multi_remove_handle(exchange->multi, line->easy);
        curl_easy_cleanup(line->easy);
        curl_slist_free_all(line->headers);
        buffer_free(&line->reply);
    }
    free(exchange->lines);
    curl_easy_cleanup(exchange->getter);
    curl_multi_cleanup(exchange->multi);
    free(exchange);
    curl_global_cleanup();
}

/* The time first, so that the rest of the list could stay; it is short. */
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

static bool begin(struct exchange *exchange, struct line *line, const char *url, double now)
{
    curl_slist_free_all(line->headers);
    line->headers = make_headers(now);
    if (line->headers == NULL)
        return false;
    line->reply.length = 0;
    line->reply.overflowed = false;
    curl_easy_setopt(line->easy, CURLOPT_URL, url);
    curl_easy_setopt(line->easy, CURLOPT_HTTPHEADER, line->headers);
    if (curl_multi_add_handle(exchange->multi, line->easy) != CURLM_OK)
        return false;
    exchange->busy++;
    return true;
}

bool exchange_post(struct exchange *exchange, size_t number, const char *url, double now,
                   struct text body)
{
    struct line *line = &exchange->lines[number];

    curl_easy_setopt(line->easy, CURLOPT_POST, 1L);
    curl_easy_setopt(line->easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(line->easy, CURLOPT_POSTFIELDS, body.at);
    curl_easy_setopt(line->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.length);
    return begin(exchange, line, url, now);
}

bool exchange_fetch(struct exchange *exchange, size_t number, const char *url, double now)
{
    struct line *line = &exchange->lines[number];

    curl_easy_setopt(line->easy, CURLOPT_HTTPGET, 1L);
    curl_easy_setopt(line->easy, CURLOPT_FOLLOWLOCATION, 1L);
    return begin(exchange, line, url, now);
}

/* A web server in front of none says 502 or 504, one that is stopping 503. */
static enum exchange_end judge(CURLcode code, long status)
{
    if (code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST)
        return EXCHANGE_AWAY;
    if (code != CURLE_OK)
        return EXCHANGE_BROKEN;
    if (status == 502 || status == 503 || status == 504)
        return EXCHANGE_AWAY;
    return status == 200 ? EXCHANGE_GOOD : EXCHANGE_STATUS;
}

static bool take_done(struct exchange *exchange, struct exchange_result *ret_result)
{
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(exchange->multi, &left)) != NULL) {
        CURLcode code = message->data.result;
        CURL *easy = message->easy_handle;
        struct curl_header *header;
        struct line *line = NULL;
        long status = 0;

        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&line);
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        *ret_result = (struct exchange_result){
            .line = (size_t)(line - exchange->lines),
            .end = judge(code, status),
            .is_simulated =
                curl_easy_header(easy, TIME_HEADER, 0, CURLH_HEADER, -1, &header) == CURLHE_OK};
        curl_multi_remove_handle(exchange->multi, easy);
        exchange->busy--;
        ret_result->reply = buffer_text(&line->reply);
        if (code != CURLE_OK)
            snprintf(ret_result->words, sizeof(ret_result->words), "%s", curl_easy_strerror(code));
        else if (status != 200)
            snprintf(ret_result->words, sizeof(ret_result->words), "HTTP status %ld", status);
        return true;
    }
    return false;
}

bool exchange_wait(struct exchange *exchange, double seconds, struct exchange_result *ret_result)
{
    int running = 0;

    if (take_done(exchange, ret_result))
        return true;
    curl_multi_perform(exchange->multi, &running);
    if (take_done(exchange, ret_result))
        return true;
    if (exchange->busy > 0)
        curl_multi_poll(exchange->multi, NULL, 0, (int)(seconds * 1000), NULL);
    curl_multi_perform(exchange->multi, &running);
    return take_done(exchange, ret_result);
}

bool exchange_get(struct exchange *exchange, const char *url, struct buffer *ret_page)
{
    long status = 0;
    CURLcode code;

    curl_easy_setopt(exchange->getter, CURLOPT_PROTOCOLS_STR, PROTOCOLS);
    curl_easy_setopt(exchange->getter, CURLOPT_PROXY, "");
    curl_easy_setopt(exchange->getter, CURLOPT_URL, url);
    curl_easy_setopt(exchange->getter, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(exchange->getter, CURLOPT_MAXREDIRS, MOVES_MAX);
    curl_easy_setopt(exchange->getter, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(exchange->getter, CURLOPT_WRITEDATA, ret_page);
    curl_easy_setopt(exchange->getter, CURLOPT_TIMEOUT, PAGE_SECONDS);
    curl_easy_setopt(exchange->getter, CURLOPT_NOSIGNAL, 1L);
    code = curl_easy_perform(exchange->getter);
    curl_easy_getinfo(exchange->getter, CURLINFO_RESPONSE_CODE, &status);
    return code == CURLE_OK && status == 200;
}
