/* SPDX-License-Identifier: Apache-2.0 */
/* Submission without a database: forms in both encodings however they are cut, what is read of a
 * request, and replies that no client takes for something else. */
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/xml.h"
#include "server/submission/count_pauses.h"
#include "server/submission/form.h"
#include "server/submission/rpc_batch.h"
#include "server/submission/rpc_reply.h"
#include "server/submission/rpc_request.h"
#include "server/submission/spool.h"
#include "server/submission/zip_stream.h"
#include "tests/support/case_arena.h"
#include "tests/support/test.h"

#include "server/base/banned.h"

/* --- forms ------------------------------------------------------------------------------------ */

/* What was told, as "name=value;", a file as "name:value;". */
static struct buffer told;

static enum status begin_field(void *context, struct text name, bool is_file)
{
    (void)context;
    buffer_print(&told, TEXT_FORMAT "%c", TEXT_ARG(name), is_file ? ':' : '=');
    return STATUS_OK;
}

static enum status add_bytes(void *context, struct text bytes)
{
    (void)context;
    buffer_add(&told, bytes);
    return STATUS_OK;
}

static enum status end_field(void *context)
{
    (void)context;
    buffer_add_char(&told, ';');
    return STATUS_OK;
}

static const struct form_taker taker = {.begin = begin_field, .add = add_bytes, .end = end_field};

/* In pieces of so many bytes. */
static enum status read_form(const char *type, struct text body, size_t piece)
{
    struct failure failure = {.status = STATUS_OK};
    struct form form;
    enum status status = form_begin(&form, text_from(type), &taker, &failure);

    told = buffer_in(case_arena);
    while (status == STATUS_OK && body.length > 0) {
        struct text part = text_first(body, piece);

        status = form_add(&form, part);
        body.at += part.length;
        body.length -= part.length;
    }
    return status == STATUS_OK ? form_end(&form) : status;
}

#define URLENCODED "application/x-www-form-urlencoded"
#define MULTIPART  "multipart/form-data; boundary=\"-x\""

static void assert_form(const char *type, const char *body, const char *wanted)
{
    size_t length = text_from(body).length;

    for (size_t piece = 1; piece <= length + 1; piece++) {
        assert_status(STATUS_OK, read_form(type, text_from(body), piece));
        assert_text(buffer_text(&told), wanted);
    }
}

static void a_form_is_read_however_it_is_cut(void **state)
{
    (void)state;
    assert_form(URLENCODED, "request=%3Cping%2F%3E+%2b&other=%C3%BC&&empty=&none",
                "request=<ping/> +;other=\xC3\xBC;empty=;none=;");
    assert_form(URLENCODED "; charset=utf-8", "", "");
    assert_form(
        MULTIPART,
        "before\r\n---x\r\nContent-Disposition: form-data; name=\"request\"\r\n\r\n<a>\r\n--"
        "\r\n---\r\n\r\n---x\r\nContent-Type: x/y\r\ncontent-disposition: form-data; "
        "name=file_0; filename=\"a;\\\"b\"\r\n\r\n\r\n---x--\r\nbehind",
        "request=<a>\r\n--\r\n---\r\n;file_0:;");
    assert_form(MULTIPART, "---x\r\n\r\n---y\r\r\n---x--", "=---y\r;");
}

static void what_is_no_form_is_refused(void **state)
{
    (void)state;
    assert_status(STATUS_INVALID, read_form("text/xml", TEXT("<ping/>"), 9));
    assert_status(STATUS_INVALID, read_form("", TEXT("a=b"), 9));
    assert_status(STATUS_INVALID, read_form(URLENCODED, TEXT("a=%"), 9));
    assert_status(STATUS_INVALID, read_form(URLENCODED, TEXT("a=%4"), 9));
    assert_status(STATUS_INVALID, read_form(URLENCODED, TEXT("a=%4g"), 9));
    assert_status(STATUS_INVALID, read_form("multipart/form-data", TEXT("a"), 9));
    assert_status(STATUS_INVALID, read_form(MULTIPART, TEXT("---x\r\n\r\nabc"), 9));
    assert_status(STATUS_INVALID, read_form(MULTIPART, TEXT("---x\r\n\r\nabc\r\n---x\r\n"), 9));
}

static void a_head_has_a_bound(void **state)
{
    (void)state;
    struct buffer body = buffer_in(case_arena);

    buffer_add_string(&body, "---x\r\n");
    for (int i = 0; i <= FORM_LINE_MAX; i++)
        buffer_add_char(&body, 'a');
    assert_status(STATUS_TOO_LARGE, read_form(MULTIPART, buffer_text(&body), 4096));
}

