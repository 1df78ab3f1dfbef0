/* SPDX-License-Identifier: Apache-2.0 */
/* Clients do not parse HTML. They read lines in pieces of 255 bytes, and look within each piece for
 * two forms: <scheduler>URL</scheduler> anywhere, and since 2007 a link that is written in exactly
 * one way. They do not see what lies across two pieces. */
#include "server/base/master_page.h"

#include <string.h>

#include "server/base/banned.h"

static struct text next_piece(struct text *rest)
{
    struct text piece = text_first(*rest, MASTER_LINE_MAX);
    const char *end = memchr(piece.at, '\n', piece.length);

    if (end != NULL)
        piece.length = (size_t)(end - piece.at) + 1;
    rest->at += piece.length;
    rest->length -= piece.length;
    return piece;
}

/* Goes behind the next `part`. False: there is none. */
static bool skip_behind(struct text *rest, struct text part)
{
    size_t at = text_find(*rest, part);

    if (at == rest->length)
        return false;
    rest->at += at + part.length;
    rest->length -= at + part.length;
    return true;
}

/* The character that the text begins with, of which it takes *ret_length. */
static char decode(struct text text, size_t *ret_length)
{
    const struct {
        struct text entity;
        char character;
    } entities[] = {{TEXT("&amp;"), '&'},
                    {TEXT("&lt;"), '<'},
                    {TEXT("&gt;"), '>'},
                    {TEXT("&quot;"), '"'},
                    {TEXT("&apos;"), '\''}};

    for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++)
        if (text_starts(text, entities[i].entity)) {
            *ret_length = entities[i].entity.length;
            return entities[i].character;
        }
    *ret_length = 1;
    return text.at[0];
}

static bool is_url(struct text text)
{
    for (size_t i = 0; i < text.length; i++)
        if (text.at[i] >= 0 && (text.at[i] <= ' ' || text.at[i] == 0x7F))
            return false;
    return text.length <= MASTER_LINE_MAX &&
           (text_starts(text, TEXT("http://")) || text_starts(text, TEXT("https://")));
}

static void add(struct text url, bool is_escaped, struct master_page *page)
{
    char *to = page->schedulers[page->count < MASTER_SCHEDULERS_MAX ? page->count : 0];
    size_t length = 0;

    if (page->count == MASTER_SCHEDULERS_MAX || !is_url(url))
        return;
    while (url.length > 0) {
        size_t taken = 1;

        to[length++] = is_escaped ? decode(url, &taken) : url.at[0];
        url.at += taken;
        url.length -= taken;
    }
    to[length] = '\0';
    for (size_t i = 0; i < page->count; i++)
        if (strcmp(page->schedulers[i], to) == 0)
            return;
    page->count++;
}

static void read_elements(struct text piece, struct master_page *page)
{
    const struct text end = TEXT("</scheduler>");

    while (skip_behind(&piece, TEXT("<scheduler>"))) {
        struct text url = text_first(piece, text_find(piece, end));

        if (!skip_behind(&piece, end))
            return;
        add(text_trim(url), true, page);
    }
}

static bool ends_link(char character)
{
    return character == '"' || character == ' ' || character == '\t' || character == '\r' ||
           character == '\n';
}

static void read_links(struct text piece, struct master_page *page)
{
    const struct text begin = TEXT("<link rel=\"boinc_scheduler\" href=\"");
    struct text rest = piece;

    while (skip_behind(&rest, begin)) {
        const char *at = rest.at - begin.length;
        size_t length = 0;

        while (length < rest.length && !ends_link(rest.at[length]))
            length++;
        if ((at == piece.at || at[-1] == '>') && length < rest.length)
            add(text_first(rest, length), false, page);
    }
}

void master_read(struct text page, struct master_page *ret_page)
{
    struct text rest = text_first(page, MASTER_PAGE_MAX);

    ret_page->count = 0;
    while (rest.length > 0) {
        struct text piece = next_piece(&rest);

        read_elements(piece, ret_page);
        read_links(piece, ret_page);
    }
}
