/* SPDX-License-Identifier: Apache-2.0 */
/* server/parse: the notations, spellings and oddities of requests, one by one. */
#include "server/parse/parse.h"

#include "server/base/arena.h"
#include "server/base/xml.h"
#include "server/parse/values.h"

#include "tests/support/requests.h"
#include "tests/support/test.h"

#include <stdlib.h>

#include "server/base/banned.h"

#define REQUEST(inner) "<scheduler_request>\n" inner "\n</scheduler_request>\n"
#define HOST(inner)    REQUEST("<host_info>\n" inner "\n</host_info>")

static struct parsed *accepted(const char *body)
{
    struct parsed *parsed = parse_string(body);

    if (parsed->status != STATUS_OK)
        fail_msg("%s: %s", body, parsed->failure.text);
    return parsed;
}

static void assert_domain_name(const char *body, const char *wanted)
{
    struct parsed *parsed = accepted(body);

    assert_text(parsed->message.domain_name, wanted);
    parsed_free(parsed);
}

/* ---- what is a request at all */

static void refuses_what_is_no_complete_request(void **state)
{
    static const char *const bodies[] = {
        "",
        " \n",
        "x",
        "<",
        "<scheduler_request>",
        "</scheduler_request>",
        "<scheduler_request>\n<hostid>1</hostid>\n",
        "junk <scheduler_request></scheduler_request>",
        "<scheduler_request/>",
        "<scheduler_reply></scheduler_reply>",
        "<scheduler_requests></scheduler_request>",
        "<!DOCTYPE scheduler_request><scheduler_request></scheduler_request>",
        "<!-- hello --><scheduler_request></scheduler_request>",
        "<?xml <scheduler_request></scheduler_request>",
        "<scheduler_request><stderr_out>a</scheduler_request> and more",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        struct parsed *parsed = parse_string(bodies[i]);

        if (parsed->status != STATUS_INVALID || parsed->failure.text[0] == '\0')
            fail_msg("\"%s\": %s", bodies[i], status_word(parsed->status));
        parsed_free(parsed);
    }
}

static void accepts_a_declaration_and_white_space(void **state)
{
    (void)state;
    assert_domain_name("\r\n <?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n" HOST(
                           "<domain_name>a</domain_name>") "\n\n ",
                       "a");
}

static void ends_at_a_nul_byte(void **state)
{
    static const char whole[] = REQUEST("<hostid>7</hostid>") "\0<junk>";
    static const char cut[] = "<scheduler_request><hostid>7</hostid>\0</scheduler_request>";
    struct parsed *parsed = parse_body((struct text){whole, sizeof whole - 1});

    (void)state;
    assert_status(STATUS_OK, parsed->status);
    assert_i64(parsed->message.hostid, 7);
    parsed_free(parsed);
    parsed = parse_body((struct text){cut, sizeof cut - 1});
    assert_status(STATUS_INVALID, parsed->status);
    parsed_free(parsed);
}

static void says_nothing_by_default(void **state)
{
    struct parsed *parsed = accepted(REQUEST(""));
    const struct message *message = &parsed->message;

    (void)state;
    assert_real(message->resource_share_fraction, 1, 0);
    assert_i64(message->allow_multiple_clients, -1);
    assert_i64(message->sandbox, -1);
    assert_i64(message->p_ncpus, 1);
    assert_false(message->has_other_results || message->has_ip_results ||
                 message->has_resource_request || message->has_working_global_preferences ||
                 message->has_on_frac || message->has_disk_usage || message->has_project_disk_free);
    assert_i64(message_client_version(message), 0);
    assert_int_equal(message->elements_dropped, 0);
    parsed_free(parsed);
}

/* ---- values */