/* --- requests --------------------------------------------------------------------------------- */

static enum status read_request(const char *document, struct rpc_request *ret_request)
{
    static struct spool spool;
    struct failure failure = {.status = STATUS_OK};
    struct xml_source source;
    enum status status;

    spool_begin(&spool, 1 << 20);
    assert_status(STATUS_OK, spool_add(&spool, text_from(document), &failure));
    source = spool_source(&spool);
    status = rpc_request_read(&source, case_arena, ret_request, &failure);
    spool_end(&spool);
    return status;
}

static void what_stands_below_the_root_is_read(void **state)
{
    (void)state;
    struct rpc_request request;

    assert_status(
        STATUS_OK,
        read_request("<abort_jobs><authenticator>k</authenticator><x>1</x>"
                     "<job_name>a &amp; b</job_name><job_name> c </job_name>"
                     "<authenticator>l</authenticator><batch><batch_id>5</batch_id></batch>"
                     "</abort_jobs>",
                     &request));
    assert_text(request.command, "abort_jobs");
    assert_text(request.authenticator, "k");
    assert_i64((int64_t)request.job_names.count, 2);
    assert_text(request.job_names.items[0], "a & b");
    assert_text(request.job_names.items[1], " c ");
    assert_i64((int64_t)request.batch_id.length, 0);
    assert_text(rpc_first(&request.batch_names), "");
}

/* As BOINC's C++ clients of before April 2018 do. Of another command that is not understood. */
static void a_batch_may_be_created_with_an_element_more(void **state)
{
    struct rpc_request request;

    (void)state;
    assert_status(STATUS_OK,
                  read_request("<create_batch>\n   <authenticator>k</authenticator>\n"
                               "      <batch>\n         <batch_name>b</batch_name>\n"
                               "         <app_name>a</app_name>\n"
                               "         <expire_time>5.000000</expire_time>\n      </batch>\n"
                               "</create_batch>\n",
                               &request));
    assert_text(request.authenticator, "k");
    assert_text(rpc_first(&request.batch_names), "b");
    assert_text(request.app_name, "a");
    assert_text(request.expire_time, "5.000000");
    assert_status(STATUS_OK, read_request("<create_batch><batch><x><app_name>a</app_name></x>"
                                          "</batch><app_name>c</app_name></create_batch>",
                                          &request));
    assert_text(request.app_name, "c");
}

static void what_is_no_request_is_refused(void **state)
{
    (void)state;
    struct rpc_request request;

    assert_status(STATUS_INVALID, read_request("ping", &request));
    assert_status(STATUS_INVALID, read_request("<ping>", &request));
    assert_status(STATUS_INVALID, read_request("<!DOCTYPE a []><ping/>", &request));
    assert_status(STATUS_INVALID, read_request("<ping>&x;</ping>", &request));
}

static void a_request_has_bounds(void **state)
{
    (void)state;
    static struct spool spool;
    struct failure failure = {.status = STATUS_OK};
    struct rpc_request request;
    struct buffer document = buffer_in(case_arena);

    buffer_add_string(&document, "<ping><app_name>");
    for (int i = 0; i <= RPC_TEXT_MAX; i++)
        buffer_add_char(&document, 'a');
    buffer_add_string(&document, "</app_name></ping>");
    assert_status(STATUS_TOO_LARGE,
                  read_request(text_string(case_arena, buffer_text(&document)), &request));
    spool_begin(&spool, 3);
    assert_status(STATUS_OK, spool_add(&spool, TEXT("abc"), &failure));
    assert_status(STATUS_TOO_LARGE, spool_add(&spool, TEXT("d"), &failure));
    spool_end(&spool);
}

/* --- batches ---------------------------------------------------------------------------------- */

static struct buffer jobs_told;

static enum status tell_job(void *context, const struct wanted_job *job)
{
    (void)context;
    buffer_print(
        &jobs_told, "[" TEXT_FORMAT "|" TEXT_FORMAT "|%g|%d:%d|" TEXT_FORMAT "|" TEXT_FORMAT,
        TEXT_ARG(job->name), TEXT_ARG(job->command_line), job->rsc_fpops_est, job->has_priority,
        (int)job->priority, TEXT_ARG(job->input_template), TEXT_ARG(job->output_template));
    for (size_t i = 0; i < job->file_count; i++)
        buffer_print(&jobs_told, "|" TEXT_FORMAT "," TEXT_FORMAT "," TEXT_FORMAT "," TEXT_FORMAT,
                     TEXT_ARG(job->files[i].mode), TEXT_ARG(job->files[i].source),
                     TEXT_ARG(job->files[i].url), TEXT_ARG(job->files[i].md5));
    buffer_print(&jobs_told, "%s]", job->has_target ? "|target" : "");
    return STATUS_OK;
}

