/* SPDX-License-Identifier: Apache-2.0 */
#include "server/check/master_url.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"

#include "server/base/banned.h"

static struct text behind(struct text text, size_t offset)
{
    return (struct text){text.at + offset, text.length - offset};
}

/* Length of "http://" or "https://", in any case, that it begins with; 0: with neither. */
static size_t scheme_length(struct text url)
{
    static const struct text schemes[] = {{"http://", 7}, {"https://", 8}};

    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
        if (text_equal_nocase(text_first(url, schemes[i].length), schemes[i]))
            return schemes[i].length;
    return 0;
}

static struct text without_slashes_before(struct text text)
{
    while (text_starts(text, TEXT("/")))
        text = behind(text, 1);
    return text;
}

static bool has_odd_character(struct text url)
{
    for (size_t i = 0; i < url.length; i++)
        if ((unsigned char)url.at[i] <= ' ' || url.at[i] == 0x7f || url.at[i] == '"' ||
            url.at[i] == '<' || url.at[i] == '>' || url.at[i] == '\\')
            return true;
    return false;
}

/* Of what is behind the "//": the first dot decides. A slash is at the end, given or not. */
static enum master_url_fault judge_dot(struct text rest)
{
    size_t dot = text_find(rest, TEXT("."));

    if (dot == rest.length)
        return MASTER_URL_NO_DOT;
    if (dot == 0)
        return MASTER_URL_DOT_FIRST;
    if (dot + 1 == rest.length || rest.at[dot + 1] == '/')
        return MASTER_URL_DOT_LAST;
    return MASTER_URL_NONE;
}

enum master_url_fault master_url_judge(struct text url)
{
    size_t scheme = scheme_length(url);
    struct text rest = behind(url, scheme);

    if (scheme == 0)
        return MASTER_URL_SCHEME;
    if (rest.length == 0 || rest.at[0] == '/' || rest.at[0] == ':' || rest.at[0] == '?')
        return MASTER_URL_HOST;
    if (has_odd_character(url))
        return MASTER_URL_CHARACTER;
    return judge_dot(rest);
}

const char *master_url_fault_words(enum master_url_fault fault)
{
    static const char *const words[] = {
#define MASTER_URL_FAULT_WORDS(name, words_) [MASTER_URL_##name] = words_,
        MASTER_URL_FAULTS(MASTER_URL_FAULT_WORDS)
#undef MASTER_URL_FAULT_WORDS
    };

    return words[fault];
}

struct text master_url_spelled(struct arena *arena, struct text url)
{
    struct buffer spelled = buffer_in(arena);
    struct text rest = behind(url, scheme_length(url));
    struct text host = text_split(&rest, '/');

    buffer_add(&spelled, text_lower_case(arena, text_first(url, scheme_length(url))));
    buffer_add(&spelled, text_lower_case(arena, host));
    buffer_add_string(&spelled, "/");
    for (rest = without_slashes_before(rest); rest.length > 0;
         rest = without_slashes_before(rest)) {
        buffer_add(&spelled, text_split(&rest, '/'));
        buffer_add_string(&spelled, "/");
    }
    return buffer_text(&spelled);
}
