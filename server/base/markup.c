/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/markup.h"

#include "server/base/banned.h"

static struct text behind(struct text text, size_t offset)
{
    return (struct text){.at = text.at + offset, .length = text.length - offset};
}

struct markup markup_at(struct text text)
{
    static const struct {
        enum markup_kind kind;
        struct text begin, end;
    } kinds[] = {{MARKUP_COMMENT, {"<!--", 4}, {"-->", 3}},
                 {MARKUP_CDATA, {"<![CDATA[", 9}, {"]]>", 3}},
                 {MARKUP_INSTRUCTION, {"<?", 2}, {"?>", 2}}};
    struct markup markup = {.kind = MARKUP_NONE};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct text inside;
        size_t end;

        if (!text_starts(text, kinds[i].begin))
            continue;
        inside = behind(text, kinds[i].begin.length);
        end = text_find(inside, kinds[i].end);
        markup.kind = kinds[i].kind;
        markup.inside = text_first(inside, end);
        if (end < inside.length)
            markup.length = kinds[i].begin.length + end + kinds[i].end.length;
    }
    return markup;
}

struct text markup_skip(struct text text)
{
    for (;;) {
        text = text_trim(text);
        const struct markup markup = markup_at(text);

        if (markup.length == 0 || markup.kind == MARKUP_CDATA)
            return text;
        text = behind(text, markup.length);
    }
}
