/* SPDX-License-Identifier: Apache-2.0 */
/* Replies to clients of every generation, read back by the judge of tests/support/reply_check.c;
 * and texts from the database that try to break the document. */
#include "config/config.h"
#include "db/rows.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/log.h"
#include "server/base/random.h"
#include "server/parse/client_age.h"
#include "server/parse/message.h"
#include "server/project/project.h"
#include "server/reply/answer.h"
#include "server/reply/reply.h"
#include "server/reply/reply_parts.h"
#include "tests/support/reply_check.h"
#include "tests/support/test.h"

#include <stdlib.h>

#include "server/base/banned.h"

static const int64_t versions[] = {0,     30800, 40600, 41900, 41901, 43000, 50200, 60200, 61000,
                                   61100, 61101, 61200, 61302, 70020, 70040, 72005, 80300};
#define VERSION_COUNT (sizeof versions / sizeof *versions)

#define VERSION_XML                                                                            \
    "<file_info>\n    <name>summer_1</name>\n    <url>http://x/summer_1</url>\n</file_info>\n" \
    "<app_version>\n    <app_name>summer</app_name>\n    <version_num>105</version_num>\n"     \
    "    <file_ref>\n        <file_name>summer_1</file_name>\n        <main_program/>\n"       \
    "    </file_ref>\n</app_version>\n"
#define WORKUNIT_XML                                                                   \
    "<file_info>\n    <name>in_0</name>\n    <url>http://x/in_0</url>\n</file_info>\n" \
    "<workunit>\n    <file_ref>\n        <file_name>in_0</file_name>\n"                \
    "        <open_name>in</open_name>\n    </file_ref>\n    <command_line>\n--fast\n" \
    "    </command_line>\n</workunit>\n"
#define RESULT_XML                                                                    \
    "<file_info>\n    <name>out_0</name>\n    <url>http://x/up</url>\n</file_info>\n" \
    "<result>\n    <file_ref>\n        <file_name>out_0</file_name>\n"                \
    "        <open_name>out</open_name>\n    </file_ref>\n</result>\n"

struct fixture {
    struct config config;
    struct answer answer;
    struct user_row user;
    struct host_row host;
    struct reply_sources sources;
    struct app_row app;
    struct app_version_row version;
    struct client_app_version anonymous;
    struct answer_job jobs[3];
    struct answer_resource resources[4];
    struct buffer out;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->config.master_url = TEXT("https://example.org/demo/");
    f->config.long_name = TEXT("Demo & Project");
    f->config.workload_sim = true;
    f->sources = (struct reply_sources){.answer = &f->answer,
                                        .config = &f->config,
                                        .user = &f->user,
                                        .host = &f->host,
                                        .client_version = 80300,
                                        .arena = arena_create((size_t)64 << 20)};
    f->user = (struct user_row){.id = 7,
                                .name = TEXT("Ada"),
                                .email_addr = TEXT("ada@example.org"),
                                .cross_project_id = TEXT("ffeeddccbbaa99887766554433221100"),
                                .create_time = 1700000000,
                                .total_credit = 12.5};
    f->host = (struct host_row){.id = 42, .venue = TEXT("home")};
    f->app =
        (struct app_row){.id = 3, .name = TEXT("summer"), .user_friendly_name = TEXT("Summation")};
    f->version = (struct app_version_row){
        .id = 5, .appid = 3, .version_num = 105, .xml_doc = TEXT(VERSION_XML)};
    f->anonymous = (struct client_app_version){.app_name = TEXT("summer"),
                                               .version_num = 205,
                                               .platform = TEXT("my_platform"),
                                               .plan_class = TEXT("mine")};
    for (size_t i = 0; i < 3; i++)
        f->jobs[i] = (struct answer_job){
            .resultid = (int64_t)i + 1,
            .workunitid = (int64_t)i + 10,
            .appid = 3,
            .report_deadline = 1764600000,
            .app = &f->app,
            .version = &f->version,
            .platform = TEXT("x86_64-pc-linux-gnu"),
            .usage = {.avg_ncpus = 1, .projected_flops = 3e9},
            .fpops_scale = 1,
            .rsc_fpops_est = 1e12,
            .rsc_fpops_bound = 1e13,
            .rsc_memory_bound = 1e8,
            .rsc_disk_bound = 1e9,
            .documents = {.result_name = text_print(f->sources.arena, "wu_%zu_0", i),
                          .workunit_name = text_print(f->sources.arena, "wu_%zu", i),
                          .result_xml = TEXT(RESULT_XML),
                          .workunit_xml = TEXT(WORKUNIT_XML)}};
    f->resources[0] = (struct answer_resource){.type = TEXT("CPU"), .state = RESOURCE_SENT};
    f->resources[1] =
        (struct answer_resource){.type = TEXT("NVIDIA"), .state = RESOURCE_UNSUPPORTED};
    f->resources[2] =
        (struct answer_resource){.type = TEXT("intel_gpu"), .state = RESOURCE_UNSUPPORTED};
    f->resources[3] = (struct answer_resource){.type = TEXT("miner_asic"), .state = RESOURCE_NONE};
    f->out = buffer_on_heap(0);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    buffer_free(&f->out);
    arena_destroy(f->sources.arena);
    free(f);
    return 0;
}

static void give_jobs(struct fixture *f, size_t count)
{
    f->answer.jobs = f->jobs;
    f->answer.job_count = count;
}

static void give_resources(struct fixture *f)
{
    f->answer.resources = f->resources;
    f->answer.resource_count = 4;
}

