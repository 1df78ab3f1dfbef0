/* SPDX-License-Identifier: Apache-2.0 */
/* server/adoption: what config.xml and the pages of a BOINC project say. */
#include "config/config.h"
#include "server/adoption/adoption_parts.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/file.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { PLENTY = 8 * 1024 * 1024 };

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

static void a_program_is_known_by_its_name_alone(void **state)
{
    static const struct {
        const char *command, *name;
    } rows[] = {
        {"feeder -d 3", "feeder"},
        {"./bin/feeder", "feeder"},
        {"  nice -n 5 ../bin/transitioner -d 3", "transitioner"},
        {"run_in_ops ./update_profile_pages.php", "update_profile_pages.php"},
        {"LANG=C php /x/y/badge_assign.php --x", "badge_assign.php"},
        {"env A=b bash work.sh feeder", "work.sh"},
        {"python2.7 /home/x/assimilator.py -d 3 -app y", "assimilator.py"},
        {"taskset -c 0 /usr/bin/php8.2 ./notify.php", "notify.php"},
        {"stdbuf -oL feeder -d 3", "feeder"},
        {"pythonic2 feeder", "pythonic2"},
        {"nice", "nice"}, /* nothing behind it */
        {"-d 3", ""},
        {"", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_text(adoption_program_name(text_from(rows[i].command)), rows[i].name);
}

static void what_must_stop_and_what_may_go_on(void **state)
{
    static const struct {
        const char *name;
        enum adoption_fate fate;
    } rows[] = {
        {"feeder", FATE_STOPS},
        {"feeder_user", FATE_STOPS},
        {"cgi", FATE_STOPS},
        {"fcgi", FATE_STOPS},
        {"transitioner", FATE_STAYS},
        {"sample_trivial_validator", FATE_STAYS},
        {"astro_assimilator.py", FATE_STAYS},
        {"fcgi_file_upload_handler", FATE_STAYS},
        {"size_census.php", FATE_STAYS},
        {"batch_accel.php", FATE_STAYS},
        {"census", FATE_IDLE},
        {"delete_job_files", FATE_IDLE},
        {"my_feeder", FATE_COUNT},
        {"", FATE_COUNT},
    };
    const char *why;
    char long_name[1000];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(adoption_fate_of(text_from(rows[i].name), &why), rows[i].fate);
        assert_int_equal(why[0] == '\0', rows[i].fate == FATE_COUNT);
    }
    memset(long_name, 'f', sizeof(long_name));
    assert_int_equal(adoption_fate_of((struct text){long_name, sizeof(long_name)}, &why),
                     FATE_COUNT);
}

static void what_the_feeder_was_told_is_told_of(void **state)
{
    static const char *const told[] = {"-mod", "--wmod", "-appids", "--random_order", "--allapps"};
    static const char *const the_same[] = {"--priority_order",
                                           "--priority_order_create_time",
                                           "--batch_accel",
                                           "-d",
                                           "3",
                                           "--model",
                                           "--",
                                           ""};

    (void)state;
    for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
        if (adoption_feeder_option(text_from(told[i])) == NULL)
            fail_msg("nothing is said of %s", told[i]);
    for (size_t i = 0; i < sizeof(the_same) / sizeof(the_same[0]); i++)
        if (adoption_feeder_option(text_from(the_same[i])) != NULL)
            fail_msg("something is said of %s", the_same[i]);
}

static void config_is_read_as_the_start_script_does(void **state)
{
    static const char document[] =
        "<boinc>\n<config>\n<long_name>Old & good</long_name>\n<shmem_key> 7 </shmem_key>\n"
        "</config>\n<tasks>\n<task>\n<cmd>db_dump -d 2</cmd>\n<disabled>1</disabled>\n</task>\n"
        "<task>\n<output>x</output></task>\n</tasks>\n<daemons>\n"
        "<daemon><cmd>a &amp; b</cmd><disabled>0.0</disabled></daemon>\n"
        "<daemon><disabled/><cmd>feeder</cmd></daemon>\n</daemons>\n</boinc>\n";
    struct adoption_set set;

    assert_status(STATUS_OK, adoption_set_read(*state, text_from(document), &set, NULL));
    assert_int_equal(set.element_count, 2);
    assert_text(set.elements[0].name, "long_name");
    assert_text(set.elements[1].value, "7");
    assert_int_equal(set.elements[1].line, 4);
    assert_int_equal(set.program_count, 3); /* one task starts nothing */
    assert_text(set.programs[0].name, "db_dump");
    assert_true(set.programs[0].is_task && set.programs[0].is_disabled);
    assert_text(set.programs[1].command, "a & b");
    assert_false(set.programs[1].is_task || set.programs[1].is_disabled);
    assert_text(set.programs[2].name, "feeder");
    assert_true(set.programs[2].is_disabled);
    assert_int_equal(set.programs[2].line, 16);
}

/* The longest list, and one more. */
static void a_list_without_end_is_refused(void **state)
{
    for (int more = 0; more < 2; more++) {
        struct buffer document = buffer_in(*state);
        struct adoption_set set;

        buffer_add_string(&document, "<boinc><daemons>");
        for (int i = 0; i < ADOPTION_PROGRAMS_MAX + more; i++)
            buffer_print(&document, "<daemon><cmd>x%d</cmd></daemon>", i);
        buffer_add_string(&document, "</daemons></boinc>");
        assert_status(more ? STATUS_TOO_LARGE : STATUS_OK,
                      adoption_set_read(*state, buffer_text(&document), &set, NULL));
        assert_int_equal(set.program_count, ADOPTION_PROGRAMS_MAX);
    }
}

static void an_option_is_added_at_the_end_of_config(void **state)
{
    static const struct {
        const char *before, *after; /* NULL: no place */
    } rows[] = {
        {"<boinc>\n  <config>\n    <a/>\n  </config>\n</boinc>\n",
         "<boinc>\n  <config>\n    <a/>\n        <o>1&amp;2</o>\n  </config>\n</boinc>\n"},
        {"<boinc><config></config></boinc>",
         "<boinc><config>\n        <o>1&amp;2</o>\n</config></boinc>"},
        {"<!-- </config> -->\n<config>\n</config>",
         "<!-- </config> -->\n<config>\n        <o>1&amp;2</o>\n</config>"},
        {"<config>\n\t</config>", "<config>\n        <o>1&amp;2</o>\n\t</config>"},
        {"  </config>", "  \n        <o>1&amp;2</o>\n</config>"},
        {"<!-- </config>", NULL},
        {"<config>", NULL},
        {"", NULL},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct text text = adoption_document_with(*state, text_from(rows[i].before), "o", "1&2");

        assert_text(text, rows[i].after == NULL ? "" : rows[i].after);
    }
}

static void config_keeps_its_mode_and_stays_a_link(void **state)
{
    char dir[] = "/tmp/qm-adoption.XXXXXX", link_path[64], path[64];
    struct failure failure = {.status = STATUS_OK};
    struct text text;
    struct stat info;

    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof(path), "%s/real.xml", dir);
    (void)snprintf(link_path, sizeof(link_path), "%s/config.xml", dir);
    assert_status(STATUS_OK,
                  file_write(path, TEXT("<boinc>\n<config>\n</config>\n</boinc>\n"), 0640, NULL));
    assert_int_equal(symlink("real.xml", link_path), 0);
    for (int twice = 0; twice < 2; twice++)
        assert_status(STATUS_OK, adoption_add_option(dir, *state, "o", "1", NULL));
    assert_status(STATUS_OK, file_read(*state, path, 1000, &text, NULL));
    assert_text(text, "<boinc>\n<config>\n        <o>1</o>\n</config>\n</boinc>\n");
    assert_int_equal(lstat(link_path, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
    assert_status(STATUS_OK, file_write(path, TEXT("<config>"), 0640, NULL));
    assert_status(STATUS_INVALID, adoption_add_option(dir, *state, "o", "1", &failure));
    assert_non_null(strstr(failure.text, "</config>"));
    assert_int_equal(unlink(path) | unlink(link_path) | rmdir(dir), 0);
}

static void schedulers_are_found_as_clients_find_them(void **state)
{
    static const struct {
        const char *page;
        size_t count;
        const char *first;
    } rows[] = {
        {"<!-- <scheduler>http://x/y_cgi/cgi</scheduler> -->", 1, "http://x/y_cgi/cgi"},
        {"<scheduler> https://x/cgi </scheduler>\n<scheduler>https://x/cgi</scheduler>", 1,
         "https://x/cgi"},
        {"<link rel=\"boinc_scheduler\" href=\"http://a/b\">", 1, "http://a/b"},
        {"<link rel=\"boinc_scheduler\" href=\"http://a/b\"><scheduler>http://a/c</scheduler>", 2,
         "http://a/c"},
        {"echo \"<scheduler>$url</scheduler>\";", 0, NULL},
        {"<scheduler>http://$host/cgi</scheduler>", 0, NULL},
        {"<scheduler>http://a/b", 1, "http://a/b"}, /* cut off: clients read lines */
        {"<scheduler>", 0, NULL},
        {"", 0, NULL},
    };
    struct buffer many = buffer_in(*state);
    struct text found[ADOPTION_SCHEDULERS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        count = 0;
        adoption_page_read(text_from(rows[i].page), found, &count);
        assert_int_equal(count, rows[i].count);
        if (count > 0)
            assert_text(found[0], rows[i].first);
    }
    for (int i = 0; i < 2 * ADOPTION_SCHEDULERS_MAX; i++)
        buffer_print(&many, "<scheduler>http://x/%d</scheduler>", i);
    count = 0;
    adoption_page_read(buffer_text(&many), found, &count);
    assert_int_equal(count, ADOPTION_SCHEDULERS_MAX);
}

static void doubled_slashes_are_seen(void **state)
{
    (void)state;
    assert_false(adoption_has_doubled_slash(TEXT("http://x/y/")));
    assert_true(adoption_has_doubled_slash(TEXT("http://x//y/")));
    assert_true(adoption_has_doubled_slash(TEXT("https://x/y//")));
    assert_false(adoption_has_doubled_slash(TEXT("//x//y")));
    assert_false(adoption_has_doubled_slash(TEXT("")));
}

/* What is told of as passed over is passed over by the loader without a word, and nothing else. */
static void options_of_boinc_are_known_to_the_loader(void **state)
{
    static const char *const others[] = {
#define PROGRAM(name, use) name,
#define OTHER(name, use)   name,
#include "config/other_options.def"
#undef OTHER
#undef PROGRAM
    };
    static const char *const told[] = {
#define FOREIGN(pattern, why) pattern,
#include "server/adoption/adoption_options.def"
#undef FOREIGN
    };

    (void)state;
    for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
        bool is_known = false;

        for (size_t j = 0; j < sizeof(others) / sizeof(others[0]); j++)
            is_known = is_known || strcmp(others[j], told[i]) == 0;
        if (!is_known)
            fail_msg("%s is not in config/other_options.def", told[i]);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_is_known_by_its_name_alone),
        cmocka_unit_test(what_must_stop_and_what_may_go_on),
        cmocka_unit_test(what_the_feeder_was_told_is_told_of),
        cmocka_unit_test(config_is_read_as_the_start_script_does),
        cmocka_unit_test(a_list_without_end_is_refused),
        cmocka_unit_test(an_option_is_added_at_the_end_of_config),
        cmocka_unit_test(config_keeps_its_mode_and_stays_a_link),
        cmocka_unit_test(schedulers_are_found_as_clients_find_them),
        cmocka_unit_test(doubled_slashes_are_seen),
        cmocka_unit_test(options_of_boinc_are_known_to_the_loader),
    };

    return cmocka_run_group_tests(tests, make_arena, destroy_arena);
}
