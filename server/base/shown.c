/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/shown.h"

#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

static bool is_fit(struct text character)
{
    unsigned char first = (unsigned char)character.at[0];

    return first >= ' ' && first != 127 && text_character(character) == character.length &&
           (first != 0xC2 || (unsigned char)character.at[1] >= 0xA0);
}

struct text shown_next(struct text *rest, bool *ret_is_fit)
{
    size_t length = text_character(*rest);
    struct text first = text_first(*rest, length > 0 ? length : 1);

    rest->at += first.length;
    rest->length -= first.length;
    *ret_is_fit = is_fit(first);
    return first;
}

static bool is_kept(char character, const char *kept)
{
    return character != '\0' && strchr(kept, character) != NULL;
}

void shown_write(FILE *out, struct text text, const char *kept)
{
    bool fit;

    while (text.length > 0) {
        struct text character = shown_next(&text, &fit);

        if (fit || is_kept(character.at[0], kept))
            (void)fwrite(character.at, 1, character.length, out);
        else
            putc('?', out);
    }
}

void shown_line_of(FILE *out, const char *format, va_list arguments)
{
    char *line = NULL;

    if (vasprintf(&line, format, arguments) < 0)
        return; /* no memory */
    shown_write(out, text_from(line), "");
    putc('\n', out);
    free(line);
}

void shown_line(FILE *out, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    shown_line_of(out, format, arguments);
    va_end(arguments);
}

/* Nearly all bytes are plain, and each line of the log comes this way. */
static bool is_plain(char byte)
{
    return byte >= ' ' && byte < 127;
}

void shown_blank(char *line, size_t length)
{
    struct text rest = {.at = line, .length = length};

    while (rest.length > 0) {
        bool fit = is_plain(*rest.at);
        size_t at = length - rest.length, wide = 1;

        if (fit)
            rest = (struct text){.at = rest.at + 1, .length = rest.length - 1};
        else
            wide = shown_next(&rest, &fit).length;
        if (!fit)
            memset(line + at, ' ', wide);
    }
}
