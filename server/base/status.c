/* SPDX-License-Identifier: Apache-2.0 */
/* Failing in one line. The first reason wins: what went wrong later is usually a consequence of it,
 * and an operator wants the cause. Reasons hold pieces of files and of the database's own words, so
 * control characters in them become blanks; a reason is one line of a log. */
#include "server/base/status.h"

#include <stdarg.h>
#include <stdio.h>

#include "server/base/banned.h"

const char *status_word(enum status status)
{
    static const char *const words[STATUS_COUNT] = {
#define STATUS_WORD(name, word) [STATUS_##name] = (word),
        STATUSES(STATUS_WORD)
#undef STATUS_WORD
    };

    return (unsigned)status < STATUS_COUNT ? words[status] : "unknown status";
}

/* In parentheses because the name is a macro too when the analyzer reads this. */
enum status(fail)(struct failure *failure, enum status status, const char *format, ...)
{
    if (failure == NULL || failure->status != STATUS_OK)
        return status;

    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(failure->text, sizeof(failure->text), format, arguments);
    va_end(arguments);
    failure->status = status;
    for (char *at = failure->text; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = ' ';
    return status;
}
