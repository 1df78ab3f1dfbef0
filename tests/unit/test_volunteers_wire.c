/* SPDX-License-Identifier: Apache-2.0 */
/* What emulated hosts say and hear. */
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/policy/plan_class/plan_class_builtin.h"
#include "server/policy/plan_class/plan_verdict.h"
#include "tests/support/requests.h"
#include "tests/support/test.h"
#include "tools/lab/volunteers/host/host_tally.h"
#include "tools/lab/volunteers/host/population.h"
#include "tools/lab/volunteers/host/rpc_messages.h"
#include "tools/lab/volunteers/host/versions.h"
#include "tools/lab/volunteers/wire/wire.h"

#include <stdlib.h>

#include "server/base/banned.h"

static void the_server_reads_what_a_host_says(void **state)
{
    (void)state;
    const struct machine machine = {
        .cpus = 8,
        .cpus_percent = 75,
        .flops = 5e9,
        .memory = 16e9,
        .disk = 1e11,
        .buffer = 43200,
        .gpus = {{.count = 2, .flops = 1e12}, {.count = 0}, {.count = 1, .flops = 2e11}}};
    const struct outgoing_job jobs[] = {
        {.name = "a&b", .deadline = 1000, .left = 50, .is_own = true, .cpus = 1},
        {.name = "good", .is_own = true, .done = true, .elapsed = 70},
        {.name = "bad", .is_own = true, .done = true, .failed = true, .elapsed = 7},
        {.name = "stopped", .is_own = true, .done = true, .aborted = true},
        {.name = "late", .is_own = true, .done = true, .aborted = true, .unstarted_late = true},
        {.name = "not its own, done", .done = true, .elapsed = 7},
        {.name = "not its own",
         .deadline = 2000,
         .left = 60,
         .cpus = 0.5,
         .coproc = CLIENT_CPU + 3,
         .coprocs = 0.25},
    };
    static const struct outgoing_file files[] = {{"kept", 5e6}};
    const struct outgoing outgoing = {.authenticator = TEXT("key"),
                                      .platform = TEXT("x86_64-pc-linux-gnu"),
                                      .hostid = 7,
                                      .rpc_seqno = 9,
                                      .mark = 1,
                                      .machine = &machine,
                                      .on_fraction = 0.75,
                                      .active_time = 86400.5,
                                      .share_fraction = 0.5,
                                      .runnable_fraction = 0.75,
                                      .potential_fraction = 0.625,
                                      .correction = 1,
                                      .demands = {{1234, 3, 7}, {55, 1, 8}, {0}, {66, 2, 9}},
                                      .scalar = 1234,
                                      .lists_queue = true,
                                      .disk = {.free = 4e10,
                                               .used = 3e9,
                                               .used_by_project = 1e9,
                                               .share = 2e10,
                                               .tells_amounts = true,
                                               .amounts = {1e9, 2e9, 3e9},
                                               .files = files,
                                               .file_count = 1},
                                      .jobs = jobs,
                                      .job_count = sizeof(jobs) / sizeof(jobs[0])};
    struct buffer request = buffer_on_heap(1 << 20);
    struct parsed *parsed;
    const struct message *message;

    outgoing_write(&outgoing, &request);
    assert_true(text_contains(buffer_text(&request),
                              TEXT("<total_active_duration>86400.500000</total_active_duration>")));
    assert_true(
        text_contains(buffer_text(&request),
                      TEXT("<total_gpu_active_duration>86400.500000</total_gpu_active_duration>")));
    buffer_add_char(&request, '\0');
    parsed = parse_string(request.at);
    message = &parsed->message;
    assert_status(STATUS_OK, parsed->status);
    assert_text(message->authenticator, "key");
    assert_i64(message->hostid, 7);
    assert_i64(message->rpc_seqno, 9);
    assert_i64(message->p_ncpus, 8);
    assert_real(message->p_fpops, 5e9, 0);
    assert_real(message->on_frac, 0.75, 0);
    assert_true(text_contains(message->working_global_preferences,
                              TEXT("<max_ncpus_pct>75.000000</max_ncpus_pct>")));
    assert_real(message->cpu_req_seconds, 1234, 0);
    assert_real(message->cpu_req_instances, 3, 0);
    assert_int_equal(message->result_count, 4);
    assert_text(message->results[1].name, "bad");
    assert_i64(message->results[1].exit_status, 1);
    assert_i64(message->results[2].exit_status, 202);
    assert_i64(message->results[3].exit_status, 200);
    assert_int_equal(message->other_result_count, 1);
    assert_int_equal(message->ip_result_count, 2);
    assert_text(message->ip_results[0].name, "a&b");
    assert_real(message->ip_results[1].nintel_gpus, 0.25, 0);
    assert_real(message->ip_results[1].avg_ncpus, 0.5, 0);
    assert_real(message->prrs_fraction, 0.625, 0);
    assert_real(message->estimated_delay, 7, 0);
    assert_int_equal(message->coproc_count, 2);
    assert_text(message->coprocs[0].type, "NVIDIA");
    assert_real(message->coprocs[0].count, 2, 0);
    assert_real(message->coprocs[0].req_seconds, 55, 0);
    assert_real(message->coprocs[0].estimated_delay, 8, 0);
    assert_text(message->coprocs[1].type, "intel_gpu");
    assert_real(message->coprocs[1].req_instances, 2, 0);
    assert_real(message->coprocs[1].peak_flops, 2e11, 0);
    assert_real(message->project_disk_free, 1e9, 0);
    assert_real(message->potentially_free_offender, 2e9, 0);
    assert_real(message->potentially_free_self, 3e9, 0);
    assert_real(message->d_free, 4e10, 0);
    assert_real(message->d_boinc_used_total, 3e9, 0);
    assert_real(message->d_boinc_used_project, 1e9, 0);
    assert_real(message->d_project_share, 2e10, 0);
    assert_int_equal(message->file_count, 1);
    assert_text(message->files[0].name, "kept");
    assert_real(message->files[0].nbytes, 5e6, 0);
    assert_int_equal(message->elements_dropped, 0);
    parsed_free(parsed);
    buffer_free(&request);
}

