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

static void members_are_read_by_kind(void **state)
{
    struct json_object object;
    struct json_object item;
    struct json_member member;

    (void)state;
    assert_int_equal(
        json_read(
            TEXT(" {\"a\":\"x\\u00fc\\/\", \"b\":-5,\"c\":1.0,\"d\":[1,{\"f\":2}],\"e\":null}\n"),
            &object, NULL),
        STATUS_OK);
    member = json_member(&object, "a");
    assert_int_equal(member.kind, JSON_KIND_TEXT);
    assert_text(member.text, "x\xc3\xbc/");
    member = json_member(&object, "b");
    assert_int_equal(member.kind, JSON_KIND_WHOLE);
    assert_i64(member.whole, -5);
    assert_int_equal(json_member(&object, "c").kind, JSON_KIND_OTHER);
    assert_int_equal(json_member(&object, "d").kind, JSON_KIND_OTHER);
    assert_int_equal(json_member(&object, "e").kind, JSON_KIND_OTHER);
    assert_int_equal(json_member(&object, "f").kind, JSON_KIND_ABSENT);
    assert_int_equal(json_member_count(&object), 5);
    assert_int_equal(json_item_count(&object, "d"), 2);
    assert_int_equal(json_item_count(&object, "a") + json_item_count(&object, "f"), 0);
    assert_false(json_item(&object, "d", 0, &item) || json_item(&object, "d", 2, &item));
    assert_true(json_item(&object, "d", 1, &item));
    assert_i64(json_member(&item, "f").whole, 2);
    json_object_free(&object);
}

static void what_is_not_strict_is_refused(void **state)
{
    static const char *const documents[] = {"",
                                            "[]",
                                            "5",
                                            "{",
                                            "{}x",
                                            "{\"a\":1,\"a\":1}",
                                            "{\"a\":\"x\\u0000y\"}",
                                            "{\"a\":\"\xfc\"}",
                                            "{\"a\":\"\xed\xa0\x80\"}",
                                            "{\"a\":\"\\ud800\"}",
                                            "{\"a\":NaN}",
                                            "{\"a\":Infinity}",
                                            "{\"a\":1e999}",
                                            "{\"a\":9223372036854775808}",
                                            "{\"a\":\"x\ny\"}",
                                            "{\"a\":1,}",
                                            "{\"a\":1}//",
                                            "{'a':1}",
                                            "\xef\xbb\xbf{}"};

    (void)state;
    for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
        struct json_object object;
        struct failure failure = {0};

        if (json_read(text_from(documents[i]), &object, &failure) != STATUS_INVALID)
            fail_msg("%s", documents[i]);
        assert_true(failure.text[0] != '\0');
    }
    for (size_t at = 0; at < 8; at++) { /* a NUL byte, wherever it stands */
        char bytes[] = "{\"a\":55}";
        struct json_object object;

        bytes[at] = '\0';
        assert_int_equal(json_read((struct text){bytes, 8}, &object, NULL), STATUS_INVALID);
        assert_int_equal(json_read((struct text){"{}\0", 3}, &object, NULL), STATUS_INVALID);
    }
}

/* `count` times the piece, in an array. */
static struct text many(struct arena *arena, const char *piece, size_t count)
{
    struct buffer buffer = buffer_in(arena);

    buffer_add_string(&buffer, "{\"a\":[0");
    for (size_t i = 0; i < count; i++)
        buffer_add_string(&buffer, piece);
    buffer_add_string(&buffer, "]}");
    return buffer_text(&buffer);
}

/* Depth is bounded by the library, length and memory by us; afterwards all is as before. */
static void documents_are_bounded(void **state)
{
    struct arena *arena = arena_create((size_t)16 << 20);
    struct failure failure = {0};
    struct json_object object;

    (void)state;
    assert_int_equal(json_read(many(arena, ",{}", 340000), &object, &failure), STATUS_TOO_LARGE);
    assert_int_equal(json_read(many(arena, ",0", 600000), &object, NULL), STATUS_TOO_LARGE);
    assert_int_equal(json_read(many(arena, ",[", 2100), &object, NULL), STATUS_INVALID);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(json_read(many(arena, ",0", 30000), &object, NULL), STATUS_OK);
        json_object_free(&object);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_escaped), cmocka_unit_test(members_are_read_by_kind),
        cmocka_unit_test(what_is_not_strict_is_refused), cmocka_unit_test(documents_are_bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
