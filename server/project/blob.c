/* SPDX-License-Identifier: Apache-2.0 */
/* Texts from the database that are sent as they are: preferences, messages to a host, the
 * project's own blocks. Clients copy such a block up to its end tag and read the rest of the reply
 * after it, so a block without its end, or with one inside, would swallow or uncover what is not
 * its own. Each is judged before it is sent; a bad one is left out and costs only itself. */
#include "server/project/blob.h"

#include "server/base/arena.h"
#include "server/base/xml.h"

#include <string.h>

#include "server/base/banned.h"

/* Larger than any column that we send. */
enum { BLOB_BYTES_MAX = 1 << 20 };

/* A copy that an XML parser of the strict kind judges by its tags alone. */
static char *copy_of_tags(struct arena *arena, struct text text, size_t *ret_length)
{
    static const char open[] = "<x>", close[] = "</x>";
    size_t length = text.length + sizeof open - 1 + sizeof close - 1;
    char *copy = arena_alloc(arena, length);

    if (copy == NULL)
        return NULL;
    memcpy(copy, open, sizeof open - 1);
    char *at = copy + sizeof open - 1;
    for (size_t i = 0; i < text.length; i++) {
        unsigned char byte = (unsigned char)text.at[i];
        *at++ = byte > 127 || byte == '&' ? 'x' : text.at[i];
    }
    memcpy(at, close, sizeof close - 1);
    *ret_length = length;
    return copy;
}

static bool tags_are_closed(struct arena *arena, struct text text)
{
    const struct xml_limits limits = {
        .bytes_max = 2 * (size_t)BLOB_BYTES_MAX, .depth_max = 64, .elements_max = 100000};
    const struct xml_handler handler = {0};
    struct arena_mark mark = arena_mark(arena);
    size_t length = 0;
    char *copy = copy_of_tags(arena, text, &length);
    enum status status = STATUS_NO_MEMORY;

    if (copy != NULL)
        status = xml_walk((struct text){.at = copy, .length = length}, &limits, &handler, NULL);
    arena_rewind(arena, mark);
    return status == STATUS_OK;
}

bool blob_is_sound(struct arena *arena, struct text text)
{
    if (text.length > BLOB_BYTES_MAX)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        unsigned char byte = (unsigned char)text.at[i];
        if (byte < ' ' && byte != '\n' && byte != '\t' && byte != '\r')
            return false;
    }
    /* Readers of lines find this one wherever it stands, even in a comment. */
    if (text_contains(text, TEXT("scheduler_reply>")))
        return false;
    return tags_are_closed(arena, text);
}

bool blob_content(struct arena *arena, struct text text, const char *name, struct text *ret_content)
{
    struct text open = text_print(arena, "<%s>", name);
    struct text close = text_print(arena, "</%s>", name);

    text = text_trim(text);
    while (open.length > 0 && close.length > 0 && text_starts(text, open)) {
        text = (struct text){.at = text.at + open.length, .length = text.length - open.length};
        if (text_ends(text, close))
            text = text_first(text, text.length - close.length);
        text = text_trim(text);
    }
    if (text_contains(text, close) || text_contains(text, open) || !blob_is_sound(arena, text))
        return false;
    *ret_content = text;
    return true;
}
