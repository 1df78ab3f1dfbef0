/* SPDX-License-Identifier: Apache-2.0 */
/* Templates: the worked examples give the documents that clients understand, and every mistake is
 * reported with its line and element. */
#include "tests/support/test.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/crypto.h"
#include "server/base/file.h"
#include "server/submit/template_input.h"
#include "server/submit/template_output.h"

#include <string.h>

#include "server/base/banned.h"

static const struct output_options with_certificates = {
    .upload_url = {"http://x/cgi/file_upload_handler", 32}, .certificates = true};

static int setup(void **state)
{
    *state = arena_create(64 << 20);
    return *state == NULL;
}

static int teardown(void **state)
{
    arena_destroy(*state);
    return 0;
}

/* --- every mistake with its line ----------------------------------------------------------- */

struct mistake {
    const char *wanted; /* the whole message */
    const char *document;
};

#define IN(inside)       "<file_info>\n</file_info>\n<workunit>\n" inside "\n</workunit>\n"
#define REFERENCE        "<file_ref><open_name>in</open_name></file_ref>"
#define WITH_FILE(child) "<file_info>\n" child "\n</file_info>\n<workunit>" REFERENCE "</workunit>"

static const struct mistake input_mistakes[] = {
    {"t:5: <rsc_fpops_est>: not a number", IN(REFERENCE "\n<rsc_fpops_est>3e</rsc_fpops_est>")},
    {"t:5: <rsc_fpops_est>: 0 is not between 1 and 1e+30",
     IN(REFERENCE "\n<rsc_fpops_est>0</rsc_fpops_est>")},
    {"t:5: <delay_bound>: not a whole number", IN(REFERENCE "\n<delay_bound>1.5</delay_bound>")},
    {"t:5: <max_delay>: not a number", IN(REFERENCE "\n<max_delay>a day</max_delay>")},
    {"t:5: <max_delay>: 0 is not between 1 and 2147483647",
     IN(REFERENCE "\n<max_delay>0.000000</max_delay>")},
    {"t:5: <max_delay>: 3000000000 is not between 1 and 2147483647",
     IN(REFERENCE "\n<max_delay>3e9</max_delay>")},
    {"t:5: <rsc_memory_bound>: not closed before </workunit> in line 6",
     IN(REFERENCE "\n<rsc_memory_bound>5")},
    {"t:2: <priority>: 6 is not between 1 and 5", WITH_FILE("<priority>6</priority>")},
    {"t:2: <priority>: 0 is not between 1 and 5", WITH_FILE("<priority>0</priority>")},
    {"t:2: <priority>: not a whole number", WITH_FILE("<priority>high</priority>")},
    {"t:2: <exp_days>: -1 is not between 0 and 36500", WITH_FILE("<exp_days>-1</exp_days>")},
    {"t:2: <priority>: opened again in line 2 before it was closed; the end tag needs a slash",
     WITH_FILE("<priority>3<priority>")},
    {"t:2: <exp_days>: opened again in line 3 before it was closed; the end tag needs a slash",
     WITH_FILE("<exp_days>9\n<exp_days>")},
    {"t:2: <physical_name>: the file name begins with a dot",
     WITH_FILE("<physical_name>../x</physical_name>")},
    {"t:1: <file_info>: nbytes needs a url next to it", WITH_FILE("<nbytes>5</nbytes>")},
    {"t:1: <file_info>: nbytes needs md5_cksum next to it",
     WITH_FILE("<nbytes>5</nbytes><url>http://x/</url>")},
    {"t:2: <md5_cksum>: not 32 hex digits",
     WITH_FILE("<nbytes>5</nbytes><url>http://x/</url><md5_cksum>00</md5_cksum>")},
    {"t:4: <file_ref>: needs an open_name, or copy_file", IN("<file_ref></file_ref>")},
    {"t:4: <open_name>: the name contains two dots in a row",
     IN("<file_ref><open_name>a/../b</open_name></file_ref>")},
    {"t:5: <file_ref>: there are only 1 file_info elements", IN(REFERENCE "\n" REFERENCE)},
    {"t:1: <file_info>: has no file_ref in <workunit>", IN("")},
    {"t:1: <job>: only file_info and workunit are allowed here", "<job></job>"},
    {"t:2: <workunit>: there may be only one", "<workunit></workunit>\n<workunit></workunit>"},
    {"t:2: <file_info>: must stand before <workunit>",
     "<workunit></workunit>\n<file_info></file_info>"},
    {"t: no <workunit> in it", "<file_info></file_info>"},
    {"t: no element in it", "<!-- nothing -->\n"},
    {"t:3: <workunit>: not closed", "<!-- two\nlines --><!-- -->\n<workunit>"},
    {"t:2: <!-- open: comment without end", "\n<!-- open"},
    {"t:1: &lt;workunit: text outside of all elements", "&lt;workunit"},
    {"t:1: workunit: closes what was not opened", "</workunit>"},
    {"t:2: b: text between elements", "<workunit><a/>\nb</workunit>"},
    {"t:1: <workunit name=\"x\">: not a tag that a template may have (plain names only, no "
     "attributes; write &lt; for <)",
     "<workunit name=\"x\"></workunit>"},
    {"t:2: <workunit>: stands behind </input_template>",
     "<input_template></input_template>\n<workunit></workunit>"},
    {"t:1: <workunit: tag without '>'", "<workunit"},
    {"t:1: <>: tag without a name", "<>"},
    {"t:2: <md5_cksum>: not 32 lower-case hex digits",
     WITH_FILE("<nbytes>5</nbytes><url>http://x/</url>"
               "<md5_cksum>0CC175B9C0F1B6A831C399E269772661</md5_cksum>")},
    {"t:2: <url>: the URL is empty",
     WITH_FILE(
         "<url></url><nbytes>5</nbytes><md5_cksum>0cc175b9c0f1b6a831c399e269772661</md5_cksum>")},
    {"t:2: <url>: the URL is empty", WITH_FILE("<url/>")},
    {"t:3: <url>: the URL contains a blank or a control character (write %20 for a blank)",
     WITH_FILE("<url>http://x/</url>\n<url>http://x/a b/</url>")},
    {"t:2: <url>: the URL does not begin with http:// or https://", WITH_FILE("<url>x</url>")},
    {"t:3: <delay_bound>: not a whole number",
     "<?xml version=\"1.0\"?>\n<workunit>\n<delay_bound>864000.000001</delay_bound></workunit>"},
    {"t:2: <?xml: declaration without end", "\n<?xml"},
    {"t:2: <?a?>: not a tag that a template may have (plain names only, no attributes; write &lt; "
     "for "
     "<)",
     "<workunit>\n<?a?></workunit>"},
    {"t:2: <gzip>: 2 is not between 0 and 1", WITH_FILE("<gzip>2</gzip>")},
    {"t:1: i: nested too deeply", "<a><b><c><d><e><f><g><h><i>"},
};