static enum status read_batch(const char *document, struct wanted_batch *ret_wanted)
{
    static struct spool spool;
    struct failure failure = {.status = STATUS_OK};
    struct rpc_batch_jobs jobs = {.spool = &spool, .failure = &failure};
    enum status status;

    jobs_told = buffer_in(case_arena);
    spool_begin(&spool, 1 << 20);
    assert_status(STATUS_OK, spool_add(&spool, text_from(document), &failure));
    status = rpc_batch_read(&spool, case_arena, ret_wanted, &failure);
    if (status == STATUS_OK)
        status = rpc_batch_walk(&jobs, tell_job, NULL);
    spool_end(&spool);
    return status;
}

static void a_batch_is_read_in_any_order(void **state)
{
    (void)state;
    struct wanted_batch wanted;

    assert_status(
        STATUS_OK,
        read_batch(
            "<submit_batch><app_name>no</app_name><batch><job><rsc_fpops_est>3e9"
            "</rsc_fpops_est><name>a</name><input_file><source>x &lt;y&gt;</source><mode>inline"
            "</mode></input_file><input_file><mode>remote</mode><url>u</url><md5>m</md5>"
            "<nbytes>5.000000</nbytes></input_file></job><app_name>demo</app_name><batch_id>7.0"
            "</batch_id><priority/><allocation_priority/><job_params><rsc_fpops_est>4"
            "</rsc_fpops_est><delay_bound>0.000000</delay_bound></job_params><job>"
            "<command_line>--b </command_line><priority>2</priority><target_host>1"
            "</target_host><output_template a='b'><result/> <x>&amp;1</x></output_template>"
            "</job><job/></batch><batch><app_name>other</app_name></batch></submit_batch>",
            &wanted));
    assert_text(wanted.app_name, "demo");
    assert_i64(wanted.batch.id, 7);
    assert_true(wanted.has_share && wanted.has_priority);
    assert_i64(wanted.priority, 0);
    assert_real(wanted.rsc_fpops_est, 4, 0);
    assert_real(wanted.delay_bound, 0, 0);
    assert_text(
        buffer_text(&jobs_told),
        "[a||3e+09|0:0|||inline,x <y>,,|remote,,u,m][|--b |0|1:2||<output_template><result/> "
        "<x>&amp;1</x></output_template>|target][||0|0:0||]");
}

static void numbers_of_a_batch_that_are_none_are_refused(void **state)
{
    (void)state;
    struct wanted_batch wanted;

    assert_status(STATUS_INVALID,
                  read_batch("<a><batch><batch_id>7x</batch_id></batch></a>", &wanted));
    assert_status(
        STATUS_INVALID,
        read_batch("<a><batch><job><priority>high</priority></job></batch></a>", &wanted));
    assert_status(STATUS_INVALID,
                  read_batch("<a><batch><job_params><delay_bound>nan</delay_bound></job_params>"
                             "</batch></a>",
                             &wanted));
}

/* Some clients escape nothing: without an error, jobs would compute on a part of what was meant. */
static void a_value_with_elements_in_it_is_refused(void **state)
{
    static const char *const documents[] = {
        "<a><batch><app_name>work<b/></app_name></batch></a>",
        "<a><batch><job_params><delay_bound>5<b/></delay_bound></job_params></batch></a>",
        "<a><batch><job><command_line>--tag <b>1</b></command_line></job></batch></a>",
        "<a><batch><job><input_file><source><b>1</b></source></input_file></job></batch></a>",
    };
    struct wanted_batch wanted;
    struct rpc_request request;

    (void)state;
    for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++)
        assert_status(STATUS_INVALID, read_batch(documents[i], &wanted));
    assert_status(
        STATUS_INVALID,
        read_request("<create_batch><batch_name>a<b/>c</batch_name></create_batch>", &request));
    assert_status(STATUS_OK,
                  read_batch("<a><batch><job><input_file><source><![CDATA[<b>1</b>]]><!-- c -->"
                             "</source></input_file></job></batch></a>",
                             &wanted));
    assert_true(text_contains(buffer_text(&jobs_told), TEXT(",<b>1</b>,")));
}

