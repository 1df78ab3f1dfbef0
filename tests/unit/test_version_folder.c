/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of versions: which files they have, and what version.xml says of them. */
#include "tests/support/folder.h"
#include "tests/support/test.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/file.h"
#include "server/submit/version_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

static struct arena *arena;
static char dir[64];
static struct buffer advice;
static struct failure failure;

static int setup(void **state)
{
    (void)state;
    (void)snprintf(dir, sizeof dir, "/tmp/qm-folder-XXXXXX");
    if (mkdtemp(dir) == NULL)
        return -1;
    arena = arena_create((size_t)16 << 20);
    advice = buffer_in(arena);
    failure = (struct failure){.status = STATUS_OK};
    return arena == NULL;
}

static int teardown(void **state)
{
    (void)state;
    (void)test_folder_remove(dir);
    arena_destroy(arena);
    return 0;
}

static void put(const char *name, struct text content)
{
    const char *path = text_string(arena, text_print(arena, "%s/%s", dir, name));

    assert_status(STATUS_OK, file_write(path, content, 0644, NULL));
}

static enum status look(struct version_folder *folder)
{
    return version_folder_read(arena, dir, folder, &advice, &failure);
}

static void one_file_is_the_main_program(void **state)
{
    struct version_folder folder;

    (void)state;
    put("prog", TEXT("x"));
    put("prog.sig", TEXT("0123\n.\n"));
    put(".hidden", TEXT("x"));
    assert_status(STATUS_OK, look(&folder));
    assert_int_equal(folder.count, 1);
    assert_true(folder.files[0].is_main);
    assert_text(folder.files[0].name, "prog");
    assert_text(folder.files[0].signature, "0123\n.\n");
    assert_int_equal(folder.api_version.length, 0);
}

static void of_several_files_one_has_to_be_named(void **state)
{
    struct version_folder folder;

    (void)state;
    assert_status(STATUS_NOT_FOUND, look(&folder));
    failure.status = STATUS_OK;
    put("a", TEXT("x"));
    put("b", TEXT("x"));
    assert_status(STATUS_INVALID, look(&folder));
    assert_non_null(strstr(failure.text, "2 files, of which none is the main program"));
    failure.status = STATUS_OK;
    put("version.xml", TEXT("<file><physical_name>a</physical_name><main_program/></file>"
                            "<file><physical_name>b</physical_name><main_program>1</main_program>"
                            "</file>"));
    assert_status(STATUS_INVALID, look(&folder));
    assert_non_null(strstr(failure.text, "more than one"));
    put("version.xml", TEXT("<file><physical_name>a</physical_name><main_program>0</main_program>"
                            "</file><file><physical_name>b</physical_name><main_program/></file>"));
    assert_status(STATUS_OK, look(&folder));
    assert_false(folder.files[0].is_main);
    assert_true(folder.files[1].is_main);
}

/* Everything that version.xml can say, whatever its root is called. */
static void version_xml_says_what_files_are(void **state)
{
    struct version_folder folder;

    (void)state;
    put("prog", TEXT("...API_VERSION_8.2.0\1..."));
    put("lib", TEXT("x"));
    put("version.xml",
        TEXT("<any_root>\n<file>\n<physical_name>prog</physical_name><main_program/>\n</file>\n"
             "<file><physical_name>lib</physical_name><logical_name>lib.so</logical_name>"
             "<url>http://a.org/lib</url><url>https://b.org/lib</url><copy_file/><gzip/></file>\n"
             "<dont_throttle/><needs_network/><is_wrapper/><beta/>"
             "<file_prefix>in</file_prefix></any_root>"));
    assert_status(STATUS_OK, look(&folder));
    assert_int_equal(folder.count, 2);
    assert_text(folder.files[0].open_name, "lib.so");
    assert_int_equal(folder.files[0].url_count, 2);
    assert_text(folder.files[0].urls[1], "https://b.org/lib");
    assert_true(folder.files[0].copy_file && folder.files[0].gzip);
    assert_true(folder.dont_throttle && folder.needs_network && folder.is_wrapper && folder.beta);
    assert_text(folder.file_prefix, "in");
    assert_text(folder.api_version, "8.2.0");
    assert_int_equal(advice.length, 0);
    put("version.xml", TEXT("<v><file><physical_name>prog</physical_name><main_program/></file>"
                            "<api_version>7.1</api_version></v>"));
    assert_status(STATUS_OK, look(&folder));
    assert_text(folder.api_version, "7.1");
}

