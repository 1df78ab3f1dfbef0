/* SPDX-License-Identifier: Apache-2.0 */
/* What a request writes into its host's row. */
#include "server/policy/host/host_record.h"

#include "server/base/arena.h"
#include "server/base/crypto.h"
#include "server/parse/message.h"
#include "tests/support/case_arena.h"
#include "tests/support/test.h"

static struct message described(void)
{
    struct message message;

    memset(&message, 0, sizeof(message));
    message.client_major = 7;
    message.client_minor = 20;
    message.client_release = 5;
    message.os_name = TEXT("Linux");
    message.ip_addr = TEXT("10.0.0.1");
    message.p_ncpus = 8;
    message.p_fpops = 3e9;
    message.d_project_share = 5e9;
    message.on_frac = 0.5;
    return message;
}

static void the_described_host_is_copied(void **state)
{
    struct host_row host = {.p_model = TEXT("old"), .venue = TEXT("home"), .max_results_day = -1};
    struct message message = described();

    (void)state;
    host_record_copy(&message, TEXT("a@b"), case_arena, &host);
    assert_text(host.os_name, "Linux");
    assert_text(host.p_model, ""); /* left out: empty */
    assert_i64(host.p_ncpus, 8);
    assert_real(host.p_fpops, 3e9, 0);
    assert_real(host.d_boinc_max, 5e9, 0);
    assert_real(host.on_frac, 0.5, 0);
    assert_text(host.venue, "home");
    assert_i64(host.max_results_day, -1);
    assert_text(host.misc, "{\"client_version\":\"7.20.5\"}");
    assert_i64(host_record_client_version(host.misc), 72005);
    assert_i64(host_record_client_version(TEXT("{\"client_version\":\"7.0.3\"")), 70003);
    assert_i64(host_record_client_version(TEXT("{\"client_version\":\"9999.99.99\"")), 99999999);
    assert_i64(host_record_client_version(TEXT("{\"client_version\":\"7.100.1\"")), 0);
    assert_i64(host_record_client_version(TEXT("{\"client_version\":\"7.-1.3\"")), 0);
    assert_i64(host_record_client_version(NO_TEXT), 0);
    assert_i64(host_record_client_version(TEXT("{\"client_version\":\"7.x.5\"}")), 0);
    assert_i64(host_record_client_version(TEXT("{\"client_version\":\"7.20")), 0);
    message.p_ncpus = 0; /* it has one at least */
    host_record_copy(&message, TEXT("a@b"), case_arena, &host);
    assert_i64(host.p_ncpus, 1);
}

static void a_request_without_description_changes_nothing(void **state)
{
    struct host_row host = {.p_model = TEXT("old"), .nsame_ip_addr = 4};
    struct message message;

    (void)state;
    memset(&message, 0, sizeof(message));
    host_record_copy(&message, TEXT("a@b"), case_arena, &host);
    assert_text(host.p_model, "old");
    assert_i64(host.nsame_ip_addr, 4);
}

static void the_same_address_is_counted(void **state)
{
    struct host_row host = {.last_ip_addr = TEXT("10.0.0.1"), .nsame_ip_addr = 4};
    struct message message = described();

    (void)state;
    host_record_copy(&message, NO_TEXT, case_arena, &host);
    assert_i64(host.nsame_ip_addr, 5);
    message.ip_addr = TEXT("10.0.0.2");
    host_record_copy(&message, NO_TEXT, case_arena, &host);
    assert_i64(host.nsame_ip_addr, 0);
    assert_text(host.last_ip_addr, "10.0.0.2");
}

