/* SPDX-License-Identifier: Apache-2.0 */
/* qmctl why beside true requests. Hosts of many kinds come once, asking for nothing; then it is
 * asked about them, from what the database keeps of them; then they ask for work. What qmctl says
 * and what the host reads is the same, in reason and words. */
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/random.h"
#include "tests/support/database.h"
#include "tests/support/test.h"
#include "tests/support/why.h"

#include <time.h>

enum { HOSTS = 500, SEED = 31, DAY = 86400 };

static struct test_database *database;
static struct why_comparison *comparison;

/* --- the project ------------------------------------------------------------------------------ */

/* Each with a job, of which a few at a time can be had. */
static const struct {
    const char *versions; /* rows of (appid, number, platform, class, least, most, deprecated) */
    const char *workunit; /* what it sets */
} apps[] = {
    {"(1, 103, 1, '', 0, 0, 0), (1, 103, 3, '', 0, 0, 0)", "rsc_memory_bound = 1e8"},
    {"(2, 103, 1, 'cuda_fermi', 0, 0, 0), (2, 103, 4, 'cuda_fermi', 0, 0, 0)", ""},
    {"(3, 103, 1, 'opencl_nvidia_120', 0, 0, 0), (3, 103, 4, 'opencl_amd_200', 0, 0, 0)", ""},
    {"(4, 103, 1, 'vbox64', 0, 0, 0), (4, 103, 4, 'vbox64_mt', 0, 0, 0)", ""},
    {"(5, 103, 1, 'mt', 0, 0, 0), (5, 103, 3, 'mt', 0, 0, 0), (5, 103, 5, 'mt', 0, 0, 0)", ""},
    {"(6, 103, 1, 'sse3', 0, 0, 0), (6, 103, 3, 'sse3', 0, 0, 0)", ""},
    {"(7, 103, 1, '', 70402, 0, 0), (7, 103, 3, '', 0, 61200, 0)", ""},
    {"(8, 103, 2, '', 0, 0, 0), (8, 103, 3, '', 0, 0, 0)", "rsc_memory_bound = 6e9"},
    {"(9, 103, 1, '', 0, 0, 0)", "app_version_num = 777"},
    {"(10, 103, 1, '', 0, 0, 1), (10, 103, 3, '', 0, 0, 0)", ""},
    {"(11, 103, 1, 'ati14', 0, 0, 0), (11, 103, 3, 'ati14', 0, 0, 0)", ""},
    {"(12, 103, 1, '', 0, 0, 0), (12, 103, 4, '', 0, 0, 0)", "rsc_disk_bound = 1.5e10"},
    {"(13, 103, 1, '', 0, 0, 0), (13, 103, 3, '', 0, 0, 0)", "rsc_fpops_est = 8e13"},
    {"(14, 103, 1, 'opencl_intel_gpu_102', 0, 0, 0), (14, 103, 4, 'wsl', 0, 0, 0)", ""},
};
enum { APPS = sizeof apps / sizeof *apps };

static void add_app(int app, const char *versions, const char *workunit)
{
    test_sql(database,
             "INSERT INTO app SET id = %d, name = 'app_%d', user_friendly_name = 'App %d',"
             " weight = 1;"
             "INSERT INTO app_version (appid, version_num, platformid, plan_class,"
             " min_core_version, max_core_version, deprecated) VALUES %s;"
             "INSERT INTO workunit SET id = %d, name = 'w_%d', appid = %d, rsc_fpops_est = 1e11,"
             " rsc_fpops_bound = 1e17, rsc_memory_bound = 1e6, rsc_disk_bound = 1e6,"
             " delay_bound = 86400, transition_time = 2147483647, target_nresults = 1,"
             " min_quorum = 1, xml_doc = '<workunit>\\n</workunit>\\n';"
             "INSERT INTO result SET id = %d, name = 'r_%d', workunitid = %d, appid = %d,"
             " xml_doc_in = '<result>\\n</result>\\n'",
             app, app, app, versions, app, app, app, app, app, app, app);
    if (workunit[0] != '\0')
        test_sql(database, "UPDATE workunit SET %s WHERE id = %d", workunit, app);
}