static void reads_integers_as_boinc_does(void **state)
{
    static const struct {
        const char *text;
        int64_t wanted;
    } readable[] = {
        {"0", 0},     {"", 0},       {" 12 \n", 12}, {"-5", -5},
        {"0x10", 16}, {"0Xff", 255}, {"010", 10},    {"9223372036854775807", INT64_MAX},
        {"+3", 3},
    };
    static const char *const unreadable[] = {
        "1.0", "1e3", "0x", "0xg", "9223372036854775808", "0x10000000000000000",
        "--1", "1 2", "one"};
    int64_t number;

    (void)state;
    for (size_t i = 0; i < sizeof readable / sizeof readable[0]; i++) {
        number = 99;
        assert_true(value_integer(text_from(readable[i].text), &number));
        assert_i64(number, readable[i].wanted);
    }
    for (size_t i = 0; i < sizeof unreadable / sizeof unreadable[0]; i++) {
        number = 99;
        if (value_integer(text_from(unreadable[i]), &number))
            fail_msg("%s is an integer", unreadable[i]);
        assert_i64(number, 99);
    }
}

static void reads_only_finite_reals(void **state)
{
    static const char *const unreadable[] = {"nan",       "inf",      "-inf", "1e400", "1.#QNAN",
                                             "-1.#IND00", "infinity", "1,5",  "0x1p3"};
    double real;

    (void)state;
    assert_true(value_real(TEXT("1.5e3"), &real));
    assert_real(real, 1500, 0);
    assert_true(value_real(TEXT(""), &real));
    assert_real(real, 0, 0);
    for (size_t i = 0; i < sizeof unreadable / sizeof unreadable[0]; i++) {
        real = 99;
        if (value_real(text_from(unreadable[i]), &real))
            fail_msg("%s is a number", unreadable[i]);
        assert_real(real, 99, 0);
    }
}

