/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of files of versions: each fault once, in words that name the file, and nothing of
 * files that clients accept, or download elsewhere. */
#include "server/check/version_files.h"

#include "config/config.h"
#include "db/admin.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/crypto.h"
#include "server/base/file.h"
#include "server/check/job_files.h"
#include "server/project/catalog.h"
#include "server/project/hierarchy.h"
#include "server/submit/version_document.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define URL "http://example.org/download"

enum { FANOUT = 1024 };

struct place {
    char dir[64];
    struct config *config;
    struct catalog *catalog;
    struct arena *arena;
    struct version_files files;
    struct version_look look; /* the last one */
    struct rsa_key_texts keys;
    struct app_row app;
    struct app_version_row versions[30];
};

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof(*place));

    snprintf(place->dir, sizeof(place->dir), "/tmp/qm-versions.XXXXXX");
    place->arena = arena_create(1 << 24);
    if (mkdtemp(place->dir) == NULL || config_defaults(&place->config) != STATUS_OK ||
        catalog_begin(&place->catalog) != STATUS_OK ||
        rsa_generate(place->arena, &place->keys, NULL) != STATUS_OK)
        return -1;
    place->config->download_url = text_from(URL);
    place->config->uldl_dir_fanout = FANOUT;
    place->files = (struct version_files){.config = place->config,
                                          .download_dir = text_from(place->dir),
                                          .public_key = place->keys.public_key};
    place->app = (struct app_row){.id = 1, .name = text_from("demo")};
    place->catalog->rows.apps = &place->app;
    place->catalog->rows.app_count = 1;
    place->catalog->rows.versions = place->versions;
    *state = place;
    return 0;
}

static int clear_place(void **state)
{
    struct place *place = *state;
    char command[128];

    snprintf(command, sizeof(command), "rm -r '%s'", place->dir);
    catalog_release(place->catalog);
    config_release(place->config);
    arena_destroy(place->arena);
    free(place);
    return system(command);
}

/* A file with this content, its folder that of `fanout`. */
static void put_file(struct place *place, const char *name, int64_t fanout, const char *content)
{
    char folder[HIERARCHY_FOLDER_SIZE];
    const char *path = text_string(
        place->arena, hierarchy_path(place->arena, text_from(place->dir), text_from(name), fanout));

    hierarchy_folder(text_from(name), fanout, folder);
    (void)mkdir(text_string(place->arena, text_print(place->arena, "%s/%s", place->dir, folder)),
                0700);
    assert_status(STATUS_OK, file_write(path, text_from(content), 0600, NULL));
}

/* The next version, with one file whose signature is over `content`. */
static void add_version(struct place *place, const char *name, struct text url, const char *content)
{
    size_t count = place->catalog->rows.version_count++;
    struct text signature;
    char md5[MD5_HEX_SIZE];

    md5_hex(text_from(content), NO_TEXT, md5);
    assert_status(STATUS_OK,
                  rsa_sign_md5(place->arena, place->keys.private_key, md5, &signature, NULL));
    place->versions[count] = (struct app_version_row){
        .id = (int64_t)count + 1,
        .appid = 1,
        .version_num = 103,
        .platformid = (int64_t)count + 1,
        .xml_doc =
            text_print(place->arena,
                       "<file_info>\n <name>%s</name>\n <url>http://mirror.example.org/"
                       "%s</url>\n <url> " TEXT_FORMAT " </url>\n <file_signature>\n" TEXT_FORMAT
                       "\n </file_signature>\n <nbytes>%zu.000000</nbytes>\n"
                       "</file_info>\n<app_version>\n</app_version>\n",
                       name, name, TEXT_ARG(url), TEXT_ARG(signature), strlen(content))};
}

static struct text url_of(struct place *place, const char *name, int64_t fanout)
{
    return hierarchy_path(place->arena, text_from(URL), text_from(name), fanout);
}

static struct text judge(struct place *place)
{
    struct buffer faults = buffer_in(place->arena);

    assert_status(STATUS_OK, catalog_finish(place->catalog));
    assert_status(STATUS_OK, version_files_judge(&place->files, place->catalog, place->arena,
                                                 &faults, &place->look));
    assert_int_equal(place->look.unread, 0);
    return buffer_text(&faults);
}

#define assert_says(faults, words) assert_true(text_contains((faults), TEXT(words)))