/* Servers count jobs in progress by application and processor, which clients tell since 6.11. */
static void each_job_says_which_version_it_is_of(void **state)
{
    (void)state;
    char first[] = "x&y", second[] = "gpu", platform[] = "p", none[] = "",
         class[] = "opencl_ati_101";
    struct host_version list[] = {
        {.app = first, .platform = platform, .plan_class = none, .number = 7},
        {.app = second,
         .platform = platform,
         .plan_class = class,
         .number = 100,
         .cpus = 0.25,
         .flops = 3e11,
         .coproc = CLIENT_ATI,
         .coprocs = 0.5}};
    const struct host_versions versions = {.at = list, .count = 2};
    const struct outgoing_job jobs[] = {
        {.name = "of the second", .is_own = true, .version = 1},
        {.name = "of the first", .is_own = true, .version = 0},
        {.name = "of none", .is_own = true, .version = VERSIONS_NONE},
        {.name = "reported", .is_own = true, .done = true, .version = 1},
        {.name = "of another project", .version = 0},
    };
    const struct machine machine = {.cpus = 1};
    const struct message *message;

    for (int is_scalar = 0; is_scalar < 2; is_scalar++) {
        const struct outgoing outgoing = {.platform = TEXT("p"),
                                          .machine = &machine,
                                          .is_scalar = is_scalar == 1,
                                          .versions = &versions,
                                          .jobs = jobs,
                                          .job_count = 5};
        struct buffer request = buffer_on_heap(1 << 20);
        struct parsed *parsed;

        outgoing_write(&outgoing, &request);
        buffer_add_char(&request, '\0');
        parsed = parse_string(request.at);
        message = &parsed->message;
        assert_status(STATUS_OK, parsed->status);
        assert_int_equal(message->elements_dropped, 0);
        assert_int_equal(message->app_version_count, is_scalar ? 0 : 2);
        assert_int_equal(message->other_result_count, 3);
        assert_i64(message->other_results[0].app_version, is_scalar ? -1 : 1);
        assert_i64(message->other_results[1].app_version, is_scalar ? -1 : 0);
        assert_i64(message->other_results[2].app_version, -1);
        assert_int_equal(message->result_count, 1);
        assert_i64(message->results[0].app_version_num, 100);
        assert_text(message->results[0].plan_class, "opencl_ati_101");
        if (!is_scalar) {
            assert_text(message->other_results[0].plan_class, "opencl_ati_101");
            assert_text(message->app_versions[0].app_name, "x&y");
            assert_i64(message->app_versions[0].version_num, 7);
            assert_int_equal(message->app_versions[0].coproc_type.length, 0);
            assert_text(message->app_versions[1].coproc_type, "ATI");
            assert_real(message->app_versions[1].coproc_count, 0.5, 0);
            assert_real(message->app_versions[1].avg_ncpus, 0.25, 0);
            assert_real(message->app_versions[1].flops, 3e11, 0);
        }
        parsed_free(parsed);
        buffer_free(&request);
    }
}

