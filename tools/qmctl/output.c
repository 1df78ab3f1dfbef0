/* SPDX-License-Identifier: Apache-2.0 */
/* A table is collected whole and then printed, because columns for people are as wide as their
 * widest cell. Control characters never reach the terminal: names come from volunteers. */
#include "tools/qmctl/output.h"

#include "server/base/arena.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "server/base/banned.h"

#define COLUMNS_MAX 16
#define FIRST_ROOM  256
#define COLUMN_GAP  2
#define SHOWN_MAX   60 /* bytes of a cell, for people */

struct output_table table_begin(struct session *session, const char *const *titles,
                                size_t column_count)
{
    must(column_count <= COLUMNS_MAX);
    return (struct output_table){
        .session = session, .titles = titles, .column_count = column_count};
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
        text = text_first(text, SHOWN_MAX);
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

void table_real(struct output_table *table, double number, int decimals)
{
    add_cell(table, text_print(table->session->arena, "%.*f", decimals, number), true);
}

void table_time(struct output_table *table, int64_t epoch)
{
    char words[32] = "-";
    struct tm parts;
    time_t moment = (time_t)epoch;
    if (table->session->form != FORM_TEXT) {
        table_number(table, epoch);
        return;
    }
    if (epoch != 0 && gmtime_r(&moment, &parts) != NULL)
        (void)strftime(words, sizeof words, "%Y-%m-%d %H:%MZ", &parts);
    add_cell(table, text_copy(table->session->arena, text_from(words)), false);
}

static void print_clean(struct text text)
{
    for (size_t i = 0; i < text.length; i++)
        putchar((unsigned char)text.at[i] < ' ' || text.at[i] == 127 ? '?' : text.at[i]);
}

static void print_json_string(struct text text)
{
    putchar('"');
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < ' ' || c == 127)
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void print_json(const struct output_table *table)
{
    for (size_t i = 0; i < table->cell_count; i++) {
        size_t column = i % table->column_count;
        printf("%s\"%s\": ", column == 0 ? "{" : ", ", table->titles[column]);
        if (table->is_number[i])
            printf(TEXT_FORMAT, TEXT_ARG(table->cells[i]));
        else
            print_json_string(table->cells[i]);
        if (column + 1 == table->column_count)
            puts("}");
    }
}

static void print_tsv(const struct output_table *table)
{
    for (size_t i = 0; i < table->column_count; i++)
        printf("%s%s", i > 0 ? "\t" : "", table->titles[i]);
    putchar('\n');
    for (size_t i = 0; i < table->cell_count; i++) {
        print_clean(table->cells[i]);
        putchar((i + 1) % table->column_count == 0 ? '\n' : '\t');
    }
}

static void print_padding(size_t width, size_t used)
{
    for (; used < width; used++)
        putchar(' ');
}

static void print_text(const struct output_table *table)
{
    size_t widths[COLUMNS_MAX] = {0};
    for (size_t i = 0; i < table->column_count; i++)
        widths[i] = strlen(table->titles[i]);
    for (size_t i = 0; i < table->cell_count; i++)
        if (widths[i % table->column_count] < table->cells[i].length)
            widths[i % table->column_count] = table->cells[i].length;
    for (size_t i = 0; i < table->column_count; i++) {
        printf("%s", table->titles[i]);
        print_padding(i + 1 < table->column_count ? widths[i] + COLUMN_GAP : 0,
                      strlen(table->titles[i]));
    }
    putchar('\n');
    for (size_t i = 0; i < table->cell_count; i++) {
        size_t column = i % table->column_count;
        if (table->is_number[i])
            print_padding(widths[column], table->cells[i].length);
        print_clean(table->cells[i]);
        size_t used = table->is_number[i] ? widths[column] : table->cells[i].length;
        if (column + 1 < table->column_count)
            print_padding(widths[column] + COLUMN_GAP, used);
        else
            putchar('\n');
    }
}

void table_print(const struct output_table *table)
{
    if (table->column_count == 0)
        return;
    switch (table->session->form) {
    case FORM_TEXT:
        print_text(table);
        break;
    case FORM_TSV:
        print_tsv(table);
        break;
    case FORM_JSON:
        print_json(table);
        break;
    }
}
