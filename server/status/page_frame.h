/* SPDX-License-Identifier: Apache-2.0 */
/* What the pages of this room are put together from: head and end, sections, tables, cards, and the
 * list of what needs attention. Words in `const char *` are ours and may hold tags, unless it says
 * that they are escaped; a struct text is always escaped. */
#ifndef SERVER_STATUS_PAGE_FRAME_H
#define SERVER_STATUS_PAGE_FRAME_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;

/* No page is longer, whatever the figures are. */
enum { STATUS_BYTES_MAX = 1 << 20 };

/* --- the whole -------------------------------------------------------------------------------- */

enum page_kind { PAGE_SERVER, PAGE_PROJECT, PAGE_KINDS };
/* NOT_FOUND in the form of PAGE_KINDS: no page has this word. */
enum page_kind page_of_word(struct text word);

/* What needs attention, in the order in which it is told. The words are collected first, as the
 * title of the page counts them. */
struct page_attention {
    struct buffer *items;
    size_t problems, notes;
};
/* Begins an item, of which the words follow in `items`. */
void page_tell(struct page_attention *attention, bool is_bad);
void page_tell_end(struct page_attention *attention, const char *words);

/* Up to the line below the headline; the caller says more of the page, in paragraphs, then ends the
 * header. */
void page_begin(struct buffer *page, enum page_kind kind, struct text project,
                const struct page_attention *attention);
void page_end_header(struct buffer *page, int64_t now);
/* The section of what needs attention. */
void page_state(struct buffer *page, const struct page_attention *attention);
void page_end(struct buffer *page);
/* The Content-Security-Policy with which the pages work: their own style and script, by their
 * digests, and the server itself. */
void page_policy(struct buffer *ret_policy);

/* page_style.c: what does not depend on figures. */
extern const char page_style[], page_script[];

/* --- sections and cards ----------------------------------------------------------------------- */

void page_begin_section(struct buffer *page, const char *id, const char *title);
void page_end_section(struct buffer *page);
void page_begin_cards(struct buffer *page);
void page_begin_card(struct buffer *page, const char *words);
void page_middle_of_card(struct buffer *page);
void page_end_card(struct buffer *page);
void page_end_cards(struct buffer *page);
/* A card with a number. `words`: below it. */
void page_card_count(struct buffer *page, const char *head, uint64_t count, const char *words);

/* --- tables ----------------------------------------------------------------------------------- */

/* The table that is open. Each cell repeats the title of its column, which is shown where the
 * window is too narrow for columns. */
struct page_table {
    struct buffer *page;
    const char *const *columns; /* end with NULL; those that begin with < are of words */
    size_t column;              /* of the next cell */
};

void page_begin_table(struct page_table *table, struct buffer *page, const char *caption,
                      const char *const *columns);
void page_end_table(struct page_table *table);
/* A row, and its first cell; `words` are escaped. */
void page_row_head(struct page_table *table, const char *words);
void page_begin_row(struct page_table *table); /* the same; the first cell's words follow */
void page_end_row_head(struct page_table *table);
void page_row_end(struct page_table *table);

/* The next cell. */
void page_begin_cell(struct page_table *table, bool is_bad);
void page_end_cell(struct page_table *table);
void page_cell_text(struct page_table *table, struct text words);
void page_cell_count(struct page_table *table, uint64_t count);
/* - for NAN. `unit` is behind the number, with a blank if it is to have one. */
void page_cell_number(struct page_table *table, double number, const char *unit);
void page_cell_duration(struct page_table *table, double seconds);
/* As status_step.bound. */
void page_cell_bound(struct page_table *table, double bound);
/* Two cells: a share of 0 to 1 in words, and as a bar. */
void page_cell_share(struct page_table *table, double share);

/* A bound outside of a table. */
void page_bound(struct buffer *page, double bound);

#endif