static void versions_are_kept_in_their_order_with_their_last_figures(void **state)
{
    (void)state;
    struct host_versions versions = {.count = 0};
    struct incoming_job job = {
        .app = TEXT("x"), .platform = TEXT("p"), .version = 1, .version_use.flops = 5};

    assert_int_equal(versions_note(&versions, &job), 0);
    job.version = 2;
    assert_int_equal(versions_note(&versions, &job), 1);
    job.plan_class = TEXT("mt");
    assert_int_equal(versions_note(&versions, &job), 2);
    job.version_use.flops = 9;
    job.version = 1;
    job.plan_class = NO_TEXT;
    assert_int_equal(versions_note(&versions, &job), 0);
    assert_real(versions.at[0].flops, 9, 0);
    assert_real(versions.at[1].flops, 5, 0);
    for (job.version = 3; job.version < 100; job.version++)
        if (versions_note(&versions, &job) == VERSIONS_NONE)
            break;
    assert_int_equal(versions.count, VERSIONS_MAX);
    job.app = NO_TEXT; /* a reply without the workunit */
    assert_int_equal(versions_note(&versions, &job), VERSIONS_NONE);
    versions_free(&versions);
}

static const char reply[] =
    "<scheduler_reply>\n<scheduler_version>100</scheduler_version>\n"
    "<request_delay>31.5</request_delay>\n<hostid>42</hostid>\n"
    "<next_rpc_delay>900</next_rpc_delay>\n"
    "<no_work_deadlines/>\n<rsc_status>cpu sent</rsc_status>\n"
    "<rsc_status>NVIDIA unsupported</rsc_status>\n<send_full_workload/>\n"
    "<result_abort>\n<name>one</name>\n</result_abort>\n"
    "<result_abort_if_not_started>\n<name>two</name>\n</result_abort_if_not_started>\n"
    "<result_ack>\n<name>old</name>\n</result_ack>\n"
    "<app_version><app_name>x</app_name><version_num>1</version_num><platform>p</platform>"
    "<flops>2e9</flops></app_version>\n"
    "<app_version><app_name>x</app_name><version_num>2</version_num><platform>p</platform>"
    "<avg_ncpus>0.125</avg_ncpus><coproc><type>NVIDIA</type><count>0.5</count></coproc>"
    "<flops>9e9</flops></app_version>\n"
    "<deletion_policy_expire/>\n<delete_file_info>old_file</delete_file_info>\n"
    "<file_info><name>in</name><url>http://x/in</url><nbytes>1234</nbytes><sticky/>"
    "<priority>3</priority><exp_days>2</exp_days></file_info>\n"
    "<workunit><rsc_fpops_est>3e12</rsc_fpops_est><name>w</name><app_name>x</app_name>"
    "<file_ref><file_name>in</file_name><open_name>i</open_name></file_ref>"
    "<file_ref><file_name>unknown</file_name></file_ref></workunit>\n"
    "<file_info><name>w_0_out</name><generated_locally/><max_nbytes>9</max_nbytes><sticky/>"
    "<priority>5</priority></file_info>\n"
    "<result><name>w_0</name><wu_name>w</wu_name><report_deadline>5000</report_deadline>"
    "<platform>p</platform><version_num>1</version_num>"
    "<file_ref><file_name>w_0_out</file_name><open_name>o</open_name></file_ref></result>\n"
    "<result><name>w_1</name><wu_name>w</wu_name><report_deadline>5000</report_deadline>"
    "<platform>p</platform><version_num>2</version_num></result>\n"
    "<workunit><rsc_fpops_est>3e12</rsc_fpops_est><name>science</name><app_name>x</app_name>"
    "<buda_app_name>fold</buda_app_name><avg_ncpus>0.5</avg_ncpus><flops>7e9</flops>"
    "<coproc><type>ATI</type><count>1</count></coproc>"
    "<file_ref><file_name>in</file_name></file_ref></workunit>\n"
    "<result><name>science_0</name><wu_name>science</wu_name>"
    "<report_deadline>5000</report_deadline><platform>p</platform><version_num>1</version_num>"
    "</result>\n</scheduler_reply>\n";

