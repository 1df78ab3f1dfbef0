/* SPDX-License-Identifier: Apache-2.0 */
/* Tables for people (columns in line), for scripts (tabs) and for programs (JSON, one object for
 * each row). */
#ifndef TOOLS_QMCTL_SESSION_OUTPUT_H
#define TOOLS_QMCTL_SESSION_OUTPUT_H

#include "tools/qmctl/session/project_session.h"

#define TABLE_COLUMNS_MAX 20

struct output_table {
    struct session *session;
    const char *rows; /* what they are, in the plural */
    const char *const *titles;
    size_t column_count;
    struct text *cells;
    bool *is_number; /* by cell */
    size_t cell_count, cell_room;
    size_t widths[TABLE_COLUMNS_MAX]; /* characters, for people: of what was printed so far */
    bool has_begun;                   /* its titles are printed */
};

#define TABLE_BEGIN(session, rows, titles) \
    table_begin(session, rows, titles, sizeof(titles) / sizeof(titles)[0])

/* `rows` says what they are, in the plural ("jobs"). Titles are lower-case words with underscores;
 * they are the keys of the JSON. */
struct output_table table_begin(struct session *session, const char *rows,
                                const char *const *titles, size_t column_count);
void table_text(struct output_table *table, struct text text);
/* Whole, for the last column: a sentence. */
void table_words(struct output_table *table, struct text text);
void table_number(struct output_table *table, int64_t number);
/* "yes" or "no" for people, otherwise 1 or 0. */
void table_flag(struct output_table *table, bool is_set);
void table_real(struct output_table *table, double number, int decimals);
/* A moment: for people in words, otherwise as the number; 0 is nothing. */
void table_time(struct output_table *table, int64_t epoch);
/* The same words; "-" for 0. */
struct text moment_words(const struct session *session, int64_t epoch);
/* Prints what has not been printed yet. Where there has been no row at all, people are told so on
 * standard error; others see no line, but for the titles before tabs. */
void table_print(struct output_table *table);
/* The only row: for people each cell in a line of its own, behind its title. */
void table_print_row(struct output_table *table);
/* What a command did: a sentence in one line for people, for others the row that says the same. */
void table_tell(struct output_table *table, struct text sentence);
/* The same in several lines, which hold nothing that somebody else wrote. */
void table_tell_lines(struct output_table *table, struct text lines);
/* Prints what there is so far, and forgets it, so that the arena may be rewound: more rows may
 * follow. STATUS_TOO_LARGE: the cells did not fit into the arena; nothing was printed. */
MUST_CHECK enum status table_flush(struct output_table *table);

#endif