static void what_clients_accept_is_not_mentioned(void **state)
{
    struct place *place = *state;

    put_file(place, "one", 0, "program");
    add_version(place, "one", url_of(place, "one", 0), "program");
    put_file(place, "two", FANOUT, "spread");
    add_version(place, "two", url_of(place, "two", FANOUT), "spread");
    add_version(place, "three", TEXT("http://example.com/download/three"), "elsewhere");
    assert_int_equal(judge(place).length, 0);
}

static void each_fault_is_said(void **state)
{
    struct place *place = *state;
    struct text faults;

    add_version(place, "gone", url_of(place, "gone", 0), "program");
    faults = judge(place);
    assert_says(faults, "app_version 1 (demo 1.03): ");
    assert_says(faults, "/gone: No such file or directory, so clients cannot download it");
    put_file(place, "gone", 0, "prog");
    assert_says(judge(place), "it has 4 bytes, and had 7 when it was added");
    put_file(place, "gone", 0, "PROGRAM");
    assert_says(judge(place), "signature is over other data");
    put_file(place, "gone", 0, "program");
    assert_int_equal(judge(place).length, 0);
    place->app.deprecated = 1;
    unlink(text_string(place->arena, text_print(place->arena, "%s/gone", place->dir)));
    assert_int_equal(judge(place).length, 0);
}

static void a_key_that_signed_nothing_is_said_of_twenty(void **state)
{
    struct place *place = *state;
    struct rsa_key_texts others;
    struct text faults, line;
    size_t lines = 0;

    put_file(place, "one", 0, "program");
    for (int i = 0; i < 25; i++)
        add_version(place, "one", url_of(place, "one", 0), "program");
    assert_int_equal(judge(place).length, 0);
    assert_status(STATUS_OK, rsa_generate(place->arena, &others, NULL));
    place->files.public_key = others.public_key;
    faults = judge(place);
    assert_says(faults, "signature not made with this key");
    assert_says(faults, "the same faults in 5 versions more");
    while (faults.length > 0) {
        line = text_split(&faults, '\n');
        lines += line.length > 0;
    }
    assert_int_equal(lines, 21);
}

static void what_is_not_signed_is_said(void **state)
{
    struct place *place = *state;
    struct text document;
    size_t at;

    put_file(place, "one", 0, "program");
    add_version(place, "one", url_of(place, "one", 0), "program");
    document = place->versions[0].xml_doc;
    at = text_find(document, TEXT("<file_signature>"));
    place->versions[0].xml_doc =
        text_print(place->arena, TEXT_FORMAT "</file_info>\n", TEXT_ARG(text_first(document, at)));
    assert_says(judge(place), "it has no signature");
}

/* As status, check-config and servers look again and again. */
static void what_was_accepted_is_read_again_when_it_changes(void **state)
{
    struct place *place = *state;
    struct rsa_key_texts keys = place->keys, others;

    put_file(place, "one", 0, "program");
    add_version(place, "one", url_of(place, "one", 0), "program");
    put_file(place, "two", 0, "another");
    add_version(place, "two", url_of(place, "two", 0), "another");
    place->files.now = (int64_t)time(NULL);
    assert_int_equal(judge(place).length, 0); /* they changed just now */
    assert_i64(place->look.bytes, 14);
    assert_false(place->look.accepts_more);
    place->files.now += 10;
    assert_int_equal(judge(place).length, 0);
    assert_i64(place->look.bytes, 14);
    assert_true(place->look.accepts_more);
    for (int i = 0; i < 2; i++) {
        place->files.accepted = place->look.accepted;
        assert_int_equal(judge(place).length, 0);
        assert_i64(place->look.bytes, 0);
        assert_false(place->look.accepts_more);
        assert_int_equal(place->look.accepted.length, 2 * MD5_HEX_SIZE);
    }
    /* One changes, though not its size. What was said of the other stays. */
    put_file(place, "two", 0, "ANOTHER");
    assert_says(judge(place), "signature is over other data");
    assert_i64(place->look.bytes, 7);
    assert_says(judge(place), "signature is over other data");
    /* It comes back. */
    put_file(place, "two", 0, "another");
    assert_int_equal(judge(place).length, 0);
    assert_i64(place->look.bytes, 7);
    assert_true(place->look.accepts_more);
    /* The keys are replaced, and come back. */
    place->files.accepted = place->look.accepted;
    assert_status(STATUS_OK, rsa_generate(place->arena, &others, NULL));
    place->files.public_key = others.public_key;
    assert_says(judge(place), "signature not made with this key");
    assert_i64(place->look.bytes, 14);
    place->files.accepted = place->look.accepted;
    place->files.public_key = keys.public_key;
    assert_int_equal(judge(place).length, 0);
    assert_i64(place->look.bytes, 0);
}