static const struct reply_element *reply_to(struct fixture *f, int64_t version)
{
    const char *fault = NULL;

    f->sources.client_version = version;
    f->out.length = 0;
    reply_write(&f->sources, &f->out);
    const struct reply_element *root =
        reply_read(f->sources.arena, buffer_text(&f->out), version, &fault);
    if (root == NULL)
        fail_msg("for %lld: %s\n" TEXT_FORMAT, (long long)version, fault,
                 TEXT_ARG(buffer_text(&f->out)));
    return root;
}

static bool has_text(struct fixture *f, const char *string)
{
    return text_contains(buffer_text(&f->out), text_from(string));
}

/* --- the table ---------------------------------------------------------------------------- */

static void the_table_names_each_element_once_per_client(void **state)
{
    static const struct {
        const char *name;
        int64_t since, before;
    } rows[] = {
#define FIRST                                                       0
#define LAST                                                        INT64_MAX
#define ELEMENT(name, scope, since, before, kind, condition, value) {#name, since, before},
#include "server/reply/reply_elements.def"
#undef ELEMENT
    };
    size_t count = sizeof rows / sizeof *rows;

    (void)state;
    for (size_t i = 0; i < count; i++) {
        assert_true(rows[i].since < rows[i].before);
        for (size_t j = 0; j < i; j++)
            if (strcmp(rows[i].name, rows[j].name) == 0)
                fail_msg("%s stands twice", rows[i].name);
    }
}

/* --- the whole reply ----------------------------------------------------------------------- */

static void every_client_can_read_a_full_reply(void **state)
{
    struct fixture *f = *state;
    struct answer *answer = &f->answer;

    give_jobs(f, 3);
    give_resources(f);
    answer->hostid = 42;
    answer->request_delay = 61;
    answer->message_ack = true;
    answer->no_work_deadlines = true;
    answer->code_sign_key = TEXT("1024\nabcdef\n.\n");
    answer->code_sign_key_signature = TEXT("012345\n.\n");
    answer->global_preferences = TEXT("<global_preferences>\n<mod_time>5</mod_time>\n"
                                      "</global_preferences>\n");
    text_items_add(f->sources.arena, &answer->acks, TEXT("old_1_0"));
    text_items_add(f->sources.arena, &answer->acks, TEXT("old_2_0"));
    text_items_add(f->sources.arena, &answer->aborts, TEXT("old_3_0"));
    text_items_add(f->sources.arena, &answer->aborts_if_not_started, TEXT("old_4_0"));
    text_items_add(f->sources.arena, &answer->delete_files, TEXT("big_file"));
    text_items_add(f->sources.arena, &answer->host_messages,
                   TEXT("<trickle_down>\n<result_name>r</result_name>\nhello\n</trickle_down>"));
    answer_say(f->sources.arena, answer, MESSAGE_LOW, "one");
    answer_say(f->sources.arena, answer, MESSAGE_NOTICE, "two");
    for (size_t i = 0; i < VERSION_COUNT; i++) {
        const struct reply_element *root = reply_to(f, versions[i]);
        assert_true(reply_names(root, "result_ack", TEXT("old_1_0")));
        assert_true(reply_names(root, "result_ack", TEXT("old_2_0")));
        assert_i64((int64_t)reply_children(root, "app"), 1);
        assert_i64((int64_t)reply_children(root, "app_version"), 1);
        assert_i64((int64_t)reply_children(root, "workunit"), 3);
        assert_i64((int64_t)reply_children(root, "result"), 3);
        assert_i64((int64_t)reply_children(root, "file_info"), 3);
        assert_text(reply_child_text(root, "hostid"), "42");
        assert_text(reply_child_text(root, "request_delay"), "61.000000");
        assert_text(reply_child_text(root, "project_name"), "Demo & Project");
        assert_text(reply_child_text(root, "email_hash"), "5bfcf2d8e394674550332640d72db509");
        assert_text(reply_child_text(root, "external_cpid"), "d3b3bfdab6b8645fa5602eed7658395d");
        assert_text(reply_child_text(root, "code_sign_key"), "1024\nabcdef\n.");
        assert_non_null(reply_child(root, "no_work_deadlines"));
        assert_non_null(reply_child(root, "trickle_down"));
        assert_text(reply_child_text(reply_child(root, "project_preferences"), "resource_share"),
                    "100");
        assert_text(reply_child_text(reply_child(root, "global_preferences"), "mod_time"), "5");
    }
}

