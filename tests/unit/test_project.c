/* SPDX-License-Identifier: Apache-2.0 */
/* The project's files as they lie in its folder: keys in a row, signatures, blocks for replies. */
#include "server/project/project.h"

#include "server/policy/dispatch/score.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/file.h"
#include "server/policy/host/client_keys.h"
#include "server/policy/plan_class/plan_verdict.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct place {
    char dir[64];
    struct config *config;
};

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    char keys[80];

    snprintf(place->dir, sizeof(place->dir), "/tmp/qm-project.XXXXXX");
    if (mkdtemp(place->dir) == NULL || config_defaults(&place->config) != STATUS_OK)
        return -1;
    snprintf(keys, sizeof(keys), "%s/keys", place->dir);
    mkdir(keys, 0700);
    place->config->project_dir_path = text_from(place->dir);
    *state = place;
    return 0;
}

static int clear_place(void **state)
{
    static const char *const names[] = {"keys/code_sign_public",
                                        "keys/old_key_0",
                                        "keys/old_key_1",
                                        "keys/old_key_2",
                                        "keys/signature_0",
                                        "keys/signature_1",
                                        "keys/signature_2",
                                        "keys/signature_stripped_0",
                                        "gui_urls.xml",
                                        "project_files.xml",
                                        "plan_class_spec.xml",
                                        "size_census_app",
                                        "size_census_odd",
                                        "keys",
                                        ""};
    struct place *place = *state;
    char path[160];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", place->dir, names[i]);
        if (unlink(path) != 0)
            rmdir(path);
    }
    config_release(place->config);
    free(place);
    return 0;
}

static void put(const struct place *place, const char *name, const char *text)
{
    char path[160];

    snprintf(path, sizeof(path), "%s/%s", place->dir, name);
    assert_status(STATUS_OK, file_write(path, text_from(text), 0600, NULL));
}

static struct project *load(const struct place *place)
{
    struct project *project = NULL;

    assert_status(STATUS_OK, project_load(place->config, &project, NULL));
    return project;
}

static void test_needs_the_public_key(void **state)
{
    struct project *project;
    struct failure failure = {0};

    assert_status(STATUS_NOT_FOUND,
                  project_load(((struct place *)*state)->config, &project, &failure));
    assert_non_null(strstr(failure.text, "code_sign_public"));
}

static void test_reads_the_public_key_verbatim(void **state)
{
    struct project *project;

    put(*state, "keys/code_sign_public", "1024\nab\n.\n");
    project = load(*state);
    assert_text(project->keys.code_sign_public, "1024\nab\n.\n");
    assert_int_equal(project->keys.old_key_count, 0);
    assert_int_equal(project->blocks.gui_urls.length, 0);
    project_release(project);
}

static void test_reads_old_keys_until_one_is_missing(void **state)
{
    struct project *project;

    put(*state, "keys/code_sign_public", "now");
    put(*state, "keys/old_key_0", "first");
    put(*state, "keys/signature_0", "first signs");
    put(*state, "keys/signature_stripped_0", "first signs stripped");
    put(*state, "keys/old_key_2", "beyond the gap");
    put(*state, "keys/signature_2", "unused");
    project = load(*state);
    assert_int_equal(project->keys.old_key_count, 1);
    assert_text(project->keys.old_keys[0].key, "first");
    assert_text(project->keys.old_keys[0].signature, "first signs");
    assert_text(project->keys.old_keys[0].signature_stripped, "first signs stripped");
    project_release(project);
}

static void test_passes_over_an_old_key_without_signature(void **state)
{
    struct project *project;

    put(*state, "keys/code_sign_public", "now");
    put(*state, "keys/old_key_0", "unsigned");
    put(*state, "keys/old_key_1", "signed");
    put(*state, "keys/signature_1", "signature");
    project = load(*state);
    assert_int_equal(project->keys.old_key_count, 1);
    assert_text(project->keys.old_keys[0].key, "signed");
    project_release(project);
}

static void test_reads_the_blocks_of_replies(void **state)
{
    struct project *project;

    put(*state, "keys/code_sign_public", "now");
    put(*state, "gui_urls.xml", "<gui_urls>\n<a/>\n</gui_urls>\n");
    put(*state, "project_files.xml", "\xef\xbb\xbf<project_files>\r\n<b/>\r\n</project_files>\r\n");
    project = load(*state);
    assert_text(project->blocks.gui_urls, "<a/>");
    assert_text(project->blocks.project_files.block, "<b/>");
    project_release(project);
}

static void test_reads_terms_that_an_editor_marked(void **state)
{
    struct project *project;

    put(*state, "keys/code_sign_public", "now");
    put(*state, "terms_of_use.txt",
        "\xef\xbb\xbf"
        "Be kind.\r\n");
    project = load(*state);
    assert_text(project->blocks.terms_of_use, "Be kind.\r\n");
    project_release(project);
}

