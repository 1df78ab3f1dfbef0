/* SPDX-License-Identifier: Apache-2.0 */
/* What clients make of a project's address: as a real client did with each of data/master_urls, and
 * as a regular expression says of random ones. */
#include "server/check/master_url.h"

#include "server/base/arena.h"
#include "server/base/file.h"
#include "server/base/random.h"
#include "tests/support/case_arena.h"
#include "tests/support/test.h"

#include <regex.h>
#include <stdlib.h>

enum { TRIED_LEAST = 50, RANDOM_URLS = 200000, URL_BYTES = 16 };

static struct text fault_name(enum master_url_fault fault)
{
    static const char *const names[] = {
#define NAME(name, words) [MASTER_URL_##name] = #name,
        MASTER_URL_FAULTS(NAME)
#undef NAME
    };

    return text_from(names[fault]);
}

static void check_tried(struct text line)
{
    struct text url = text_split(&line, '\t'), fault = text_split(&line, '\t'), known = line;
    enum master_url_fault judged = master_url_judge(url);
    bool refused = text_is(known, "-");

    assert_text(fault_name(judged), text_string(case_arena, fault));
    if (refused)
        assert_int_not_equal(judged, MASTER_URL_NONE);
    if (judged == MASTER_URL_NONE) /* that client leaves capitals of the host, later ones do not */
        assert_true(text_equal_nocase(master_url_spelled(case_arena, url), known));
}

static void addresses_are_judged_as_a_client_does(void **state)
{
    struct text path =
        text_print(case_arena, "%s/tests/unit/data/master_urls", getenv("QM_SOURCE_DIR"));
    struct failure failure = {.status = STATUS_OK};
    struct text table;
    size_t tried = 0;

    (void)state;
    assert_status(STATUS_OK,
                  file_read(case_arena, text_string(case_arena, path), 1 << 16, &table, &failure));
    while (table.length > 0) {
        struct text line = text_split(&table, '\n');

        if (text_starts(line, TEXT("#")))
            continue;
        check_tried(line);
        tried++;
    }
    assert_true(tried >= TRIED_LEAST);
}

static void the_host_and_nothing_else_is_in_small_letters(void **state)
{
    static const struct {
        const char *given, *spelled;
    } cases[] = {
        {"HTTPS://Example.ORG/Demo", "https://example.org/Demo/"},
        {"http://example.org", "http://example.org/"},
        {"http://example.org//a///B//", "http://example.org/a/B/"},
        {"http://127.0.0.1:8080/demo/", "http://127.0.0.1:8080/demo/"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_text(master_url_spelled(case_arena, text_from(cases[i].given)), cases[i].spelled);
}

/* The slow and obvious way: bring it into the client's form, then one expression. */
static void random_addresses_are_judged_as_by_an_expression(void **state)
{
    static const char letters[] = "aA./:1";
    struct random random = {.state = 31};
    size_t taken = 0;
    regex_t wanted;

    (void)state;
    assert_int_equal(regcomp(&wanted, "^https?://[^/:.][^.]*[.][^/]", REG_EXTENDED | REG_NOSUB), 0);
    for (size_t i = 0; i < RANDOM_URLS; i++) {
        struct arena_mark mark = arena_mark(case_arena);
        size_t length = random_next(&random) % URL_BYTES;
        char url[sizeof("https://") + URL_BYTES] = "http://";
        struct text spelled;

        for (size_t j = 0; j < length; j++)
            url[7 + j] = letters[random_next(&random) % (sizeof(letters) - 1)];
        spelled = master_url_spelled(case_arena, text_from(url));
        if (length > 0 && url[7] != '/' && url[7] != ':') {
            bool matches = regexec(&wanted, text_string(case_arena, spelled), 0, NULL, 0) == 0;

            assert_int_equal(master_url_judge(text_from(url)) == MASTER_URL_NONE, matches);
            taken += matches;
        }
        /* What clients spell, they spell so again. */
        if (master_url_judge(text_from(url)) == MASTER_URL_NONE)
            assert_true(text_equal(master_url_spelled(case_arena, spelled), spelled));
        arena_rewind(case_arena, mark);
    }
    assert_true(taken > RANDOM_URLS / 20);
    regfree(&wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(addresses_are_judged_as_a_client_does, case_arena_setup,
                                        case_arena_teardown),
        cmocka_unit_test_setup_teardown(the_host_and_nothing_else_is_in_small_letters,
                                        case_arena_setup, case_arena_teardown),
        cmocka_unit_test_setup_teardown(random_addresses_are_judged_as_by_an_expression,
                                        case_arena_setup, case_arena_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