static void only_a_cpid_that_came_is_hashed(void **state)
{
    struct host_row host = {.host_cpid = TEXT("kept")};
    struct message message = described();
    char hash[MD5_HEX_SIZE];

    (void)state;
    host_record_copy(&message, TEXT("a@b"), case_arena, &host);
    assert_text(host.host_cpid, "kept");
    message.host_cpid = TEXT("cpid");
    host_record_copy(&message, TEXT("a@b"), case_arena, &host);
    md5_hex(TEXT("cpida@b"), NO_TEXT, hash);
    assert_text(host.host_cpid, hash);
    message.host_cpid = TEXT("c");
    host_record_copy(&message, TEXT("a@b"), case_arena, &host);
    md5_hex(TEXT("ca@b"), NO_TEXT, hash);
    assert_text(host.host_cpid, hash);
}

static void everything_fits_its_column(void **state)
{
    static char name[1000];
    struct host_row host = {.nsame_ip_addr = INT32_MAX};
    struct message message = described();

    (void)state;
    memset(name, 'n', sizeof(name));
    message.p_model = (struct text){.at = name, .length = sizeof(name)};
    message.ip_addr = NO_TEXT;
    message.p_ncpus = INT64_MAX;
    message.timezone = INT64_MIN;
    host_record_copy(&message, NO_TEXT, case_arena, &host);
    assert_int_equal(host.p_model.length, 254);
    assert_i64(host.p_ncpus, INT32_MAX);
    assert_i64(host.timezone, INT32_MIN);
    assert_i64(host.nsame_ip_addr, INT32_MAX);
}

static void coprocessors_are_summed(void **state)
{
    struct coproc coprocs[] = {
        {.type = TEXT("NVIDIA"), .name = TEXT("A \"B\""), .count = 2, .peak_flops = 1e12},
        {.type = TEXT("asic"), .count = 3},
        {.type = TEXT("odd"), .count = -4, .peak_flops = 1e12},
        /* before 6.13 clients did not tell the speed, but what it follows from */
        {.type = TEXT("ATI"),
         .count = 1,
         .simd_count = 10,
         .wavefront_size = 64,
         .engine_clock = 1000},
    };
    struct host_row host = {0};
    struct message message = described();

    (void)state;
    message.coprocs = coprocs;
    message.coproc_count = 4;
    host_record_copy(&message, NO_TEXT, case_arena, &host);
    assert_i64(host.p_ngpus, 6);
    assert_real(host.p_gpu_fpops, 5.2e12, 1);
    assert_true(text_contains(host.misc, TEXT("\"model\":\"A \\\"B\\\"\",\"count\":2")));
}