#define OUT(inside) "<file_info>\n" inside "\n</file_info>\n<result>\n</result>\n"

static const struct mistake output_mistakes[] = {
    {"t:1: <file_info>: needs a <name>, such as <name><OUTFILE_0/></name>",
     OUT("<max_nbytes>5</max_nbytes>")},
    {"t:1: <file_info>: needs max_nbytes: its upload certificate covers it",
     OUT("<name><OUTFILE_0/></name>")},
    {"t:2: <max_nbytes>: not a number", OUT("<max_nbytes>big</max_nbytes><name>a</name>")},
    {"t:2: <priority>: 9 is not between 1 and 5",
     OUT("<priority>9</priority><name>a</name><max_nbytes>5</max_nbytes>")},
    {"t:2: <exp_days>: not a number",
     OUT("<exp_days>x</exp_days><name>a</name><max_nbytes>5</max_nbytes>")},
    {"t:2: <url>: the URL is empty", OUT("<url></url><name>a</name><max_nbytes>5</max_nbytes>")},
    {"t:3: <name>: the file name contains a blank",
     OUT("<max_nbytes>5</max_nbytes>\n<name><OUTFILE_0/> log</name>")},
    {"t:2: <name>: the file name contains one of the characters \" ' < > & ?",
     OUT("<name><OUTFILE_0/>&amp;</name><max_nbytes>5</max_nbytes>")},
    {"t:4: <open_name>: the name is empty",
     "<file_info><name>a</name><max_nbytes>5</max_nbytes></file_info>\n<result>\n<file_ref>\n"
     "<open_name></open_name><file_name>a</file_name></file_ref></result>"},
    {"t: no <result> in it", "<file_info><name>a</name><max_nbytes>5</max_nbytes></file_info>"},
    {"t:2: <file_name>: no file_info has this name",
     "<result>\n<file_ref><file_name><OUTFILE_0/></file_name></file_ref></result>"},
    {"t:3: <file_ref>: needs an open_name, or copy_file",
     "<file_info><name>a</name><max_nbytes>5</max_nbytes></file_info>\n<result>\n"
     "<file_ref><file_name>a</file_name></file_ref></result>"},
    {"t:2: <file_ref>: needs a <file_name>", "<result>\n<file_ref></file_ref></result>"},
    {"t:2: <result>: nothing is allowed behind </result>", "<result></result>\n<result></result>"},
    {"t:1: <workunit>: only file_info and result are allowed here", "<workunit/>"},
};

