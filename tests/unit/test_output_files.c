/* SPDX-License-Identifier: Apache-2.0 */
/* The output files of a result, from the documents that our templates and those of others give. */
#include "tests/support/test.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/file.h"
#include "server/submit/output_files.h"
#include "server/submit/template_output.h"

#include "server/base/banned.h"

static int setup(void **state)
{
    *state = arena_create(16 << 20);
    return *state == NULL;
}

static int teardown(void **state)
{
    arena_destroy(*state);
    return 0;
}

static struct output_file *read_files(struct arena *arena, struct text document, size_t wanted)
{
    struct output_file *files = NULL;
    size_t count = 0;
    assert_status(STATUS_OK, output_files_read(arena, document, &files, &count));
    assert_int_equal(count, wanted);
    return files;
}

static struct text from_template(struct arena *arena, const char *path)
{
    struct output_options options = {.upload_url = TEXT("http://x/")};
    struct failure failure = {.status = STATUS_OK};
    struct output_template output;
    struct buffer buffer = buffer_in(arena);
    struct text document;
    assert_status(STATUS_OK, file_read(arena, path, TEMPLATE_BYTES_MAX, &document, &failure));
    assert_status(STATUS_OK,
                  output_template_read(arena, path, document, &options, &output, &failure));
    assert_status(STATUS_OK,
                  output_template_write(&output, arena, TEXT("wu_0"), 7, NULL, &buffer, &failure));
    return buffer_text(&buffer);
}

static void examples_are_read(void **state)
{
    struct output_file *files =
        read_files(*state, from_template(*state, "templates/several_out.xml"), 2);
    assert_text(files[0].name, "wu_0_r7_0");
    assert_text(files[0].open_name, "out");
    assert_real(files[0].max_nbytes, 5e6, 0);
    assert_true(files[0].gzipped);
    assert_false(files[0].optional);
    assert_text(files[1].name, "wu_0_r7_1");
    assert_text(files[1].open_name, "checkpoint");
    assert_true(files[1].optional);
    assert_false(files[1].gzipped);
    (void)read_files(*state, from_template(*state, "templates/none_out.xml"), 0);
}

/* The order is that of file_ref; a signature, a comment, white space and unknown elements are
 * passed over, entities are decoded, flags stand in either element. */
static void others_templates_are_read(void **state)
{
    struct text document =
        TEXT("<file_info>\r\n<name> b&amp;c &#x; </name><generated_locally/>\n"
             "<max_nbytes> 5e6 </max_nbytes><url>http://x/?a=1&b=2</url>\n"
             "<no_delete>1</no_delete><optional/><no_validate>0</no_validate>\n"
             "<xml_signature>\n0a1b\n.\n</xml_signature></file_info>\n"
             "<!-- <file_info><name>not me</name></file_info> > -->\n"
             "<file_info><name>a</name><max_nbytes>-1</max_nbytes><no_validate /></file_info>"
             "<file_info><name>unused</name></file_info>"
             "<result>\n<file_ref><file_name>a</file_name><copy_file/></file_ref>\n"
             "<file_ref id=\"1\">\n  <file_name>\tb&amp;c &#x;</file_name>\n"
             "  <open_name>dir/o &lt;1&gt;</open_name><optional>0</optional></file_ref>\n"
             "<file_ref><file_name>alone</file_name><open_name>x</open_name>\n"
             "<no_delete/></file_ref><file_ref/></result>");
    struct output_file *files = read_files(*state, document, 3);
    assert_text(files[0].name, "a");
    assert_text(files[0].open_name, "a");
    assert_real(files[0].max_nbytes, 0, 0);
    assert_true(files[0].no_validate);
    assert_text(files[1].name, "b&c &#x;");
    assert_text(files[1].open_name, "dir/o <1>");
    assert_real(files[1].max_nbytes, 5e6, 0);
    assert_true(files[1].optional);
    assert_true(files[1].no_delete);
    assert_false(files[1].no_validate);
    assert_text(files[2].name, "alone");
    assert_true(files[2].no_delete);
}

