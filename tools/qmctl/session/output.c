/* SPDX-License-Identifier: Apache-2.0 */
/* A table is collected and then printed, because columns for people are as wide as their widest
 * cell; a long one in parts, whose columns may grow. Control characters never reach the terminal:
 * names come from volunteers. What they write need not be UTF-8, which JSON has to be. */
#include "tools/qmctl/session/output.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/json.h"
#include "server/base/shown.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "server/base/banned.h"

#define FIRST_ROOM 256
#define COLUMN_GAP 2
#define SHOWN_MAX  60 /* bytes of a cell, for people */

static size_t width_of(struct text text)
{
    size_t width = 0;
    bool fit;

    for (; text.length > 0; width++)
        (void)shown_next(&text, &fit);
    return width;
}

static struct text shortened(struct text text)
{
    struct text rest = text;
    size_t length = 0;
    bool fit;

    while (rest.length > 0) {
        size_t more = shown_next(&rest, &fit).length;
        if (length + more > SHOWN_MAX)
            break;
        length += more;
    }
    return text_first(text, length);
}

/* --- cells --------------------------------------------------------------------------------------
 */

struct output_table table_begin(struct session *session, const char *rows,
                                const char *const *titles, size_t column_count)
{
    must(column_count <= TABLE_COLUMNS_MAX);
    return (struct output_table){
        .session = session, .rows = rows, .titles = titles, .column_count = column_count};
}

static void add_cell(struct output_table *table, struct text text, bool is_number)
{
    if (table->cell_count == table->cell_room) {
        size_t room = table->cell_room == 0 ? FIRST_ROOM : 2 * table->cell_room;
        struct text *cells = ARENA_ARRAY(table->session->arena, room, struct text);
        bool *kinds = ARENA_ARRAY(table->session->arena, room, bool);
        if (cells == NULL || kinds == NULL)
            return;
        if (table->cell_count > 0) {
            memcpy(cells, table->cells, table->cell_count * sizeof *cells);
            memcpy(kinds, table->is_number, table->cell_count * sizeof *kinds);
        }
        table->cells = cells;
        table->is_number = kinds;
        table->cell_room = room;
    }
    table->cells[table->cell_count] = text;
    table->is_number[table->cell_count++] = is_number;
}

void table_text(struct output_table *table, struct text text)
{
    if (table->session->form == FORM_TEXT)
        text = shortened(text);
    add_cell(table, text, false);
}

void table_words(struct output_table *table, struct text text)
{
    add_cell(table, text, false);
}

void table_number(struct output_table *table, int64_t number)
{
    add_cell(table, text_print(table->session->arena, "%" PRId64, number), true);
}

void table_flag(struct output_table *table, bool is_set)
{
    if (table->session->form == FORM_TEXT)
        table_text(table, is_set ? TEXT("yes") : TEXT("no"));
    else
        table_number(table, is_set);
}

void table_real(struct output_table *table, double number, int decimals)
{
    add_cell(table, text_print(table->session->arena, "%.*f", decimals, number), true);
}

struct text moment_words(const struct session *session, int64_t epoch)
{
    char words[32] = "-";
    struct tm parts;
    time_t moment = (time_t)epoch;

    if (epoch != 0 && gmtime_r(&moment, &parts) != NULL)
        (void)strftime(words, sizeof words, "%Y-%m-%d %H:%MZ", &parts);
    return text_copy(session->arena, text_from(words));
}

void table_time(struct output_table *table, int64_t epoch)
{
    if (table->session->form != FORM_TEXT)
        table_number(table, epoch);
    else
        add_cell(table, moment_words(table->session, epoch), false);
}

/* --- printing -----------------------------------------------------------------------------------
 */

/* False: no memory, and nothing was printed. */
static bool print_json(const struct output_table *table)
{
    bool fit;
    struct buffer objects = buffer_on_heap(0);

    for (size_t i = 0; i < table->cell_count; i++) {
        size_t column = i % table->column_count;

        buffer_print(&objects, "%s\"%s\": ", column == 0 ? "{" : ", ", table->titles[column]);
        if (table->is_number[i])
            buffer_add(&objects, table->cells[i]);
        else
            json_add_string(&objects, table->cells[i]);
        if (column + 1 == table->column_count)
            buffer_add_string(&objects, "}\n");
    }
    fit = !objects.overflowed;
    if (fit && objects.length > 0)
        (void)fwrite(objects.at, 1, objects.length, stdout);
    buffer_free(&objects);
    return fit;
}