static void assert_failure(const struct failure *failure, const struct mistake *mistake)
{
    if (strcmp(failure->text, mistake->wanted) != 0)
        fail_msg("for\n%s\ngot    \"%s\"\nwanted \"%s\"", mistake->document, failure->text,
                 mistake->wanted);
}

static void input_mistakes_name_line_and_element(void **state)
{
    for (size_t i = 0; i < sizeof input_mistakes / sizeof input_mistakes[0]; i++) {
        struct failure failure = {.status = STATUS_OK};
        struct input_template input;
        assert_status(STATUS_INVALID,
                      input_template_read(*state, "t", text_from(input_mistakes[i].document),
                                          &input, &failure));
        assert_failure(&failure, &input_mistakes[i]);
    }
}

static void output_mistakes_name_line_and_element(void **state)
{
    for (size_t i = 0; i < sizeof output_mistakes / sizeof output_mistakes[0]; i++) {
        struct failure failure = {.status = STATUS_OK};
        struct output_template output;
        assert_status(STATUS_INVALID,
                      output_template_read(*state, "t", text_from(output_mistakes[i].document),
                                           &with_certificates, &output, &failure));
        assert_failure(&failure, &output_mistakes[i]);
    }
}

/* A head, so many pieces and a tail. */
static struct text repeated(struct arena *arena, const char *head, int count, const char *piece,
                            const char *tail)
{
    struct buffer buffer = buffer_in(arena);
    buffer_add_string(&buffer, head);
    for (int i = 0; i < count; i++)
        buffer_add_string(&buffer, piece);
    buffer_add_string(&buffer, tail);
    return buffer_text(&buffer);
}

static void too_much_is_refused(void **state)
{
    static const char info[] = "<file_info><name>a</name><max_nbytes>5</max_nbytes></file_info>";
    enum { FILES = 1001, PLACEHOLDERS = 6000 };
    struct failure failure = {.status = STATUS_OK};
    struct input_template input;
    struct output_template output;
    struct text long_one = repeated(*state, "", TEMPLATE_BYTES_MAX + 1, " ", "");
    assert_status(STATUS_TOO_LARGE, input_template_read(*state, "t", long_one, &input, &failure));
    assert_non_null(strstr(failure.text, "t: a template has at most"));
    failure = (struct failure){.status = STATUS_OK};
    assert_status(STATUS_INVALID,
                  input_template_read(*state, "t", (struct text){"<a/>\0", 5}, &input, &failure));
    assert_string_equal(failure.text, "t: contains a NUL byte");
    failure = (struct failure){.status = STATUS_OK};
    assert_status(STATUS_INVALID,
                  input_template_read(*state, "t",
                                      repeated(*state, "", FILES, "<file_info></file_info>",
                                               "<workunit></workunit>"),
                                      &input, &failure));
    assert_non_null(strstr(failure.text, "<file_info>: more than"));
    failure = (struct failure){.status = STATUS_OK};
    assert_status(STATUS_INVALID,
                  output_template_read(*state, "t", repeated(*state, "", FILES, info, "<result/>"),
                                       &with_certificates, &output, &failure));
    assert_non_null(strstr(failure.text, "<file_info>: more than"));
    failure = (struct failure){.status = STATUS_OK};
    assert_status(STATUS_TOO_LARGE,
                  output_template_read(*state, "t",
                                       repeated(*state, "<result><a>", PLACEHOLDERS,
                                                "<OUTFILE_0/> ", "</a></result>"),
                                       &with_certificates, &output, &failure));
    assert_string_equal(failure.text, "t: too many placeholders");
}

static void upload_url_must_be_configured(void **state)
{
    struct failure failure = {.status = STATUS_OK};
    struct output_options options = {.certificates = false};
    struct output_template output;
    const char *document = "<file_info><name><OUTFILE_0/></name>\n<url><UPLOAD_URL/></url>"
                           "</file_info><result></result>";
    assert_status(STATUS_INVALID, output_template_read(*state, "t", text_from(document), &options,
                                                       &output, &failure));
    assert_string_equal(failure.text, "t:2: <url>: config.xml has no upload_url to put here");
}

