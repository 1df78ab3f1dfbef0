/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of answers of a project's web server. */
#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/crypto.h"
#include "server/check/web_answer.h"
#include "tests/support/test.h"

#include <string.h>

static const struct text schedulers[] = {{"https://a.example/x_cgi/cgi", 27},
                                         {"https://b.example/x_cgi/cgi", 27}};

/* words NULL: nothing is said. */
static const struct {
    long status;
    const char *body, *words;
    size_t schedulers;
} pages[] = {
    {200, "<link rel=\"boinc_scheduler\" href=\"https://a.example/x_cgi/cgi\">\n", NULL, 1},
    {200, "<!-- <scheduler>https://b.example/x_cgi/cgi</scheduler> -->\n", NULL, 2},
    {200,
     "<scheduler>https://c.example/cgi</scheduler>\n<scheduler>https://a.example/x_cgi/cgi"
     "</scheduler>\n",
     NULL, 1},
    {200, "<scheduler>https://c.example/cgi</scheduler>\n", NULL, 0},
    {200, "<scheduler>https://c.example/cgi</scheduler>\n",
     "it names the scheduler https://c.example/cgi, and scheduler_url is "
     "https://a.example/x_cgi/cgi",
     2},
    {200, "<scheduler>https://b.example/x_cgi/cgi</scheduler>\n", "names the scheduler https://b",
     1},
    {200, "<html>\n<body>\x01It works!", "it names no scheduler", 1},
    {200, "<html>\n<body>\x01It works!", "begins with \"<html> <body> It works!\"", 0},
    {200, "", "it names no scheduler", 1},
    {404, "<scheduler>https://a.example/x_cgi/cgi</scheduler>\n", "HTTP status 404", 1},
};

static void what_clients_do_not_find_is_named(void **state)
{
    struct arena *arena = arena_create(1 << 20);

    (void)state;
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
        struct web_answer answer = {.status = pages[i].status, .body = text_from(pages[i].body)};
        struct text_list list = {.items = schedulers, .count = pages[i].schedulers};
        struct text words = master_page_complaint(arena, &answer, &list);

        if (pages[i].words == NULL)
            assert_int_equal(words.length, 0);
        else
            assert_true(text_contains(words, text_from(pages[i].words)));
    }
    arena_destroy(arena);
}

static void who_does_not_take_jobs_is_named(void **state)
{
    static const struct {
        long status;
        const char *body, *words;
    } answers[] = {
        {200, "<ping>\n<success>1</success>\n</ping>\n", NULL},
        {502, "<ping><success>1</success></ping>", "HTTP status 502"},
        {200, "<ping><error><error_num>-138</error_num></error></ping>",
         "begins with \"<ping><error>"},
        {200, "", "begins with \"\""},
    };
    struct arena *arena = arena_create(1 << 20);

    (void)state;
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct web_answer answer = {.status = answers[i].status,
                                    .body = text_from(answers[i].body)};
        struct text words = submission_complaint(arena, &answer);

        if (answers[i].words == NULL)
            assert_int_equal(words.length, 0);
        else
            assert_true(text_contains(words, text_from(answers[i].words)));
    }
    arena_destroy(arena);
}

static void what_is_not_the_file_is_named(void **state)
{
    static const struct {
        long status;
        const char *body, *words;
    } answers[] = {
        {200, "program\n", NULL},
        {404, "program\n", "HTTP status 404"},
        {200, "Program\n", "the content is another than in download_dir"},
        {200, "", "0 bytes came, and the file in download_dir has 8"},
        {200, "<html>\nnot found",
         "16 bytes came, and the file in download_dir has 8; what came "
         "begins with \"<html> not found\""},
    };
    struct arena *arena = arena_create(1 << 20);
    char md5[MD5_HEX_SIZE];

    (void)state;
    md5_hex(TEXT("program\n"), NO_TEXT, md5);
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct web_answer answer = {.status = answers[i].status,
                                    .body = text_from(answers[i].body)};
        struct text words = download_complaint(arena, &answer, 8, md5);

        if (answers[i].words == NULL)
            assert_int_equal(words.length, 0);
        else
            assert_true(text_contains(words, text_from(answers[i].words)));
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_clients_do_not_find_is_named),
        cmocka_unit_test(who_does_not_take_jobs_is_named),
        cmocka_unit_test(what_is_not_the_file_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
