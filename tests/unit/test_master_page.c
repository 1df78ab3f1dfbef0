/* SPDX-License-Identifier: Apache-2.0 */
/* Master pages, as clients read them. */
#include "server/base/buffer.h"
#include "server/base/master_page.h"
#include "server/base/random.h"
#include "server/submit/new_project.h"
#include "tests/support/test.h"
#include "tools/lab/volunteers/host/contact.h"
#include "tools/lab/volunteers/host/volunteer.h"

#include <stdlib.h>

#include "server/base/banned.h"

static struct master_page page;

/* The URLs, with a space behind each. */
static const char *read_page(const char *text)
{
    static char words[MASTER_SCHEDULERS_MAX * (MASTER_LINE_MAX + 1)];
    size_t length = 0;

    master_read(text_from(text), &page);
    words[0] = '\0';
    for (size_t i = 0; i < page.count; i++)
        length +=
            (size_t)snprintf(words + length, sizeof(words) - length, "%s ", page.schedulers[i]);
    return words;
}

static void elements_stand_anywhere_in_a_line(void **state)
{
    (void)state;
    assert_string_equal(read_page("<html><!-- <scheduler> http://a/cgi\t</scheduler> --> x\n"
                                  "<scheduler>https://b/</scheduler><scheduler>http://c/"
                                  "</scheduler>"),
                        "http://a/cgi https://b/ http://c/ ");
    assert_string_equal(read_page("<scheduler>http://a/?x=1&amp;y=&lt;2&gt;</scheduler>"),
                        "http://a/?x=1&y=<2> ");
    assert_string_equal(read_page("<scheduler>http://a/\n</scheduler>\n<scheduler>http://b/"), "");
}

static void links_are_written_in_one_way(void **state)
{
    (void)state;
    assert_string_equal(read_page("<link rel=\"boinc_scheduler\" href=\"http://a/\">\n"
                                  "<p><link rel=\"boinc_scheduler\" href=\"http://b/ c\" />"),
                        "http://a/ http://b/ ");
    assert_string_equal(read_page(" <link rel=\"boinc_scheduler\" href=\"http://a/\">\n"
                                  "<link href=\"http://b/\" rel=\"boinc_scheduler\">\n"
                                  "<link rel='boinc_scheduler' href='http://c/'>\n"
                                  "<link rel=\"boinc_scheduler\" href=\"http://d/"),
                        "");
}

static void each_scheduler_is_named_once(void **state)
{
    (void)state;
    assert_string_equal(read_page("<link rel=\"boinc_scheduler\" href=\"http://a/\">\n"
                                  "<scheduler>http://b/</scheduler>\n"
                                  "<scheduler>http://a/</scheduler>\n"),
                        "http://a/ http://b/ ");
}

static void what_is_no_url_is_left_out(void **state)
{
    (void)state;
    assert_string_equal(read_page("<scheduler></scheduler><scheduler>a/cgi</scheduler>"
                                  "<scheduler>file:///etc/passwd</scheduler>"
                                  "<scheduler>http://a/\x1b[2J</scheduler>"
                                  "<scheduler>http://a/ b</scheduler>"
                                  "<scheduler>http://c/\xc3\xa4</scheduler>"),
                        "http://c/\xc3\xa4 ");
}

/* Pieces of 255 bytes, wherever they end. */
static void long_lines_are_cut(void **state)
{
    (void)state;
    struct text url = TEXT("<scheduler>http://a/cgi</scheduler>\n");
    size_t seen = 0;

    for (size_t before = 200; before < 300; before++) {
        struct buffer buffer = buffer_on_heap(0);

        for (size_t i = 0; i < before; i++)
            buffer_add_char(&buffer, 'x');
        buffer_add(&buffer, url);
        master_read(buffer_text(&buffer), &page);
        buffer_free(&buffer);
        assert_int_equal(page.count, before + url.length - 1 <= 255 || before >= 255);
        seen += page.count;
    }
    assert_true(seen > 0 && seen < 100);
}

static void a_page_has_its_bounds(void **state)
{
    (void)state;
    struct buffer buffer = buffer_on_heap(0);

    for (int i = 0; i < 100; i++)
        buffer_print(&buffer, "<scheduler>http://a/%d</scheduler>\n", i);
    master_read(buffer_text(&buffer), &page);
    buffer_free(&buffer);
    assert_int_equal(page.count, MASTER_SCHEDULERS_MAX);
    assert_string_equal(page.schedulers[MASTER_SCHEDULERS_MAX - 1], "http://a/15");
    assert_true((int)MASTER_SCHEDULERS_MAX <= (int)CONTACT_SCHEDULERS_MAX);
    for (size_t i = 0; i < MASTER_PAGE_MAX; i++)
        buffer_add_char(&buffer, '\n');
    buffer_add_string(&buffer, "<scheduler>http://a/</scheduler>\n");
    master_read(buffer_text(&buffer), &page);
    buffer_free(&buffer);
    assert_int_equal(page.count, 0);
}

static void what_a_project_writes_is_read(void **state)
{
    (void)state;
    static const struct text urls[] = {{"http://b/cgi", 12}, {"https://a/cgi", 13}};
    struct buffer buffer = buffer_on_heap(0);

    assert_status(STATUS_OK, project_write_master_page(TEXT("A & B"), urls, 2, &buffer, NULL));
    master_read(buffer_text(&buffer), &page);
    buffer_free(&buffer);
    assert_int_equal(page.count, 2);
    assert_string_equal(page.schedulers[0], "http://b/cgi");
    assert_string_equal(page.schedulers[1], "https://a/cgi");
}

/* Pages put together by chance, each in memory of its own length. */
static void no_page_is_read_beyond_its_end(void **state)
{
    (void)state;
    static const char *const parts[] = {"<scheduler>",
                                        "</scheduler>",
                                        "http://",
                                        "a",
                                        " ",
                                        "\n",
                                        "<link rel=\"boinc_scheduler\" href=\"",
                                        "\"",
                                        ">",
                                        "&amp;",
                                        "&",
                                        "<",
                                        "\xff",
                                        "https://bbbbbbbbbbbbbbbbbbbbbbbbbbbbb"};
    struct random random = {.state = 11};
    size_t found = 0;

    for (int run = 0; run < 5000; run++) {
        struct buffer buffer = buffer_on_heap(0);
        size_t length;
        char *copy;

        for (uint64_t left = random_next(&random) % 40; left > 0; left--)
            buffer_add_string(&buffer, parts[random_next(&random) % 14]);
        length = buffer.length;
        copy = malloc(length + (length == 0));
        assert_non_null(copy);
        memcpy(copy, length > 0 ? buffer.at : "", length);
        master_read((struct text){copy, length}, &page);
        found += page.count;
        free(copy);
        buffer_free(&buffer);
    }
    assert_true(found > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_stand_anywhere_in_a_line),
        cmocka_unit_test(links_are_written_in_one_way),
        cmocka_unit_test(each_scheduler_is_named_once),
        cmocka_unit_test(what_is_no_url_is_left_out),
        cmocka_unit_test(long_lines_are_cut),
        cmocka_unit_test(a_page_has_its_bounds),
        cmocka_unit_test(what_a_project_writes_is_read),
        cmocka_unit_test(no_page_is_read_beyond_its_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