static void what_is_not_known_is_said(void **state)
{
    struct version_folder folder;

    (void)state;
    put("prog", TEXT("x"));
    put("version.xml", TEXT("<version>\n<file><physical_name>prog</physical_name>\n"
                            "<main_programm/></file>\n<colour>red</colour></version>"));
    assert_status(STATUS_OK, look(&folder));
    assert_true(text_contains(buffer_text(&advice), TEXT("version.xml:3: <main_programm> has no "
                                                         "effect here; did you mean "
                                                         "<main_program>?\n")));
    assert_true(
        text_contains(buffer_text(&advice), TEXT("version.xml:4: <colour> has no effect here\n")));
}

static void what_cannot_be_is_refused(void **state)
{
    static const struct {
        const char *xml, *said;
    } cases[] = {
        {"<file><main_program/></file>", "version.xml:1: <file>: needs a <physical_name>"},
        {"<file><physical_name>gone</physical_name></file>", "there is no file gone"},
        {"<file><physical_name>../prog</physical_name></file>", "there is no file ../prog"},
        {"<file><physical_name>/etc/passwd</physical_name></file>", "there is no file /etc"},
        {"<file><physical_name>prog</physical_name><gzip>x</gzip></file>", "<gzip>"},
        {"<file><physical_name>prog</physical_name><url>ftp//x</url></file>", "the URL"},
        {"<file><physical_name>prog</physical_name><logical_name>a/../b</logical_name></file>",
         "<logical_name>"},
        {"<beta>perhaps</beta>", "<beta>"},
        {"<file>", "version.xml:1:"},
    };
    struct version_folder folder;

    (void)state;
    put("prog", TEXT("x"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        failure.status = STATUS_OK;
        put("version.xml", text_from(cases[i].xml));
        assert_status(STATUS_INVALID, look(&folder));
        if (strstr(failure.text, cases[i].said) == NULL)
            fail_msg("%s: %s", cases[i].xml, failure.text);
    }
}

static const char *place(const char *name)
{
    return text_string(arena, text_print(arena, "%s/%s", dir, name));
}

/* What is copied is public. */
static void no_link_leads_out(void **state)
{
    static const char *const links[][2] = {
        {"/etc/passwd", "data"}, {"/etc/passwd", "prog.sig"}, {"/etc", "lib"}};
    struct version_folder version;

    (void)state;
    put("prog", TEXT("x"));
    assert_int_equal(symlink("prog", place("other")), 0);
    put("version.xml", TEXT("<file><physical_name>prog</physical_name><main_program/></file>"));
    assert_status(STATUS_OK, look(&version));
    assert_int_equal(version.count, 2);
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        assert_int_equal(symlink(links[i][0], place(links[i][1])), 0);
        if (i == 2)
            put("version.xml", TEXT("<file><physical_name>lib/passwd</physical_name></file>"));
        failure.status = STATUS_OK;
        assert_status(STATUS_INVALID, look(&version));
        assert_non_null(strstr(failure.text, "is a link that leads out of the folder"));
        assert_int_equal(unlink(place(links[i][1])), 0);
    }
}

/* The words may lie across the pieces that are read; a number may end one. */
static void the_api_version_is_found_anywhere(void **state)
{
    enum { SIZE = 70000 };
    static char bytes[SIZE];
    const char mark[] = "API_VERSION_8.3.0";
    struct version_folder folder;

    (void)state;
    for (size_t at = 65536 - sizeof mark; at <= 65536 + 2; at++) {
        memset(bytes, 'x', sizeof bytes);
        memcpy(bytes + at, mark, sizeof mark - 1);
        put("prog", (struct text){bytes, sizeof bytes});
        assert_status(STATUS_OK, look(&folder));
        assert_text(folder.api_version, "8.3.0");
        arena_reset(arena);
        advice = buffer_in(arena);
    }
    memcpy(bytes + SIZE - (sizeof mark - 1), mark, sizeof mark - 1);
    memset(bytes, 'x', SIZE - (sizeof mark - 1));
    put("prog", (struct text){bytes, sizeof bytes});
    assert_status(STATUS_OK, look(&folder));
    assert_text(folder.api_version, "8.3.0");
}

static void names_of_folders(void **state)
{
    struct text platform, plan_class;

    (void)state;
    version_folder_name(TEXT("x86_64-pc-linux-gnu__mt_2"), &platform, &plan_class);
    assert_text(platform, "x86_64-pc-linux-gnu");
    assert_text(plan_class, "mt_2");
    version_folder_name(TEXT("windows_x86_64"), &platform, &plan_class);
    assert_text(platform, "windows_x86_64");
    assert_int_equal(plan_class.length, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(one_file_is_the_main_program),      CASE(of_several_files_one_has_to_be_named),
        CASE(version_xml_says_what_files_are),   CASE(what_is_not_known_is_said),
        CASE(what_cannot_be_is_refused),         CASE(no_link_leads_out),
        CASE(the_api_version_is_found_anywhere), CASE(names_of_folders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