static void templates_with_urls_of_their_own_do_not_use_the_projects(void **state)
{
    static const struct {
        const char *url;
        bool is_used;
    } rows[] = {{"<url><UPLOAD_URL/></url>", true},
                {"<url>http://y/file_upload_handler</url>", false},
                {"<url>http://y/file_upload_handler</url><url><UPLOAD_URL/></url>", true},
                {"<upload_url>http://y/</upload_url>", false}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct text document = text_print(*state,
                                          "<file_info><name><OUTFILE_0/></name><max_nbytes>1"
                                          "</max_nbytes>%s</file_info><result></result>",
                                          rows[i].url);
        struct output_template output;
        struct failure failure = {.status = STATUS_OK};

        assert_status(STATUS_OK, output_template_read(*state, "t", document, &with_certificates,
                                                      &output, &failure));
        assert_true(output.uses_upload_url == rows[i].is_used);
    }
}

/* --- what is written ------------------------------------------------------------------------ */

static struct text load(struct arena *arena, const char *name)
{
    struct text text;
    struct failure failure = {.status = STATUS_OK};
    assert_status(STATUS_OK, file_read(arena, name, TEMPLATE_BYTES_MAX, &text, &failure));
    return text;
}

static struct text write_input(struct arena *arena, struct text template,
                               struct input_document document)
{
    struct failure failure = {.status = STATUS_OK};
    struct input_template input;
    struct config config = {.download_url = TEXT("http://x/download/"), .uldl_dir_fanout = 1024};
    struct buffer buffer = buffer_in(arena);
    document.config = &config;
    assert_status(STATUS_OK, input_template_read(arena, "t", template, &input, &failure));
    assert_status(STATUS_OK, input_template_write(&input, &document, &buffer, &failure));
    return buffer_text(&buffer);
}

static const struct job_file file_a = {
    .name = {"a", 1}, .md5 = "0cc175b9c0f1b6a831c399e269772661", .bytes = 7};

static void simple_input(void **state)
{
    struct text document =
        write_input(*state, load(*state, "templates/simple_in.xml"),
                    (struct input_document){
                        .files = &file_a, .file_count = 1, .command_line = TEXT("--fast <x>")});
    assert_text(document, "<file_info>\n"
                          "    <name>a</name>\n"
                          "    <url>http://x/download/1b9/a</url>\n"
                          "    <md5_cksum>0cc175b9c0f1b6a831c399e269772661</md5_cksum>\n"
                          "    <nbytes>7</nbytes>\n"
                          "</file_info>\n"
                          "<workunit>\n"
                          "    <command_line>\n"
                          "--fast &lt;x&gt;\n"
                          "    </command_line>\n"
                          "    <file_ref>\n"
                          "        <file_name>a</file_name>\n"
                          "        <open_name>in</open_name>\n"
                          "    </file_ref>\n"
                          "</workunit>");
}

static void template_numbers_win(void **state)
{
    struct failure failure = {.status = STATUS_OK};
    struct input_template input;
    struct job_parameters values;
    parameters_default(&values);
    values.delay_bound = 5;
    values.priority = 9;
    assert_status(STATUS_OK,
                  input_template_read(*state, "t", load(*state, "templates/simple_in.xml"), &input,
                                      &failure));
    assert_status(STATUS_OK, input_template_parameters(&input, &values, &failure));
    assert_i64(values.delay_bound, 604800);
    assert_i64(values.priority, 9);
    assert_real(values.rsc_fpops_bound, 3.6e14, 0);
    assert_i64(values.max_total_results, 5);
    assert_i64(values.size_class, -1);
}

/* With a byte order mark, a declaration, and whole numbers as programs print real ones. */
static void a_document_of_another_program_is_read(void **state)
{
    struct failure failure = {.status = STATUS_OK};
    struct input_template input;
    struct job_parameters values;
    parameters_default(&values);
    assert_status(STATUS_OK,
                  input_template_read(
                      *state, "t",
                      TEXT("<?xml version=\"1.0\"?>\r\n<!-- -->\r\n"
                           "<input_template>\r\n<file_info><priority>3.0</priority></file_info>"
                           "<workunit>\r\n<file_ref><open_name>in</open_name></file_ref>"
                           "<delay_bound>"
                           "864000.000000</delay_bound>\r\n<min_quorum>1.</min_quorum>"
                           "\r\n</workunit>\r\n</input_template>\r\n"),
                      &input, &failure));
    assert_status(STATUS_OK, input_template_parameters(&input, &values, &failure));
    assert_i64(values.delay_bound, 864000);
    assert_i64(values.min_quorum, 1);
}