static void reads_flags_as_boinc_does(void **state)
{
    static const struct {
        const char *body;
        bool wanted;
    } flags[] = {
        {REQUEST("<dont_send_work/>"), true},
        {REQUEST("<dont_send_work />"), true},
        {REQUEST("<dont_send_work>1</dont_send_work>"), true},
        {REQUEST("<dont_send_work> 2 </dont_send_work>"), true},
        {REQUEST("<dont_send_work>0</dont_send_work>"), false},
        {REQUEST("<dont_send_work></dont_send_work>"), false},
        {REQUEST("<dont_send_work>yes</dont_send_work>"), false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        struct parsed *parsed = accepted(flags[i].body);

        if (parsed->message.dont_send_work != flags[i].wanted)
            fail_msg("%s", flags[i].body);
        parsed_free(parsed);
    }
}

static void takes_the_last_of_several(void **state)
{
    struct parsed *parsed =
        accepted(REQUEST("<hostid>1</hostid>\n<hostid>2</hostid>\n<hostid>x</hostid>"));

    (void)state;
    assert_i64(parsed->message.hostid, 2);
    assert_int_equal(parsed->message.elements_dropped, 1);
    parsed_free(parsed);
}

/* ---- texts */

static void keeps_bytes_of_any_encoding(void **state)
{
    char body[512], wanted[256];
    size_t length = 0;

    (void)state;
    for (int byte = 1; byte < 256; byte++)
        if (byte != '<' && byte != '&' && byte != '\n')
            wanted[length++] = (char)byte;
    wanted[length] = '\0';
    snprintf(body, sizeof body, HOST("<domain_name>.%s.</domain_name>"), wanted);
    struct parsed *parsed = accepted(body);
    assert_int_equal(parsed->message.domain_name.length, length + 2);
    assert_memory_equal(parsed->message.domain_name.at + 1, wanted, length);
    parsed_free(parsed);
    assert_domain_name(HOST("<domain_name>caf\xe9</domain_name>"), "caf\xe9");
    assert_domain_name(HOST("<domain_name>caf\xc3\xa9</domain_name>"), "caf\xc3\xa9");
}

static void decodes_entities_to_one_byte_each(void **state)
{
    (void)state;
    assert_domain_name(HOST("<domain_name>caf&#195;&#169; &lt;&gt;&amp;&quot;&apos;</domain_name>"),
                       "caf\xc3\xa9 <>&\"'");
    assert_domain_name(HOST("<domain_name>a&#xD;&#xA;b&#9;c</domain_name>"), "a\r\nb\tc");
    assert_domain_name(
        HOST("<domain_name>&#256; &#0; &#; &#x41; &eacute; &#65 &amp;lt;</domain_name>"),
        "&#256; &#0; &#; &#x41; &eacute; &#65 &lt;");
}

static void reads_stray_markup_in_names(void **state)
{
    (void)state;
    assert_domain_name(HOST("<domain_name>Tom & Jerry's <PC> a<b</domain_name>"),
                       "Tom & Jerry's <PC> a<b");
    assert_domain_name(HOST("<domain_name>&</domain_name>"), "&");
    assert_domain_name(HOST("<domain_name>a</b></domain_name>"), "a</b>");
    assert_domain_name(HOST("<domain_name><![CDATA[a &lt; <b>]]></domain_name>"), "a &lt; <b>");
    assert_domain_name(HOST("<domain_name>\n  two lines  \n</domain_name>"), "two lines");
    assert_domain_name(HOST("<domain_name x=\"1\">a</domain_name >"), "a");
    assert_domain_name(HOST("<domain_name/>"), "");
}

static void drops_texts_that_do_not_end(void **state)
{
    (void)state;
    assert_domain_name(HOST("<domain_name>lost\n<ip_addr>1.2.3.4</ip_addr>"), "");
    assert_domain_name(HOST("<domain_name>lost<domain_name>kept</domain_name>"), "kept");
    struct parsed *parsed = accepted(HOST("<domain_name>lost\n<ip_addr>1.2.3.4</ip_addr>"));
    assert_text(parsed->message.ip_addr, "1.2.3.4");
    assert_int_equal(parsed->message.elements_dropped, 1);
    parsed_free(parsed);
}

static void drops_texts_that_are_too_long(void **state)
{
    char name[300], body[600];

    (void)state;
    memset(name, 'x', sizeof name);
    for (size_t length = 254; length < 258; length++) {
        snprintf(body, sizeof body, HOST("<domain_name>%.*s</domain_name>\n<p_ncpus>3</p_ncpus>"),
                 (int)length, name);
        struct parsed *parsed = accepted(body);
        assert_int_equal(parsed->message.domain_name.length, length <= 255 ? length : 0);
        assert_i64(parsed->message.p_ncpus, 3);
        parsed_free(parsed);
    }
}

/* ---- spellings and versions */

static void reads_both_spellings(void **state)
{
    struct parsed *parsed = accepted(
        REQUEST("<cpu_req_seconds>5</cpu_req_seconds>\n<cpu_req_ninstances>2</cpu_req_ninstances>\n"
                "<work_req>9</work_req>\n<coprocs>\n<coproc_cuda>\n<req_seconds>7</req_seconds>\n"
                "<req_ninstances>1</req_ninstances>\n</coproc_cuda>\n</coprocs>"));
    const struct message *message = &parsed->message;

    (void)state;
    assert_real(message->cpu_req_seconds, 5, 0);
    assert_real(message->cpu_req_instances, 2, 0);
    assert_real(message->work_req_seconds, 9, 0);
    assert_real(message->coprocs[0].req_seconds, 7, 0);
    assert_real(message->coprocs[0].req_instances, 1, 0);
    assert_true(message->has_resource_request);
    parsed_free(parsed);
}

static void the_usual_spelling_wins_in_any_order(void **state)
{
    static const char *const bodies[] = {
        REQUEST("<cpu_req_secs>1</cpu_req_secs>\n<cpu_req_seconds>2</cpu_req_seconds>"),
        REQUEST("<cpu_req_seconds>2</cpu_req_seconds>\n<cpu_req_secs>1</cpu_req_secs>"),
    };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct parsed *parsed = accepted(bodies[i]);

        assert_real(parsed->message.cpu_req_seconds, 1, 0);
        parsed_free(parsed);
    }
}

static void work_req_seconds_alone_is_no_resource_request(void **state)
{
    struct parsed *parsed = accepted(REQUEST("<work_req_seconds>17280</work_req_seconds>"));

    (void)state;
    assert_false(parsed->message.has_resource_request);
    parsed_free(parsed);
    parsed =
        accepted(REQUEST("<coprocs><coproc_ati><req_secs>0</req_secs></coproc_ati></coprocs>"));
    assert_true(parsed->message.has_resource_request);
    parsed_free(parsed);
}

