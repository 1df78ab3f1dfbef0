/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/qmctl/web_question.h"

#include "server/base/arena.h"

#include <stdlib.h>

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

    if (easy == NULL)
        return NULL;
    curl_easy_setopt(easy, CURLOPT_URL, text_string(arena, url));
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_NOPROXY, without_proxy(arena));
    curl_easy_setopt(easy, CURLOPT_TIMEOUT, patience);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, page);
    return easy;
}