/* As the pages for science apps write them: the deadline that was given there holds. */
static void a_template_of_a_science_app_has_its_deadline(void **state)
{
    static const struct {
        const char *elements;
        int64_t delay_bound;
    } cases[] = {
        {"<max_delay>302400.000000</max_delay>", 302400},
        {"<max_delay>10666.666667</max_delay>", 10667},
        {"<max_delay>0.5</max_delay>", 1},
        {"<max_delay>5</max_delay><delay_bound>7</delay_bound>", 7},
        {"<delay_bound>7</delay_bound><max_delay>5</max_delay>", 7},
        {"", 604800},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct input_template input;
        struct job_parameters values;
        struct text document =
            text_print(*state,
                       "<file_info>\n<no_delete/>\n</file_info>\n<workunit>\n"
                       "<file_ref>\n<open_name>seq.fa</open_name>\n<copy_file/>\n</file_ref>\n"
                       "<min_quorum>1</min_quorum>\n<target_nresults>1</target_nresults>\n"
                       "<max_error_results>2</max_error_results>\n<max_total_results>3"
                       "</max_total_results>\n<max_success_results>3</max_success_results>\n"
                       "%s\n<buda_app_name>fold1</buda_app_name>\n</workunit>\n",
                       cases[i].elements);

        parameters_default(&values);
        assert_status(STATUS_OK, input_template_read(*state, "t", document, &input, NULL));
        assert_status(STATUS_OK, input_template_parameters(&input, &values, NULL));
        assert_i64(values.delay_bound, cases[i].delay_bound);
        assert_i64(values.max_total_results, 3);
    }
}

static void sticky_file_keeps_its_attributes(void **state)
{
    const struct job_file files[] = {{.name = TEXT("reference_data_1")}, file_a};
    struct text template = load(*state, "templates/sticky_in.xml");
    struct text plain =
        write_input(*state, template, (struct input_document){.files = files, .file_count = 2});
    struct text with_lifetime = write_input(
        *state, template,
        (struct input_document){.files = files, .file_count = 2, .sticky_lifetime = true});
    struct text of_no_days = write_input(
        *state,
        TEXT("<file_info><sticky/><exp_days>0</exp_days></file_info>"
             "<workunit><file_ref><open_name>in</open_name></file_ref></workunit>"),
        (struct input_document){.files = &file_a, .file_count = 1, .sticky_lifetime = true});
    assert_true(text_starts(plain, TEXT("<file_info>\n    <sticky/>\n    <priority>5</priority>\n"
                                        "    <exp_days>90</exp_days>\n"
                                        "    <name>reference_data_1</name>\n")));
    assert_false(text_contains(plain, TEXT("physical_name")));
    assert_false(text_contains(plain, TEXT("sticky_lifetime")));
    assert_true(text_contains(with_lifetime, TEXT("<sticky_lifetime>7776000</sticky_lifetime>")));
    assert_true(text_contains(of_no_days, TEXT("<sticky_lifetime>1</sticky_lifetime>")));
    assert_true(
        text_contains(plain, TEXT("<command_line>--reference reference --in in</command_line>")));
}

static void several_files(void **state)
{
    struct job_file files[] = {file_a, file_a, file_a};
    files[1].gzipped_bytes = 3;
    struct text document = write_input(*state, load(*state, "templates/several_in.xml"),
                                       (struct input_document){.files = files, .file_count = 3});
    assert_true(text_contains(document, TEXT("    <gzipped_url>http://x/download/1b9/a.gz"
                                             "</gzipped_url>\n")));
    assert_true(text_contains(document, TEXT("    <gzipped_nbytes>3</gzipped_nbytes>\n")));
    assert_true(
        text_contains(document, TEXT("    <url>https://mirror.example.org/data/a</url>\n")));
    assert_true(text_contains(document, TEXT("        <copy_file/>\n")));
    assert_false(text_contains(document, TEXT("min_quorum")));
}

/* A comment is no part of what stands around it; a file that is copied needs no other name; and
 * what else an element holds goes with it. */