static void reads_a_4_19_client(void **state)
{
    struct parsed *parsed = accepted(
        "<scheduler_request>\n"
        "    <authenticator>0123456789abcdef0123456789abcdef</authenticator>\n"
        "    <hostid>0</hostid>\n    <rpc_seqno>0</rpc_seqno>\n"
        "    <platform_name>windows_intelx86</platform_name>\n"
        "    <core_client_major_version>4</core_client_major_version>\n"
        "    <core_client_minor_version>19</core_client_minor_version>\n"
        "    <work_req_seconds>17280.000000</work_req_seconds>\n"
        "    <resource_share_fraction>1.000000</resource_share_fraction>\n"
        "    <estimated_delay>0.000000</estimated_delay>\n"
        "<global_preferences>\n<mod_time>1</mod_time>\n</global_preferences>\n"
        "    <projects>\n        <project>\n            <master_url>http://a/</master_url>\n"
        "            <resource_share>100</resource_share>\n        </project>\n    </projects>\n"
        "<time_stats>\n    <on_frac>0.9</on_frac>\n    <connected_frac>-1</connected_frac>\n"
        "</time_stats>\n<net_stats>\n    <bwup>1e3</bwup>\n</net_stats>\n"
        "<host_info>\n    <timezone>-3600</timezone>\n    <p_vendor>Genuine & Co</p_vendor>\n"
        "    <os_name>Windows XP</os_name>\n</host_info>\n"
        "<result>\n    <name>wu_1_0</name>\n    <final_cpu_time>5.0</final_cpu_time>\n"
        "    <exit_status>0</exit_status>\n    <state>4</state>\n"
        "    <app_version_num>402</app_version_num>\n<stderr_out>\n"
        "<core_client_version>4.19</core_client_version>\nraw 100% <result> & </result>\n"
        "</stderr_out>\n</result>\n"
        "<result>\n    <name>wu_2_0</name>\n</result>\n"
        "</scheduler_request>\n");
    const struct message *message = &parsed->message;

    (void)state;
    assert_i64(message_client_version(message), 41900);
    assert_text(message->platforms[0], "windows_intelx86");
    assert_false(message->has_other_results || message->client_cap_plan_class);
    assert_false(message->has_resource_request);
    assert_text(message->global_preferences, "\n<mod_time>1</mod_time>\n");
    assert_text(message->p_vendor, "Genuine & Co");
    assert_real(message->n_bwup, 1000, 0);
    assert_i64(message->timezone, -3600);
    assert_int_equal(message->result_count, 2);
    assert_text(
        message->results[0].stderr_out,
        "\n<core_client_version>4.19</core_client_version>\nraw 100% <result> & </result>\n");
    assert_text(message->results[1].name, "wu_2_0");
    assert_false(message->results[1].has_exit_status);
    assert_int_equal(message->elements_dropped, 0);
    parsed_free(parsed);
}

static void reads_a_6_2_client(void **state)
{
    struct parsed *parsed = accepted(
        REQUEST("    <hostid>77</hostid>\n    <rpc_seqno>12</rpc_seqno>\n"
                "    <core_client_major_version>6</core_client_major_version>\n"
                "    <core_client_minor_version>2</core_client_minor_version>\n"
                "    <core_client_release>28</core_client_release>\n"
                "    <work_req_seconds>43200.000000</work_req_seconds>\n"
                "    <resource_share_fraction>0.500000</resource_share_fraction>\n"
                "    <prrs_fraction>0.250000</prrs_fraction>\n"
                "    <estimated_delay>3600.000000</estimated_delay>\n"
                "    <duration_correction_factor>1.100000</duration_correction_factor>\n"
                "    <client_cap_plan_class>1</client_cap_plan_class>\n"
                "    <platform_name>windows_x86_64</platform_name>\n"
                "    <alt_platform>\n        <name>windows_intelx86</name>\n    </alt_platform>\n"
                "<other_results>\n    <other_result>\n        <name>wu_5_1</name>\n"
                "    </other_result>\n</other_results>\n"
                "<in_progress_results>\n    <ip_result>\n        <name>wu_5_1</name>\n"
                "        <report_deadline>1220000000.000000</report_deadline>\n"
                "        <cpu_time_remaining>3100.000000</cpu_time_remaining>\n"
                "    </ip_result>\n    <ip_result>\n        <time_remaining>-7</time_remaining>\n"
                "    </ip_result>\n</in_progress_results>"));
    const struct message *message = &parsed->message;

    (void)state;
    assert_i64(message_client_version(message), 60228);
    assert_true(message->has_prrs_fraction && message->has_resource_share_fraction);
    assert_real(message->prrs_fraction, 0.25, 0);
    assert_text(message->platforms[1], "windows_intelx86");
    assert_text(message->other_results[0].name, "wu_5_1");
    assert_i64(message->other_results[0].app_version, -1);
    assert_real(message->ip_results[0].time_remaining, 3100, 0);
    assert_real(message->ip_results[0].avg_ncpus, 1, 0);
    assert_true(message->ip_results[0].has_report_deadline);
    assert_real(message->ip_results[1].time_remaining, 0, 0);
    assert_false(message->ip_results[1].has_report_deadline);
    parsed_free(parsed);
}

