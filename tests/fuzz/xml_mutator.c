/* SPDX-License-Identifier: Apache-2.0 */
/* A mutator that knows elements: it drops, repeats, moves and nests them whole, and writes numbers
 * and texts that are rare in the corpus. Bytes are left to libFuzzer, which gets every third turn.
 */
#include "server/base/random.h"
#include "server/base/status.h"
#include "server/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

enum { ELEMENTS_MOST = 4096, REPEATS_MOST = 40 };

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* Offsets: of the start tag, of the content, of the end tag, and behind it. */
struct element {
    size_t start, content, content_end, end;
};

static const char *const contents[] = {
    "",
    "0",
    "-0",
    "1",
    "-1",
    "0.5",
    "2147483647",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "1e-320",
    "1e15",
    "1e99",
    "1e308",
    "nan",
    "inf",
    "0x10",
    " 7 ",
    "a&amp;b",
    "&#x80000000;",
    "\xff\xfe",
    "../../x",
    "'; --",
    "%s%n",
    "x86_64-pc-linux-gnu",
    "NVIDIA",
    "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"};

/* Elements in the order of their start tags; one ends at the next end tag of its name. */
static size_t find_elements(struct text text, struct element *ret_elements)
{
    size_t count = 0;

    for (size_t at = 0; at + 2 < text.length && count < ELEMENTS_MOST; at++) {
        struct text rest = {.at = text.at + at, .length = text.length - at}, name, after;
        struct element *element = &ret_elements[count];
        char end_tag[64];
        size_t close;

        if (rest.at[0] != '<' || rest.at[1] == '/' || rest.at[1] == '!' || rest.at[1] == '?')
            continue;
        close = text_find(rest, TEXT(">"));
        if (close == rest.length || close < 2 || close > 40)
            continue;
        name = (struct text){.at = rest.at + 1, .length = close - 1};
        snprintf(end_tag, sizeof(end_tag), "</" TEXT_FORMAT ">", TEXT_ARG(name));
        after = (struct text){.at = rest.at + close + 1, .length = rest.length - close - 1};
        element->start = at;
        element->content = at + close + 1;
        element->content_end = element->content + text_find(after, text_from(end_tag));
        if (element->content_end == text.length)
            continue;
        element->end = element->content_end + strlen(end_tag);
        count++;
    }
    return count;
}

/* Puts `piece` in the place of the bytes from `from` to `to`; returns the new size, or 0: no room.
 */
static size_t replace(uint8_t *data, size_t size, size_t max_size, size_t from, size_t to,
                      struct text piece)
{
    if (size - (to - from) + piece.length > max_size)
        return 0;
    memmove(data + from + piece.length, data + to, size - to);
    if (piece.length > 0)
        memcpy(data + from, piece.at, piece.length);
    return size - (to - from) + piece.length;
}

static size_t repeat(uint8_t *data, size_t size, size_t max_size, size_t at, struct text piece,
                     uint64_t times)
{
    for (uint64_t i = 0; i < times; i++) {
        size_t grown = replace(data, size, max_size, at, at, piece);

        if (grown == 0)
            break;
        size = grown;
    }
    return size;
}

static size_t mutate(uint8_t *data, size_t size, size_t max_size, struct random *random,
                     const struct element *elements, size_t count, const char *copy)
{
    const struct element *one = &elements[random_next(random) % count];
    const struct element *other = &elements[random_next(random) % count];
    const struct text whole = {.at = copy + one->start, .length = one->end - one->start};

    switch (random_next(random) % 5) {
    case 0:
        return replace(data, size, max_size, one->start, one->end, NO_TEXT);
    case 1:
        return repeat(data, size, max_size, one->end, whole,
                      1 + random_next(random) % REPEATS_MOST);
    case 2:
        return repeat(data, size, max_size, other->content, whole, 1);
    case 3:
        return replace(data, size, max_size, one->content, one->content_end,
                       (struct text){.at = copy + other->content,
                                     .length = other->content_end - other->content});
    default:
        return replace(
            data, size, max_size, one->content, one->content_end,
            text_from(contents[random_next(random) % (sizeof(contents) / sizeof(contents[0]))]));
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    static struct element elements[ELEMENTS_MOST];
    struct random random = {.state = seed};
    struct text text = {.at = (const char *)data, .length = size};
    size_t count = find_elements(text, elements);
    char *copy;
    size_t mutated;

    if (count == 0 || random_next(&random) % 3 == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    copy = malloc(size);
    must(copy != NULL);
    memcpy(copy, data, size);
    mutated = mutate(data, size, max_size, &random, elements, count, copy);
    free(copy);
    return mutated == 0 ? LLVMFuzzerMutate(data, size, max_size) : mutated;
}
