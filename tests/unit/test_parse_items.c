/* SPDX-License-Identifier: Apache-2.0 */
/* server/parse: lists and their entries, and elements that are handed on as they are. */
#include "server/parse/parse.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/xml.h"
#include "tests/support/requests.h"
#include "tests/support/test.h"

#include <stdlib.h>

#include "server/base/banned.h"

#define REQUEST(inner) "<scheduler_request>\n" inner "\n</scheduler_request>\n"
#define HOST(inner)    REQUEST("<host_info>\n" inner "\n</host_info>")

static void the_primary_platform_comes_first(void **state)
{
    struct parsed *parsed =
        parse_accepted(REQUEST("<alt_platform><name>b</name></alt_platform>\n"
                               "<alt_platform></alt_platform>\n<platform_name>a</platform_name>"));

    (void)state;
    assert_int_equal(parsed->message.platform_count, 2);
    assert_text(parsed->message.platforms[0], "a");
    assert_text(parsed->message.platforms[1], "b");
    assert_int_equal(parsed->message.elements_dropped, 1);
    parsed_free(parsed);
    parsed = parse_accepted(REQUEST("<alt_platform><name>b</name></alt_platform>"));
    assert_int_equal(parsed->message.platform_count, 1);
    assert_text(parsed->message.platforms[0], "b");
    parsed_free(parsed);
}

static void unreadable_app_versions_keep_their_place(void **state)
{
    struct parsed *parsed = parse_accepted(REQUEST(
        "<app_versions>\n<app_version>\n<app_name>a</app_name>\n</app_version>\n"
        "<app_version>\n<avg_ncpus>-1</avg_ncpus>\n</app_version>\n"
        "<app_verXion>\n<app_name>b</app_name>\n</app_version>\n"
        "<app_version>\n<app_name>c</app_name>\n"
        "<app_version>\n<app_name>d</app_name>\n<coproc>\n<type>CUDA</type>\n<count>0.5</count>\n"
        "</coproc>\n</app_version>\n</app_versions>"));
    const struct message *message = &parsed->message;

    (void)state;
    assert_int_equal(message->app_version_count, 5);
    assert_text(message->app_versions[0].app_name, "a");
    assert_true(message->app_versions[1].is_placeholder);
    assert_real(message->app_versions[1].avg_ncpus, 1, 0);
    assert_true(message->app_versions[2].is_placeholder);
    assert_text(message->app_versions[3].app_name, "c");
    assert_text(message->app_versions[4].app_name, "d");
    assert_text(message->app_versions[4].coproc_type, "NVIDIA");
    assert_real(message->app_versions[4].coproc_count, 0.5, 0);
    assert_false(message->app_versions[4].is_placeholder);
    parsed_free(parsed);
}

static void coprocessor_types_are_unique_and_bounded(void **state)
{
    char body[20000] = "<scheduler_request><coprocs><coproc_cuda><count>1</count></coproc_cuda>"
                       "<coproc_cuda><count>2</count></coproc_cuda>"
                       "<coproc><type>NVIDIA</type><count>3</count></coproc>"
                       "<coproc><count>3</count></coproc>"
                       "<coproc_intel><type>x</type></coproc_intel>";
    size_t length = strlen(body);

    (void)state;
    for (int i = 0; i < 200; i++)
        length += (size_t)snprintf(body + length, sizeof body - length,
                                   "<coproc><type>t%d</type></coproc>", i);
    snprintf(body + length, sizeof body - length, "</coprocs></scheduler_request>");
    struct parsed *parsed = parse_accepted(body);
    const struct message *message = &parsed->message;
    assert_int_equal(message->coproc_count, MESSAGE_COPROCS_MAX);
    assert_real(message->coprocs[0].count, 1, 0);
    assert_text(message->coprocs[0].type, "NVIDIA");
    assert_true(message->coprocs[0].has_cuda);
    assert_text(message->coprocs[1].type, "intel_gpu");
    assert_text(message->coprocs[2].type, "t0");
    assert_int_equal(message->elements_dropped, 3 + 200 - (MESSAGE_COPROCS_MAX - 2));
    parsed_free(parsed);
}

