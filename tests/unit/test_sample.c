/* SPDX-License-Identifier: Apache-2.0 */
/* config/sample.h: filling samples in, and what the samples of config/ say of themselves. */
#include "config/sample.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

enum { PLENTY = 1024 * 1024, WORDS_MAX = 64 };

static int make_arena(void **state)
{
    *state = arena_create(PLENTY);
    return *state == NULL ? -1 : 0;
}

static int destroy_arena(void **state)
{
    arena_destroy(*state);
    return 0;
}

static const struct sample_value values[] = {{"NAME", {"demo", 4}}, {"PORT", {"80", 2}}};
static const struct sample_part parts[] = {{"here", true}, {"there", false}};

static enum status fill(struct arena *arena, const char *sample_text, struct text *ret_text,
                        struct failure *failure)
{
    const struct config_sample sample = {"x", sample_text};
    const struct sample_filling filling = {values, 2, parts, 2};
    struct buffer buffer = buffer_in(arena);
    enum status status = sample_fill(&sample, &filling, &buffer, failure);

    *ret_text = buffer_text(&buffer);
    return status;
}

static void test_fills_in(void **state)
{
    static const struct {
        const char *sample, *filled;
    } rows[] = {
        {"", ""},
        {"no word\n\nat all\n", "no word\n\nat all\n"},
        {"/@NAME@_cgi:@PORT@\n", "/demo_cgi:80\n"},
        {"@@NAME@@ a@b @ @name@ @\n", "@demo@ a@b @ @name@ @\n"},
        {"a\n#<here>\nb\n    #</here>\nc\n", "a\nb\nc\n"},
        {"a\n#<there>\nb @UNKNOWN@\n#</there>\nc\n", "a\nc\n"},
        {"#<here>\n#<there>\na\n#</there>\nb\n#</here>\n", "b\n"},
        {"#<there>\n#<here>\na\n#</here>\nb\n#</there>\n", ""},
        {"a\n\n#<there>\nb\n#</there>\n\nc\n\n", "a\n\nc\n\n"},
        {"#<by_hand>\n# @UNKNOWN@\n#</by_hand>\na #<here>\n", "a #<here>\n"},
    };
    struct failure failure = {0};
    struct text filled;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_status(STATUS_OK, fill(*state, rows[i].sample, &filled, &failure));
        assert_string_equal(text_string(*state, filled), rows[i].filled);
    }
}

static void test_refuses(void **state)
{
    static const struct {
        const char *sample;
        enum status status;
        const char *why;
    } rows[] = {
        {"@UNKNOWN@\n", STATUS_NOT_FOUND, "there is no value for @UNKNOWN@"},
        {"#<elsewhere>\n#</elsewhere>\n", STATUS_NOT_FOUND, "whether elsewhere holds"},
        {"#<here>\n", STATUS_INVALID, "here does not end"},
        {"#</here>\n", STATUS_INVALID, "here ends without a beginning"},
        {"#<here>\n#<there>\n#</here>\n#</there>\n", STATUS_INVALID, "here ends without"},
        {"#<here>\n#<here>\n#<here>\n#<here>\n#<here>\n", STATUS_INVALID, "too deeply"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct failure failure = {0};
        struct text filled;

        assert_status(rows[i].status, fill(*state, rows[i].sample, &filled, &failure));
        assert_non_null(strstr(failure.text, rows[i].why));
    }
}

/* The head of a sample explains each word as "#   WORD   what it is", for those who go by hand. */
static size_t explained(struct arena *arena, const struct config_sample *sample,
                        struct sample_value found_values[WORDS_MAX],
                        struct sample_part found_parts[WORDS_MAX], size_t *ret_part_count)
{
    struct text rest = text_from(sample->text);
    size_t value_count = 0;

    *ret_part_count = 0;
    rest = text_first(rest, text_find(rest, TEXT("#</by_hand>")));
    while (rest.length > 0) {
        struct text line = text_split(&rest, '\n'), word;

        if (!text_starts(line, TEXT("#           ")) || line.at[12] == ' ')
            continue;
        line = text_trim((struct text){line.at + 1, line.length - 1});
        word = text_split(&line, ' ');
        assert_true(value_count < WORDS_MAX && *ret_part_count < WORDS_MAX);
        if (word.at[0] != '@')
            found_parts[(*ret_part_count)++] = (struct sample_part){text_string(arena, word), true};
        else
            found_values[value_count++] = (struct sample_value){
                text_string(arena, (struct text){word.at + 1, word.length - 2}), TEXT("VALUE")};
    }
    return value_count;
}

static void test_samples_explain_their_words(void **state)
{
    size_t with_words = 0;

    assert_true(sample_count >= 5);
    for (size_t i = 0; i < sample_count; i++) {
        struct sample_value found_values[WORDS_MAX + 4];
        struct sample_part found_parts[WORDS_MAX];
        struct sample_filling filling = {.values = found_values, .parts = found_parts};
        struct buffer buffer = buffer_in(*state);
        struct failure failure = {0};
        enum status status;

        filling.value_count =
            explained(*state, &samples[i], found_values, found_parts, &filling.part_count);
        with_words += filling.value_count > 0;
        for (size_t j = 0; j < filling.value_count; j++) { /* none is explained that is not there */
            const char *word =
                text_string(*state, text_print(*state, "@%s@", filling.values[j].word));

            assert_non_null(strstr(strstr(samples[i].text, "#</by_hand>"), word));
        }
        /* What the part tls is explained with. */
        found_values[filling.value_count++] = (struct sample_value){"TLS_ADDRESS", TEXT("1")};
        found_values[filling.value_count++] = (struct sample_value){"TLS_PORT", TEXT("2")};
        found_values[filling.value_count++] = (struct sample_value){"CERTIFICATE", TEXT("3")};
        found_values[filling.value_count++] = (struct sample_value){"KEY", TEXT("4")};
        status = sample_fill(&samples[i], &filling, &buffer, &failure);
        if (status != STATUS_OK)
            print_error("%s: %s\n", samples[i].name, failure.text);
        assert_status(STATUS_OK, status);
        assert_false(text_contains(buffer_text(&buffer), TEXT("#<")));
        assert_false(text_contains(buffer_text(&buffer), TEXT("by hand")));
    }
    assert_true(with_words >= 4);
    assert_non_null(sample_find("nginx.conf"));
    assert_null(sample_find("nginx"));
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(test_fills_in),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_samples_explain_their_words),
    };

    return cmocka_run_group_tests(cases, make_arena, destroy_arena);
}
