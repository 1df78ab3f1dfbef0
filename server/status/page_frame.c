/* SPDX-License-Identifier: Apache-2.0 */
#include "server/status/page_frame.h"

#include "server/base/buffer.h"
#include "server/base/crypto.h"
#include "server/status/page_words.h"

#include <math.h>

#include "server/base/banned.h"

static const struct {
    const char *word, *title;
} kinds[PAGE_KINDS] = {
    [PAGE_SERVER] = {"status", "Server"}, [PAGE_PROJECT] = {"project", "Project"}};

enum page_kind page_of_word(struct text word)
{
    int kind = 0;

    while (kind < PAGE_KINDS && !text_is(word, kinds[kind].word))
        kind++;
    return (enum page_kind)kind;
}

/* --- what needs attention --------------------------------------------------------------------- */

void page_tell(struct page_attention *attention, bool is_bad)
{
    attention->problems += is_bad;
    attention->notes += !is_bad;
    buffer_print(attention->items, "<li%s><strong>%s:</strong> ", is_bad ? " class=\"bad\"" : "",
                 is_bad ? "Problem" : "Note");
}

void page_tell_end(struct page_attention *attention, const char *words)
{
    buffer_print(attention->items, "%s</li>\n", words);
}

void page_state(struct buffer *page, const struct page_attention *attention)
{
    page_begin_section(page, "state", "State");
    if (attention->problems + attention->notes > 0) {
        buffer_add_string(page, "<ul>\n");
        buffer_add(page, buffer_text(attention->items));
        buffer_add_string(page, "</ul>\n");
    } else {
        buffer_add_string(page, "<p class=\"good\">OK: nothing needs attention.</p>\n");
    }
    page_end_section(page);
}

/* --- the whole -------------------------------------------------------------------------------- */

/* What a tab shows: the state comes first, as a tab is narrow. */
static void write_title(struct buffer *page, enum page_kind kind, struct text project,
                        const struct page_attention *attention)
{
    if (attention->problems > 0)
        buffer_print(page, COUNT_FORMAT, COUNT_ARG(attention->problems, "problem"));
    else if (attention->notes > 0)
        buffer_print(page, COUNT_FORMAT, COUNT_ARG(attention->notes, "note"));
    else
        buffer_add_string(page, "OK");
    buffer_add_string(page, ": ");
    page_text(page, project);
    buffer_print(page, " (%s)", kinds[kind].title);
}

void page_begin(struct buffer *page, enum page_kind kind, struct text project,
                const struct page_attention *attention)
{
    buffer_add_string(page,
                      "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n"
                      "<head>\n<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
                      "content=\"width=device-width, initial-scale=1\"/>\n"
                      "<meta name=\"robots\" content=\"noindex\"/>\n<title>");
    write_title(page, kind, project, attention);
    buffer_add_string(page, "</title>\n<style>");
    buffer_add_string(page, page_style);
    buffer_add_string(page, "</style>\n</head>\n<body>\n<main>\n<header>\n<h1>");
    page_text(page, project);
    buffer_add_string(page, "</h1>\n<nav>");
    for (int i = 0; i < PAGE_KINDS; i++) {
        if (i == (int)kind)
            buffer_print(page, "<strong>%s</strong>", kinds[i].title);
        else
            buffer_print(page, "<a href=\"%s\">%s</a>", kinds[i].word, kinds[i].title);
    }
    buffer_add_string(page, "</nav>\n");
}

void page_end_header(struct buffer *page, int64_t now)
{
    buffer_add_string(page, "<p>Figures of <strong>");
    page_time(page, now);
    buffer_add_string(page, "</strong>. All times are UTC.</p>\n</header>\n");
}

void page_end(struct buffer *page)
{
    buffer_add_string(page, "</main>\n<p id=\"live\" class=\"soft\">Reload the page for newer "
                            "figures.</p>\n<script>");
    buffer_add_string(page, page_script);
    buffer_add_string(page, "</script>\n</body>\n</html>\n");
}