static void reads_old_opencl_names(void **state)
{
    struct parsed *parsed = parse_accepted(
        REQUEST("<coprocs><coproc_cuda><have_cuda>0</have_cuda><coproc_opencl>\n<name>x</name>\n"
                "<dp_fp_config>63</dp_fp_config><hp_fp_config>1</hp_fp_config>\n"
                "<global_RAM>18446744073709551615</global_RAM><local_RAM>5</local_RAM>\n"
                "</coproc_opencl></coproc_cuda></coprocs>"));
    const struct opencl_properties *opencl = &parsed->message.coprocs[0].opencl;

    (void)state;
    assert_false(parsed->message.coprocs[0].has_cuda);
    assert_text(opencl->name, "x");
    assert_text(parsed->message.coprocs[0].name, "");
    assert_real(opencl->double_fp_config, 63, 0);
    assert_real(opencl->half_fp_config, 1, 0);
    assert_real(opencl->global_mem_size, 18446744073709551615.0, 1);
    assert_real(opencl->local_mem_size, 5, 0);
    parsed_free(parsed);
}

static void keeps_the_first_results_and_says_so(void **state)
{
    static const char body[] = REQUEST("<result>\n</result>\n<result>\n<name>a</name>\n</result>\n"
                                       "<result>\n<name>b</name>\n</result>\n"
                                       "<result>\n<name>c</name>\n</result>");
    struct parse_limits limits = {.results_max = 2, .depth_max = 20};
    struct parsed *parsed = parse_within(text_from(body), &limits, 1 << 20);

    (void)state;
    assert_status(STATUS_OK, parsed->status);
    assert_int_equal(parsed->message.result_count, 2);
    assert_text(parsed->message.results[1].name, "b");
    assert_int_equal(parsed->message.results_left, 1);
    parsed_free(parsed);
    limits.results_max = 3;
    parsed = parse_within(text_from(body), &limits, 1 << 20);
    assert_int_equal(parsed->message.result_count, 3);
    assert_int_equal(parsed->message.results_left, 0);
    assert_int_equal(parsed->message.elements_dropped, 1);
    parsed_free(parsed);
    limits.results_max = 0;
    parsed = parse_within(text_from(body), &limits, 1 << 20);
    assert_int_equal(parsed->message.result_count, 0);
    assert_int_equal(parsed->message.results_left, 3);
    parsed_free(parsed);
}

static void a_full_arena_is_too_large(void **state)
{
    static const struct parse_limits limits = {.results_max = 100000, .depth_max = 20};
    struct text body = capture_read("092");
    size_t refused = 0;

    (void)state;
    for (size_t memory = 1024; memory < 400000; memory += 10000) {
        struct parsed *parsed = parse_within(body, &limits, memory);

        if (parsed->status != STATUS_OK)
            assert_status(STATUS_TOO_LARGE, parsed->status);
        refused += parsed->status == STATUS_TOO_LARGE;
        parsed_free(parsed);
    }
    assert_true(refused > 0 && refused < 39);
    text_free(body);
}

/* --- raw elements ----------------------------------------------------------------------------- */