static void what_an_example_does_not_have(void **state)
{
    struct text document = write_input(
        *state,
        TEXT("<file_info></file_info><workunit><command_line>--fast<!-- not <x> --> --far"
             "<!-- a --></command_line><file_ref><copy_file/><optional/></file_ref></workunit>"),
        (struct input_document){
            .files = &file_a, .file_count = 1, .sub_appname = TEXT("sub & app")});
    assert_true(text_contains(document, TEXT("<command_line>--fast --far</command_line>")));
    assert_true(text_contains(document, TEXT("        <open_name>a</open_name>\n"
                                             "        <copy_file/>\n"
                                             "        <optional/>\n")));
    assert_true(text_contains(document, TEXT("    <sub_appname>sub &amp; app</sub_appname>\n")));
}

static void command_line_only_once(void **state)
{
    struct failure failure = {.status = STATUS_OK};
    struct config config = {.uldl_dir_fanout = 0};
    const struct job_file files[] = {file_a, file_a};
    struct input_template input;
    struct input_document document = {
        .config = &config, .files = files, .file_count = 2, .command_line = TEXT("-x")};
    struct buffer buffer = buffer_in(*state);
    assert_status(STATUS_OK,
                  input_template_read(*state, "t", load(*state, "templates/sticky_in.xml"), &input,
                                      &failure));
    assert_status(STATUS_INVALID, input_template_write(&input, &document, &buffer, &failure));
    assert_non_null(strstr(failure.text, "command_line"));
    memset(&failure, 0, sizeof failure);
    document.file_count = 1;
    assert_status(STATUS_INVALID, input_template_write(&input, &document, &buffer, &failure));
    assert_string_equal(failure.text, "t: has 2 files, given: 1");
}

static void document_is_bounded(void **state)
{
    struct failure failure = {.status = STATUS_OK};
    struct config config = {.uldl_dir_fanout = 0};
    char *line = arena_alloc(*state, JOB_DOCUMENT_MAX);
    struct input_template input;
    struct buffer buffer = buffer_in(*state);
    memset(line, 'x', JOB_DOCUMENT_MAX);
    struct input_document document = {.config = &config, .command_line = {line, JOB_DOCUMENT_MAX}};
    assert_status(STATUS_OK, input_template_read(*state, "t", TEXT("<workunit></workunit>"), &input,
                                                 &failure));
    assert_status(STATUS_TOO_LARGE, input_template_write(&input, &document, &buffer, &failure));
}

static void parameters_fit_each_other(void **state)
{
    struct failure failure = {.status = STATUS_OK};
    struct job_parameters values;
    (void)state;
    parameters_default(&values);
    values.target_nresults = 3;
    values.max_success_results = values.max_total_results = 1;
    assert_status(STATUS_OK, parameters_check(&values, "t", &failure));
    assert_i64(values.max_success_results, 3); /* raised */
    assert_i64(values.max_total_results, 3);
    values.max_error_results = 4;
    assert_status(STATUS_INVALID, parameters_check(&values, "t", &failure));
    assert_string_equal(failure.text,
                        "t: max_error_results (4) must not be above max_total_results (3)");
}

/* Each row: what is given, 0 for nothing, and what all are then. */
static void numbers_that_nobody_gave_follow_the_others(void **state)
{
    static const struct {
        int64_t quorum, target, total, errors, successes;
        int64_t target_is, total_is, errors_are, successes_are;
    } cases[] = {{1, 0, 0, 0, 0, 1, 5, 3, 5},
                 {1, 2, 0, 0, 0, 2, 6, 3, 6},
                 {2, 0, 0, 0, 0, 2, 6, 3, 6},
                 {1, 0, 2, 0, 0, 1, 2, 2, 2},
                 {1, 0, 1, 0, 0, 1, 1, 1, 1},
                 {1, 0, 0, 9, 0, 1, 9, 9, 9},
                 {1, 0, 0, 0, 8, 1, 8, 3, 8},
                 {3, 4, 10, 7, 6, 4, 10, 7, 6},
                 {1, 3, 2, 0, 0, 3, 3, 3, 3},
                 {1, 3, 0, 0, 2, 3, 7, 3, 3},
                 {1000, 0, 0, 0, 0, 1000, 1004, 3, 1004}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct failure failure = {.status = STATUS_OK};
        struct job_parameters values;

        parameters_default(&values);
        values.min_quorum = cases[i].quorum;
        values.target_nresults = cases[i].target;
        values.max_total_results = cases[i].total;
        values.max_error_results = cases[i].errors;
        values.max_success_results = cases[i].successes;
        assert_status(STATUS_OK, parameters_check(&values, "t", &failure));
        assert_i64(values.target_nresults, cases[i].target_is);
        assert_i64(values.max_total_results, cases[i].total_is);
        assert_i64(values.max_error_results, cases[i].errors_are);
        assert_i64(values.max_success_results, cases[i].successes_are);
    }
}