static void number_0_is_no_target(void **state)
{
    struct wanted_batch wanted;

    (void)state;
    assert_status(STATUS_OK,
                  read_batch("<a><batch><job><target_team>0</target_team><target_user/>"
                             "<target_host> 0 </target_host></job><job><target_user>7</target_user>"
                             "<target_host>0</target_host></job></batch></a>",
                             &wanted));
    assert_text(buffer_text(&jobs_told), "[||0|0:0||][||0|0:0|||target]");
    assert_status(
        STATUS_INVALID,
        read_batch("<a><batch><job><target_user>bob</target_user></job></batch></a>", &wanted));
}

static void a_job_has_its_bound_of_files(void **state)
{
    (void)state;
    struct wanted_batch wanted;
    struct buffer document = buffer_in(case_arena);

    buffer_add_string(&document, "<a><batch><job>");
    for (int i = 0; i < SUBMITTED_FILES_MAX; i++)
        buffer_add_string(&document, "<input_file/>");
    buffer_add_string(&document, "</job></batch></a>");
    assert_status(STATUS_OK, read_batch(text_string(case_arena, buffer_text(&document)), &wanted));
    document.length -= text_from("</job></batch></a>").length;
    buffer_add_string(&document, "<input_file/></job></batch></a>");
    assert_status(STATUS_TOO_LARGE,
                  read_batch(text_string(case_arena, buffer_text(&document)), &wanted));
}

/* --- replies ---------------------------------------------------------------------------------- */

static struct buffer sent;

static void keep_sent(void *context, struct text bytes)
{
    (void)context;
    buffer_add(&sent, bytes);
}

static void assert_is_whole(void)
{
    const struct xml_limits limits = {
        .bytes_max = 1 << 24, .depth_max = 9, .elements_max = 1000000};
    const struct xml_handler handler = {.context = NULL};
    struct failure failure = {.status = STATUS_OK};

    assert_status(STATUS_OK, xml_walk(buffer_text(&sent), &limits, &handler, &failure));
}

static void begin_reply(struct rpc_reply *reply, const char *root)
{
    sent = buffer_in(case_arena);
    rpc_reply_begin(reply, text_from(root), keep_sent, NULL);
}

static void a_failure_has_its_number_where_every_client_looks(void **state)
{
    (void)state;
    struct rpc_reply reply;

    begin_reply(&reply, "query_batch");
    rpc_add_integer(&reply, "id", 1);
    rpc_reply_end(&reply, -1, TEXT("no <such> batch"));
    assert_is_whole();
    assert_false(text_contains(buffer_text(&sent), TEXT("<id>")));
    assert_true(
        text_contains(buffer_text(&sent), TEXT("<query_batch>\n<error>\n    <error_num>-1<")));
    assert_true(text_contains(buffer_text(&sent), TEXT("no &lt;such&gt; batch")));
    begin_reply(&reply, "");
    rpc_reply_end(&reply, -138, TEXT("away"));
    assert_is_whole();
    assert_true(text_contains(buffer_text(&sent), TEXT("<error>\n    <error_num>-138<")));
    assert_true(
        text_contains(buffer_text(&sent), TEXT("</error_msg>\n<error>\n    <error_num>-138")));
}

static void a_failure_in_the_middle_stands_at_the_end(void **state)
{
    (void)state;
    struct rpc_reply reply;

    begin_reply(&reply, "query_batch");
    for (int i = 0; i < 10000; i++) {
        rpc_add_open(&reply, "job");
        rpc_add_close(&reply, "job");
    }
    assert_true(sent.length > 0);
    rpc_reply_end(&reply, -1, TEXT("it broke"));
    assert_is_whole();
    assert_true(text_contains(buffer_text(&sent), TEXT("<error_num>-1</error_num>")));
}

static void every_text_can_stand_in_a_reply(void **state)
{
    (void)state;
    struct rpc_reply reply;

    begin_reply(&reply, "query_batch");
    rpc_add_text(&reply, "name",
                 TEXT("<&>\"' \xC3\xBC \xFF \xC3 \x01 \xEF\xBF\xBF \xED\xA0\x80\r\n\t]]>"));
    rpc_reply_end(&reply, 0, NO_TEXT);
    assert_is_whole();
    assert_true(text_contains(buffer_text(&sent), TEXT("&lt;&amp;&gt;\"' \xC3\xBC ? ? ? ? ?")));
}

/* --- archives --------------------------------------------------------------------------------- */

