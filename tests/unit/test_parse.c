/* SPDX-License-Identifier: Apache-2.0 */
/* server/parse: the notations, spellings and oddities of requests, one by one. (Lists and raw
 * elements: test_parse_items.c.) */
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

static void assert_domain_name(const char *body, const char *wanted)
{
    struct parsed *parsed = parse_accepted(body);

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

/* Programs on .NET write the mark in front of everything unless told not to. */
static void accepts_a_byte_order_mark(void **state)
{
    (void)state;
    assert_domain_name("\xef\xbb\xbf" HOST("<domain_name>a</domain_name>"), "a");
    assert_domain_name(
        "\xef\xbb\xbf<?xml version=\"1.0\"?>\r\n" HOST("<domain_name>a</domain_name>"), "a");
}

static void says_in_which_form_a_request_came(void **state)
{
    const struct {
        struct text body;
        const char *words;
    } forms[] = {
        {TEXT("\x1f\x8b\x08\x00\x00"), "compressed"},
        {TEXT("\xff\xfe<\0s\0"), "UTF-16"},
        {TEXT("\xfe\xff\0<\0s"), "UTF-16"},
        {TEXT("<\0s\0c\0h\0"), "UTF-16"},
        {TEXT("--------------------------d74496d66958873e\r\nContent-Disposition: form-data"),
         "form"},
        {TEXT("x=%3Cscheduler_request%3E%0A"), "form"},
        {TEXT("\x1f<scheduler_request>"), "does not begin with"},
        {TEXT("\xef\xbb<scheduler_request></scheduler_request>"), "does not begin with"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct parsed *parsed = parse_body(forms[i].body);

        assert_status(STATUS_INVALID, parsed->status);
        if (strstr(parsed->failure.text, forms[i].words) == NULL)
            fail_msg("%zu: \"%s\", not %s", i, parsed->failure.text, forms[i].words);
        parsed_free(parsed);
    }
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
    struct parsed *parsed = parse_accepted(REQUEST(""));
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
        {"0", 0},
        {"", 0},
        {" 12 \n", 12},
        {"-5", -5},
        {"0x10", 16},
        {"0Xff", 255},
        {"010", 10},
        {"1000000000000000", 1000000000000000},
        {"-1000000000000000", -1000000000000000},
        {"+3", 3},
    };
    static const char *const unreadable[] = {"1.0",
                                             "1e3",
                                             "0x",
                                             "0xg",
                                             "9223372036854775808",
                                             "0x10000000000000000",
                                             "9223372036854775807",
                                             "1000000000000001",
                                             "-1000000000000001",
                                             "0x38d7ea4c68001",
                                             "--1",
                                             "1 2",
                                             "one"};
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
    static const char *const unreadable[] = {"nan",     "inf",       "-inf",     "1e400",
                                             "1.#QNAN", "-1.#IND00", "infinity", "1,5",
                                             "0x1p3",   "1.1e100",   "-1e101"};
    double real;

    (void)state;
    assert_true(value_real(TEXT("1.5e3"), &real));
    assert_real(real, 1500, 0);
    assert_true(value_real(TEXT(""), &real));
    assert_real(real, 0, 0);
    assert_true(value_real(TEXT("5e-324"), &real));
    assert_real(real, 0, 0);
    assert_true(value_real(TEXT("-1e100"), &real));
    assert_real(real, -1e100, 0);
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
        struct parsed *parsed = parse_accepted(flags[i].body);

        if (parsed->message.dont_send_work != flags[i].wanted)
            fail_msg("%s", flags[i].body);
        parsed_free(parsed);
    }
}

static void takes_the_last_of_several(void **state)
{
    struct parsed *parsed =
        parse_accepted(REQUEST("<hostid>1</hostid>\n<hostid>2</hostid>\n<hostid>x</hostid>"));

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
    struct parsed *parsed = parse_accepted(body);
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
    struct parsed *parsed = parse_accepted(HOST("<domain_name>lost\n<ip_addr>1.2.3.4</ip_addr>"));
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
        struct parsed *parsed = parse_accepted(body);
        assert_int_equal(parsed->message.domain_name.length, length <= 255 ? length : 0);
        assert_i64(parsed->message.p_ncpus, 3);
        parsed_free(parsed);
    }
}

/* ---- spellings and versions */

static void reads_both_spellings(void **state)
{
    struct parsed *parsed = parse_accepted(
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
        struct parsed *parsed = parse_accepted(bodies[i]);

        assert_real(parsed->message.cpu_req_seconds, 1, 0);
        parsed_free(parsed);
    }
}

static void work_req_seconds_alone_is_no_resource_request(void **state)
{
    struct parsed *parsed = parse_accepted(REQUEST("<work_req_seconds>17280</work_req_seconds>"));

    (void)state;
    assert_false(parsed->message.has_resource_request);
    parsed_free(parsed);
    parsed = parse_accepted(
        REQUEST("<coprocs><coproc_ati><req_secs>0</req_secs></coproc_ati></coprocs>"));
    assert_true(parsed->message.has_resource_request);
    parsed_free(parsed);
}

static void reads_a_4_19_client(void **state)
{
    struct parsed *parsed = parse_accepted(
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
    struct parsed *parsed = parse_accepted(
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
                "        <avg_ncpus>-2</avg_ncpus>\n"
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
    assert_real(message->ip_results[1].avg_ncpus, 1, 0);
    assert_false(message->ip_results[1].has_report_deadline);
    parsed_free(parsed);
}

static void an_empty_list_is_not_an_absent_one(void **state)
{
    struct parsed *parsed =
        parse_accepted(REQUEST("<other_results>\n</other_results>\n<in_progress_results/>"));

    (void)state;
    assert_true(parsed->message.has_other_results && parsed->message.has_ip_results);
    assert_int_equal(parsed->message.other_result_count, 0);
    parsed_free(parsed);
}

static void reads_the_seeds_disk_figures(void **state)
{
    struct parsed *parsed = parse_accepted(
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
    struct parsed *parsed = parse_accepted(
        REQUEST("<!DOCTYPE a [<!ENTITY x \"ha\"><!ENTITY y SYSTEM \"/etc/passwd\">]>\n"
                "<host_info><domain_name>&x;&y;</domain_name></host_info>"));

    (void)state;
    assert_text(parsed->message.domain_name, "&x;&y;");
    parsed_free(parsed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_is_no_complete_request),
        cmocka_unit_test(accepts_a_declaration_and_white_space),
        cmocka_unit_test(accepts_a_byte_order_mark),
        cmocka_unit_test(says_in_which_form_a_request_came),
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
        cmocka_unit_test(reads_the_seeds_disk_figures),
        cmocka_unit_test(expands_no_entities),
    };

    xml_startup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