static void reads_raw_output_of_any_kind(void **state)
{
    static const struct {
        const char *between, *wanted;
    } outputs[] = {
        {"<stderr_out></stderr_out>", ""},
        {"<stderr_out/>", ""},
        {"<stderr_out>x</stderr_out>", "x"},
        {"<stderr_out>\n<![CDATA[\na ]]> b </stderr_out> </result>\nc\n]]>\n</stderr_out>",
         "\n<![CDATA[\na ]]> b </stderr_out> </result>\nc\n]]>\n"},
        {"<stderr_out>\n<![CDATA[\n</stderr_out>\n<result>\n<name>fake</name>\n]]>\n</stderr_out>",
         "\n<![CDATA[\n</stderr_out>\n<result>\n<name>fake</name>\n]]>\n"},
        {"<stderr_out>\nraw <stderr_txt> </result> <result> <name>fake</name>\n</stderr_out>",
         "\nraw <stderr_txt> </result> <result> <name>fake</name>\n"},
        {"<stderr_out>\n<![CDATA[\n\x01\x1b[31m\xff\xfe & < > &#200; ]] >\n]]>\n</stderr_out>",
         "\n<![CDATA[\n\x01\x1b[31m\xff\xfe & < > &#200; ]] >\n]]>\n"},
        {"<stderr_out>\n<!-- not closed\n</stderr_out>", "\n<!-- not closed\n"},
    };
    char body[1024];

    (void)state;
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        snprintf(body, sizeof body,
                 REQUEST("<result>\n<name>a</name>\n%s\n<exit_status>3</exit_status>\n</result>\n"
                         "<result>\n<name>b</name>\n<stderr_out>\n<![CDATA[\nb\n]]>\n</stderr_out>"
                         "\n</result>\n<other_results>\n</other_results>"),
                 outputs[i].between);
        struct parsed *parsed = parse_accepted(body);
        assert_text(parsed->message.results[0].stderr_out, outputs[i].wanted);
        assert_i64(parsed->message.results[0].exit_status, 3);
        assert_int_equal(parsed->message.result_count, 2);
        assert_text(parsed->message.results[1].stderr_out, "\n<![CDATA[\nb\n]]>\n");
        assert_true(parsed->message.has_other_results);
        parsed_free(parsed);
    }
}

