/* SPDX-License-Identifier: Apache-2.0 */
/* The lines by which a command answers. */
#include "server/passes/command_answer.h"

#include "tests/support/test.h"

#include "server/base/banned.h"

static void answers_are_read(void **state)
{
    static const struct {
        const char *line;
        int64_t id;
        bool has_verdict;
        int64_t verdict;
    } cases[] = {
        {"{\"id\":5}", 5, false, 0},
        {"{\"id\": 5, \"verdict\": 3}", 5, true, 3},
        {" { \"verdict\" :0,\t\"id\" : 9223372036854775807 } \r", INT64_MAX, true, 0},
        {"{\"id\":0,\"verdict\":-1}", 0, true, -1},
        {"{\"id\":-0}", 0, false, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer_line said;

        if (!answer_line_read(text_from(cases[i].line), &said))
            fail_msg("%s", cases[i].line);
        assert_i64(said.id, cases[i].id);
        assert_int_equal(said.has_verdict, cases[i].has_verdict);
        assert_i64(said.verdict, cases[i].verdict);
    }
}

static void what_is_no_answer_is_refused(void **state)
{
    static const char *const lines[] = {"",
                                        " ",
                                        "5",
                                        "{}",
                                        "{",
                                        "}",
                                        "null",
                                        "[5]",
                                        "{\"id\":5",
                                        "{\"id\":5}}",
                                        "{\"id\":5} x",
                                        "{\"id\":5,}",
                                        "{,\"id\":5}",
                                        "{\"id\":\"5\"}",
                                        "{\"id\":5.0}",
                                        "{\"id\":5e0}",
                                        "{\"id\":05}",
                                        "{\"id\":+5}",
                                        "{\"id\":- 5}",
                                        "{\"id\":}",
                                        "{\"id\" 5}",
                                        "{id:5}",
                                        "{'id':5}",
                                        "{\"id\":5,\"id\":5}",
                                        "{\"id\":5,\"verdict\":0,\"verdict\":0}",
                                        "{\"verdict\":0}",
                                        "{\"id\":5,\"other\":1}",
                                        "{\"id\":5 \"verdict\":0}",
                                        "{\"id\":9223372036854775808}",
                                        "{\"id\":5,\"verdict\":true}",
                                        "{\"id\":5}{\"id\":6}",
                                        "{\"ID\":5}",
                                        "{\"id\":5,\"verdict\":}",
                                        "\xef\xbb\xbf{\"id\":5}",
                                        "{\"id\":5}\v",
                                        "{\"id \":5}",
                                        "{\"id\":--5}",
                                        "{\"id\":-}"};
    struct answer_line said;

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        if (answer_line_read(text_from(lines[i]), &said))
            fail_msg("%s", lines[i]);
    assert_false(answer_line_read((struct text){"{\"id\":5\0}", 9}, &said));
    assert_false(answer_line_read((struct text){"{\0\"id\":5}", 9}, &said));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_read),
        cmocka_unit_test(what_is_no_answer_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