/* What a client of some age gets, or does not: `+` and the element, or `-`. */
static void generations_get_what_they_understand(void **state)
{
    struct fixture *f = *state;
    static const struct {
        int64_t version;
        const char *wanted[12];
    } rows[] = {
        {30800,
         {"-dont_use_dcf", "-message_ack", "+trickle_up_ack", "-result_abort", "+no_cpu_apps",
          "-send_full_workload", "-no_rsc_apps", "+rsc_status"}},
        {40600, {"+message_ack", "-trickle_up_ack", "-next_rpc_delay"}},
        {50102, {"-result_abort", "-send_full_workload", "-next_rpc_delay"}},
        {50501,
         {"+result_abort", "+result_abort_if_unstarted", "-result_abort_if_not_started",
          "+next_rpc_delay"}},
        {60200, {"+result_abort_if_not_started", "-result_abort_if_unstarted"}},
        {61100, {"+send_full_workload"}},
        {61200, {"-no_rsc_apps", "+no_cuda_apps"}},
        {70020, {"-dont_use_dcf", "+no_rsc_apps", "+no_cuda_apps"}},
        {70028, {"+dont_use_dcf", "+no_rsc_apps", "+no_cpu_apps"}},
        {70227, {"+no_ati_apps"}},
        {70228, {"-no_ati_apps", "+no_rsc_apps"}},
        {80300, {"+dont_use_dcf", "+strict_memory_bound", "+send_full_workload", "-no_cpu_apps"}},
        {80000, {"-strict_memory_bound"}},
    };

    give_resources(f);
    f->config.strict_memory_bound = true;
    f->answer.message_ack = true;
    text_items_add(f->sources.arena, &f->answer.aborts, TEXT("a"));
    text_items_add(f->sources.arena, &f->answer.aborts_if_not_started, TEXT("b"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct reply_element *root = reply_to(f, rows[i].version);
        for (const char *const *wanted = rows[i].wanted; *wanted != NULL; wanted++)
            if ((reply_child(root, *wanted + 1) != NULL) != (**wanted == '+'))
                fail_msg("client %lld: %s", (long long)rows[i].version, *wanted);
    }
}

static void a_nucleus_says_who_we_are_and_nothing_of_others(void **state)
{
    struct fixture *f = *state;
    struct answer *answer = &f->answer;

    answer->kind = ANSWER_NUCLEUS;
    answer->request_delay = 3600;
    give_jobs(f, 1);
    answer_say(f->sources.arena, answer, MESSAGE_NOTICE, "Invalid key");
    text_items_add(f->sources.arena, &answer->acks, TEXT("old_1_0"));
    const struct reply_element *root = reply_to(f, 80300);
    assert_non_null(reply_child(root, "send_full_workload"));
    assert_text(reply_child_text(root, "message"), "Invalid key");
    assert_text(reply_child_text(root, "request_delay"), "3600.000000");
    assert_null(reply_child(root, "user_name"));
    assert_null(reply_child(root, "email_hash"));
    assert_null(reply_child(root, "project_preferences"));
    assert_null(reply_child(root, "result_ack"));
    assert_null(reply_child(root, "result"));
    assert_null(reply_child(root, "project_is_down"));
}

static void a_project_that_is_down_says_so(void **state)
{
    struct fixture *f = *state;

    f->answer.kind = ANSWER_DOWN;
    f->config.ended = true;
    const struct reply_element *root = reply_to(f, 80300);
    assert_non_null(reply_child(root, "project_is_down"));
    assert_non_null(reply_child(root, "ended"));
    assert_null(reply_child(root, "userid"));
}

static void the_full_workload_is_asked_for_while_deadlines_matter(void **state)
{
    struct fixture *f = *state;

    assert_non_null(reply_child(reply_to(f, 80300), "send_full_workload"));
    f->config.ignore_delay_bound = true;
    assert_null(reply_child(reply_to(f, 80300), "send_full_workload"));
    f->config.ignore_delay_bound = f->config.workload_sim = false;
    assert_null(reply_child(reply_to(f, 80300), "send_full_workload"));
    f->config.extend_deadlines = true;
    assert_non_null(reply_child(reply_to(f, 80300), "send_full_workload"));
}

static void a_host_id_is_sent_on_change_only(void **state)
{
    struct fixture *f = *state;

    assert_null(reply_child(reply_to(f, 80300), "hostid"));
}

static void options_show(void **state)
{
    struct fixture *f = *state;

    f->config.next_rpc_delay = 7200;
    f->config.min_sendwork_interval = 60;
    f->config.request_time_stats_log = true;
    f->config.symstore = TEXT("http://s/");
    f->config.non_cpu_intensive = true;
    f->config.verify_files_on_app_start = true;
    const struct reply_element *root = reply_to(f, 80300);
    assert_text(reply_child_text(root, "next_rpc_delay"), "7200.000000");
    assert_text(reply_child_text(root, "request_delay"), "61.000000");
    assert_text(reply_child_text(root, "send_time_stats_log"), "1");
    assert_text(reply_child_text(root, "symstore"), "http://s/");
    assert_non_null(reply_child(root, "non_cpu_intensive"));
    assert_non_null(reply_child(root, "verify_files_on_app_start"));
}

/* --- messages ----------------------------------------------------------------------------- */

static void priorities_follow_the_client(void **state)
{
    struct fixture *f = *state;
    static const struct {
        int64_t version;
        const char *wanted;
    } rows[] = {{41900, "<message priority=\"notice\">Look out. Hello</message>\n"},
                {41901, "<message priority=\"low\">Hello</message>\n"
                        "<message priority=\"high\">Look out</message>\n"},
                {61100, "<message priority=\"high\">Look out</message>\n"},
                {61101, "<message priority=\"notice\">Look out</message>\n"},
                {80300, "<message priority=\"notice\">Look out</message>\n"}};

    answer_say(f->sources.arena, &f->answer, MESSAGE_LOW, "Hello");
    answer_say(f->sources.arena, &f->answer, MESSAGE_NOTICE, "Look out");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        reply_to(f, rows[i].version);
        if (!has_text(f, rows[i].wanted))
            fail_msg("client %lld: " TEXT_FORMAT, (long long)rows[i].version,
                     TEXT_ARG(buffer_text(&f->out)));
    }
}

static void a_long_message_arrives_in_pieces(void **state)
{
    struct fixture *f = *state;
    struct buffer words = buffer_in(f->sources.arena);
    struct buffer joined = buffer_in(f->sources.arena);

    for (int i = 0; i < 100; i++)
        buffer_print(&words, "%sword%d", i == 0 ? "" : " ", i);
    answer_say(f->sources.arena, &f->answer, MESSAGE_LOW, TEXT_FORMAT,
               TEXT_ARG(buffer_text(&words)));
    const struct reply_element *root = reply_to(f, 80300);
    for (const struct reply_element *message = reply_child(root, "message"); message != NULL;
         message = reply_again(message)) {
        if (joined.length > 0)
            buffer_add_char(&joined, ' ');
        buffer_add(&joined, message->text);
    }
    assert_true(text_equal(buffer_text(&joined), buffer_text(&words)));
    assert_true(reply_children(root, "message") > 3);
    assert_i64((int64_t)reply_children(reply_to(f, 41900), "message"), 1);
}

