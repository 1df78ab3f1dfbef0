/* SPDX-License-Identifier: Apache-2.0 */
/* Words and figures in a page that is HTML and well-formed XML as well: everything that comes from
 * elsewhere goes through page_text. Figures carry their units, times are UTC. */
#ifndef SERVER_STATUS_PAGE_WORDS_H
#define SERVER_STATUS_PAGE_WORDS_H

#include "server/base/text.h"

#include <stdint.h>

struct buffer;

/* Escaped for text and for attributes in double quotes; what is neither UTF-8 nor allowed in XML
 * becomes U+FFFD. */
void page_text(struct buffer *page, struct text text);
/* 1,234,567 */
void page_count(struct buffer *page, uint64_t count);
/* With as many digits as can be of use: 0.012, 1.2, 57, 1,234; - for NAN. */
void page_number(struct buffer *page, double number);
/* In µs, ms, s, min, h or days; - for NAN. */
void page_duration(struct buffer *page, double seconds);
/* In bytes, KiB, MiB, GiB or TiB. */
void page_bytes(struct buffer *page, uint64_t bytes);
/* 2026-01-31 23:59:59 UTC; 01-31 alone; and 23:59 alone. */
void page_time(struct buffer *page, int64_t epoch);
void page_date(struct buffer *page, int64_t epoch);
void page_time_of_day(struct buffer *page, int64_t epoch);

#endif