static void a_host_reads_what_the_server_says(void **state)
{
    (void)state;
    struct arena *arena = arena_create(16 << 20);
    struct incoming incoming;

    assert_status(STATUS_OK, incoming_read(text_from(reply), arena, &incoming, NULL));
    assert_i64(incoming.hostid, 42);
    assert_real(incoming.request_delay, 31.5, 0);
    assert_real(incoming.next_rpc_delay, 900, 0);
    assert_true(incoming.no_work_deadlines);
    assert_false(incoming.is_down);
    assert_true(incoming.send_full_workload);
    assert_int_equal(incoming.answers[CLIENT_CPU], FETCH_SENT);
    assert_int_equal(incoming.answers[CLIENT_NVIDIA], FETCH_UNSUPPORTED);
    assert_int_equal(incoming.answers[CLIENT_ATI], FETCH_SILENCE);
    assert_true(incoming.deletes_by_expiry && !incoming.deletes_by_priority);
    assert_int_equal(incoming.deletion_count, 1);
    assert_text(incoming.deletions[0], "old_file");
    for (size_t i = 0; i < incoming.job_count; i++) {
        assert_int_equal(incoming.jobs[i].file_count, 1);
        assert_text(incoming.jobs[i].files[0].name, "in");
        assert_real(incoming.jobs[i].files[0].bytes, 1234, 0);
        assert_int_equal(incoming.jobs[i].files[0].priority, 3);
        assert_real(incoming.jobs[i].files[0].life, 2 * 86400, 0);
        assert_true(incoming.jobs[i].files[0].sticky);
    }
    assert_int_equal(incoming.abort_count, 2);
    assert_text(incoming.aborts[0].name, "one");
    assert_true(incoming.aborts[1].if_not_started);
    assert_int_equal(incoming.ack_count, 1);
    assert_text(incoming.acks[0], "old");
    assert_int_equal(incoming.job_count, 3);
    assert_text(incoming.jobs[0].name, "w_0");
    assert_text(incoming.jobs[0].app, "x");
    assert_real(incoming.jobs[0].deadline, 5000, 0);
    assert_real(incoming.jobs[0].operations, 3e12, 0);
    assert_real(incoming.jobs[0].use.flops, 2e9, 0);
    assert_real(incoming.jobs[0].use.cpus, 1, 0);
    assert_int_equal(incoming.jobs[0].use.coproc, CLIENT_CPU);
    assert_text(incoming.jobs[0].output.name, "w_0_out");
    assert_int_equal(incoming.jobs[0].output.priority, 5);
    assert_true(incoming.jobs[0].output.sticky);
    assert_int_equal(incoming.jobs[1].output.name.length, 0);
    assert_false(incoming.jobs[1].output.sticky);
    assert_real(incoming.jobs[1].use.flops, 9e9, 0);
    assert_real(incoming.jobs[1].use.cpus, 0.125, 0);
    assert_int_equal(incoming.jobs[1].use.coproc, CLIENT_NVIDIA);
    assert_real(incoming.jobs[1].use.coprocs, 0.5, 0);
    assert_real(incoming.jobs[2].use.flops, 7e9, 0); /* of a variant */
    assert_real(incoming.jobs[2].use.cpus, 0.5, 0);
    assert_int_equal(incoming.jobs[2].use.coproc, CLIENT_ATI);
    assert_real(incoming.jobs[2].use.coprocs, 1, 0);
    assert_real(incoming.jobs[2].version_use.flops, 2e9, 0);
    assert_real(incoming.jobs[2].version_use.cpus, 1, 0);
    assert_int_equal(incoming.jobs[2].version_use.coproc, CLIENT_CPU);
    arena_destroy(arena);
}

/* Which classes a device may run is not what is emulated: so it may run what is current. */
static void devices_may_run_the_classes_of_their_kind(void **state)
{
    (void)state;
    static const char *const names[] = {"cuda_fermi",
                                        "opencl_nvidia_101",
                                        "ati14",
                                        "opencl_ati_101",
                                        "opencl_intel_gpu_101",
                                        "sse3",
                                        "mt"};
    const struct machine machine = {.cpus = 8,
                                    .flops = 5e9,
                                    .memory = 16e9,
                                    .disk = 1e11,
                                    .gpus = {{1, 1e12}, {1, 2e12}, {1, 3e11}}};
    struct plan_classes classes = plan_classes_builtin();

    for (int is_scalar = 0; is_scalar < 2; is_scalar++) {
        struct outgoing outgoing = {.platform = TEXT("x86_64-pc-linux-gnu"),
                                    .machine = &machine,
                                    .is_scalar = is_scalar == 1};
        struct arena *arena = arena_create(1 << 20);
        struct buffer request = buffer_on_heap(1 << 20);
        struct plan_host host;
        struct parsed *parsed;

        outgoing_write(&outgoing, &request);
        buffer_add_char(&request, '\0');
        parsed = parse_string(request.at);
        host = (struct plan_host){.message = &parsed->message,
                                  .client_version = message_client_version(&parsed->message),
                                  .cpus = 8,
                                  .memory = 16e9,
                                  .cpu_flops = 5e9,
                                  .primary_platform = parsed->message.platforms[0],
                                  .chance = 0.5};
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            struct plan_verdict verdict =
                plan_class_judge(&classes, text_from(names[i]), &host, arena);

            if (!verdict.is_usable)
                fail_msg("%s: " TEXT_FORMAT, names[i], TEXT_ARG(verdict.why));
        }
        parsed_free(parsed);
        buffer_free(&request);
        arena_destroy(arena);
    }
}