static void messages_in_one_are_sentences(void **state)
{
    struct fixture *f = *state;

    answer_say(f->sources.arena, &f->answer, MESSAGE_LOW, "No tasks sent");
    answer_say(f->sources.arena, &f->answer, MESSAGE_LOW, "No tasks are available at the moment");
    assert_text(reply_child(reply_to(f, 0), "message")->text,
                "No tasks sent. No tasks are available at the moment");
}

/* --- jobs --------------------------------------------------------------------------------- */

static void a_job_is_written_in_full(void **state)
{
    struct fixture *f = *state;

    give_jobs(f, 1);
    f->jobs[0].keywords = TEXT("1 2 3");
    f->version.plan_class = TEXT("cuda");
    f->jobs[0].usage = (struct usage){.avg_ncpus = 0.5,
                                      .coproc_type = TEXT("NVIDIA"),
                                      .coproc_count = 1,
                                      .gpu_ram = 1e9,
                                      .projected_flops = 2.5e12,
                                      .cmdline = TEXT("--a <b>")};
    reply_to(f, 80300);
    assert_true(has_text(f, "<app>\n<name>summer</name>\n"
                            "<user_friendly_name>Summation</user_friendly_name>\n"
                            "<non_cpu_intensive>0</non_cpu_intensive>\n"
                            "<fraction_done_exact>0</fraction_done_exact>\n</app>\n"
                            "<file_info>\n    <name>summer_1</name>\n"));
    assert_true(has_text(f, "    </file_ref>\n<platform>x86_64-pc-linux-gnu</platform>\n"
                            "<plan_class>cuda</plan_class>\n<avg_ncpus>0.500000</avg_ncpus>\n"
                            "<flops>2500000000000.000000</flops>\n"
                            "<cmdline>--a &lt;b&gt;</cmdline>\n<coproc>\n<type>NVIDIA</type>\n"
                            "<count>1.000000</count>\n</coproc>\n"
                            "<gpu_ram>1000000000.000000</gpu_ram>\n</app_version>\n"));
    assert_true(has_text(f, "<workunit>\n<rsc_fpops_est>1000000000000.000000</rsc_fpops_est>\n"
                            "<rsc_fpops_bound>10000000000000.000000</rsc_fpops_bound>\n"
                            "<rsc_memory_bound>100000000.000000</rsc_memory_bound>\n"
                            "<rsc_disk_bound>1000000000.000000</rsc_disk_bound>\n"
                            "<name>wu_0</name>\n<app_name>summer</app_name>\n"
                            "<job_keyword_ids>1 2 3</job_keyword_ids>\n    <file_ref>\n"));
    assert_true(has_text(f, "<command_line>\n--fast\n    </command_line>\n</workunit>\n"));
    assert_true(has_text(f, "<result>\n<report_deadline>1764600000</report_deadline>\n"
                            "<wu_name>wu_0</wu_name>\n<name>wu_0_0</name>\n    <file_ref>\n"));
    assert_true(has_text(f, "    </file_ref>\n<platform>x86_64-pc-linux-gnu</platform>\n"
                            "<version_num>105</version_num>\n<plan_class>cuda</plan_class>\n"
                            "</result>\n"));
}

static void old_clients_know_nvidia_as_cuda(void **state)
{
    struct fixture *f = *state;

    give_jobs(f, 1);
    f->jobs[0].usage.coproc_type = TEXT("NVIDIA");
    reply_to(f, 69999);
    assert_true(has_text(f, "<type>CUDA</type>"));
    reply_to(f, 70000);
    assert_true(has_text(f, "<type>NVIDIA</type>"));
}

static void the_oldest_read_a_command_line_on_one_line(void **state)
{
    struct fixture *f = *state;

    give_jobs(f, 1);
    reply_to(f, 40600);
    assert_true(has_text(f, "<command_line>--fast</command_line>"));
    reply_to(f, 41900);
    assert_true(has_text(f, "<command_line>\n--fast\n"));
}

static void an_anonymous_platform_gets_no_apps_and_no_versions(void **state)
{
    struct fixture *f = *state;

    give_jobs(f, 1);
    f->jobs[0].version = NULL;
    f->jobs[0].anonymous = &f->anonymous;
    f->jobs[0].fpops_scale = 2;
    const struct reply_element *root = reply_to(f, 80300);
    const struct reply_element *result = reply_child(root, "result");
    assert_null(reply_child(root, "app"));
    assert_null(reply_child(root, "app_version"));
    assert_text(reply_child_text(result, "platform"), "my_platform");
    assert_text(reply_child_text(result, "version_num"), "205");
    assert_text(reply_child_text(result, "plan_class"), "mine");
    assert_text(reply_child_text(reply_child(root, "workunit"), "rsc_fpops_est"),
                "2000000000000.000000");
}

static void two_instances_of_a_workunit_share_it(void **state)
{
    struct fixture *f = *state;

    give_jobs(f, 2);
    f->jobs[1].workunitid = f->jobs[0].workunitid;
    const struct reply_element *root = reply_to(f, 80300);
    assert_i64((int64_t)reply_children(root, "workunit"), 1);
    assert_i64((int64_t)reply_children(root, "result"), 2);
}

static void a_job_that_cannot_be_written_costs_only_itself(void **state)
{
    struct fixture *f = *state;
    static const struct text bad[] = {
        {.at = "", .length = 0},
        {.at = "<workunit></workunit>", .length = 21},
        {.at = "<workunit>\n<name>", .length = 17},
        {.at = "<workunit>\n\0</workunit>", .length = 23},
        {.at = "<workunit>\n</scheduler_reply></workunit>", .length = 40},
        {.at = "<workunit>\n<workunit>\n</workunit>", .length = 33},
    };

    give_jobs(f, 3);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        f->jobs[1].documents.workunit_xml = bad[i];
        const struct reply_element *root = reply_to(f, 80300);
        assert_i64((int64_t)reply_children(root, "result"), 2);
        assert_i64((int64_t)reply_children(root, "workunit"), 2);
        assert_true(reply_names(root, "result", TEXT("wu_2_0")));
    }
}