void page_policy(struct buffer *ret_policy)
{
    char style[SHA256_BASE64_SIZE], script[SHA256_BASE64_SIZE];

    sha256_base64(text_from(page_style), style);
    sha256_base64(text_from(page_script), script);
    buffer_print(ret_policy,
                 "default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; "
                 "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                 style, script);
}

/* --- sections and cards ----------------------------------------------------------------------- */

void page_begin_section(struct buffer *page, const char *id, const char *title)
{
    buffer_print(page,
                 "<section id=\"%s\" aria-labelledby=\"%s-head\">\n<h2 id=\"%s-head\">%s</h2>\n",
                 id, id, id, title);
}

void page_end_section(struct buffer *page)
{
    buffer_add_string(page, "</section>\n");
}

void page_begin_cards(struct buffer *page)
{
    buffer_add_string(page, "<dl class=\"cards\">\n");
}

void page_begin_card(struct buffer *page, const char *words)
{
    buffer_print(page, "<div><dt>%s</dt><dd>", words);
}

void page_middle_of_card(struct buffer *page)
{
    buffer_add_string(page, "</dd><dd class=\"words\">");
}

void page_end_card(struct buffer *page)
{
    buffer_add_string(page, "</dd></div>\n");
}

void page_end_cards(struct buffer *page)
{
    buffer_add_string(page, "</dl>\n");
}

void page_card_count(struct buffer *page, const char *head, uint64_t count, const char *words)
{
    page_begin_card(page, head);
    page_count(page, count);
    page_middle_of_card(page);
    buffer_add_string(page, words);
    page_end_card(page);
}

/* --- tables ----------------------------------------------------------------------------------- */

static bool is_of_words(const char *column)
{
    return column[0] == '<';
}

/* In a window that is too narrow for its columns, each row becomes a list: see page_style.c. */
static const char *width_of(const char *const *columns)
{
    size_t count = 0;

    while (columns[count] != NULL)
        count++;
    return count <= 2 ? "narrow" : count <= 5 ? "medium" : "wide";
}

void page_begin_table(struct page_table *table, struct buffer *page, const char *caption,
                      const char *const *columns)
{
    *table = (struct page_table){.page = page, .columns = columns};
    buffer_print(page, "<div class=\"table %s\"><table>\n<caption>%s</caption>\n<thead><tr>",
                 width_of(columns), caption);
    for (; *columns != NULL; columns++)
        buffer_print(page, "<th scope=\"col\"%s>%s</th>",
                     is_of_words(*columns) ? " class=\"left\"" : "",
                     *columns + is_of_words(*columns));
    buffer_add_string(page, "</tr></thead>\n<tbody>\n");
}

void page_end_table(struct page_table *table)
{
    buffer_add_string(table->page, "</tbody></table></div>\n");
}

void page_begin_row(struct page_table *table)
{
    table->column = 1;
    buffer_add_string(table->page, "<tr><th scope=\"row\">");
}

void page_end_row_head(struct page_table *table)
{
    buffer_add_string(table->page, "</th>");
}

void page_row_head(struct page_table *table, const char *words)
{
    page_begin_row(table);
    page_text(table->page, text_from(words));
    page_end_row_head(table);
}

void page_row_end(struct page_table *table)
{
    buffer_add_string(table->page, "</tr>\n");
}

/* The classes of a cell and the title of its column, which that leaves behind. */
static void open_cell(struct page_table *table, const char *class)
{
    const char *column = table->columns[table->column++];
    bool is_left = is_of_words(column);

    buffer_add_string(table->page, "<td");
    if (is_left || class[0] != '\0')
        buffer_print(table->page, " class=\"%s%s%s\"", is_left ? "left" : "",
                     is_left && class[0] != '\0' ? " " : "", class);
    if (column[is_left] != '\0')
        buffer_print(table->page, " data-label=\"%s\"", column + is_left);
    buffer_add_char(table->page, '>');
}

void page_begin_cell(struct page_table *table, bool is_bad)
{
    open_cell(table, is_bad ? "bad" : "");
}

void page_end_cell(struct page_table *table)
{
    buffer_add_string(table->page, "</td>");
}

void page_cell_text(struct page_table *table, struct text words)
{
    open_cell(table, "");
    page_text(table->page, words);
    page_end_cell(table);
}

void page_cell_count(struct page_table *table, uint64_t count)
{
    open_cell(table, "");
    page_count(table->page, count);
    page_end_cell(table);
}

void page_cell_number(struct page_table *table, double number, const char *unit)
{
    open_cell(table, "");
    page_number(table->page, number);
    if (isfinite(number))
        buffer_add_string(table->page, unit);
    page_end_cell(table);
}

void page_cell_duration(struct page_table *table, double seconds)
{
    open_cell(table, "");
    page_duration(table->page, seconds);
    page_end_cell(table);
}

void page_bound(struct buffer *page, double bound)
{
    if (!(bound > 0)) {
        buffer_add_string(page, "-");
    } else if (isinf(bound)) {
        buffer_add_string(page, "more than 30 s");
    } else {
        page_duration(page, bound);
    }
}

void page_cell_bound(struct page_table *table, double bound)
{
    open_cell(table, "");
    page_bound(table->page, bound);
    page_end_cell(table);
}

void page_cell_share(struct page_table *table, double share)
{
    page_cell_number(table, 100 * share, " %");
    open_cell(table, "bar");
    buffer_print(
        table->page,
        "<svg viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" "
        "aria-hidden=\"true\"><rect class=\"area s1\" width=\"%.1f\" height=\"10\"/></svg>",
        isfinite(share) ? 100 * fmin(fmax(share, 0), 1) : 0);
    page_end_cell(table);
}