/* However many versions come and go; and nothing is made of lines that are none. */
static void what_was_accepted_is_bounded(void **state)
{
    struct place *place = *state;
    struct buffer lines = buffer_in(place->arena);

    put_file(place, "one", 0, "program");
    add_version(place, "one", url_of(place, "one", 0), "program");
    for (int i = 0; i < 3000; i++)
        buffer_print(&lines, "%032d\n", i);
    buffer_add_string(&lines, "short\n\n");
    place->files.accepted = buffer_text(&lines);
    place->files.now = (int64_t)time(NULL) + 10;
    assert_int_equal(judge(place).length, 0);
    assert_true(place->look.accepts_more);
    assert_true(place->look.accepted.length <= ACCEPTED_BYTES_MOST);
    assert_true(place->look.accepted.length > ACCEPTED_BYTES_MOST - 2 * MD5_HEX_SIZE);
    place->files.accepted = place->look.accepted;
    assert_int_equal(judge(place).length, 0);
    assert_i64(place->look.bytes, 0);
}

/* Only the size of it is compared. The file is sparse, so it takes no room. */
static void a_large_file_is_not_read(void **state)
{
    struct place *place = *state;
    struct buffer faults = buffer_in(place->arena);
    struct version_look look;
    struct text document;
    size_t at;
    const char *path = text_string(place->arena, text_print(place->arena, "%s/one", place->dir));

    put_file(place, "one", 0, "program");
    assert_int_equal(truncate(path, VERSION_FILE_MOST + 1), 0);
    add_version(place, "one", url_of(place, "one", 0), "program");
    document = place->versions[0].xml_doc;
    at = text_find(document, TEXT("<nbytes>"));
    place->versions[0].xml_doc =
        text_print(place->arena, TEXT_FORMAT "<nbytes>%d</nbytes></file_info>\n",
                   TEXT_ARG(text_first(document, at)), VERSION_FILE_MOST + 1);
    assert_status(STATUS_OK, catalog_finish(place->catalog));
    assert_status(STATUS_OK,
                  version_files_judge(&place->files, place->catalog, place->arena, &faults, &look));
    assert_int_equal(look.unread, 1);
    assert_int_equal(look.accepted.length, 0);
    assert_int_equal(faults.length, 0);
}

/* Whatever the URL, as long as the file is here too: then it is known what should come. */
static void the_smallest_file_is_the_sample(void **state)
{
    struct place *place = *state;
    struct version_sample sample;

    assert_status(STATUS_OK, catalog_finish(place->catalog));
    assert_false(version_files_sample(&place->files, place->catalog, place->arena, &sample));
    put_file(place, "large", 0, "a program that is large");
    put_file(place, "small", FANOUT, "small");
    put_file(place, "empty", 0, "");
    add_version(place, "large", url_of(place, "large", 0), "a program that is large");
    add_version(place, "empty", url_of(place, "empty", 0), "");
    add_version(place, "elsewhere", TEXT("http://example.com/elsewhere"), "x");
    assert_status(STATUS_OK, catalog_finish(place->catalog));
    assert_true(version_files_sample(&place->files, place->catalog, place->arena, &sample));
    assert_true(text_equal(sample.url, TEXT("http://mirror.example.org/large")));
    assert_int_equal(sample.bytes, 23);
    add_version(place, "small", url_of(place, "small", FANOUT), "small");
    assert_status(STATUS_OK, catalog_finish(place->catalog));
    assert_true(version_files_sample(&place->files, place->catalog, place->arena, &sample));
    assert_true(text_ends(sample.path, TEXT("/small")));
    assert_int_equal(sample.bytes, 5);
    place->app.deprecated = 1;
    assert_false(version_files_sample(&place->files, place->catalog, place->arena, &sample));
}

/* --- what jobs name --------------------------------------------------------------------------- */