static void a_reply_without_room_for_jobs_keeps_its_acks(void **state)
{
    struct fixture *f = *state;

    give_jobs(f, 3);
    text_items_add(f->sources.arena, &f->answer.acks, TEXT("old_1_0"));
    f->out.length_max = 2500;
    const struct reply_element *root = reply_to(f, 80300);
    assert_i64((int64_t)reply_children(root, "result"), 0);
    assert_true(reply_names(root, "result_ack", TEXT("old_1_0")));
}

/* --- resources ---------------------------------------------------------------------------- */

static void resources_are_told_by_name_and_by_number(void **state)
{
    struct fixture *f = *state;

    give_resources(f);
    const struct reply_element *root = reply_to(f, 80300);
    assert_true(reply_names(root, "no_rsc_apps", TEXT("NVIDIA")));
    assert_true(reply_names(root, "no_rsc_apps", TEXT("intel_gpu")));
    assert_i64((int64_t)reply_children(root, "no_rsc_apps"), 2);
    assert_true(reply_names(root, "rsc_status", TEXT("CPU sent")));
    assert_true(reply_names(root, "rsc_status", TEXT("NVIDIA unsupported")));
    assert_true(reply_names(root, "rsc_status", TEXT("miner_asic none")));
    /* a new driver is found within a day */
    assert_text(reply_child_text(root, "next_rpc_delay"), "86400.000000");

    root = reply_to(f, 70030);
    assert_text(reply_child_text(root, "no_cpu_apps"), "0");
    assert_text(reply_child_text(root, "no_cuda_apps"), "1");
    assert_text(reply_child_text(root, "no_ati_apps"), "0");
    /* such a client would never forget it */
    assert_false(reply_names(root, "no_rsc_apps", TEXT("intel_gpu")));
}

static void a_shorter_next_rpc_stays(void **state)
{
    struct fixture *f = *state;

    give_resources(f);
    f->config.next_rpc_delay = 3600;
    assert_text(reply_child_text(reply_to(f, 80300), "next_rpc_delay"), "3600.000000");
    f->config.next_rpc_delay = 1e6;
    assert_text(reply_child_text(reply_to(f, 80300), "next_rpc_delay"), "86400.000000");
}

static void nobody_is_told_that_there_is_nothing_for_what_is_allowed(void **state)
{
    struct fixture *f = *state;

    give_resources(f);
    f->resources[1].is_only_allowed = true;
    for (size_t i = 0; i < VERSION_COUNT; i++) {
        const struct reply_element *root = reply_to(f, versions[i]);
        assert_false(reply_names(root, "no_rsc_apps", TEXT("NVIDIA")));
        assert_true(reply_names(root, "rsc_status", TEXT("NVIDIA unsupported")));
        if (versions[i] < 70228)
            assert_text(reply_child_text(root, "no_cuda_apps"), "0");
    }
}

static void nobody_is_told_that_there_is_nothing_at_all(void **state)
{
    struct fixture *f = *state;

    give_resources(f);
    for (size_t i = 0; i < 4; i++)
        f->resources[i].state = RESOURCE_UNSUPPORTED;
    for (size_t i = 0; i < VERSION_COUNT; i++) {
        const struct reply_element *root = reply_to(f, versions[i]);
        assert_null(reply_child(root, "no_rsc_apps"));
        assert_null(reply_child(root, "next_rpc_delay"));
        if (versions[i] < 70228)
            assert_text(reply_child_text(root, "no_cuda_apps"), "0");
    }
}

static void an_invented_type_is_not_echoed(void **state)
{
    struct fixture *f = *state;
    static const char *const bad[] = {"a b", "a<b", "</x>", "", "result ", "\xc3\xa9", "a-b"};

    give_resources(f);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        f->resources[3] =
            (struct answer_resource){.type = text_from(bad[i]), .state = RESOURCE_UNSUPPORTED};
        const struct reply_element *root = reply_to(f, 80300);
        assert_i64((int64_t)reply_children(root, "rsc_status"), 3);
        assert_i64((int64_t)reply_children(root, "no_rsc_apps"), 2);
    }
}

/* --- hostile texts ------------------------------------------------------------------------ */

static const struct text hostile[] = {
    {.at = "</user_name></scheduler_reply>", .length = 30},
    {.at = "<hostid>1</hostid>", .length = 18},
    {.at = "a\nb\r\n<hostid>5</hostid>\n", .length = 24},
    {.at = "a\0b", .length = 3},
    {.at = "]]>&<>\"'", .length = 8},
    {.at = "\xff\xfe\x80\x80\x80\x80\x80", .length = 7},
    {.at = "\x01\x02\x1b[31m", .length = 7},
    {.at = "&#60;hostid&#62;", .length = 16},
    {.at = "<!-- ", .length = 5},
    {.at = "<![CDATA[", .length = 9},
};
#define HOSTILE_COUNT (sizeof hostile / sizeof *hostile)

static struct text long_text(struct fixture *f, const char *piece, size_t times)
{
    struct buffer buffer = buffer_in(f->sources.arena);

    for (size_t i = 0; i < times; i++)
        buffer_add_string(&buffer, piece);
    return buffer_text(&buffer);
}

