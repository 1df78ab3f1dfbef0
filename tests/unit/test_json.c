/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/json.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "tests/support/test.h"

#include "server/base/banned.h"

static void texts_are_escaped(void **state)
{
    static const struct {
        const char *text, *json;
        bool can_hold;
    } cases[] = {{"", "\"\"", true},
                 {"a\"b\\c/d", "\"a\\\"b\\\\c/d\"", true},
                 {"x\ty\nz", "\"x\\u0009y\\u000az\"", true},
                 {"\x7f\xc2\x85", "\"\\u007f\\u0085\"", true},
                 {"gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\"", true},
                 {"a\xfcz", "\"a\\ufffdz\"", false},
                 {"\xc3", "\"\\ufffd\"", false}};
    struct arena *arena = arena_create(1 << 20);

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buffer buffer = buffer_in(arena);

        json_add_string(&buffer, text_from(cases[i].text));
        assert_text(buffer_text(&buffer), cases[i].json);
        assert_int_equal(json_can_hold(text_from(cases[i].text)), cases[i].can_hold);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_are_escaped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