static void a_checksum_goes_on_where_it_stopped(void **state)
{
    (void)state;
    assert_int_equal(crc32_of(0, TEXT("123456789")), 0xCBF43926U);
    assert_int_equal(crc32_of(crc32_of(0, TEXT("1234")), TEXT("56789")), 0xCBF43926U);
    assert_int_equal(crc32_of(0, NO_TEXT), 0);
}

static void an_archive_without_files_has_an_end(void **state)
{
    (void)state;
    static struct spool list;
    struct zip_stream zip;
    struct failure failure = {.status = STATUS_OK};

    sent = buffer_in(case_arena);
    zip_stream_begin(&zip, &list, keep_sent, NULL);
    assert_status(STATUS_OK, zip_stream_end(&zip, &failure));
    assert_i64((int64_t)sent.length, 22);
    assert_true(text_starts(buffer_text(&sent), TEXT("PK\5\6")));
}

/* --- how rarely is counted -------------------------------------------------------------------- */

static void counting_takes_a_twentieth_of_the_time_at_most(void **state)
{
    static struct count_pauses pauses = {.lock = PTHREAD_MUTEX_INITIALIZER};
    const int64_t batch = 7, other = batch + 1, same_place = batch + COUNT_PAUSES_MOST;
    (void)state;

    assert_true(count_pauses_is_over(&pauses, batch, 1000));
    count_pauses_begin(&pauses, batch, 0.04, 1000); /* no pause is worth it */
    assert_true(count_pauses_is_over(&pauses, batch, 1000));
    count_pauses_begin(&pauses, batch, 1, 1000);
    assert_false(count_pauses_is_over(&pauses, batch, 1018.9));
    assert_true(count_pauses_is_over(&pauses, batch, 1019.1));
    assert_true(count_pauses_is_over(&pauses, other, 1000));
    assert_true(count_pauses_is_over(&pauses, same_place, 1000));
    count_pauses_begin(&pauses, same_place, 1, 1000); /* the last is known */
    assert_false(count_pauses_is_over(&pauses, same_place, 1000));
    assert_true(count_pauses_is_over(&pauses, batch, 1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counting_takes_a_twentieth_of_the_time_at_most),
        cmocka_unit_test_setup_teardown(a_form_is_read_however_it_is_cut, case_arena_setup,
                                        case_arena_teardown),
        cmocka_unit_test_setup_teardown(what_is_no_form_is_refused, case_arena_setup,
                                        case_arena_teardown),
        cmocka_unit_test_setup_teardown(a_head_has_a_bound, case_arena_setup, case_arena_teardown),
        cmocka_unit_test_setup_teardown(a_batch_may_be_created_with_an_element_more,
                                        case_arena_setup, case_arena_teardown),
        cmocka_unit_test_setup_teardown(what_stands_below_the_root_is_read, case_arena_setup,
                                        case_arena_teardown),
        cmocka_unit_test_setup_teardown(what_is_no_request_is_refused, case_arena_setup,
                                        case_arena_teardown),
        cmocka_unit_test_setup_teardown(a_request_has_bounds, case_arena_setup,
                                        case_arena_teardown),
        cmocka_unit_test_setup_teardown(a_batch_is_read_in_any_order, case_arena_setup,
                                        case_arena_teardown),
        cmocka_unit_test_setup_teardown(numbers_of_a_batch_that_are_none_are_refused,
                                        case_arena_setup, case_arena_teardown),
        cmocka_unit_test_setup_teardown(a_value_with_elements_in_it_is_refused, case_arena_setup,
                                        case_arena_teardown),
        cmocka_unit_test_setup_teardown(number_0_is_no_target, case_arena_setup,
                                        case_arena_teardown),
        cmocka_unit_test_setup_teardown(a_job_has_its_bound_of_files, case_arena_setup,
                                        case_arena_teardown),
        cmocka_unit_test_setup_teardown(a_failure_has_its_number_where_every_client_looks,
                                        case_arena_setup, case_arena_teardown),
        cmocka_unit_test_setup_teardown(a_failure_in_the_middle_stands_at_the_end, case_arena_setup,
                                        case_arena_teardown),
        cmocka_unit_test_setup_teardown(a_checksum_goes_on_where_it_stopped, case_arena_setup,
                                        case_arena_teardown),
        cmocka_unit_test_setup_teardown(an_archive_without_files_has_an_end, case_arena_setup,
                                        case_arena_teardown),
        cmocka_unit_test_setup_teardown(every_text_can_stand_in_a_reply, case_arena_setup,
                                        case_arena_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