static void put_everywhere(struct fixture *f, struct text text)
{
    struct answer *answer = &f->answer;

    f->user.name = f->user.cross_project_id = f->user.project_prefs = text;
    f->sources.team_name = f->host.venue = text;
    answer->global_preferences = text;
    answer->message_count = 0;
    answer->messages[answer->message_count++] = (struct answer_message){.text = text};
    answer->acks = answer->aborts = answer->delete_files = (struct text_items){0};
    text_items_add(f->sources.arena, &answer->acks, text);
    text_items_add(f->sources.arena, &answer->aborts, text);
    text_items_add(f->sources.arena, &answer->delete_files, text);
    f->app.user_friendly_name = f->version.plan_class = text;
    f->jobs[0].platform = f->jobs[0].usage.cmdline = f->jobs[0].keywords = text;
    f->jobs[1].documents.result_name = f->jobs[1].documents.workunit_name = text;
    f->jobs[2].documents.workunit_xml = text;
    give_jobs(f, 3);
}

static void no_text_breaks_the_reply(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < HOSTILE_COUNT; i++)
        for (size_t v = 0; v < VERSION_COUNT; v++) {
            put_everywhere(f, hostile[i]);
            const struct reply_element *root = reply_to(f, versions[v]);
            assert_null(reply_child(root, "hostid"));
            assert_i64((int64_t)reply_children(root, "result_ack"), 1);
            assert_i64((int64_t)reply_children(root, "project_name"), 1);
        }
}

static void a_message_to_a_host_is_raw_but_cannot_end_the_reply(void **state)
{
    struct fixture *f = *state;
    struct text_items *messages = &f->answer.host_messages;

    for (size_t i = 0; i < HOSTILE_COUNT; i++)
        if (!text_is(hostile[i], "<hostid>1</hostid>")) /* which a project may say */
            text_items_add(f->sources.arena, messages, hostile[i]);
    text_items_add(f->sources.arena, messages, TEXT("<trickle_down>\n<x>"));
    text_items_add(f->sources.arena, messages,
                   TEXT("\n<delete_file_info>big</delete_file_info>\n"));
    const struct reply_element *root = reply_to(f, 50200);
    assert_null(reply_child(root, "trickle_down"));
    assert_null(reply_child(root, "hostid"));
    assert_true(reply_names(root, "delete_file_info", TEXT("big")));
}

static void texts_for_people_are_cut_to_the_line_between_characters(void **state)
{
    struct fixture *f = *state;

    f->user.name = long_text(f, "\xc3\xa9", 200);
    f->sources.team_name = long_text(f, "x<", 200);
    for (size_t v = 0; v < VERSION_COUNT; v++) {
        const struct reply_element *root = reply_to(f, versions[v]);
        struct text name = reply_child_text(root, "user_name");
        assert_true(name.length > 30 && name.length % 2 == 0);
        assert_true(text_starts(f->user.name, name));
        assert_true(reply_child_text(root, "team_name").length > 50);
    }
}

static void a_long_name_goes_whole_or_not_at_all(void **state)
{
    struct fixture *f = *state;
    struct text name = long_text(f, "n", 250);

    give_jobs(f, 3);
    text_items_add(f->sources.arena, &f->answer.acks, name);
    f->jobs[1].documents.result_name = name;
    const struct reply_element *root = reply_to(f, 80300);
    assert_true(reply_names(root, "result_ack", name));
    assert_true(reply_names(root, "result", name));
    root = reply_to(f, 50200);
    assert_i64((int64_t)reply_children(root, "result_ack"), 0);
    assert_i64((int64_t)reply_children(root, "result"), 2);
}

static void numbers_are_plain_and_finite(void **state)
{
    struct fixture *f = *state;

    give_jobs(f, 1);
    f->user.total_credit = 1e300;
    f->user.expavg_credit = -1.0 / 0.0;
    f->jobs[0].rsc_fpops_est = 0.0 / 0.0;
    f->jobs[0].rsc_fpops_bound = 1e308;
    const struct reply_element *root = reply_to(f, 80300);
    assert_text(reply_child_text(root, "user_expavg_credit"), "0.000000");
    assert_false(has_text(f, "e+"));
    assert_false(has_text(f, "nan"));
    assert_false(has_text(f, ">inf"));
    assert_false(has_text(f, ">-inf"));
}

static void preferences_go_out_verbatim_or_not_at_all(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *stored, *sent; /* NULL: left out */
    } rows[] = {
        {"<a>1</a>", "<a>1</a>"},
        {"<project_preferences>\n<a>1</a>\n</project_preferences>\n", "<a>1</a>"},
        {"<project_preferences>\n<project_preferences>\n<a>1</a>\n</project_preferences>\n"
         "</project_preferences>\n",
         "<a>1</a>"},
        {"<project_preferences>\n<a>1</a>\n", "<a>1</a>"}, /* its end is missing */
        /* A script's addition: clients pass over what stands behind the end. */
        {"<project_preferences>\n<a>1</a>\n</project_preferences>\n<max_jobs>1</max_jobs>",
         "<a>1</a>"},
        {"<project_preferences>\n<a>1</a>\n</project_preferences></b><hostid>9</hostid>",
         "<a>1</a>"},
        {"<project_preferences><!-- </project_preferences> --><a>1</a></project_preferences>",
         NULL},
        {"<a>x & y \xe9</a>", "<a>x & y \xe9</a>"}, /* clients let that pass */
        {"<venue name=\"home\">\n<a>1</a>\n</venue>", "<venue name=\"home\">\n<a>1</a>\n</venue>"},
        {"<a>1", NULL},
        {"<a>1</b>", NULL},
        {"<a>1</a></project_preferences><hostid>9</hostid>", NULL},
        {"<a>1</a></project_preferences>\n<hostid>9</hostid>\n<project_preferences>", NULL},
        {"<a>\x01</a>", NULL},
        {"<!-- </scheduler_reply> -->", NULL},
        {"<!-- ", NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        f->user.project_prefs = text_from(rows[i].stored);
        reply_to(f, 50200);
        if (rows[i].sent == NULL) {
            assert_false(has_text(f, "project_preferences"));
            assert_false(has_text(f, "<hostid>"));
            continue;
        }
        struct text wanted = text_print(
            f->sources.arena, "<project_preferences>\n%s\n</project_preferences>\n", rows[i].sent);
        if (!text_contains(buffer_text(&f->out), wanted))
            fail_msg("row %zu: " TEXT_FORMAT, i, TEXT_ARG(buffer_text(&f->out)));
    }
}