static void output_without_end_costs_only_itself(void **state)
{
    static const char *const bodies[] = {
        REQUEST("<result>\n<name>a</name>\n<stderr_out>\n<![CDATA[\nlost\n]]>\n</result>\n"
                "<result>\n<name>b</name>\n<stderr_out>\nb\n</stderr_out>\n</result>\n"
                "<other_results>\n</other_results>"),
        REQUEST("<result>\n<name>a</name>\n<stderr_out>\n<![CDATA[\nlost\n</result>\n"
                "<result>\n<name>b</name>\n<stderr_out>\nb\n</stderr_out>\n</result>\n"
                "<other_results>\n</other_results>"),
        REQUEST("<result>\n<name>a</name>\n<stderr_out>\nlost\n"
                "<result>\n<name>b</name>\n<stderr_out>\nb\n</stderr_out>\n</result>\n"
                "<other_results>\n</other_results>"),
        REQUEST("<result><name>b</name><stderr_out>\nb\n</stderr_out></result>\n"
                "<result><name>a</name><stderr_out>lost</result>\n"
                "<other_results>\n</other_results>"),
        REQUEST("<result><name>a</name><stderr_out>lost</result>"
                "<result><name>b</name><stderr_out>\nb\n</stderr_out></result>"
                "<other_results></other_results>"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        struct parsed *parsed = parse_accepted(bodies[i]);
        const struct reported_result *results = parsed->message.results;
        size_t b = i == 3 ? 0 : 1;

        if (parsed->message.result_count != 2 || !text_is(results[b].name, "b") ||
            !text_is(results[1 - b].name, "a") || !text_is(results[b].stderr_out, "\nb\n") ||
            results[1 - b].stderr_out.length > 0 || !parsed->message.has_other_results)
            fail_msg("case %zu: %zu results", i, parsed->message.result_count);
        assert_true(parsed->message.elements_dropped > 0);
        parsed_free(parsed);
    }
}

static void texts_of_raw_elements_are_slices_of_the_body(void **state)
{
    struct text body = capture_read("092");
    struct arena *arena = arena_create(1 << 20);
    struct parse_limits limits = {.results_max = 1000, .depth_max = 20};
    struct message message;
    struct failure failure = {0};

    (void)state;
    assert_status(STATUS_OK, parse_request(body, &limits, arena, &message, &failure));
    for (size_t i = 0; i < message.result_count; i++)
        assert_in_range((uintptr_t)message.results[i].stderr_out.at, (uintptr_t)body.at,
                        (uintptr_t)(body.at + body.length));
    arena_destroy(arena);
    text_free(body);
}

/* Takes the text out of the buffer. */
static struct parsed *parse_buffer(struct buffer *body)
{
    struct parsed *parsed;

    buffer_add_char(body, '\0');
    parsed = parse_accepted(buffer_text(body).at);
    buffer_free(body);
    return parsed;
}

static void skips_unknown_elements_whole(void **state)
{
    struct buffer body = buffer_on_heap(0);
    struct parsed *parsed;

    (void)state;
    buffer_add_string(&body, "<scheduler_request>\n<hostid>1</hostid>\n<opaque>\n"
                             "<hostid>2</hostid><opaque><hostid>3</hostid></opaque>"
                             "<!-- </opaque> --><![CDATA[ </opaque> ");
    for (int i = 0; i < 100000; i++)
        buffer_add_char(&body, '<');
    buffer_add_string(&body, "]]></opaque>\n<rpc_seqno>4</rpc_seqno>\n<lost>\n"
                             "<client_brand>b</client_brand>\n</scheduler_request>");
    parsed = parse_buffer(&body);
    assert_i64(parsed->message.hostid, 1);
    assert_i64(parsed->message.rpc_seqno, 4);
    assert_text(parsed->message.client_brand, "b");
    parsed_free(parsed);
}

static void reads_an_opaque_text_of_any_length(void **state)
{
    struct buffer body = buffer_on_heap(0);
    struct parsed *parsed;

    (void)state;
    buffer_add_string(&body, "<scheduler_request>\n<client_opaque>\n<![CDATA[\n"
                             "</client_opaque><hostid>9</hostid>");
    for (int i = 0; i < 4000; i++)
        buffer_print(&body, "<result><name>x%d</name>\n", i);
    buffer_add_string(&body, "\n]]>\n</client_opaque>\n<hostid>5</hostid>\n</scheduler_request>");
    parsed = parse_buffer(&body);
    assert_i64(parsed->message.hostid, 5);
    assert_int_equal(parsed->message.result_count, 0);
    assert_true(parsed->message.client_opaque.length > 90000);
    parsed_free(parsed);
}

static void keeps_preferences_verbatim(void **state)
{
    struct parsed *parsed = parse_accepted(REQUEST(
        "<global_preferences>\n<global_preferences>\n<a b='1'>\n<!-- & --><venue name=\"x\">\n"
        "</global_preferences>\n</global_preferences>\n<hostid>3</hostid>\n"
        "<working_global_preferences>\n<global_preferences>\n<max_ncpus_pct>50</max_ncpus_pct>\n"
        "</global_preferences>\n</working_global_preferences>"));

    (void)state;
    assert_text(parsed->message.global_preferences,
                "\n<global_preferences>\n<a b='1'>\n<!-- & --><venue name=\"x\">\n");
    assert_text(parsed->message.working_global_preferences,
                "\n<max_ncpus_pct>50</max_ncpus_pct>\n");
    assert_i64(parsed->message.hostid, 3);
    parsed_free(parsed);

    /* A damaged copy does not take the preferences in force with it. */
    parsed = parse_accepted(REQUEST(
        "<global_preferences>\n<max_ncpus_pct>5\n"
        "<working_global_preferences>\n<global_preferences>\n<max_ncpus_pct>50</max_ncpus_pct>\n"
        "</global_preferences>\n</working_global_preferences>"));
    assert_false(parsed->message.has_global_preferences);
    assert_text(parsed->message.working_global_preferences,
                "\n<max_ncpus_pct>50</max_ncpus_pct>\n");
    parsed_free(parsed);
}

static void joins_files_that_stand_apart(void **state)
{
    struct parsed *parsed = parse_accepted(
        REQUEST("<result>\n<file_info>\n<name>a</name>\n</file_info>\n<name>job</name>\n"
                "<file_info>b</file_info>\n</result>\n<file_info><name>c</name></file_info>"));

    (void)state;
    assert_text(parsed->message.results[0].xml_doc_out,
                "<file_info>\n<name>a</name>\n</file_info><file_info>b</file_info>");
    assert_int_equal(parsed->message.file_count, 1);
    assert_text(parsed->message.files[0].name, "c");
    parsed_free(parsed);
}

static void reads_trickles(void **state)
{
    struct parsed *parsed = parse_accepted(
        REQUEST("<msg_from_host>\n<result_name>r</result_name>\n<time>1</time>\n"
                "  <variety>v</variety>\n<scheduler_request><result>\n</msg_from_host>\n"
                "<msg_from_host>\nlost\n"
                "<msg_from_host>\nbare\n</msg_from_host>"));
    const struct message *message = &parsed->message;

    (void)state;
    assert_int_equal(message->trickle_count, 2);
    assert_text(message->trickles[0].variety, "v");
    assert_text(message->trickles[0].result_name, "r");
    assert_text(message->trickles[0].xml, "\n<result_name>r</result_name>\n<time>1</time>\n"
                                          "<scheduler_request><result>\n");
    assert_text(message->trickles[1].xml, "\nbare\n");
    assert_text(message->trickles[1].variety, "");
    assert_int_equal(message->elements_dropped, 1);
    parsed_free(parsed);
}

/* Passed over, it would be sent again for ever, or forgotten with the others that are acknowledged.
 */
static void a_long_trickle_is_one(void **state)
{
    static const char start[] = "<scheduler_request>\n<msg_from_host>\n<variety>v</variety>\n",
                      end[] = "</msg_from_host>\n</scheduler_request>\n";
    static char body[400000];
    size_t length = sizeof body - sizeof end;
    struct parsed *parsed;

    (void)state;
    memset(body, 'x', length);
    memcpy(body, start, sizeof start - 1);
    memcpy(body + length, end, sizeof end);
    parsed = parse_accepted(body);
    assert_int_equal(parsed->message.trickle_count, 1);
    assert_int_equal(parsed->message.trickles[0].xml.length, length - (sizeof start - 1) + 1);
    assert_int_equal(parsed->message.elements_dropped, 0);
    parsed_free(parsed);
}

static void a_lost_end_of_the_host_spares_the_results(void **state)
{
    struct parsed *parsed = parse_accepted(
        REQUEST("<host_info>\n<p_ncpus>4</p_ncpus>\n<disk_usage>\n"
                "<d_boinc_used_total>5</d_boinc_used_total>\n<result>\n<name>a</name>\n</result>\n"
                "<other_results>\n<other_result>\n<name>b</name>\n<app_versions>\n<app_version>\n"
                "<app_name>c</app_name>\n</app_version>\n</app_versions>"));
    const struct message *message = &parsed->message;

    (void)state;
    assert_i64(message->p_ncpus, 4);
    assert_real(message->d_boinc_used_total, 5, 0);
    assert_text(message->results[0].name, "a");
    assert_text(message->other_results[0].name, "b");
    assert_text(message->app_versions[0].app_name, "c");
    parsed_free(parsed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_primary_platform_comes_first),
        cmocka_unit_test(unreadable_app_versions_keep_their_place),
        cmocka_unit_test(coprocessor_types_are_unique_and_bounded),
        cmocka_unit_test(reads_old_opencl_names),
        cmocka_unit_test(keeps_the_first_results_and_says_so),
        cmocka_unit_test(a_full_arena_is_too_large),
        cmocka_unit_test(reads_raw_output_of_any_kind),
        cmocka_unit_test(output_without_end_costs_only_itself),
        cmocka_unit_test(texts_of_raw_elements_are_slices_of_the_body),
        cmocka_unit_test(skips_unknown_elements_whole),
        cmocka_unit_test(reads_an_opaque_text_of_any_length),
        cmocka_unit_test(keeps_preferences_verbatim),
        cmocka_unit_test(joins_files_that_stand_apart),
        cmocka_unit_test(reads_trickles),
        cmocka_unit_test(a_long_trickle_is_one),
        cmocka_unit_test(a_lost_end_of_the_host_spares_the_results),
    };

    xml_startup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