/* The documented form, as people write it: a declaration, comments, all in one line. */
static void test_reads_project_files_as_documented(void **state)
{
    struct project *project;

    put(*state, "keys/code_sign_public", "now");
    put(*state, "project_files.xml",
        "<?xml version=\"1.0\"?>\n<!-- <project_files> -->\n<file_info><name>icon_v3.png</name>"
        "<url>http://a.b/icon_v3.png</url><md5_cksum>0123456789abcdef0123456789abcdef</md5_cksum>"
        "<nbytes>4711</nbytes></file_info>\n<project_files>\n<file_ref><file_name>icon_v3.png"
        "</file_name><open_name>stat_icon</open_name></file_ref>\n</project_files>\n");
    project = load(*state);
    assert_text(project->blocks.project_files.infos,
                "<file_info>\n    <name>icon_v3.png</name>\n"
                "    <url>http://a.b/icon_v3.png</url>\n"
                "    <md5_cksum>0123456789abcdef0123456789abcdef</md5_cksum>\n"
                "    <nbytes>4711</nbytes>\n</file_info>\n");
    assert_text(project->blocks.project_files.block,
                "<file_ref>\n    <file_name>icon_v3.png</file_name>\n"
                "    <open_name>stat_icon</open_name>\n</file_ref>");
    project_release(project);
    put(*state, "project_files.xml",
        "<file_info><name>a</name><url>http://a.b/a</url></file_info>\n<file_ref>\n"
        "<file_name>a</file_name></file_ref>\n"); /* the inside alone */
    project = load(*state);
    assert_true(project->blocks.project_files.infos.length > 0);
    assert_true(text_starts(project->blocks.project_files.block, TEXT("<file_ref>")));
    project_release(project);
}

static void test_tells_what_is_wrong_with_project_files(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"<project_files>\n<file_ref>\n</project_files>\n", "project_files.xml:2: <file_ref>"},
        {"<file_info>\n<name>a</name>\n</file_info>\n", "project_files.xml:1: <file_info>: needs"},
        {"<file_info>\n<name>a</name>\n<url></url>\n</file_info>\n", "needs a <url>"},
        {"<file_info>\n<name>a</name>\n<url>http://a b</url>\n</file_info>\n",
         "project_files.xml:3: <url>: the URL contains a blank"},
        {"<file_ref>\n<file_name>a</file_name><open_name>..</open_name></file_ref>\n",
         "project_files.xml:2: <open_name>"},
        {"<file_ref>\n</file_ref>\n", "needs a <file_name>"},
        {"<project_files/>\n<project_files/>\n", "project_files.xml:2: <project_files>"},
        {"text\n", "project_files.xml:1: text"},
        {"<project_files>\n<scheduler_reply>x</scheduler_reply></project_files>\n",
         "would break replies"},
    };
    struct arena *arena = arena_create(1 << 20);
    struct place *place = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct failure failure = {0};
        struct project_files files;

        put(place, "project_files.xml", cases[i].text);
        assert_status(STATUS_INVALID, project_files_read(place->config, arena, &files, &failure));
        if (strstr(failure.text, cases[i].words) == NULL)
            fail_msg("%s: %s", cases[i].text, failure.text);
        assert_int_equal(files.block.length + files.infos.length, 0);
    }
    arena_destroy(arena);
}

/* As BOINC's make_project installs it: two elements one after the other, which is no document. */
static void test_reads_links_and_feeds_of_one_file(void **state)
{
    struct project *project;

    put(*state, "keys/code_sign_public", "now");
    put(*state, "gui_urls.xml",
        "\xef\xbb\xbf<?xml version=\"1.0\"?>\r\n<!-- <gui_urls> "
        "-->\n<gui_urls>\n<gui_url>\n<ifteam>\n<a/></ifteam>\n"
        "</gui_url>\n</gui_urls>\n<rss_feeds>\n<rss_feed>\n"
        "<url><master_url/>notices.php?userid=<userid/>&auth=<rss_auth/></url>\n"
        "</rss_feed>\n</rss_feeds>\n");
    project = load(*state);
    assert_text(project->blocks.gui_urls, "<gui_url>\n<ifteam>\n<a/></ifteam>\n</gui_url>");
    assert_text(
        project->blocks.rss_feeds,
        "<rss_feed>\n<url><master_url/>notices.php?userid=<userid/>&auth=<rss_auth/></url>\n"
        "</rss_feed>");
    project_release(project);
    put(*state, "gui_urls.xml", "<gui_url/>\n");
    project = load(*state);
    assert_text(project->blocks.gui_urls, "<gui_url/>");
    assert_int_equal(project->blocks.rss_feeds.length, 0);
    project_release(project);
}

