/* SPDX-License-Identifier: Apache-2.0 */
/* Messages and delays of an answer, delays as policy, and the code-signing key. */
#include "server/base/arena.h"
#include "server/policy/host/client_keys.h"
#include "server/policy/refusal/delay.h"
#include "server/reply/answer.h"
#include "tests/support/test.h"

#include <math.h>

#include "server/base/banned.h"

static int make_arena(void **state)
{
    *state = arena_create(1 << 20);
    return *state == NULL;
}

static int drop_arena(void **state)
{
    arena_destroy(*state);
    return 0;
}

static void a_message_is_said_once_with_its_highest_priority(void **state)
{
    struct answer answer = {0};

    answer_say(*state, &answer, MESSAGE_LOW, "No work for %s", "you");
    answer_say(*state, &answer, MESSAGE_NOTICE, "No work for %s", "you");
    answer_say(*state, &answer, MESSAGE_LOW, "No work for %s", "you");
    assert_i64((int64_t)answer.message_count, 1);
    assert_int_equal(answer.messages[0].priority, MESSAGE_NOTICE);
    assert_text(answer.messages[0].text, "No work for you");
}

static void a_message_is_one_line(void **state)
{
    struct answer answer = {0};

    answer_say(*state, &answer, MESSAGE_LOW, "a\nb\r\nc\td");
    assert_text(answer.messages[0].text, "a b  c d");
}

static void messages_are_bounded_and_the_last_says_so(void **state)
{
    struct answer answer = {0};

    for (int i = 0; i < 1000; i++)
        answer_say(*state, &answer, MESSAGE_NOTICE, "message %d", i);
    assert_i64((int64_t)answer.message_count, ANSWER_MESSAGES_MAX);
    assert_text(answer.messages[ANSWER_MESSAGES_MAX - 2].text, "message 62");
    assert_true(text_contains(answer.messages[ANSWER_MESSAGES_MAX - 1].text, TEXT("more")));
}

static void a_delay_is_only_raised(void **state)
{
    struct answer answer = {0};

    (void)state;
    answer_delay(&answer, 60);
    answer_delay(&answer, 10);
    assert_real(answer.request_delay, 60, 0);
    answer_delay(&answer, (double)NAN);
    assert_real(answer.request_delay, 60, 0);
}

static void items_keep_their_order(void **state)
{
    struct text_items items = {0};

    text_items_add(*state, &items, TEXT("a"));
    text_items_add(*state, &items, TEXT("b"));
    assert_i64((int64_t)items.count, 2);
    assert_text(items.first->text, "a");
    assert_text(items.last->text, "b");
    assert_ptr_equal(items.first->next, items.last);
}

static const struct load idle;

static void every_cause_has_a_bounded_delay(void **state)
{
    (void)state;
    for (int cause = 0; cause < DELAY_CAUSE_COUNT; cause++) {
        double least = delay_for((enum delay_cause)cause, 100, &idle, 0, 1);
        assert_true(least > 0);
        for (uint64_t seed = 0; seed < 200; seed++) {
            double delay = delay_for((enum delay_cause)cause, 100, &idle, 0.25, seed);
            assert_true(delay >= least && delay <= least * 1.25);
        }
        assert_true(delay_for((enum delay_cause)cause, 1e9, &idle, 1, 7) <= 172800);
    }
}

static void jitter_spreads_hosts(void **state)
{
    double least = 1e9, most = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        double delay = delay_for(DELAY_BUSY, 0, &idle, 0.5, seed);
        least = delay < least ? delay : least;
        most = delay > most ? delay : most;
    }
    assert_true(least < 62 && most > 88);
}

static void bases_are_those_of_the_table(void **state)
{
    static const struct {
        enum delay_cause cause;
        double configured, wanted;
    } rows[] = {
        {DELAY_BAD_KEY, 5, 3600},     {DELAY_NOT_ACCEPTED, 5, 86400}, {DELAY_BUSY, 5, 60},
        {DELAY_DOWN, 1800, 1800},     {DELAY_DOWN, 0, 3600},          {DELAY_TOO_RECENT, 60, 61},
        {DELAY_TOO_RECENT, 600, 606}, {DELAY_NO_WORK, 120, 120},      {DELAY_NO_WORK, 0, 0},
        {DELAY_DEADLINE, 900, 900},   {DELAY_NO_WORK, 1, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_real(delay_for(rows[i].cause, rows[i].configured, &idle, 0, 9), rows[i].wanted,
                    1e-9);
}

static void a_reply_demands_the_interval(void **state)
{
    (void)state;
    assert_real(delay_in_reply(0, 0), 0, 0);
    assert_real(delay_in_reply(-5, 0), 0, 0);
    assert_real(delay_in_reply((double)NAN, 0), 0, 0);
    assert_real(delay_in_reply(0, 60), 61, 1e-9);
    assert_real(delay_in_reply(0, 600), 606, 1e-9);
    assert_real(delay_in_reply(1000, 600), 1000, 0);
    assert_real(delay_in_reply(1e9, 600), 172800, 0);
}

static const struct old_key old_keys[] = {
    {.key = {.at = "old one\n", .length = 8},
     .signature = {.at = "raw", .length = 3},
     .signature_stripped = {.at = "stripped", .length = 8}},
    {.key = {.at = "older", .length = 5}, .signature = {.at = "raw2", .length = 4}},
};

static void the_key_is_sent_only_when_needed(void **state)
{
    static const struct {
        const char *client;
        int64_t version;
        enum code_sign_verdict verdict;
        const char *signature;
    } rows[] = {
        {"", 80300, CODE_SIGN_SEND, ""},
        {"current", 80300, CODE_SIGN_SAME, ""},
        {" \ncurrent\n\n", 80300, CODE_SIGN_SAME, ""},
        {"old one", 80300, CODE_SIGN_SEND_SIGNED, "stripped"},
        {"old one", 70000, CODE_SIGN_SEND_SIGNED, "stripped"},
        {"old one\n", 69999, CODE_SIGN_SEND_SIGNED, "raw"},
        {"older", 61200, CODE_SIGN_SEND_SIGNED, "raw2"},
        {"older", 70200, CODE_SIGN_UNKNOWN, ""}, /* no signature that it would accept */
        {"stranger", 80300, CODE_SIGN_UNKNOWN, ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct text signature = NO_TEXT;
        assert_int_equal(code_sign_decide(text_from(rows[i].client), rows[i].version,
                                          TEXT("current\n"), old_keys, 2, &signature),
                         rows[i].verdict);
        assert_text(signature, rows[i].signature);
    }
}

static void a_project_without_a_key_sends_none(void **state)
{
    struct text signature = NO_TEXT;

    (void)state;
    assert_int_equal(code_sign_decide(TEXT("k"), 80300, NO_TEXT, NULL, 0, &signature),
                     CODE_SIGN_SAME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_message_is_said_once_with_its_highest_priority,
                                        make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(a_message_is_one_line, make_arena, drop_arena),
        cmocka_unit_test_setup_teardown(messages_are_bounded_and_the_last_says_so, make_arena,
                                        drop_arena),
        cmocka_unit_test(a_delay_is_only_raised),
        cmocka_unit_test_setup_teardown(items_keep_their_order, make_arena, drop_arena),
        cmocka_unit_test(every_cause_has_a_bounded_delay),
        cmocka_unit_test(jitter_spreads_hosts),
        cmocka_unit_test(bases_are_those_of_the_table),
        cmocka_unit_test(a_reply_demands_the_interval),
        cmocka_unit_test(the_key_is_sent_only_when_needed),
        cmocka_unit_test(a_project_without_a_key_sends_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