/* A bound below the estimate ends every job before it is done. */
static void a_job_may_take_longer_than_estimated(void **state)
{
    struct failure failure = {.status = STATUS_OK};
    struct input_template input;
    struct job_parameters values;

    parameters_default(&values);
    values.rsc_fpops_est = 1e16;
    assert_status(STATUS_OK, parameters_check(&values, "t", &failure));
    assert_real(values.rsc_fpops_bound, 2.4e17, 0);
    values.rsc_fpops_bound = 1e16;
    assert_status(STATUS_OK, parameters_check(&values, "t", &failure));
    values.rsc_fpops_bound = 0.99e16;
    assert_status(STATUS_INVALID, parameters_check(&values, "t", &failure));
    assert_non_null(strstr(failure.text, "t: rsc_fpops_est (1e+16) must not be above"));
    parameters_default(&values);
    values.rsc_fpops_est = 1e30; /* the most that there is */
    assert_status(STATUS_OK, parameters_check(&values, "t", &failure));
    assert_real(values.rsc_fpops_bound, 1e30, 0);
    assert_status(STATUS_OK, input_template_read(
                                 *state, "t",
                                 TEXT("<workunit><rsc_fpops_bound>9</rsc_fpops_bound></workunit>"),
                                 &input, &failure));
    assert_status(STATUS_INVALID,
                  input_template_read(*state, "t",
                                      TEXT("<workunit><rsc_fpops_bound>9</rsc_fpops_bound>"
                                           "<rsc_fpops_est>10</rsc_fpops_est></workunit>"),
                                      &input, &failure));
}

/* A host gets one instance of a job, so nothing can come after that. */
static void a_job_for_one_host_has_one_instance(void **state)
{
    struct failure failure = {.status = STATUS_OK};
    struct job_parameters values;

    (void)state;
    parameters_default(&values);
    values.max_total_results = 5;
    assert_status(STATUS_OK, parameters_for_one_host(&values, "t", &failure));
    assert_i64(values.max_total_results, 1);
    assert_i64(values.max_error_results, 1);
    assert_i64(values.max_success_results, 1);
    values.target_nresults = 2;
    assert_status(STATUS_INVALID, parameters_for_one_host(&values, "t", &failure));
}

static void standards_lie_in_their_ranges(void **state)
{
    (void)state;
    for (size_t i = 0; i < parameter_count; i++) {
        assert_true(parameters[i].standard == PARAMETER_FOLLOWS ||
                    parameters[i].standard >= parameters[i].minimum);
        assert_true(parameters[i].standard <= parameters[i].maximum);
        assert_true(strlen(parameters[i].help) > 10);
        assert_true(i == 0 || strcmp(parameters[i - 1].name, parameters[i].name) < 0);
    }
}

static void output_without_certificates(void **state)
{
    struct failure failure = {.status = STATUS_OK};
    struct output_options options = with_certificates;
    struct output_template output;
    struct buffer buffer = buffer_in(*state);
    options.certificates = false;
    assert_status(STATUS_OK,
                  output_template_read(*state, "t", load(*state, "templates/simple_out.xml"),
                                       &options, &output, &failure));
    assert_status(STATUS_OK, output_template_write(&output, *state, TEXT("wu_0"), 123, NULL,
                                                   &buffer, &failure));
    assert_text(buffer_text(&buffer), "<file_info>\n"
                                      "    <name>wu_0_r123_0</name>\n"
                                      "    <generated_locally/>\n"
                                      "    <upload_when_present/>\n"
                                      "    <max_nbytes>1000000</max_nbytes>\n"
                                      "    <url>http://x/cgi/file_upload_handler</url>\n"
                                      "</file_info>\n"
                                      "<result>\n"
                                      "    <file_ref>\n"
                                      "        <file_name>wu_0_r123_0</file_name>\n"
                                      "        <open_name>out</open_name>\n"
                                      "    </file_ref>\n"
                                      "</result>");
}