/* As BOINC's web pages read it, whatever the order of the request. */
static void misc_is_what_web_pages_read(void **state)
{
    const struct opencl_properties opencl = {.name = TEXT("Arc"),
                                             .vendor = TEXT("Maker"),
                                             .device_version = TEXT("OpenCL 3.0 x"),
                                             .driver_version = TEXT("31.0.101"),
                                             .global_mem_size = 4294967296};
    struct coproc coprocs[] = {
        {.type = TEXT("odd"), .count = 1, .opencl = opencl},
        {.type = TEXT("apple_gpu"), .count = 1, .model = TEXT("M4 ]]>"), .metal_support = 3},
        {.type = TEXT("intel_gpu"), .count = 1, .opencl = opencl},
        {.type = TEXT("ATI"),
         .name = TEXT("RX"),
         .count = 1,
         .local_ram = 512,
         .cal_version = TEXT("1.4.1")},
        {.type = TEXT("NVIDIA"),
         .name = TEXT("A \"B\\"),
         .count = 2,
         .total_global_mem = 8589934592,
         .available_ram = 1e9,
         .driver_version = 57260,
         .opencl = opencl},
    };
    struct wsl_distro distros[] = {
        {.distro_name = TEXT("U"), .docker_version = TEXT("27.0"), .docker_type = 1},
        {.distro_name = TEXT("boinc-buda-runner"),
         .docker_version = TEXT("5.4.2"),
         .docker_type = 2,
         .distro_version = 6},
        {.distro_name = TEXT("D"), .docker_version = TEXT("1.0"), .disallowed = true},
        {.distro_name = TEXT("E")},
    };
    struct message message = described();

    (void)state;
    message.coprocs = coprocs;
    message.coproc_count = 5;
    assert_text(host_record_misc(&message, case_arena),
                "{\"client_version\":\"7.20.5\",\"gpus\":["
                "{\"type\":\"nvidia\",\"model\":\"A \\\"B\\\\\",\"count\":2,\"ram_mb\":8192,"
                "\"driver_version\":\"57260\",\"opencl_version\":\"300\"},"
                "{\"type\":\"amd\",\"model\":\"RX\",\"count\":1,\"ram_mb\":512,"
                "\"driver_version\":\"1.4.1\",\"opencl_version\":\"0\"},"
                "{\"type\":\"intel\",\"model\":\"Arc\",\"count\":1,\"ram_mb\":4096,"
                "\"driver_version\":\"31.0.101\",\"opencl_version\":\"300\"},"
                "{\"type\":\"apple\",\"model\":\"M4 ]]\\u003e\",\"count\":1,\"ram_mb\":0,"
                "\"driver_version\":\"3\",\"opencl_version\":\"0\"},"
                "{\"type\":\"Maker\",\"model\":\"Arc\",\"count\":1,\"ram_mb\":4096,"
                "\"driver_version\":\"OpenCL 3.0 x\",\"opencl_version\":\"300\"}]}");
    message.coproc_count = 0;
    message.docker_version = TEXT("24.0.7");
    message.docker_type = 1;
    message.virtualbox_version = TEXT("7.1.6");
    message.p_features = TEXT("sse svm");
    assert_text(host_record_misc(&message, case_arena),
                "{\"client_version\":\"7.20.5\",\"docker\":{\"version\":\"24.0.7\",\"type\":1},"
                "\"vbox\":{\"version\":\"7.1.6\",\"hw_accel\":true,\"hw_accel_enabled\":true}}");
    message.os_name = TEXT("Microsoft Windows 11");
    message.distros = distros;
    message.distro_count = 4;
    message.virtualbox_version = NO_TEXT;
    message.dont_use_wsl = true;
    assert_text(host_record_misc(&message, case_arena),
                "{\"client_version\":\"7.20.5\",\"docker\":{\"version\":\"5.4.2\",\"type\":2,"
                "\"wsl_distro\":\"boinc-buda-runner\",\"boinc_buda_runner_version\":6},"
                "\"config\":{\"dont_use_docker\":false,\"dont_use_wsl\":true}}");
    message.distro_count = 0;
    message.dont_use_wsl = false;
    coprocs[0].count = 0; /* none of it is there */
    message.coproc_count = 1;
    assert_text(host_record_misc(&message, case_arena), "{\"client_version\":\"7.20.5\"}");
}

static void misc_is_valid_json_of_bounded_size(void **state)
{
    static struct coproc coprocs[32];
    static char name[254];
    struct message message = described();
    struct text misc;

    (void)state;
    message.docker_version = TEXT("2\xE9"
                                  "5\n\xC3\xA9\xED\xA0\x80");
    misc = host_record_misc(&message, case_arena);
    assert_text(misc, "{\"client_version\":\"7.20.5\",\"docker\":{\"version\":"
                      "\"2\\u00e95\\u000a\xC3\xA9\\u00ed\\u00a0\\u0080\"}}");
    memset(name, 1, sizeof(name));
    for (size_t i = 0; i < 32; i++)
        coprocs[i] = (struct coproc){.type = {.at = name, .length = 254},
                                     .name = {.at = name, .length = 254},
                                     .count = 1e300,
                                     .peak_flops = 1e300};
    message.coprocs = coprocs;
    message.coproc_count = 32;
    misc = host_record_misc(&message, case_arena);
    assert_true(misc.length > 0 && misc.length <= 65535);
    assert_true(text_ends(misc, TEXT("}")));
}