static void an_empty_list_is_not_an_absent_one(void **state)
{
    struct parsed *parsed =
        accepted(REQUEST("<other_results>\n</other_results>\n<in_progress_results/>"));

    (void)state;
    assert_true(parsed->message.has_other_results && parsed->message.has_ip_results);
    assert_int_equal(parsed->message.other_result_count, 0);
    parsed_free(parsed);
}

/* ---- lists */

static void the_primary_platform_comes_first(void **state)
{
    struct parsed *parsed =
        accepted(REQUEST("<alt_platform><name>b</name></alt_platform>\n"
                         "<alt_platform></alt_platform>\n<platform_name>a</platform_name>"));

    (void)state;
    assert_int_equal(parsed->message.platform_count, 2);
    assert_text(parsed->message.platforms[0], "a");
    assert_text(parsed->message.platforms[1], "b");
    assert_int_equal(parsed->message.elements_dropped, 1);
    parsed_free(parsed);
    parsed = accepted(REQUEST("<alt_platform><name>b</name></alt_platform>"));
    assert_int_equal(parsed->message.platform_count, 1);
    assert_text(parsed->message.platforms[0], "b");
    parsed_free(parsed);
}

static void unreadable_app_versions_keep_their_place(void **state)
{
    struct parsed *parsed = accepted(REQUEST(
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
    struct parsed *parsed = accepted(body);
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
    struct parsed *parsed = accepted(
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
    assert_true(parsed->message.results_truncated);
    parsed_free(parsed);
    limits.results_max = 3;
    parsed = parse_within(text_from(body), &limits, 1 << 20);
    assert_int_equal(parsed->message.result_count, 3);
    assert_false(parsed->message.results_truncated);
    assert_int_equal(parsed->message.elements_dropped, 1);
    parsed_free(parsed);
    limits.results_max = 0;
    parsed = parse_within(text_from(body), &limits, 1 << 20);
    assert_int_equal(parsed->message.result_count, 0);
    assert_true(parsed->message.results_truncated);
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

/* ---- raw elements */

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
        struct parsed *parsed = accepted(body);
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
        struct parsed *parsed = accepted(bodies[i]);
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

static void skips_unknown_elements_whole(void **state)
{
    size_t size = 200000;
    char *body = malloc(size);
    size_t length;

    (void)state;
    assert_non_null(body);
    length = (size_t)snprintf(body, size,
                              "<scheduler_request>\n<hostid>1</hostid>\n<opaque>\n"
                              "<hostid>2</hostid><opaque><hostid>3</hostid></opaque>"
                              "<!-- </opaque> --><![CDATA[ </opaque> ");
    memset(body + length, '<', 100000);
    length += 100000;
    snprintf(body + length, size - length,
             "]]></opaque>\n<rpc_seqno>4</rpc_seqno>\n<lost>\n<client_brand>b</client_brand>\n"
             "</scheduler_request>");
    struct parsed *parsed = accepted(body);
    assert_i64(parsed->message.hostid, 1);
    assert_i64(parsed->message.rpc_seqno, 4);
    assert_text(parsed->message.client_brand, "b");
    parsed_free(parsed);
    free(body);
}

static void reads_an_opaque_text_of_any_length(void **state)
{
    size_t size = 150000;
    char *body = malloc(size);
    size_t length;

    (void)state;
    assert_non_null(body);
    length = (size_t)snprintf(body, size,
                              "<scheduler_request>\n<client_opaque>\n<![CDATA[\n"
                              "</client_opaque><hostid>9</hostid>");
    for (int i = 0; i < 4000; i++)
        length += (size_t)snprintf(body + length, size - length, "<result><name>x%d</name>\n", i);
    snprintf(body + length, size - length,
             "\n]]>\n</client_opaque>\n<hostid>5</hostid>\n</scheduler_request>");
    struct parsed *parsed = accepted(body);
    assert_i64(parsed->message.hostid, 5);
    assert_int_equal(parsed->message.result_count, 0);
    assert_true(parsed->message.client_opaque.length > 90000);
    parsed_free(parsed);
    free(body);
}

static void keeps_preferences_verbatim(void **state)
{
    struct parsed *parsed = accepted(REQUEST(
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
    parsed = accepted(REQUEST(
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
    struct parsed *parsed = accepted(
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
    struct parsed *parsed =
        accepted(REQUEST("<msg_from_host>\n<result_name>r</result_name>\n<time>1</time>\n"
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
    parsed = accepted(body);
    assert_int_equal(parsed->message.trickle_count, 1);
    assert_int_equal(parsed->message.trickles[0].xml.length, length - (sizeof start - 1) + 1);
    assert_int_equal(parsed->message.elements_dropped, 0);
    parsed_free(parsed);
}

static void reads_the_seeds_disk_figures(void **state)
{
    struct parsed *parsed = accepted(
        REQUEST("<project_disk_free>5</project_disk_free>\n"
                "<potentially_free_offender>-1</potentially_free_offender>\n"
                "<potentially_free_self>nan</potentially_free_self>\n<disk_usage>\n</disk_usage>"));

    (void)state;
    assert_true(parsed->message.has_project_disk_free);
    assert_real(parsed->message.project_disk_free, 5, 0);
    assert_false(parsed->message.has_potentially_free_offender);
    assert_false(parsed->message.has_potentially_free_self);
    assert_false(parsed->message.has_disk_usage);
    parsed_free(parsed);
}

static void expands_no_entities(void **state)
{
    struct parsed *parsed =
        accepted(REQUEST("<!DOCTYPE a [<!ENTITY x \"ha\"><!ENTITY y SYSTEM \"/etc/passwd\">]>\n"
                         "<host_info><domain_name>&x;&y;</domain_name></host_info>"));

    (void)state;
    assert_text(parsed->message.domain_name, "&x;&y;");
    parsed_free(parsed);
}

static void a_lost_end_of_the_host_spares_the_results(void **state)
{
    struct parsed *parsed = accepted(
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
        cmocka_unit_test(refuses_what_is_no_complete_request),
        cmocka_unit_test(accepts_a_declaration_and_white_space),
        cmocka_unit_test(ends_at_a_nul_byte),
        cmocka_unit_test(says_nothing_by_default),
        cmocka_unit_test(reads_integers_as_boinc_does),
        cmocka_unit_test(reads_only_finite_reals),
        cmocka_unit_test(reads_flags_as_boinc_does),
        cmocka_unit_test(takes_the_last_of_several),
        cmocka_unit_test(keeps_bytes_of_any_encoding),
        cmocka_unit_test(decodes_entities_to_one_byte_each),
        cmocka_unit_test(reads_stray_markup_in_names),
        cmocka_unit_test(drops_texts_that_do_not_end),
        cmocka_unit_test(drops_texts_that_are_too_long),
        cmocka_unit_test(reads_both_spellings),
        cmocka_unit_test(the_usual_spelling_wins_in_any_order),
        cmocka_unit_test(work_req_seconds_alone_is_no_resource_request),
        cmocka_unit_test(reads_a_4_19_client),
        cmocka_unit_test(reads_a_6_2_client),
        cmocka_unit_test(an_empty_list_is_not_an_absent_one),
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
        cmocka_unit_test(reads_the_seeds_disk_figures),
        cmocka_unit_test(expands_no_entities),
        cmocka_unit_test(a_lost_end_of_the_host_spares_the_results),
    };

    xml_startup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