/* Scripts open files by these, so what is no UTF-8 stays as it is, but for the bytes that a
 * terminal of one byte to a character takes for control characters. */
static bool stays(struct text character, bool fit)
{
    return fit || (text_character(character) == 0 && (unsigned char)character.at[0] >= 0xA0);
}

static void print_tsv_cell(struct text text)
{
    bool fit;

    while (text.length > 0) {
        struct text character = shown_next(&text, &fit);

        if (stays(character, fit))
            (void)fwrite(character.at, 1, character.length, stdout);
        else
            putchar('?');
    }
}

static void print_tsv(const struct output_table *table)
{
    for (size_t i = 0; i < table->column_count && !table->has_begun; i++)
        printf("%s%s", table->titles[i], i + 1 < table->column_count ? "\t" : "\n");
    for (size_t i = 0; i < table->cell_count; i++) {
        print_tsv_cell(table->cells[i]);
        putchar((i + 1) % table->column_count == 0 ? '\n' : '\t');
    }
}

static void print_padding(size_t width, size_t used)
{
    for (; used < width; used++)
        putchar(' ');
}

static void print_text_cell(const struct output_table *table, size_t column, struct text text,
                            bool is_number)
{
    size_t width = width_of(text);
    bool is_last = column + 1 == table->column_count;

    if (is_number)
        print_padding(table->widths[column], width);
    shown_write(stdout, text, "");
    if (is_last)
        putchar('\n');
    else
        print_padding(table->widths[column] + COLUMN_GAP,
                      is_number ? table->widths[column] : width);
}

/* Titles above nothing would look like a mistake. */
static void print_text(struct output_table *table)
{
    if (table->cell_count == 0 || table->column_count == 0)
        return;
    for (size_t i = 0; i < table->column_count; i++)
        if (table->widths[i] < strlen(table->titles[i]))
            table->widths[i] = strlen(table->titles[i]);
    for (size_t i = 0; i < table->cell_count; i++) {
        size_t width = width_of(table->cells[i]), *widest = &table->widths[i % table->column_count];
        *widest = *widest < width ? width : *widest;
    }
    for (size_t i = 0; i < table->column_count && !table->has_begun; i++)
        print_text_cell(table, i, text_from(table->titles[i]), false);
    for (size_t i = 0; i < table->cell_count; i++)
        print_text_cell(table, i % table->column_count, table->cells[i], table->is_number[i]);
}

enum status table_flush(struct output_table *table)
{
    struct session *session = table->session;

    if (table->column_count == 0)
        return STATUS_OK;
    if (arena_overflowed(session->arena))
        return fail(&session->failure, STATUS_TOO_LARGE, "too much to be printed at once");
    switch (session->form) {
    case FORM_TEXT:
        print_text(table);
        break;
    case FORM_TSV:
        print_tsv(table);
        break;
    case FORM_JSON:
        if (!print_json(table))
            return fail(&session->failure, STATUS_TOO_LARGE, "too much to be printed at once");
        break;
    }
    table->has_begun = table->has_begun || table->cell_count > 0 || session->form == FORM_TSV;
    table->cells = NULL;
    table->is_number = NULL;
    table->cell_count = table->cell_room = 0;
    return STATUS_OK;
}

void table_print(struct output_table *table)
{
    if (table_flush(table) != STATUS_OK) {
        (void)session_failed(table->session);
        table->session->lacks_output = true;
    } else if (!table->has_begun && table->session->form == FORM_TEXT) {
        fprintf(stderr, "no %s\n", table->rows);
    }
}

void table_print_row(struct output_table *table)
{
    size_t widest = 0;

    if (table->session->form != FORM_TEXT || arena_overflowed(table->session->arena)) {
        table_print(table);
        return;
    }
    must(table->cell_count == table->column_count);
    for (size_t i = 0; i < table->column_count; i++)
        widest = widest < strlen(table->titles[i]) ? strlen(table->titles[i]) : widest;
    for (size_t i = 0; i < table->column_count; i++) {
        printf("%s", table->titles[i]);
        print_padding(widest + COLUMN_GAP, strlen(table->titles[i]));
        shown_write(stdout, table->cells[i], "");
        putchar('\n');
    }
}

static void tell(struct output_table *table, struct text text, const char *kept)
{
    if (table->session->form != FORM_TEXT) {
        table_print(table);
        return;
    }
    shown_write(stdout, text, kept);
    putchar('\n');
}

void table_tell(struct output_table *table, struct text sentence)
{
    tell(table, sentence, "");
}

void table_tell_lines(struct output_table *table, struct text lines)
{
    tell(table, lines, "\n");
}