static void a_forwarded_address_counts_behind_trusted_proxies_only(void **state)
{
    const struct text trusted[] = {TEXT("10.0.0.1"), TEXT("10.0.0.2")};
    static const struct {
        const char *wanted, *forwarded, *remote;
        size_t count;
    } rows[] = {
        {"9.9.9.9", "1.2.3.4", "9.9.9.9", 2}, /* a client's own invention */
        {"9.9.9.9", "", "9.9.9.9", 2},
        {"1.2.3.4", "1.2.3.4", "10.0.0.1", 2},
        {"1.2.3.4", "6.6.6.6, 1.2.3.4", "10.0.0.1", 2}, /* what stood there before the proxy came */
        {"1.2.3.4", "6.6.6.6, 1.2.3.4 , 10.0.0.2", "10.0.0.1", 2},
        {"10.0.0.1", "1.2.3.4", "10.0.0.1", 0},
        {"10.0.0.1", " ,", "10.0.0.1", 2},
        {"10.0.0.2", "10.0.0.2", "10.0.0.1", 2},
        {"?.?.?.?", "", "", 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_text(host_record_external_address(text_from(rows[i].forwarded),
                                                 text_from(rows[i].remote), trusted, rows[i].count),
                    rows[i].wanted);
}

static void any_figure_describes_a_host(void **state)
{
    (void)state;
    assert_false(host_record_is_described(&(struct message){.d_free = 1}));
    assert_true(host_record_is_described(&(struct message){.os_name = TEXT("a")}));
    assert_true(host_record_is_described(&(struct message){.p_model = TEXT("a")}));
    assert_true(host_record_is_described(&(struct message){.p_vendor = TEXT("a")}));
    assert_true(host_record_is_described(&(struct message){.host_cpid = TEXT("a")}));
    assert_true(host_record_is_described(&(struct message){.domain_name = TEXT("a")}));
    assert_true(host_record_is_described(&(struct message){.m_nbytes = 1}));
    assert_true(host_record_is_described(&(struct message){.p_fpops = 1}));
}

static void free_space_that_is_not_said_is_as_before(void **state)
{
    const struct host_row stored = {.d_free = 5e9, .d_total = 9e9}, nothing = {.d_free = 0},
                          full = {.d_free = 0, .d_total = 9e9};
    struct message said = {.d_free = 0, .has_d_free = true, .d_total = 7e9},
                   silent = {.d_total = 0}, silent_too = {.d_total = 0};
    struct message reported = {.has_project_disk_free = true};

    (void)state;
    host_record_complete(&stored, &said);
    assert_real(said.d_free, 0, 0);
    host_record_complete(&stored, &reported);
    assert_real(reported.d_free, 0, 0);
    host_record_complete(&nothing, &silent);
    assert_false(silent.has_d_free);
    host_record_complete(&full, &silent_too);
    assert_true(silent_too.has_d_free);
    assert_real(silent_too.d_free, 0, 0);
    assert_true(host_record_has_disk(&full));
    assert_false(host_record_has_disk(&nothing));
    host_record_complete(&stored, &silent);
    assert_true(silent.has_d_free);
    assert_real(silent.d_free, 5e9, 0);
    assert_real(silent.d_total, 9e9, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_described_host_is_copied),
        cmocka_unit_test(a_request_without_description_changes_nothing),
        cmocka_unit_test(any_figure_describes_a_host),
        cmocka_unit_test(free_space_that_is_not_said_is_as_before),
        cmocka_unit_test(the_same_address_is_counted),
        cmocka_unit_test(only_a_cpid_that_came_is_hashed),
        cmocka_unit_test(everything_fits_its_column),
        cmocka_unit_test(coprocessors_are_summed),
        cmocka_unit_test(misc_is_what_web_pages_read),
        cmocka_unit_test(misc_is_valid_json_of_bounded_size),
        cmocka_unit_test(a_forwarded_address_counts_behind_trusted_proxies_only),
    };

    return cmocka_run_group_tests(tests, case_arena_setup, case_arena_teardown);
}