/* Clients of today on Linux and Windows; an older one has no containers. */
static void containers_may_run_what_their_system_lets_them(void **state)
{
    static const struct {
        struct machine machine;
        const char *usable; /* of the classes below, in their order */
    } cases[] = {
        {{.gpus = {{1, 1e12}, {1, 2e12}, {1, 3e11}}}, "nnnn"},
        {{.has_containers = true, .containers_see_gpus = true, .gpus = {{1, 1e12}}}, "yynn"},
        {{.has_containers = true, .is_windows = true, .gpus = {{1, 1e12}}}, "ynnn"},
        {{.has_containers = true,
          .is_windows = true,
          .containers_see_gpus = true,
          .gpus = {{1, 1e12}, {1, 2e12}, {1, 3e11}}},
         "yyyy"},
        {{.has_containers = true,
          .is_windows = true,
          .containers_see_gpus = true,
          .gpus = {{0}, {1, 2e12}}},
         "ynyn"},
        {{.is_windows = true, .containers_see_gpus = true, .gpus = {{1, 1e12}}}, "nnnn"},
    };
    static const char document[] =
        "<plan_classes><plan_class><name>docker</name><docker/><min_core_client_version>80200"
        "</min_core_client_version></plan_class>"
        "<plan_class><name>n</name><docker/><gpu_type>nvidia</gpu_type><cuda/></plan_class>"
        "<plan_class><name>a</name><docker/><gpu_type>amd</gpu_type><opencl/></plan_class>"
        "<plan_class><name>i</name><docker/><gpu_type>intel</gpu_type><opencl/></plan_class>"
        "</plan_classes>";
    static const char *const names[] = {"docker", "n", "a", "i"};
    struct plan_classes classes;

    (void)state;
    assert_status(STATUS_OK, plan_classes_parse(text_from(document), &classes, NULL));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct machine machine = cases[i].machine;
        struct outgoing outgoing = {.platform = TEXT("x86_64-pc-linux-gnu"), .machine = &machine};
        struct arena *arena = arena_create(1 << 20);
        struct buffer request = buffer_on_heap(1 << 20);
        struct parsed *parsed;
        char found[5] = {0};

        outgoing_write(&outgoing, &request);
        buffer_add_char(&request, '\0');
        parsed = parse_string(request.at);
        assert_int_equal(parsed->message.elements_dropped, 0);
        for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++) {
            const struct plan_host host = {.message = &parsed->message,
                                           .client_version =
                                               message_client_version(&parsed->message),
                                           .cpus = 8,
                                           .memory = 16e9,
                                           .cpu_flops = 5e9,
                                           .primary_platform = parsed->message.platforms[0],
                                           .chance = 0.5};

            found[j] =
                plan_class_judge(&classes, text_from(names[j]), &host, arena).is_usable ? 'y' : 'n';
        }
        assert_text(text_from(found), cases[i].usable);
        parsed_free(parsed);
        buffer_free(&request);
        arena_destroy(arena);
    }
    plan_classes_free(&classes);
}

static void half_a_reply_is_none(void **state)
{
    (void)state;
    static const char *const replies[] = {"", "502 Bad Gateway", "<html></html>",
                                          "<scheduler_reply>\n<hostid>1</hostid>\n"};
    struct arena *arena = arena_create(16 << 20);

    for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++) {
        struct incoming incoming;

        assert_status(STATUS_INVALID, incoming_read(text_from(replies[i]), arena, &incoming, NULL));
        arena_reset(arena);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_server_reads_what_a_host_says),
        cmocka_unit_test(each_job_says_which_version_it_is_of),
        cmocka_unit_test(versions_are_kept_in_their_order_with_their_last_figures),
        cmocka_unit_test(a_host_reads_what_the_server_says),
        cmocka_unit_test(devices_may_run_the_classes_of_their_kind),
        cmocka_unit_test(containers_may_run_what_their_system_lets_them),
        cmocka_unit_test(half_a_reply_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
