/* SPDX-License-Identifier: Apache-2.0 */
/* A cut never goes through a UTF-8 character, because a half one may be refused by the database or
 * spoil the page that shows the text. Text that is no UTF-8 is cut at the byte: of a run of more
 * continuation bytes than a character can have, none belongs to one. */
#include "server/policy/host/bounds.h"

#include <stdbool.h>

#include "server/base/banned.h"

/* Continuation bytes of the longest character. */
enum { CONTINUATION_MAX = 3 };

static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

struct text bound_head(struct text text, size_t most)
{
    size_t back = 0;

    if (text.length <= most)
        return text;
    while (back < most && back <= CONTINUATION_MAX && is_continuation(text.at[most - back]))
        back++;
    if (back > CONTINUATION_MAX)
        back = 0;
    return (struct text){.at = text.at, .length = most - back};
}

struct text bound_tail(struct text text, size_t most)
{
    const char *start;
    size_t skip = 0;

    if (text.length <= most)
        return text;
    start = text.at + (text.length - most);
    while (skip < most && skip <= CONTINUATION_MAX && is_continuation(start[skip]))
        skip++;
    if (skip > CONTINUATION_MAX)
        skip = 0;
    return (struct text){.at = start + skip, .length = most - skip};
}

int64_t bound_int32(int64_t number)
{
    if (number > INT32_MAX)
        return INT32_MAX;
    return number < INT32_MIN ? INT32_MIN : number;
}

int64_t bound_exit_status(int64_t number)
{
    if (number > INT32_MAX && number <= (int64_t)UINT32_MAX)
        return number - (INT64_C(1) << 32);
    return bound_int32(number);
}