static struct text judge_jobs(struct place *place, const struct waiting_document_row *jobs,
                              size_t count)
{
    struct buffer faults = buffer_in(place->arena);

    job_inputs_judge(&place->files, &place->app, jobs, count, place->arena, &faults);
    return buffer_text(&faults);
}

static void an_input_file_that_is_gone_is_said_once(void **state)
{
    struct place *place = *state;
    struct waiting_document_row jobs[3];
    struct text faults;

    for (int i = 0; i < 3; i++)
        jobs[i] = (struct waiting_document_row){
            .name = text_print(place->arena, "job_%d", i),
            .xml_doc = text_print(place->arena,
                                  "<file_info>\n<name>all</name>\n<url>" URL
                                  "/all</url>\n<nbytes>3</nbytes>\n</file_info>\n<file_info>\n"
                                  "<name>in_%d</name>\n<url>" TEXT_FORMAT
                                  "</url>\n<nbytes>2</nbytes>\n</file_info>\n<workunit>\n"
                                  "</workunit>\n",
                                  i,
                                  TEXT_ARG(url_of(place,
                                                  i == 0   ? "in_0"
                                                  : i == 1 ? "in_1"
                                                           : "in_2",
                                                  FANOUT)))};
    put_file(place, "all", 0, "all");
    put_file(place, "in_0", FANOUT, "in");
    put_file(place, "in_1", FANOUT, "in");
    put_file(place, "in_2", FANOUT, "in");
    assert_int_equal(judge_jobs(place, jobs, 3).length, 0);
    put_file(place, "in_1", FANOUT, "longer");
    faults = judge_jobs(place, jobs, 3);
    assert_says(faults, "demo: 1 of 3 unsent jobs looked at, such as job_1, lack an input file");
    assert_says(faults, "/in_1 has 6 bytes, and had 2 when the job was made. Bring it back");
    unlink(text_string(place->arena, text_print(place->arena, "%s/all", place->dir)));
    faults = judge_jobs(place, jobs, 3);
    assert_says(faults, "demo: 3 of 3 unsent jobs looked at, such as job_0");
    assert_says(faults, "/all: No such file or directory. Bring it back, or qmctl jobs cancel");
    assert_int_equal(text_find(faults, TEXT("\n")), faults.length - 1);
}

static void a_result_template_that_is_gone_is_said(void **state)
{
    struct place *place = *state;
    struct job_template_row templates[] = {{.path = TEXT("out"), .name = TEXT("job_1"), .jobs = 7},
                                           {.path = NO_TEXT, .name = TEXT("job_2"), .jobs = 1}};
    struct buffer faults = buffer_on_heap(1 << 16);

    place->config->project_dir_path = text_from(place->dir);
    job_templates_judge(place->config, &place->app, templates, 2, place->arena, &faults);
    assert_says(buffer_text(&faults), "demo: the result template of 7 unfinished jobs, such as "
                                      "job_1, cannot be used");
    assert_says(buffer_text(&faults), "/out: ");
    put_file(place, "out", 0, "<output_template>\n<result>\n</result>\n</output_template>\n");
    buffer_free(&faults);
    faults = buffer_on_heap(1 << 16);
    job_templates_judge(place->config, &place->app, templates, 2, place->arena, &faults);
    assert_int_equal(faults.length, 0);
    buffer_free(&faults);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_clients_accept_is_not_mentioned, make_place,
                                        clear_place),
        cmocka_unit_test_setup_teardown(each_fault_is_said, make_place, clear_place),
        cmocka_unit_test_setup_teardown(a_key_that_signed_nothing_is_said_of_twenty, make_place,
                                        clear_place),
        cmocka_unit_test_setup_teardown(what_is_not_signed_is_said, make_place, clear_place),
        cmocka_unit_test_setup_teardown(what_was_accepted_is_read_again_when_it_changes, make_place,
                                        clear_place),
        cmocka_unit_test_setup_teardown(what_was_accepted_is_bounded, make_place, clear_place),
        cmocka_unit_test_setup_teardown(a_large_file_is_not_read, make_place, clear_place),
        cmocka_unit_test_setup_teardown(the_smallest_file_is_the_sample, make_place, clear_place),
        cmocka_unit_test_setup_teardown(an_input_file_that_is_gone_is_said_once, make_place,
                                        clear_place),
        cmocka_unit_test_setup_teardown(a_result_template_that_is_gone_is_said, make_place,
                                        clear_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