/* What would break every reply is left out of them, and said once: here. */
static void test_tells_what_is_wrong_with_a_block(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"<gui_urls>\n<gui_url>\n</gui_urls>\n", "gui_urls.xml: <gui_urls>"},
        {"<gui_urls>\n</gui_urls>\n<gui_urls>\n</gui_urls>\n", "gui_urls.xml: beside"},
        {"<gui_urls>\n</gui_urls>\n<rss_feeds>\n<url></rss_feeds>\n", "gui_urls.xml: <rss_feeds>"},
        {"<gui_urls>\n</gui_urls>\n<rss_feeds>\n", "gui_urls.xml: beside"},
        {"<gui_urls>\n</gui_urls>\n<feeds/>\n", "gui_urls.xml: beside"},
    };
    struct arena *arena = arena_create(1 << 20);
    struct place *place = *state;

    put(place, "keys/code_sign_public", "now");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct failure failure = {0};
        struct text links, feeds;
        struct project *project;

        put(place, "gui_urls.xml", cases[i].text);
        assert_status(STATUS_INVALID,
                      project_links_read(place->config, arena, &links, &feeds, &failure));
        if (strstr(failure.text, cases[i].words) == NULL)
            fail_msg("case %zu: %s", i, failure.text);
        project = load(place);
        assert_int_equal(project->blocks.gui_urls.length + project->blocks.rss_feeds.length, 0);
        project_release(project);
    }
    arena_destroy(arena);
}

static void test_reads_the_size_censuses(void **state)
{
    struct project *project;
    struct place *place = *state;

    put(place, "keys/code_sign_public", "now");
    put(place, "size_census_app", "1e9\n2e9\n");
    put(place, "size_census_odd", "nothing\n");
    project = load(place);
    assert_int_equal(project->blocks.size_census_count, 1);
    assert_text(project->blocks.size_censuses[0].app_name, "app");
    assert_int_equal(project->blocks.size_censuses[0].count, 2);
    project_release(project);
}

static void test_without_a_file_the_built_in_plan_classes_hold(void **state)
{
    struct project *project;

    put(*state, "keys/code_sign_public", "now");
    project = load(*state);
    assert_true(plan_class_is_known(&project->plan_classes, TEXT("cuda_fermi")));
    assert_false(plan_class_is_known(&project->plan_classes, TEXT("ours")));
    project_release(project);
    put(*state, "plan_class_spec.xml",
        "<plan_classes>\n<plan_class>\n<name>ours</name>\n</plan_class>\n</plan_classes>\n");
    project = load(*state);
    assert_false(plan_class_is_known(&project->plan_classes, TEXT("cuda_fermi")));
    assert_true(plan_class_is_known(&project->plan_classes, TEXT("ours")));
    assert_status(STATUS_OK, project->plan_failure.status);
    project_release(project);
}

static void test_a_faulty_file_of_plan_classes_leaves_none(void **state)
{
    struct project *project;

    put(*state, "keys/code_sign_public", "now");
    put(*state, "plan_class_spec.xml",
        "<plan_classes>\n<plan_class>\n<name>ours</name>\n</plan_class>\n<plan_class>\n"
        "<name>b</name>\n<min_ncpus>many</min_ncpus>\n</plan_class>\n</plan_classes>\n");
    project = load(*state);
    assert_non_null(strstr(project->plan_failure.text, "plan_class_spec.xml: line 7"));
    assert_false(plan_class_is_known(&project->plan_classes, TEXT("cuda_fermi")));
    assert_false(plan_class_is_known(&project->plan_classes, TEXT("ours")));
    project_release(project);
}

/* The shipped example is one that a project may begin with. */
static void test_the_example_has_plan_classes(void **state)
{
    struct place *place = *state;
    const char *source = getenv("QM_SOURCE_DIR");
    struct arena *arena = arena_create(1 << 20);
    struct text document = NO_TEXT;
    struct project *project;
    char path[512];

    snprintf(path, sizeof(path), "%s/config/plan_class_spec.xml", source == NULL ? "." : source);
    assert_status(STATUS_OK, file_read(arena, path, 1 << 19, &document, NULL));
    put(place, "keys/code_sign_public", "now");
    put(place, "plan_class_spec.xml", text_string(arena, document));
    project = load(place);
    assert_status(STATUS_OK, project->plan_failure.status);
    assert_true(project->plan_classes.count >= 5);
    project_release(project);
    arena_destroy(arena);
}

static void test_lives_until_its_last_holder_lets_go(void **state)
{
    struct project *project;

    put(*state, "keys/code_sign_public", "now");
    project = project_hold(load(*state));
    project_release(project);
    assert_text(project->keys.code_sign_public, "now");
    project_release(project);
    project_release(NULL);
}

#define CASE(name) cmocka_unit_test_setup_teardown(test_##name, make_place, clear_place)

int main(void)
{
    const struct CMUnitTest cases[] = {
        CASE(needs_the_public_key),
        CASE(reads_the_public_key_verbatim),
        CASE(reads_old_keys_until_one_is_missing),
        CASE(passes_over_an_old_key_without_signature),
        CASE(reads_the_blocks_of_replies),
        CASE(reads_terms_that_an_editor_marked),
        CASE(reads_project_files_as_documented),
        CASE(tells_what_is_wrong_with_project_files),
        CASE(reads_links_and_feeds_of_one_file),
        CASE(tells_what_is_wrong_with_a_block),
        CASE(without_a_file_the_built_in_plan_classes_hold),
        CASE(a_faulty_file_of_plan_classes_leaves_none),
        CASE(the_example_has_plan_classes),
        CASE(reads_the_size_censuses),
        CASE(lives_until_its_last_holder_lets_go),
    };

    return cmocka_run_group_tests(cases, NULL, NULL);
}
