/* SPDX-License-Identifier: Apache-2.0 */
/* Walks db/states.def. */
#include "db/states.h"
#include "tests/support/test.h"

#include "server/base/banned.h"

static const struct {
    const char *group, *name, *word;
    int64_t number;
} states[] = {
#define STATE(group, name, number, word) {#group, #name, word, number},
#include "db/states.def"
#undef STATE
};
enum { COUNT = sizeof(states) / sizeof(states[0]) };

static void groups_are_sorted_and_numbers_ascend(void **state)
{
    (void)state;
    for (size_t i = 1; i < COUNT; i++) {
        int order = strcmp(states[i - 1].group, states[i].group);
        if (order > 0 || (order == 0 && states[i - 1].number >= states[i].number))
            fail_msg("states.def: %s_%s is not in its place", states[i].group, states[i].name);
    }
}

static void every_state_has_its_word(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(states[i].word[0] != '\0');
        assert_string_equal(state_word(states[i].group, states[i].number), states[i].word);
    }
    assert_string_equal(state_word("RESULT", 4), "in progress");
    assert_string_equal(state_word("RESULT", RESULT_OVER), "over");
}

static void anything_else_is_unknown(void **state)
{
    (void)state;
    assert_string_equal(state_word("RESULT", 3), "unknown");
    assert_string_equal(state_word("RESULT", -1), "unknown");
    assert_string_equal(state_word("RESULT", INT64_MAX), "unknown");
    assert_string_equal(state_word("NO_SUCH_GROUP", 0), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_sorted_and_numbers_ascend),
        cmocka_unit_test(every_state_has_its_word),
        cmocka_unit_test(anything_else_is_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