static void sticky_output_keeps_its_attributes(void **state)
{
    struct output_options options = with_certificates;
    struct output_template output;
    struct failure failure = {.status = STATUS_OK};

    options.certificates = false;
    for (int lifetime = 0; lifetime < 2; lifetime++) {
        struct buffer buffer = buffer_in(*state);

        options.sticky_lifetime = lifetime == 1;
        assert_status(STATUS_OK,
                      output_template_read(*state, "t", load(*state, "templates/several_out.xml"),
                                           &options, &output, &failure));
        assert_status(STATUS_OK, output_template_write(&output, *state, TEXT("wu_0"), 1, NULL,
                                                       &buffer, &failure));
        assert_true(text_contains(buffer_text(&buffer), TEXT("    <sticky/>\n"
                                                             "    <priority>3</priority>\n"
                                                             "    <exp_days>30</exp_days>\n")));
        assert_int_equal(
            text_contains(buffer_text(&buffer), TEXT("<sticky_lifetime>2592000</sticky_lifetime>")),
            lifetime);
    }
}

/* The upload handler rebuilds the string from name and max_nbytes and checks it. */
static void certificates_verify(void **state)
{
    struct failure failure = {.status = STATUS_OK};
    struct rsa_key_texts keys;
    struct output_template output;
    struct buffer buffer = buffer_in(*state);
    char md5[MD5_HEX_SIZE];
    struct rsa_signer *signer;
    assert_status(STATUS_OK, rsa_generate(*state, &keys, &failure));
    assert_status(STATUS_OK, rsa_signer_create(keys.private_key, &signer, &failure));
    assert_status(STATUS_OK,
                  output_template_read(*state, "t", load(*state, "templates/several_out.xml"),
                                       &with_certificates, &output, &failure));
    assert_int_equal(output.file_count, 2);
    assert_status(STATUS_OK, output_template_write(&output, *state, TEXT("wu_7"), 5, signer,
                                                   &buffer, &failure));
    rsa_signer_destroy(signer);
    struct text rest = buffer_text(&buffer);
    static const char *const claims[] = {"<name>wu_7_r5_0</name><max_nbytes>5000000</max_nbytes>",
                                         "<name>wu_7_r5_1</name><max_nbytes>1000000</max_nbytes>"};
    for (int i = 0; i < 2; i++) {
        struct text opener = TEXT("<xml_signature>\n");
        size_t at = text_find(rest, opener) + opener.length;
        assert_true(at < rest.length);
        rest = (struct text){rest.at + at, rest.length - at};
        struct text signature = text_first(rest, text_find(rest, TEXT("    </xml_signature>")));
        assert_true(text_ends(signature, TEXT("\n.\n")));
        md5_hex(text_from(claims[i]), NO_TEXT, md5);
        assert_status(STATUS_OK, rsa_verify_md5(keys.public_key, md5, signature, &failure));
        md5_hex(text_from(claims[1 - i]), NO_TEXT, md5);
        assert_status(STATUS_INVALID, rsa_verify_md5(keys.public_key, md5, signature, NULL));
    }
}

static void all_examples_are_readable(void **state)
{
    static const char *const in[] = {"templates/simple_in.xml", "templates/sticky_in.xml",
                                     "templates/several_in.xml"};
    static const char *const out[] = {"templates/simple_out.xml", "templates/several_out.xml",
                                      "templates/none_out.xml"};
    for (size_t i = 0; i < 3; i++) {
        struct failure failure = {.status = STATUS_OK};
        struct input_template input;
        struct output_template output;
        assert_status(STATUS_OK,
                      input_template_read(*state, in[i], load(*state, in[i]), &input, &failure));
        assert_status(STATUS_OK, output_template_read(*state, out[i], load(*state, out[i]),
                                                      &with_certificates, &output, &failure));
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(input_mistakes_name_line_and_element),
        CASE(output_mistakes_name_line_and_element),
        CASE(too_much_is_refused),
        CASE(upload_url_must_be_configured),
        CASE(templates_with_urls_of_their_own_do_not_use_the_projects),
        CASE(simple_input),
        CASE(template_numbers_win),
        CASE(a_job_may_take_longer_than_estimated),
        CASE(a_document_of_another_program_is_read),
        CASE(a_template_of_a_science_app_has_its_deadline),
        CASE(sticky_file_keeps_its_attributes),
        CASE(several_files),
        CASE(what_an_example_does_not_have),
        CASE(command_line_only_once),
        CASE(document_is_bounded),
        CASE(parameters_fit_each_other),
        CASE(numbers_that_nobody_gave_follow_the_others),
        CASE(a_job_for_one_host_has_one_instance),
        CASE(standards_lie_in_their_ranges),
        CASE(output_without_certificates),
        CASE(sticky_output_keeps_its_attributes),
        CASE(certificates_verify),
        CASE(all_examples_are_readable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