static void fragments_end(void **state)
{
    static const char *const fragments[] = {"",
                                            "<",
                                            ">",
                                            "<!--",
                                            "<file_ref>",
                                            "<file_ref><file_name>a",
                                            "<file_ref><file_name>a</file_name>",
                                            "</file_ref>",
                                            "<file_name>a</file_name></file_ref>",
                                            "<file_ref><file_name></file_name></file_ref>",
                                            "<file_ref><file_name/></file_ref>",
                                            "<file_info><file_name>a</file_name></file_info>"};
    for (size_t i = 0; i < sizeof fragments / sizeof *fragments; i++)
        (void)read_files(*state, text_from(fragments[i]), 0);
    (void)read_files(*state, TEXT("<file_ref><file_name>a</file_name><file_ref>"), 1);
}

static void lists_are_bounded(void **state)
{
    struct output_file *files;
    size_t count;
    struct buffer buffer = buffer_in(*state);
    for (int i = 0; i < OUTPUT_FILES_MAX; i++)
        buffer_print(&buffer, "<file_ref><file_name>f%d</file_name></file_ref>", i);
    files = read_files(*state, buffer_text(&buffer), OUTPUT_FILES_MAX);
    assert_text(files[OUTPUT_FILES_MAX - 1].name, "f999");
    buffer_add_string(&buffer, "<file_ref><file_name>f</file_name></file_ref>");
    assert_status(STATUS_TOO_LARGE,
                  output_files_read(*state, buffer_text(&buffer), &files, &count));
    struct arena *small = arena_create(1 << 16);
    assert_non_null(small);
    assert_status(STATUS_NO_MEMORY, output_files_read(small, buffer_text(&buffer), &files, &count));
    arena_destroy(small);
}

static void paths_stay_in_the_folder(void **state)
{
    static const char *const outside[] = {"", ".", "..", "../a", "a/b", "/etc/passwd", "a..b"};
    struct output_file file = {.name = TEXT("wu_1_0_r1234567_0")};
    assert_text(output_file_path(*state, &file, TEXT("/up/"), 1024), "/up/27a/wu_1_0_r1234567_0");
    assert_text(output_file_path(*state, &file, TEXT("/up"), 0), "/up/wu_1_0_r1234567_0");
    file.name = TEXT("a b'c");
    assert_text(output_file_path(*state, &file, TEXT("/up"), 0), "/up/a b'c");
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        file.name = text_from(outside[i]);
        assert_text(output_file_path(*state, &file, TEXT("/up"), 0), "");
    }
    file.name = TEXT("a\0b");
    assert_text(output_file_path(*state, &file, TEXT("/up"), 0), "");
}

/* By the form that names are made in, and by nothing else. */
static void a_name_tells_whose_file_it_is(void **state)
{
    static const struct {
        const char *name, *result;
    } names[] = {
        {"job_1_0_r4294967295_0", "job_1_0"},
        {"job_0_r7_out", "job_0"},
        {"job_r7_0_0_r8_a_b", "job_r7_0_0"},
        {"job_0_r7_1_r8_0", "job_0_r7_1"}, /* a job may be called so */
        {"job_0_r7_", ""},
        {"job_0_r7", ""},
        {"job_0_r_0", ""},
        {"job_0_r12345678901_0", ""},
        {"job_x_r7_0", ""},
        {"_0_r7_0", ""},
        {"0_r7_0", ""},
        {"job_0_R7_0", ""},
        {"job 1_0_r7_0", ""},
        {"../job_1_0_r7_0", ""},
        {".job_1_0_r7_0", ""},
        {"", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_text(output_file_result(text_from(names[i].name)), names[i].result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(examples_are_read, setup, teardown),
        cmocka_unit_test_setup_teardown(others_templates_are_read, setup, teardown),
        cmocka_unit_test_setup_teardown(fragments_end, setup, teardown),
        cmocka_unit_test_setup_teardown(lists_are_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(paths_stay_in_the_folder, setup, teardown),
        cmocka_unit_test(a_name_tells_whose_file_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