/* --- blocks of the project ------------------------------------------------------------------ */

static void links_are_filled_in_for_the_user(void **state)
{
    struct fixture *f = *state;
    const struct project_blocks blocks = {
        .gui_urls = TEXT("<gui_urls>\n<gui_url>\n<name>Your account</name>\n"
                         "<url><master_url/>show.php?userid=<userid/>&amp;x=<b/></url>\n"
                         "</gui_url>\n<ifteam>\n<gui_url>\n<name>Team <team_name/></name>\n"
                         "</gui_url>\n</ifteam>\n</gui_urls>\n"),
        .project_files = {
            .infos = TEXT("<file_info>\n    <name>icon</name>\n    <url>http://a.b/icon</url>\n"
                          "</file_info>\n"),
            .block = TEXT("<file_ref>\n    <file_name>icon</file_name>\n</file_ref>")}};

    f->sources.blocks = &blocks;
    reply_to(f, 80300);
    assert_true(has_text(f, "<url>https://example.org/demo/show.php?userid=7&amp;x=<b/></url>\n"));
    assert_false(has_text(f, "Team"));
    assert_true(has_text(f,
                         "<url>http://a.b/icon</url>\n</file_info>\n<project_files>\n<file_ref>\n"
                         "    <file_name>icon</file_name>\n</file_ref>\n</project_files>\n"));
    f->user.teamid = 9;
    f->sources.team_name = TEXT("A</name></gui_urls><hostid>1</hostid>");
    assert_null(reply_child(reply_to(f, 80300), "hostid"));
    assert_true(has_text(f, "<name>Team A&lt;/name&gt;"));
}

static void every_blank_of_a_link_is_filled(void **state)
{
    struct fixture *f = *state;
    const struct project_blocks blocks = {
        .gui_urls = TEXT("<gui_urls>\n<gui_url>\n<name><user_name/> of <project_name/></name>\n"
                         "<url>x?h=<hostid/>&amp;t=<teamid/></url>\n"
                         "</gui_url>\n</gui_urls>\n<ifteam>not closed")};
    char wanted[120];

    f->sources.blocks = &blocks;
    f->user.name = TEXT("Ada <&>");
    reply_to(f, 80300);
    assert_true(has_text(f, "<name>Ada &lt;&amp;&gt; of Demo &amp; Project</name>\n"));
    snprintf(wanted, sizeof(wanted), "<url>x?h=%lld&amp;t=%lld</url>\n",
             (long long)f->sources.host->id, (long long)f->user.teamid);
    assert_true(has_text(f, wanted));
    assert_false(has_text(f, "not closed"));
}

/* The sums are those of BOINC's own pages. */
static void feeds_are_sent_to_clients_that_read_them(void **state)
{
    struct fixture *f = *state;
    const struct project_blocks blocks = {
        .rss_feeds =
            TEXT("<rss_feed>\n<url><master_url/>notices.php?userid=<userid/>&auth=<rss_auth/>"
                 "</url>\n<w><weak_auth/></w>\n</rss_feed>")};

    f->sources.blocks = &blocks;
    f->user.authenticator = TEXT("0123456789abcdef0123456789abcdef");
    f->user.passwd_hash = TEXT("af918ab81954a4df4a78fe5ae7e7bf72");
    reply_to(f, 80300);
    assert_true(has_text(f, "<rss_feeds>\n<rss_feed>\n<url>https://example.org/demo/notices.php"
                            "?userid=7&auth=7_a6da6cd344ad09ec830175ed34b19648</url>\n"));
    assert_true(has_text(f, "<w>7_265ad6585549a692958518a830f6d54c</w>\n"));
    assert_true(has_text(f, "</rss_feed>\n</rss_feeds>\n"));
    reply_to(f, 61000);
    assert_false(has_text(f, "rss_feed"));
}

static void a_weak_key_never_gets_the_strong_one(void **state)
{
    struct fixture *f = *state;
    const struct project_blocks blocks = {
        .gui_urls =
            TEXT("<gui_urls>\n<gui_url>\n<url>x?auth=<authenticator/>&amp;w=<weak_auth/></url>\n"
                 "</gui_url>\n</gui_urls>\n")};

    f->sources.blocks = &blocks;
    f->user.authenticator = TEXT("5tr0ng");
    f->user.passwd_hash = TEXT("hash");
    reply_to(f, 80300);
    assert_true(has_text(f, "auth=5tr0ng&amp;w=7_"));
    f->sources.has_weak_key = true;
    reply_to(f, 80300);
    assert_false(has_text(f, "5tr0ng"));
    assert_true(has_text(f, "auth=7_"));
}

static void a_broken_block_of_the_project_is_left_out(void **state)
{
    struct fixture *f = *state;
    const struct project_blocks blocks = {
        .gui_urls = TEXT("<gui_url>\n<name>"),
        .project_files = {.infos = TEXT("<file_info>"), .block = TEXT("</project_files><hostid>")}};

    f->sources.blocks = &blocks;
    const struct reply_element *root = reply_to(f, 80300);
    assert_null(reply_child(root, "gui_urls"));
    assert_null(reply_child(root, "project_files"));
}

