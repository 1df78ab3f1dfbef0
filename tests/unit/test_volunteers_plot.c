/* SPDX-License-Identifier: Apache-2.0 */
/* What gnuplot is told, and what is told of reasons. */
#include "server/base/buffer.h"
#include "tests/support/test.h"
#include "tools/lab/volunteers/crowd/observer.h"
#include "tools/lab/volunteers/figures/arrivals.h"
#include "tools/lab/volunteers/figures/merit.h"
#include "tools/lab/volunteers/figures/no_work_reasons.h"
#include "tools/lab/volunteers/figures/plot.h"
#include "tools/lab/volunteers/figures/trace.h"
#include "tools/lab/volunteers/wire/metrics_page.h"

#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

/* The next word in quotes behind `call`, without it; an empty text: there is none. */
static struct text next_word(struct text *script, struct text call)
{
    for (; script->length > 0; script->at++, script->length--)
        if (text_starts(*script, call)) {
            script->at += call.length;
            script->length -= call.length;
            return text_split(script, '"');
        }
    return (struct text){0};
}

static void pictures_show_figures_that_there_are(void **state)
{
    (void)state;
    static const char *const calls[] = {"column(\"", "per_day(\""};

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        struct buffer script = buffer_on_heap(1 << 16);
        struct text rest, word;
        size_t count = 0;

        plot_write_figures(true, &script);
        rest = buffer_text(&script);
        while ((word = next_word(&rest, text_from(calls[i]))).length > 0) {
            char name[64] = {0};

            count++;
            assert_true(word.length < sizeof(name));
            memcpy(name, word.at, word.length);
            if (!text_is(word, "until_day"))
                assert_non_null(merit_find(name));
        }
        assert_true(count > 3);
        buffer_free(&script);
    }
}

static bool is_column_of_arrivals(struct text word)
{
    for (int outcome = 0; outcome < RPC_OUTCOME_COUNT; outcome++)
        if (text_is(word, rpc_outcome_word((enum rpc_outcome)outcome)))
            return true;
    return text_is(word, "day");
}

static void arrivals_are_shown_by_every_outcome(void **state)
{
    (void)state;
    struct buffer script = buffer_on_heap(1 << 16);
    struct text rest, word;

    plot_write_arrivals(10, &script);
    rest = buffer_text(&script);
    while ((word = next_word(&rest, TEXT("column(\""))).length > 0)
        assert_true(is_column_of_arrivals(word));
    for (int outcome = 0; outcome < RPC_OUTCOME_COUNT; outcome++)
        assert_true(text_contains(buffer_text(&script),
                                  text_from(rpc_outcome_word((enum rpc_outcome)outcome))));
    assert_true(text_contains(buffer_text(&script), TEXT("mean of 10 min")));
    buffer_free(&script);
}

static void each_project_has_a_colour_and_each_processor_a_row(void **state)
{
    (void)state;
    static const char *const names[] = {"CPU", "GPU"};
    struct buffer script = buffer_on_heap(1 << 16);
    struct trace trace;

    trace_init(&trace, (const size_t[]){2, 1}, 2);
    plot_write_trace(&trace, names, 3, 17, &script);
    assert_true(text_contains(buffer_text(&script),
                              TEXT("set ytics (\"CPU 1\" 1, \"CPU 2\" 2, \"GPU 1\" 3)")));
    assert_true(text_contains(buffer_text(&script), TEXT("title \"project 3\"")));
    assert_false(text_contains(buffer_text(&script), TEXT("title \"project 4\"")));
    assert_true(text_contains(buffer_text(&script), TEXT("host 17")));
    buffer_free(&script);
    trace_free(&trace);
}

/* Nothing of the environment is used but the search path. */
static void that_gnuplot_is_missing_is_said(void **state)
{
    (void)state;
    struct failure failure = {.status = STATUS_OK};
    char *path = strdup(getenv("PATH"));

    setenv("PATH", "/nowhere", 1);
    assert_int_equal(plot_draw("/tmp", "figures", &failure), STATUS_NOT_FOUND);
    assert_non_null(strstr(failure.text, "gnuplot is not installed"));
    setenv("PATH", path, 1);
    free(path);
}

static void read_page(struct no_work_reasons *reasons, const char *first, const char *second)
{
    struct metrics *projects = calloc(2, sizeof(*projects));

    assert_non_null(projects);
    metrics_add_page(&projects[0], text_from(first));
    metrics_add_page(&projects[1], text_from(second));
    no_work_read(reasons, projects, 2);
    free(projects);
}

static void refusals_are_those_of_the_run(void **state)
{
    (void)state;
    struct no_work_reasons reasons = {.count = 0};

    read_page(&reasons, "quartermaster_no_work_total{reason=\"disk\"} 10\n",
              "quartermaster_no_work_total{reason=\"disk\"} 1\nquartermaster_requests_total 7\n");
    read_page(&reasons, "quartermaster_no_work_total{reason=\"disk\"} 14\n",
              "quartermaster_no_work_total{reason=\"disk\"} 1\n"
              "quartermaster_no_work_total{reason=\"deadline\"} 5\n");
    read_page(&reasons, "quartermaster_no_work_total{reason=\"disk\"} 15\n",
              "quartermaster_no_work_total{reason=\"disk\"} 3\n"
              "quartermaster_no_work_total{reason=\"deadline\"} 5\n");
    assert_int_equal(reasons.count, 2);
    assert_string_equal(reasons.items[0].word, "disk");
    assert_real(no_work_total(&reasons.items[0]), 7, 0);
    assert_real(no_work_latest(&reasons.items[0]), 3, 0);
    assert_real(no_work_total(&reasons.items[1]), 5, 0);
    assert_real(no_work_latest(&reasons.items[1]), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_show_figures_that_there_are),
        cmocka_unit_test(arrivals_are_shown_by_every_outcome),
        cmocka_unit_test(each_project_has_a_colour_and_each_processor_a_row),
        cmocka_unit_test(that_gnuplot_is_missing_is_said),
        cmocka_unit_test(refusals_are_those_of_the_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
