/* SPDX-License-Identifier: Apache-2.0 */
#include "server/check/web_answer.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/crypto.h"
#include "server/base/master_page.h"

#include <inttypes.h>

#include "server/base/banned.h"

enum { SHOWN_BYTES = 80 };

struct text web_beginning(struct arena *arena, struct text page)
{
    struct buffer words = buffer_in(arena);

    page = text_first(text_trim(page), SHOWN_BYTES);
    for (size_t i = 0; i < page.length; i++) {
        unsigned char c = (unsigned char)page.at[i];

        buffer_add_char(&words, c < ' ' || c == 127 ? ' ' : page.at[i]);
    }
    return buffer_text(&words);
}

static bool is_one_of(const char *url, const struct text_list *schedulers)
{
    for (size_t i = 0; i < schedulers->count; i++)
        if (text_is(schedulers->items[i], url))
            return true;
    return false;
}

struct text master_page_complaint(struct arena *arena, const struct web_answer *answer,
                                  const struct text_list *schedulers)
{
    struct master_page page;

    if (answer->status != 200)
        return text_print(arena, "HTTP status %ld", answer->status);
    master_read(answer->body, &page);
    if (page.count == 0)
        return text_print(
            arena,
            "it names no scheduler: clients look for <link rel=\"boinc_scheduler\" href=\"URL\"> "
            "at the beginning of a line; the page begins with \"" TEXT_FORMAT "\"",
            TEXT_ARG(web_beginning(arena, answer->body)));
    for (size_t i = 0; i < page.count; i++)
        if (schedulers->count == 0 || is_one_of(page.schedulers[i], schedulers))
            return NO_TEXT;
    return text_print(arena, "it names the scheduler %s, and scheduler_url is " TEXT_FORMAT,
                      page.schedulers[0], TEXT_ARG(schedulers->items[0]));
}

struct text download_complaint(struct arena *arena, const struct web_answer *answer, int64_t bytes,
                               const char *md5)
{
    char md5_of_body[MD5_HEX_SIZE];

    if (answer->status != 200)
        return text_print(arena, "HTTP status %ld", answer->status);
    md5_hex(answer->body, NO_TEXT, md5_of_body);
    if (text_is(text_from(md5_of_body), md5))
        return NO_TEXT;
    if ((int64_t)answer->body.length == bytes)
        return TEXT("the content is another than in download_dir");
    return text_print(arena,
                      "%zu bytes came, and the file in download_dir has %" PRId64
                      "; what came begins with \"" TEXT_FORMAT "\"",
                      answer->body.length, bytes, TEXT_ARG(web_beginning(arena, answer->body)));
}

struct text submission_complaint(struct arena *arena, const struct web_answer *answer)
{
    if (answer->status != 200)
        return text_print(arena, "HTTP status %ld", answer->status);
    return text_contains(answer->body, TEXT("<success>1</success>"))
               ? NO_TEXT
               : text_print(arena, "the answer begins with \"" TEXT_FORMAT "\"",
                            TEXT_ARG(web_beginning(arena, answer->body)));
}