/* --- any answer ---------------------------------------------------------------------------- */

static struct text random_text(struct fixture *f, struct random *random, size_t most)
{
    size_t length = (size_t)(random_next(random) % (most + 1));
    char *at = arena_alloc(f->sources.arena, length);

    for (size_t i = 0; i < length; i++)
        at[i] = random_next(random) % 4 == 0 ? (char)random_next(random)
                                             : "<>/&;#abc \n"[random_next(random) % 11];
    return (struct text){.at = at, .length = length};
}

static void any_answer_is_read_back_with_each_ack_once(void **state)
{
    struct fixture *f = *state;
    struct random random = {.state = 20261120};

    for (int round = 0; round < 400; round++) {
        struct arena_mark mark = arena_mark(f->sources.arena);
        struct answer *answer = &f->answer;
        size_t acks = (size_t)(random_next(&random) % 20);
        int64_t version = versions[random_next(&random) % VERSION_COUNT];

        put_everywhere(f, random_text(f, &random, round % 2 == 0 ? 40 : 400));
        answer->acks = (struct text_items){0};
        for (size_t i = 0; i < acks; i++)
            text_items_add(f->sources.arena, &answer->acks,
                           text_print(f->sources.arena, "wu&%zu_0", i));
        const struct reply_element *root = reply_to(f, version);
        assert_i64((int64_t)reply_children(root, "result_ack"), (int64_t)acks);
        for (const struct text_item *item = answer->acks.first; item != NULL; item = item->next)
            assert_true(reply_names(root, "result_ack", item->text));
        assert_null(reply_child(root, "hostid"));
        if (f->user.name.length < 30)
            assert_true(reply_names(root, "result", TEXT("wu_0_0")));
        *answer = (struct answer){0};
        arena_rewind(f->sources.arena, mark);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* As the C library prints them, whole or not. */
static void numbers_are_plain_decimals(void **state)
{
    static const double edges[] = {0,
                                   1,
                                   -1,
                                   0.5,
                                   1e15,
                                   9007199254740991.0,
                                   1e22,
                                   -1e100,
                                   1e-9,
                                   -123.25,
                                   4503599627370495.5,
                                   1e16,
                                   9007199254740992.0};
    static const int64_t integers[] = {0, 7, -7, 10, INT64_MAX, INT64_MIN};
    struct random random = {.state = 20261123};
    struct buffer out = buffer_on_heap(0);
    struct reply reply = {.out = &out};
    char wanted[400];

    (void)state;
    for (size_t i = 0; i < 20000; i++) {
        uint64_t bits = random_next(&random);
        double number = i < sizeof(edges) / sizeof(*edges) ? edges[i]
                        : i % 2 == 0                       ? (double)(int64_t)bits
                                                           : (double)(int32_t)bits / 1024;

        out.length = 0;
        line_real(&reply, "n", number);
        (void)snprintf(wanted, sizeof(wanted), "<n>%.6f</n>\n", number);
        assert_text(buffer_text(&out), wanted);
    }
    for (size_t i = 0; i < sizeof(integers) / sizeof(*integers); i++) {
        out.length = 0;
        line_integer(&reply, "n", integers[i]);
        (void)snprintf(wanted, sizeof(wanted), "<n>%lld</n>\n", (long long)integers[i]);
        assert_text(buffer_text(&out), wanted);
    }
    buffer_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_names_each_element_once_per_client),
        cmocka_unit_test(numbers_are_plain_decimals),
        CASE(every_client_can_read_a_full_reply),
        CASE(generations_get_what_they_understand),
        CASE(a_nucleus_says_who_we_are_and_nothing_of_others),
        CASE(a_project_that_is_down_says_so),
        CASE(the_full_workload_is_asked_for_while_deadlines_matter),
        CASE(a_host_id_is_sent_on_change_only),
        CASE(options_show),
        CASE(priorities_follow_the_client),
        CASE(a_long_message_arrives_in_pieces),
        CASE(messages_in_one_are_sentences),
        CASE(a_job_is_written_in_full),
        CASE(old_clients_know_nvidia_as_cuda),
        CASE(the_oldest_read_a_command_line_on_one_line),
        CASE(an_anonymous_platform_gets_no_apps_and_no_versions),
        CASE(two_instances_of_a_workunit_share_it),
        CASE(a_job_that_cannot_be_written_costs_only_itself),
        CASE(a_reply_without_room_for_jobs_keeps_its_acks),
        CASE(resources_are_told_by_name_and_by_number),
        CASE(a_shorter_next_rpc_stays),
        CASE(nobody_is_told_that_there_is_nothing_for_what_is_allowed),
        CASE(nobody_is_told_that_there_is_nothing_at_all),
        CASE(an_invented_type_is_not_echoed),
        CASE(no_text_breaks_the_reply),
        CASE(a_message_to_a_host_is_raw_but_cannot_end_the_reply),
        CASE(texts_for_people_are_cut_to_the_line_between_characters),
        CASE(a_long_name_goes_whole_or_not_at_all),
        CASE(numbers_are_plain_and_finite),
        CASE(preferences_go_out_verbatim_or_not_at_all),
        CASE(links_are_filled_in_for_the_user),
        CASE(every_blank_of_a_link_is_filled),
        CASE(feeds_are_sent_to_clients_that_read_them),
        CASE(a_weak_key_never_gets_the_strong_one),
        CASE(a_broken_block_of_the_project_is_left_out),
        CASE(any_answer_is_read_back_with_each_ack_once),
    };

    log_set_level(LOG_LEVEL_CRITICAL); /* what is left out is logged, here a thousand times */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
