/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that somebody else wrote, as they may be shown: on a terminal, in a log, on a page. A
 * terminal obeys control characters, those of the second range (U+0080 to U+009F) too, and what is
 * no UTF-8 may be taken for them. */
#ifndef SERVER_BASE_SHOWN_H
#define SERVER_BASE_SHOWN_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/* Cuts off and returns the first character, or the byte that begins none; `*rest` has one.
 * `*ret_is_fit`: it is a character, and none that controls. */
struct text shown_next(struct text *rest, bool *ret_is_fit);
/* What is not fit becomes "?", but for those control characters of ASCII that are in `kept`. */
void shown_write(FILE *out, struct text text, const char *kept);
/* One line: whatever is not fit in what is printed, a new line too, becomes "?". */
void shown_line(FILE *out, const char *format, ...) PRINTF_LIKE(2, 3);
void shown_line_of(FILE *out, const char *format, va_list arguments) PRINTF_LIKE(2, 0);
/* For what is one line in any case: each byte that is not fit becomes a blank, in place. */
void shown_blank(char *line, size_t length);

#endif
