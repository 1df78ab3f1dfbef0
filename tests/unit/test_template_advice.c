/* SPDX-License-Identifier: Apache-2.0 */
/* Templates that are right, and do not do what their author means. */
#include "tests/support/test.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/file.h"
#include "server/project/template.h"
#include "server/submit/parameters.h"
#include "server/submit/template_advice.h"
#include "server/submit/template_elements.h"
#include "server/submit/template_input.h"

#include <string.h>

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

enum kind { INPUT, OUTPUT };

static struct text advice_of(struct arena *arena, enum kind kind, struct text document)
{
    struct template_file file;
    struct failure failure = {.text = ""};
    struct buffer lines = buffer_in(arena);

    if (template_read(arena, "t", document, kind == INPUT ? "input_template" : "output_template",
                      &file, &failure) != STATUS_OK)
        fail_msg("%s", failure.text);
    (kind == INPUT ? input_template_advice : output_template_advice)(&file, &lines);
    return buffer_text(&lines);
}

#define JOB(inside) "<workunit>\n" inside "\n</workunit>"
#define GIVES(child)                                                            \
    "<file_info>\n<name><OUTFILE_0/></name>\n" child "</file_info>\n<result>\n" \
    "<file_ref><file_name> <OUTFILE_0/> </file_name><copy_file/></file_ref></result>"

static void says_what_has_no_effect(void **state)
{
    static const struct {
        enum kind kind;
        const char *document, *wanted; /* the first line; "": none */
    } rows[] = {
        {INPUT, JOB("<rsc_fpop_est>1</rsc_fpop_est>"),
         "t:2: <rsc_fpop_est>: is not known and has no effect here; did you mean <rsc_fpops_est>?"},
        {INPUT, JOB("<DELAY_BOUND>1</DELAY_BOUND>"),
         "t:2: <DELAY_BOUND>: is not known and has no effect here; did you mean <delay_bound>?"},
        {INPUT, JOB("<priority>1</priority>"),
         "t:2: <priority>: has no effect here; it is given with the job, as --priority"},
        {INPUT, JOB("<file_ref>\n<openname>x</openname>\n</file_ref>"),
         "t:3: <openname>: is not known and has no effect here; did you mean <open_name>?"},
        {INPUT, "<file_info>\n<stcky/>\n</file_info>",
         "t:2: <stcky>: is not known and has no effect here; did you mean <sticky>?"},
        {INPUT, JOB("<file_ref>\n<sticky/>\n<open_name>x</open_name></file_ref>"),
         "t:3: <sticky>: has no effect here; it belongs into <file_info>"},
        {INPUT, "<file_info>\n<open_name>in.txt</open_name></file_info>",
         "t:2: <open_name>: has no effect here; it belongs into <file_ref>"},
        {INPUT, "<file_info>\n<delay_bound>60</delay_bound></file_info>",
         "t:2: <delay_bound>: has no effect here; it belongs into <workunit>"},
        {OUTPUT,
         "<file_info><name>out</name><generated_locally/><sticky/></file_info>\n<result>\n"
         "<file_ref><file_name>out</file_name><copy_file/></file_ref></result>",
         "t:1: <name>: lacks <OUTFILE_0/>: all results upload the same file"},
        {INPUT, JOB("<credit>5</credit><my_own_thing/><plan_class></plan_class>"), ""},
        {OUTPUT, GIVES("<generated_locally/>"),
         "t:1: <file_info>: lacks <url><UPLOAD_URL/></url>: clients cannot upload it"},
        {OUTPUT, GIVES("<generated_locally/><upload_when_present/>"),
         "t:1: <file_info>: lacks <url><UPLOAD_URL/></url>: clients cannot upload it"},
        {OUTPUT, GIVES("<generated_locally/><upload_when_present/><sticky/>"),
         "t:1: <file_info>: lacks <url><UPLOAD_URL/></url>: clients cannot upload it"},
        {OUTPUT, GIVES("<generated_locally/><url><UPLOAD_URL/></url>"),
         "t:1: <file_info>: lacks <upload_when_present/>: clients before 6.13.2 never upload this "
         "output file"},
        {OUTPUT,
         GIVES("<generated_locally>0</generated_locally><upload_when_present/>"
               "<url><UPLOAD_URL/></url>"),
         "t:1: <file_info>: lacks <generated_locally/>: clients before 6.13.2 try to download this "
         "output file"},
        {OUTPUT,
         "<file_info><name><OUTFILE_0/></name><generated_locally/><upload_when_present/>"
         "<url><UPLOAD_URL/></url></file_info>\n<result>\n</result>",
         "t:1: <file_info>: has no file_ref in <result>: no program can write it"},
        {OUTPUT, GIVES("<generated_locally/><sticky/>"), ""},
        {OUTPUT, GIVES("<generated_locally/><sticky/><url><UPLOAD_URL/></url>"), ""},
        {OUTPUT, GIVES("<generated_locally/><upload_when_present/><url><UPLOAD_URL/></url>"), ""},
        {OUTPUT,
         GIVES("<generated_locally/><upload_when_present/>\n<url>http://x/file_upload_handler</url>"
               "\n<url>http://y/uploads</url>\n"),
         "t:5: <url>: lacks file_upload_handler: clients take it for a URL to download from"},
        {OUTPUT,
         GIVES(
             "<generated_locally/><upload_when_present/><upload_url>http://y/uploads</upload_url>"),
         ""},
        {OUTPUT, GIVES("<generated_locally/><sticky/><max_nbyte>1</max_nbyte>"),
         "t:3: <max_nbyte>: is not known and has no effect here; did you mean <max_nbytes>?"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct text lines = advice_of(*state, rows[i].kind, text_from(rows[i].document));

        assert_text(text_split(&lines, '\n'), rows[i].wanted);
        assert_text(lines, "");
    }
}

static void numbers_of_jobs_are_known(void **state)
{
    for (size_t i = 0; i < parameter_count; i++) {
        struct text document = text_print(*state, "<workunit><%s>1</%s></workunit>",
                                          parameters[i].name, parameters[i].name);
        bool is_told = advice_of(*state, INPUT, document).length > 0;

        if (is_told != ((parameters[i].place & PARAMETER_TEMPLATE) == 0))
            if (strcmp(parameters[i].name, "credit") != 0) /* BOINC's validators read it there */
                fail_msg("%s", parameters[i].name);
    }
}

static void the_table_is_sorted(void **state)
{
    (void)state;
    for (size_t i = 1; i < known_element_count; i++) {
        const struct known_element *before = &known_elements[i - 1], *element = &known_elements[i];

        if (before->context > element->context ||
            (before->context == element->context && strcmp(before->name, element->name) >= 0))
            fail_msg("%s stands before %s", before->name, element->name);
    }
}

/* Each of them: copied as it stands, or read and not copied. */
static void elements_are_copied_once_at_most(void **state)
{
    for (size_t i = 0; i < known_element_count; i++) {
        const struct known_element *known = &known_elements[i];
        bool is_file = known->context == CONTEXT_FILE;
        const struct job_file file = {.name = TEXT("a"), .md5 = "0", .bytes = 1};
        const struct config config = {.download_url = TEXT("http://x/")};
        const struct input_document job = {.config = &config, .files = &file, .file_count = 1};
        struct text element = text_print(*state, "<%s>7</%s>", known->name, known->name);
        struct buffer written = buffer_in(*state);
        struct input_template input;

        if ((!is_file && known->context != CONTEXT_REFERENCE) ||
            text_is(text_from(known->name), "open_name"))
            continue;
        struct text document = text_print(
            *state,
            "<file_info>" TEXT_FORMAT
            "</file_info><workunit><file_ref><open_name>o</open_name>" TEXT_FORMAT
            "</file_ref></workunit>",
            TEXT_ARG(is_file ? element : NO_TEXT), TEXT_ARG(is_file ? NO_TEXT : element));
        if (input_template_read(*state, "t", document, &input, NULL) != STATUS_OK)
            continue; /* 7 is no value of it */
        assert_status(STATUS_OK, input_template_write(&input, &job, &written, NULL));
        if (text_contains(buffer_text(&written), element) != (known->fate == TEMPLATE_COPIED))
            fail_msg("%s: " TEXT_FORMAT, known->name, TEXT_ARG(buffer_text(&written)));
    }
}

static void examples_are_right(void **state)
{
    static const struct {
        enum kind kind;
        const char *path;
    } files[] = {
        {INPUT, "templates/simple_in.xml"},   {INPUT, "templates/several_in.xml"},
        {INPUT, "templates/sticky_in.xml"},   {INPUT, "tools/demo/in.xml"},
        {OUTPUT, "templates/simple_out.xml"}, {OUTPUT, "templates/several_out.xml"},
        {OUTPUT, "templates/none_out.xml"},   {OUTPUT, "tools/demo/out.xml"},
    };

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct text document;

        assert_status(STATUS_OK,
                      file_read(*state, files[i].path, TEMPLATE_BYTES_MAX, &document, NULL));
        assert_text(advice_of(*state, files[i].kind, document), "");
    }
}

