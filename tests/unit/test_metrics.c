/* SPDX-License-Identifier: Apache-2.0 */
/* The page of counters, and the table of reasons behind it. */
#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/counters.h"
#include "server/process/metrics.h"
#include "server/request/reason_counts.h"
#include "tests/support/test.h"

#include <stdio.h>

static void every_row_of_both_tables_is_on_the_page(void **state)
{
    struct arena *arena = arena_create(1 << 20);
    struct buffer page = buffer_in(arena);

    (void)state;
    counter_add(COUNTER_jobs_sent, 41);
    reason_count_add(REASON_MEMORY);
    reason_count_add(REASON_MEMORY);
    reason_count_add(REASON_COUNT);
    metrics_write(&page);
    for (int i = 0; i < COUNTER_COUNT; i++)
        assert_true(text_contains(buffer_text(&page), text_print(arena, "\nquartermaster_%s_total ",
                                                                 counter_name((enum counter)i))));
    for (int i = 0; i < REASON_COUNT; i++)
        assert_true(text_contains(buffer_text(&page),
                                  text_print(arena, "\nquartermaster_no_work_total{reason=\"%s\"} ",
                                             reason_word((enum reason)i))));
    for (int i = 0; i < DB_ERROR_COUNT; i++)
        assert_true(
            text_contains(buffer_text(&page),
                          text_print(arena, "\nquartermaster_db_errors_total{kind=\"%s\"} 0\n",
                                     db_error_words[i].word)));
    assert_true(text_contains(buffer_text(&page), TEXT("\nquartermaster_jobs_sent_total 41\n")));
    assert_true(text_contains(buffer_text(&page), TEXT("{reason=\"memory\"} 2\n")));
    arena_destroy(arena);
}

/* A line is a comment or a name, labels in braces without blanks, and a number. */
static void every_line_is_of_the_format(void **state)
{
    struct arena *arena = arena_create(1 << 20);
    struct buffer page = buffer_in(arena);
    struct text rest;

    (void)state;
    metrics_write(&page);
    rest = buffer_text(&page);
    assert_int_equal(rest.at[rest.length - 1], '\n');
    while (rest.length > 0) {
        struct text line = text_split(&rest, '\n'), value = line, name;
        double number = -1;

        if (text_starts(line, TEXT("# HELP ")) || text_starts(line, TEXT("# TYPE ")))
            continue;
        name = text_split(&value, ' ');
        assert_true(text_starts(name, TEXT("quartermaster_")));
        assert_true(text_to_real(value, &number) && number >= 0);
    }
    arena_destroy(arena);
}

/* Words of labels and log lines: letters and underscores, none twice. */
static void words_of_reasons_are_words(void **state)
{
    (void)state;
    for (int i = 0; i < REASON_COUNT; i++) {
        const char *word = reason_word((enum reason)i);

        assert_true(word[0] >= 'a' && word[0] <= 'z');
        assert_int_equal(strspn(word, "abcdefghijklmnopqrstuvwxyz_0123456789"), strlen(word));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(word, reason_word((enum reason)j));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_both_tables_is_on_the_page),
        cmocka_unit_test(every_line_is_of_the_format),
        cmocka_unit_test(words_of_reasons_are_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
