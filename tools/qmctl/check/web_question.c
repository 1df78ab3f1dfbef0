/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/qmctl/check/web_question.h"

#include "server/base/arena.h"

#include <stdlib.h>
#include <time.h>

#include "server/base/banned.h"

static size_t receive(char *bytes, size_t size, size_t count, void *context)
{
    buffer_add(context, (struct text){.at = bytes, .length = size * count});
    return size * count;
}

/* What the environment says is replaced by this option, so it is in it. */
static const char *without_proxy(struct arena *arena)
{
    const char *given = getenv("no_proxy");

    if (given == NULL)
        given = getenv("NO_PROXY");
    if (given == NULL)
        given = "";
    if (text_is(text_trim(text_from(given)), "*"))
        return "*";
    return text_string(arena, text_print(arena, "%s%slocalhost,127.0.0.1,::1", given,
                                         given[0] != '\0' ? "," : ""));
}

CURL *web_question(struct arena *arena, struct text url, long patience, struct buffer *page)
{
    CURL *easy = curl_easy_init();
    char *words = arena_alloc(arena, CURL_ERROR_SIZE);

    if (easy == NULL || words == NULL) {
        curl_easy_cleanup(easy);
        return NULL;
    }
    words[0] = '\0';
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, words);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, words);
    curl_easy_setopt(easy, CURLOPT_URL, text_string(arena, url));
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_NOPROXY, without_proxy(arena));
    curl_easy_setopt(easy, CURLOPT_TIMEOUT, patience);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, page);
    return easy;
}

/* Of "Expire date:Nov 27 05:59:00 2026 GMT"; -1: the entry is another, or no date. */
static time_t date_behind(const char *entry, struct text title)
{
    struct text text = text_from(entry);

    return text_starts(text, title) ? curl_getdate(entry + title.length, NULL) : -1;
}

static struct text words_of_date(struct arena *arena, const char *words, time_t date)
{
    char day[32];
    struct tm parts;

    if (gmtime_r(&date, &parts) == NULL || strftime(day, sizeof(day), "%Y-%m-%d", &parts) == 0)
        return NO_TEXT;
    return text_print(arena, "%s %s", words, day);
}

/* The first certificate of the chain that is out of date; empty: none is. */
static struct text judge_dates(struct arena *arena, const struct curl_certinfo *chain)
{
    time_t now = time(NULL);

    for (int i = 0; i < chain->num_of_certs; i++)
        for (const struct curl_slist *entry = chain->certinfo[i]; entry != NULL;
             entry = entry->next) {
            time_t begin = date_behind(entry->data, TEXT("Start date:"));
            time_t end = date_behind(entry->data, TEXT("Expire date:"));

            if (end != -1 && end < now)
                return words_of_date(arena, "its certificate expired on", end);
            if (begin != -1 && begin > now)
                return words_of_date(arena, "its certificate is not valid before", begin);
        }
    return NO_TEXT;
}

/* Of a connection of its own, which is closed again: some servers have one at a time. */
static struct text look_at_dates(struct arena *arena, CURL *easy)
{
    struct curl_certinfo *chain = NULL;
    struct text dates = NO_TEXT;
    CURL *copy = curl_easy_duphandle(easy);

    if (copy == NULL)
        return NO_TEXT;
    curl_easy_setopt(copy, CURLOPT_SSL_VERIFYHOST, 0L);
    curl_easy_setopt(copy, CURLOPT_CERTINFO, 1L);
    if (curl_easy_perform(copy) == CURLE_OK &&
        curl_easy_getinfo(copy, CURLINFO_CERTINFO, &chain) == CURLE_OK && chain != NULL)
        dates = judge_dates(arena, chain);
    curl_easy_cleanup(copy);
    return dates;
}

/* Connections alone, over which nothing is asked: the certificate is looked at, and not trusted.
 * What is out of date is told before a name that differs: both need another certificate. */
static struct text look_at_certificate(struct arena *arena, CURL *easy)
{
    struct text dates;
    char *url = NULL;

    if (curl_easy_getinfo(easy, CURLINFO_EFFECTIVE_URL, &url) != CURLE_OK || url == NULL)
        return NO_TEXT;
    curl_easy_setopt(easy, CURLOPT_URL, text_string(arena, text_from(url)));
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
    dates = look_at_dates(arena, easy);
    return dates.length == 0 && curl_easy_perform(easy) == CURLE_PEER_FAILED_VERIFICATION
               ? TEXT("its certificate is for another host name")
               : dates;
}

struct text web_question_failure(struct arena *arena, CURL *easy, CURLcode result)
{
    struct text words, dates = NO_TEXT;
    char *said = NULL;

    (void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, &said);
    words = text_copy(
        arena, text_from(said != NULL && said[0] != '\0' ? said : curl_easy_strerror(result)));
    if (result == CURLE_PEER_FAILED_VERIFICATION)
        dates = look_at_certificate(arena, easy);
    return dates.length == 0 ? words
                             : text_print(arena, TEXT_FORMAT " (" TEXT_FORMAT ")", TEXT_ARG(dates),
                                          TEXT_ARG(words));
}

enum { SIZE_PATIENCE_S = 6, SIZE_PAGE_BYTES = 65536 };

/* It may go on: that is all that was to be known. */
static size_t send_nothing(char *bytes, size_t size, size_t count, void *context)
{
    (void)bytes;
    (void)size;
    (void)count;
    (void)context;
    return CURL_READFUNC_ABORT;
}

bool web_question_is_too_large(struct arena *arena, struct text url, int64_t bytes)
{
    struct buffer page = buffer_on_heap(SIZE_PAGE_BYTES);
    CURL *easy = web_question(arena, url, (long)SIZE_PATIENCE_S, &page);
    struct curl_slist *headers = curl_slist_append(NULL, "Expect: 100-continue");
    long status = 0;

    if (easy != NULL && headers != NULL) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)bytes);
        curl_easy_setopt(easy, CURLOPT_READFUNCTION, send_nothing);
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
        (void)curl_easy_perform(easy); /* it is cut in the midst where it may go on */
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    }
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
    buffer_free(&page);
    return status == 413;
}