static void no_more_lines_than_are_read(void **state)
{
    struct buffer document = buffer_in(*state);
    struct text lines;
    int count = 0;

    buffer_add_string(&document, "<workunit>");
    for (int i = 0; i < 10 * ADVICE_LINES_MAX; i++)
        buffer_add_string(&document, "<delay_bounds/>");
    buffer_add_string(&document, "</workunit>");
    lines = advice_of(*state, INPUT, buffer_text(&document));
    for (; lines.length > 0; count++)
        (void)text_split(&lines, '\n');
    assert_int_equal(count, ADVICE_LINES_MAX);
}

/* The template's number counts; the same number, however it is written, is no news. */
static void what_counts_instead_of_an_option(void **state)
{
    static const struct {
        const char *document, *parameter, *given, *wanted;
    } rows[] = {
        {JOB("<delay_bound>600</delay_bound>"), "delay_bound", "60",
         "t:2: <delay_bound>: 600 counts, not --delay_bound 60\n"},
        {JOB("<delay_bound>600</delay_bound>"), "delay_bound", "600", ""},
        {JOB("<rsc_fpops_est>1e12</rsc_fpops_est>"), "rsc_fpops_est", "1000000000000", ""},
        {JOB("<delay_bound>600</delay_bound>"), "min_quorum", "2", ""},
        {"<file_info><delay_bound>600</delay_bound></file_info>" JOB(""), "delay_bound", "60", ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct template_file file;
        struct buffer lines = buffer_in(*state);

        assert_status(STATUS_OK, template_read(*state, "t", text_from(rows[i].document),
                                               "input_template", &file, NULL));
        input_template_override(&file, rows[i].parameter, text_from(rows[i].given), &lines);
        assert_text(buffer_text(&lines), rows[i].wanted);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_has_no_effect),
        cmocka_unit_test(numbers_of_jobs_are_known),
        cmocka_unit_test(the_table_is_sorted),
        cmocka_unit_test(examples_are_right),
        cmocka_unit_test(elements_are_copied_once_at_most),
        cmocka_unit_test(no_more_lines_than_are_read),
        cmocka_unit_test(what_counts_instead_of_an_option),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
