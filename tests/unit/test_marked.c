/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences that Managers translate: they are those of the catalogue, and no text makes a mark
 * that it should not. */
#include "server/base/marked.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/crypto.h"
#include "server/base/file.h"
#include "server/base/random.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The keys of the catalogue, by which each is known: one byte more or less, and nothing is
 * translated. */
static const struct {
    const char *text;
    size_t length;
    const char *md5; /* begins with it */
} keys[] = {
    {SAYS_KEY_WRONG, 69, "769ec634"},       {SAYS_KEY_CHANGED, 78, "137cec30"},
    {SAYS_NOT_FOR_SYSTEM, 45, "700b60e5"},  {SAYS_NOT_FOR_CPU, 37, "442dc903"},
    {SAYS_CLIENT_TOO_OLD, 75, "cb275e74"},  {SAYS_NOT_FOR_TYPE, 46, "6859bbd6"},
    {SAYS_DRIVER_FOR_GPU, 71, "5da4dfe8"},  {SAYS_DRIVER_FOR_APPS, 74, "786d0a27"},
    {SAYS_CLIENT_FOR_CUDA, 96, "1900e507"}, {SAYS_NOT_SELECTED, 62, "295c0c5a"},
    {SAYS_TYPE_UNKNOWN, 51, "6886bc98"},    {SAYS_NEWER_CLIENT, 60, "89da31bb"},
    {SAYS_OWN_VERSIONS, 55, "2c5771c5"},
};
enum { KEYS = sizeof keys / sizeof *keys };

static void each_is_a_key_of_the_catalogue(void **state)
{
    char hex[MD5_HEX_SIZE];

    (void)state;
    for (size_t i = 0; i < KEYS; i++) {
        assert_int_equal(strlen(keys[i].text), keys[i].length);
        md5_hex(text_from(keys[i].text), NO_TEXT, hex);
        assert_memory_equal(hex, keys[i].md5, strlen(keys[i].md5));
    }
}

/* Where a Manager's catalogue is installed, each stands there between two zero bytes. */
static void an_installed_catalogue_has_them(void **state)
{
    static const char path[] = "/usr/share/locale/de/LC_MESSAGES/BOINC-Client.mo";
    struct arena *arena = arena_create(1 << 22);
    struct failure failure;
    struct text catalogue;

    (void)state;
    if (access(path, R_OK) != 0) {
        arena_destroy(arena);
        skip();
    }
    assert_status(STATUS_OK, file_read(arena, path, 1 << 20, &catalogue, &failure));
    for (size_t i = 0; i < KEYS; i++) {
        struct text key = text_print(arena, "%c%s%c", '\0', keys[i].text, '\0');

        assert_true(text_find(catalogue, key) < catalogue.length);
    }
    arena_destroy(arena);
}

static void assert_written(const char *text, const char *expected)
{
    struct buffer buffer = buffer_on_heap(0);

    marked_write(text_from(text), &buffer);
    assert_text(buffer_text(&buffer), expected);
    buffer_free(&buffer);
}

static void marks_are_written_in_pairs_or_not_at_all(void **state)
{
    (void)state;
    assert_written(MARKED("Too old.") " Yours is 6", "_(\"Too old.\") Yours is 6");
    assert_written(MARKED("a") MARKED("b"), "_(\"a\")_(\"b\")");
    assert_written(MARK_BEGIN "cut", "cut");
    assert_written("rest" MARK_END, "rest");
    assert_written(MARK_END "turned" MARK_BEGIN, "turned");
    assert_written(MARK_BEGIN MARK_BEGIN "twice" MARK_END MARK_END, "twice");
    assert_written("a <name> & \"more\"", "a &lt;name&gt; &amp; \"more\"");
    assert_written("a name _(\"x\") of an app", "a name _('x') of an app");
    assert_written("App (\"x\")", "App (\"x')");
    assert_written("\"", "\"");
}

static size_t count(struct text text, struct text part)
{
    size_t found = 0, at;

    while ((at = text_find(text, part)) < text.length) {
        found++;
        text.at += at + part.length;
        text.length -= at + part.length;
    }
    return found;
}

/* Whatever a text is made of, a Manager finds as many ends as begins, an end behind each. */
static void no_text_makes_a_manager_wait(void **state)
{
    static const char *const pieces[] = {"_", "(", "\"", ")", "x", MARK_BEGIN, MARK_END, "_(\""};
    struct random random = {.state = 7};

    (void)state;
    for (int turn = 0; turn < 20000; turn++) {
        struct buffer text = buffer_on_heap(0), written = buffer_on_heap(0);
        struct text rest;

        for (size_t i = random_next(&random) % 12; i > 0; i--)
            buffer_add_string(&text, pieces[random_next(&random) % 8]);
        marked_write(buffer_text(&text), &written);
        rest = buffer_text(&written);
        assert_int_equal(count(rest, TEXT("_(\"")), count(rest, TEXT("\")")));
        for (size_t at; (at = text_find(rest, TEXT("_(\""))) < rest.length;) {
            assert_true(text_find(text_first(rest, at), TEXT("\")")) >= at);
            rest.at += at + 3;
            rest.length -= at + 3;
            at = text_find(rest, TEXT("\")"));
            assert_true(at < rest.length);
            rest.at += at + 2;
            rest.length -= at + 2;
        }
        buffer_free(&text);
        buffer_free(&written);
    }
}

static void people_read_no_marks(void **state)
{
    struct arena *arena = arena_create(1 << 16);
    struct text plain = TEXT("plain");

    (void)state;
    assert_text(marked_plain(arena, text_from(MARKED("Too old.") " 6")), "Too old. 6");
    assert_ptr_equal(marked_plain(arena, plain).at, plain.at);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_a_key_of_the_catalogue),
        cmocka_unit_test(an_installed_catalogue_has_them),
        cmocka_unit_test(marks_are_written_in_pairs_or_not_at_all),
        cmocka_unit_test(no_text_makes_a_manager_wait),
        cmocka_unit_test(people_read_no_marks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