static int setup(void **state)
{
    (void)state;
    database = test_database_create(true, NULL);
    test_sql(database,
             "SET SESSION sql_mode = '';"
             "INSERT INTO platform (id, name) VALUES (1, 'x86_64-pc-linux-gnu'),"
             " (2, 'i686-pc-linux-gnu'), (3, 'windows_intelx86'), (4, 'windows_x86_64'),"
             " (5, 'aarch64-unknown-linux-gnu'), (6, 'anonymous');"
             "INSERT INTO user SET id = 1, name = 'user', email_addr = 'u@example.org',"
             " authenticator = 'key', create_time = 1;"
             "INSERT INTO host (id, userid, create_time, host_cpid)"
             " SELECT seq, 1, 1, CONCAT('cpid', seq) FROM seq_1_to_%d",
             HOSTS);
    for (int app = 0; app < APPS; app++)
        add_app(app + 1, apps[app].versions, apps[app].workunit);
    why_write_versions(database);
    comparison = why_open(database, NULL, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    why_close(comparison);
    test_database_destroy(database);
    return 0;
}

/* --- hosts ------------------------------------------------------------------------------------ */

struct kind {
    const char *platforms; /* as elements */
    const char *system;    /* likewise */
};
static const struct kind kinds[] = {
    {"<platform_name>x86_64-pc-linux-gnu</platform_name>\n<alt_platform>\n"
     "<name>i686-pc-linux-gnu</name>\n</alt_platform>\n",
     "<os_name>Linux Debian</os_name>\n<os_version>Debian GNU/Linux 12 [6.1.0-27-amd64|libc 2.36]"
     "</os_version>\n<p_vendor>GenuineIntel</p_vendor>\n"},
    {"<platform_name>i686-pc-linux-gnu</platform_name>\n",
     "<os_name>Linux</os_name>\n<os_version>3.2.0</os_version>\n<p_vendor>AuthenticAMD</p_vendor>"},
    {"<platform_name>windows_x86_64</platform_name>\n<alt_platform>\n"
     "<name>windows_intelx86</name>\n</alt_platform>\n",
     "<os_name>Microsoft Windows 10</os_name>\n<os_version>Professional x64 Edition,"
     " (10.00.19045.00)</os_version>\n<p_vendor>GenuineIntel</p_vendor>\n"},
    {"<platform_name>windows_intelx86</platform_name>\n",
     "<os_name>Microsoft Windows XP</os_name>\n<os_version>(05.01.2600.00)</os_version>\n"},
    {"<platform_name>aarch64-unknown-linux-gnu</platform_name>\n",
     "<os_name>Linux Debian</os_name>\n<p_vendor>ARM</p_vendor>\n"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const int clients[][3] = {{4, 45, 0}, {5, 10, 45}, {6, 2, 19}, {6, 12, 34},
                                 {7, 4, 2},  {7, 20, 5},  {8, 0, 2},  {8, 2, 6}};
enum { CLIENTS = sizeof clients / sizeof *clients };

static void add_opencl(struct random *random, struct buffer *text)
{
    buffer_print(text,
                 "<have_opencl>1</have_opencl>\n<coproc_opencl>\n<name>OpenCL GPU</name>\n"
                 "<global_mem_size>%zu</global_mem_size>\n<double_fp_config>%zu</double_fp_config>"
                 "\n<opencl_device_version>OpenCL %zu.%zu</opencl_device_version>\n"
                 "<opencl_platform_version>OpenCL 2.0</opencl_platform_version>\n"
                 "<opencl_driver_version>%zu.%zu</opencl_driver_version>\n"
                 "<max_compute_units>8</max_compute_units>\n"
                 "<max_clock_frequency>1000</max_clock_frequency>\n</coproc_opencl>\n",
                 (size_t)134217728 << why_pick(random, 5), why_pick(random, 2) * 63,
                 1 + why_pick(random, 2), why_pick(random, 3), 300 + why_pick(random, 200),
                 why_pick(random, 100));
}

static void add_nvidia(struct random *random, double seconds, struct buffer *text)
{
    size_t count = 1 + why_pick(random, 2);

    buffer_print(text,
                 "<coproc_cuda>\n<type>NVIDIA</type>\n<count>%zu</count>\n"
                 "<name>GeForce</name>\n<req_secs>%g</req_secs>\n<available_ram>%zu"
                 "</available_ram>\n<have_cuda>%d</have_cuda>\n<drvVersion>%zu</drvVersion>\n"
                 "<cudaVersion>%zu</cudaVersion>\n<totalGlobalMem>%zu</totalGlobalMem>\n"
                 "<major>%zu</major>\n<minor>%zu</minor>\n<peak_flops>%g</peak_flops>\n"
                 "<clockRate>1000000</clockRate>\n<multiProcessorCount>8</multiProcessorCount>\n",
                 count, seconds * (double)count, (size_t)120000000 << why_pick(random, 5),
                 why_happens(random, 0.9), 18000 + 500 * why_pick(random, 8),
                 2000 + 1000 * why_pick(random, 10), (size_t)134217728 << why_pick(random, 5),
                 1 + why_pick(random, 7), why_pick(random, 6), why_happens(random, 0.8) ? 1e12 : 0);
    if (why_happens(random, 0.6))
        add_opencl(random, text);
    buffer_add_string(text, "</coproc_cuda>\n");
}

static void add_ati(struct random *random, double seconds, struct buffer *text)
{
    buffer_print(text,
                 "<coproc_ati>\n<type>ATI</type>\n<count>1</count>\n<name>Radeon</name>\n"
                 "<req_secs>%g</req_secs>\n<have_cal>%d</have_cal>\n<CALVersion>1.%zu.%zu"
                 "</CALVersion>\n<localRAM>%zu</localRAM>\n<atirt_detected>%d</atirt_detected>\n"
                 "<amdrt_detected>1</amdrt_detected>\n<engineClock>800</engineClock>\n"
                 "<numberOfSIMD>10</numberOfSIMD>\n<wavefrontSize>64</wavefrontSize>\n",
                 seconds, why_happens(random, 0.7), why_pick(random, 6), why_pick(random, 1000),
                 (size_t)128 << why_pick(random, 5), why_happens(random, 0.7));
    if (why_happens(random, 0.6))
        add_opencl(random, text);
    buffer_add_string(text, "</coproc_ati>\n");
}

static void add_intel(struct random *random, double seconds, struct buffer *text)
{
    buffer_print(text,
                 "<coproc_intel_gpu>\n<type>intel_gpu</type>\n<count>1</count>\n"
                 "<name>UHD</name>\n<req_secs>%g</req_secs>\n<peak_flops>4e11</peak_flops>\n",
                 seconds);
    add_opencl(random, text);
    buffer_add_string(text, "</coproc_intel_gpu>\n");
}

static void add_coprocs(struct random *random, double seconds, struct buffer *text)
{
    buffer_add_string(text, "<coprocs>\n");
    if (why_happens(random, 0.5))
        add_nvidia(random, seconds, text);
    if (why_happens(random, 0.3))
        add_ati(random, seconds, text);
    if (why_happens(random, 0.3))
        add_intel(random, seconds, text);
    buffer_add_string(text, "</coprocs>\n");
}

static void add_own_versions(struct random *random, struct buffer *text)
{
    buffer_add_string(text, "<app_versions>\n");
    for (int app = 1; app <= APPS; app++)
        if (why_happens(random, 0.3))
            buffer_print(text,
                         "<app_version>\n<app_name>app_%d</app_name>\n<version_num>%d"
                         "</version_num>\n<avg_ncpus>1</avg_ncpus>\n<flops>%g</flops>\n%s"
                         "</app_version>\n",
                         app, why_happens(random, 0.2) ? 777 : 103, 1e9 * (1 + random_unit(random)),
                         why_happens(random, 0.3)
                             ? "<coproc>\n<type>NVIDIA</type>\n<count>1</count>\n"
                               "</coproc>\n"
                             : "");
    buffer_add_string(text, "</app_versions>\n");
}

static void add_system(struct random *random, const struct kind *kind, size_t cpus,
                       struct buffer *text)
{
    buffer_print(text,
                 "<host_info>\n<p_ncpus>%zu</p_ncpus>\n<p_fpops>%g</p_fpops>\n"
                 "<m_nbytes>%zu</m_nbytes>\n<d_total>1e12</d_total>\n"
                 "<p_model>Core</p_model>\n%s",
                 cpus, 1e9 * (1 + random_unit(random)), (size_t)1 << (29 + why_pick(random, 6)),
                 kind->system);
    if (why_happens(random, 0.8))
        buffer_print(text, "<d_free>%g</d_free>\n", 1e9 * (1 + 40 * random_unit(random)));
    buffer_print(text, "<p_features>fpu %s%ssse2</p_features>\n",
                 why_happens(random, 0.5) ? "pni " : "", why_happens(random, 0.6) ? "vmx " : "");
    if (why_happens(random, 0.5))
        buffer_print(text, "<virtualbox_version>%s</virtualbox_version>\n",
                     why_happens(random, 0.7) ? "7.0.14" : "3.0.2");
    if (why_happens(random, 0.3))
        buffer_add_string(text, "<p_vm_extensions_disabled>1</p_vm_extensions_disabled>\n");
    if (why_happens(random, 0.3))
        buffer_print(text,
                     "<wsl>\n<distro>\n<distro_name>Ubuntu</distro_name>\n%s</distro>\n</wsl>\n",
                     why_happens(random, 0.5) ? "<disallowed/>\n" : "");
    buffer_add_string(text, "</host_info>\n");
}

/* A host, and what it asks for: nothing, or a day for each processor. The same seed gives the same
 * host. */
static struct text request_of(struct arena *arena, int host, int seqno, bool asks)
{
    struct random random = {.state = random_mix(SEED, (uint64_t)host)};
    struct buffer text = buffer_in(arena);
    const struct kind *kind = &kinds[why_pick(&random, KINDS)];
    const int *client = clients[why_pick(&random, CLIENTS)];
    bool is_anonymous = client[0] >= 6 && why_happens(&random, 0.15);
    double seconds = asks ? DAY : 0;
    size_t cpus = (size_t)1 << why_pick(&random, 5);

    buffer_print(&text,
                 "<scheduler_request>\n<authenticator>key</authenticator>\n<hostid>%d</hostid>\n"
                 "<rpc_seqno>%d</rpc_seqno>\n<core_client_major_version>%d"
                 "</core_client_major_version>\n<core_client_minor_version>%d"
                 "</core_client_minor_version>\n<core_client_release>%d</core_client_release>\n",
                 host, seqno, client[0], client[1], client[2]);
    if (is_anonymous)
        buffer_add_string(&text, "<platform_name>anonymous</platform_name>\n");
    buffer_add_string(&text, is_anonymous ? "" : kind->platforms);
    if (client[0] >= 6)
        buffer_print(&text,
                     "<client_cap_plan_class>1</client_cap_plan_class>\n"
                     "<cpu_req_secs>%g</cpu_req_secs>\n",
                     seconds * (double)cpus);
    buffer_print(&text, "<work_req_seconds>%g</work_req_seconds>\n", seconds * (double)cpus);
    if (why_happens(&random, 0.2))
        buffer_print(&text, "<duration_correction_factor>%g</duration_correction_factor>\n",
                     1 + random_unit(&random));
    buffer_print(&text,
                 "<time_stats>\n<on_frac>%g</on_frac>\n<connected_frac>1</connected_frac>\n"
                 "<active_frac>%g</active_frac>\n</time_stats>\n",
                 0.3 + 0.7 * random_unit(&random), 0.5 + 0.5 * random_unit(&random));
    add_system(&random, kind, cpus, &text);
    if (client[0] >= 6)
        add_coprocs(&random, seconds, &text);
    if (is_anonymous)
        add_own_versions(&random, &text);
    buffer_add_string(&text, "<other_results>\n</other_results>\n</scheduler_request>\n");
    return buffer_text(&text);
}

/* --- the comparison --------------------------------------------------------------------------- */

static void offer_some(struct random *random)
{
    test_sql(database,
             "UPDATE result SET server_state = 5, hostid = 0, userid = 0;"
             "UPDATE result SET server_state = 2 WHERE id IN (%zu, %zu, %zu);"
             "DELETE FROM host_app_version",
             1 + why_pick(random, APPS), 1 + why_pick(random, APPS), 1 + why_pick(random, APPS));
}

static void what_qmctl_says_is_what_the_host_reads(void **state)
{
    struct random random = {.state = SEED};
    double now = (double)time(NULL);
    size_t refused = 0, kinds_told = 0;

    (void)state;
    for (int host = 1; host <= HOSTS; host++) {
        struct arena *arena = why_arena(comparison);

        offer_some(&random);
        arena_reset(arena);
        why_come(comparison, request_of(arena, host, 1, false), now);
        refused += why_compare(comparison, host, request_of(arena, host, 2, true), now + 1);
    }
    for (int i = 0; i < REASON_COUNT; i++)
        kinds_told += why_was_told(comparison, (enum reason)i);
    print_message("%zu of %d hosts were refused, for %zu reasons\n", refused, HOSTS, kinds_told);
    assert_true(refused > HOSTS / 4 && refused < HOSTS * 9 / 10);
    assert_true(kinds_told >= 10 && why_was_told(comparison, REASON_VERSION_PLAN_CLASS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_qmctl_says_is_what_the_host_reads, setup, teardown)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
