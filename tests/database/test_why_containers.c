/* SPDX-License-Identifier: Apache-2.0 */
/* qmctl why beside true requests, of jobs of science apps: what it says of a host, from what the
 * database keeps of it, is what the host then reads, whatever runs containers there. */
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/random.h"
#include "tests/support/database.h"
#include "tests/support/test.h"
#include "tests/support/why.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { HOSTS = 250, SEED = 36, DAY = 86400 };

static struct test_database *database;
static struct why_comparison *comparison;

/* --- the project ------------------------------------------------------------------------------ */

static const char plan_classes[] =
    "<plan_classes><plan_class><name>docker</name><docker/></plan_class>"
    "<plan_class><name>docker_nv</name><docker/><gpu_type>nvidia</gpu_type><cuda/>"
    "<gpu_peak_flops_scale>1</gpu_peak_flops_scale></plan_class>"
    "<plan_class><name>docker_mt</name><docker/><min_ncpus>4</min_ncpus><max_threads>4"
    "</max_threads></plan_class></plan_classes>";

static const struct {
    const char *path, *content;
} variants[] = {
    {"both/intel_cpu", "{\"cpu_type\": \"intel\", \"plan_class\": \"\""},
    {"both/arm_cpu", "{\"cpu_type\": \"arm\", \"plan_class\": \"\""},
    {"gpu/intel_docker_nv", "{\"cpu_type\": \"intel\", \"plan_class\": \"docker_nv\""},
    {"many/intel_docker_mt", "{\"cpu_type\": \"intel\", \"plan_class\": \"docker_mt\""},
    {"any/intel_docker_nv", "{\"cpu_type\": \"intel\", \"plan_class\": \"docker_nv\""},
    {"any/arm_cpu", "{\"cpu_type\": \"arm\", \"plan_class\": \"\""},
    {"broken/intel_cpu", "{\"cpu_type\": 5"},
};
/* Each with a job. */
static const struct {
    const char *science_app;
    int app;
    const char *workunit; /* what it sets */
} jobs[] = {
    {"both", 1, ""}, {"gpu", 1, ""},  {"many", 1, ""},
    {"any", 1, ""},  {"none", 1, ""}, {"broken", 1, ""},
    {"both", 2, ""}, {"both", 3, ""}, {"both", 1, "rsc_memory_bound = 3e9"},
    {"both", 4, ""},
};
enum { JOBS = sizeof jobs / sizeof *jobs };

static void write_file(const char *path, const char *content)
{
    char where[200], command[300];
    FILE *file;

    snprintf(where, sizeof where, "%s/%s", why_project(comparison), path);
    snprintf(command, sizeof command, "mkdir -p \"$(dirname '%s')\"", where);
    assert_int_equal(system(command), 0);
    file = fopen(where, "w");
    assert_non_null(file);
    fputs(content, file);
    assert_int_equal(fclose(file), 0);
}

static void write_project(void)
{
    char path[100], content[300];

    write_file("plan_class_spec.xml", plan_classes);
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        int app = (int)strcspn(variants[i].path, "/");

        snprintf(path, sizeof path, "buda_apps/%.*s/desc.json", app, variants[i].path);
        snprintf(content, sizeof content, "{\"name\": \"%.*s\"}", app, variants[i].path);
        write_file(path, content);
        snprintf(path, sizeof path, "buda_apps/%s/variant.json", variants[i].path);
        snprintf(content, sizeof content,
                 "%s, \"file_infos\": \"<file_info><name>f</name></file_info>\","
                 " \"file_refs\": \"<file_ref><file_name>f</file_name></file_ref>\"}",
                 variants[i].content);
        write_file(path, content);
    }
    why_read_project(comparison);
}

static void add_job(int id, const char *science_app, int app, const char *workunit)
{
    test_sql(database,
             "INSERT INTO workunit SET id = %d, name = 'w_%d', appid = %d, rsc_fpops_est = 1e11,"
             " rsc_fpops_bound = 1e17, rsc_memory_bound = 1e6, rsc_disk_bound = 1e6,"
             " delay_bound = 86400, transition_time = 2147483647, target_nresults = 1,"
             " min_quorum = 1,"
             " xml_doc = '<workunit>\\n<buda_app_name>%s</buda_app_name>\\n</workunit>\\n';"
             "INSERT INTO result SET id = %d, name = 'r_%d', workunitid = %d, appid = %d,"
             " xml_doc_in = '<result>\\n</result>\\n'",
             id, id, app, science_app, id, id, id, app);
    if (workunit[0] != '\0')
        test_sql(database, "UPDATE workunit SET %s WHERE id = %d", workunit, id);
}

/* App 1 has wrappers for all; 2 is always on, 3 has a version that is no wrapper, and 4 a wrapper
 * for one platform. */
static int setup(void **state)
{
    (void)state;
    database = test_database_create(true, NULL);
    test_sql(
        database,
        "SET SESSION sql_mode = '';"
        "INSERT INTO platform (id, name) VALUES (1, 'x86_64-pc-linux-gnu'),"
        " (2, 'windows_x86_64'), (3, 'aarch64-unknown-linux-gnu'), (4, 'arm64-apple-darwin'),"
        " (5, 'x86_64-apple-darwin'), (6, 'riscv64');"
        "INSERT INTO user SET id = 1, name = 'user', email_addr = 'u@example.org',"
        " authenticator = 'key', create_time = 1;"
        "INSERT INTO app (id, name, user_friendly_name, weight)"
        " SELECT seq, CONCAT('app_', seq), CONCAT('App ', seq), 1 FROM seq_1_to_4;"
        "UPDATE app SET non_cpu_intensive = 1 WHERE id = 2;"
        "INSERT INTO app_version (appid, version_num, platformid, plan_class, min_core_version)"
        " SELECT app.id, 103, platform.id, IF(app.id = 3, '', 'docker'), 80200 FROM app"
        " JOIN platform WHERE platform.id <> 5 AND (app.id <> 4 OR platform.id = 1);"
        "INSERT INTO host (id, userid, create_time, host_cpid)"
        " SELECT seq, 1, 1, CONCAT('cpid', seq) FROM seq_1_to_%d",
        HOSTS);
    why_write_versions(database);
    for (int i = 0; i < JOBS; i++)
        add_job(i + 1, jobs[i].science_app, jobs[i].app, jobs[i].workunit);
    comparison = why_open(database, NULL, 0);
    write_project();
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

static const struct {
    const char *platform, *other, *os_name;
} kinds[] = {
    {"x86_64-pc-linux-gnu", "riscv64", "Linux Debian"},
    {"windows_x86_64", "windows_intelx86", "Microsoft Windows 11"},
    {"windows_intelx86", "windows_x86_64", "Microsoft Windows 11"},
    {"aarch64-unknown-linux-gnu", "arm-unknown-linux-gnueabihf", "Linux Debian"},
    {"arm64-apple-darwin", "x86_64-apple-darwin", "Darwin"},
    {"riscv64", "riscv64", "Linux Debian"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const int clients[][3] = {{7, 20, 5}, {8, 2, 0}, {8, 2, 6}, {8, 2, 8}};
enum { CLIENTS = sizeof clients / sizeof *clients };

static void add_distributions(struct random *random, struct buffer *text)
{
    static const char *const gpus[] = {"", "NVIDIA", "nvidia", "AMD"};
    const char *gpu = gpus[why_pick(random, 4)];

    buffer_print(text, "<wsl>\n<distro>\n<distro_name>boinc-buda-runner</distro_name>\n%s%s",
                 why_happens(random, 0.2) ? "<disallowed/>\n" : "",
                 why_happens(random, 0.7) ? "<docker_version>5.4.2</docker_version>\n" : "");
    if (gpu[0] != '\0')
        buffer_print(text, "<wsl_gpu>\n<name>%s</name>\n%s</wsl_gpu>\n", gpu,
                     why_happens(random, 0.7) ? "<has_cuda/>\n" : "<has_opencl/>\n");
    buffer_add_string(text, "</distro>\n</wsl>\n");
}

/* The same seed gives the same host. */
static struct text request_of(struct arena *arena, int host, int seqno, bool asks)
{
    struct random random = {.state = random_mix(SEED, (uint64_t)host)};
    struct buffer text = buffer_in(arena);
    size_t kind = why_pick(&random, KINDS), cpus = (size_t)1 << why_pick(&random, 4);
    const int *client = clients[why_pick(&random, CLIENTS)];
    double seconds = asks ? DAY : 0;

    buffer_print(&text,
                 "<scheduler_request>\n<authenticator>key</authenticator>\n<hostid>%d</hostid>\n"
                 "<rpc_seqno>%d</rpc_seqno>\n<core_client_major_version>%d"
                 "</core_client_major_version>\n<core_client_minor_version>%d"
                 "</core_client_minor_version>\n<core_client_release>%d</core_client_release>\n",
                 host, seqno, client[0], client[1], client[2]);
    buffer_print(&text,
                 "<platform_name>%s</platform_name>\n<alt_platform>\n<name>%s</name>\n"
                 "</alt_platform>\n<client_cap_plan_class>1</client_cap_plan_class>\n"
                 "<cpu_req_secs>%g</cpu_req_secs>\n<work_req_seconds>%g</work_req_seconds>\n",
                 kinds[kind].platform, kinds[kind].other, seconds * (double)cpus,
                 seconds * (double)cpus);
    if (why_happens(&random, 0.1))
        buffer_add_string(&text, "<dont_use_docker/>\n");
    buffer_print(&text,
                 "<host_info>\n<p_ncpus>%zu</p_ncpus>\n<p_fpops>%g</p_fpops>\n"
                 "<m_nbytes>%zu</m_nbytes>\n<d_total>1e12</d_total>\n<d_free>1e12</d_free>\n"
                 "<p_vendor>GenuineIntel</p_vendor>\n<p_model>Core</p_model>\n"
                 "<os_name>%s</os_name>\n",
                 cpus, 1e9 * (1 + random_unit(&random)), (size_t)1 << (31 + why_pick(&random, 3)),
                 kinds[kind].os_name);
    if (kind == 1 || kind == 2)
        add_distributions(&random, &text);
    else if (why_happens(&random, 0.8))
        buffer_add_string(&text, "<docker_version>4.9.3</docker_version>\n"
                                 "<docker_type>2</docker_type>\n");
    buffer_add_string(&text, "</host_info>\n<coprocs>\n");
    if (why_happens(&random, 0.6))
        buffer_print(&text,
                     "<coproc_cuda>\n<type>NVIDIA</type>\n<count>1</count>\n"
                     "<name>GeForce</name>\n<req_secs>%g</req_secs>\n<have_cuda>1</have_cuda>\n"
                     "<drvVersion>57260</drvVersion>\n<cudaVersion>12040</cudaVersion>\n"
                     "<totalGlobalMem>8589934592</totalGlobalMem>\n<major>8</major>\n"
                     "<minor>6</minor>\n<peak_flops>1e12</peak_flops>\n</coproc_cuda>\n",
                     seconds);
    buffer_add_string(&text,
                      "</coprocs>\n<other_results>\n</other_results>\n</scheduler_request>\n");
    return buffer_text(&text);
}

/* --- the comparison --------------------------------------------------------------------------- */

static void offer_some(struct random *random)
{
    test_sql(database,
             "UPDATE result SET server_state = 5, hostid = 0, userid = 0;"
             "UPDATE result SET server_state = 2 WHERE id IN (%zu, %zu);"
             "DELETE FROM host_app_version",
             1 + why_pick(random, JOBS), 1 + why_pick(random, JOBS));
}

static void what_qmctl_says_is_what_the_host_reads(void **state)
{
    static const enum reason expected[] = {REASON_BUDA_APP, REASON_BUDA_VARIANT,
                                           REASON_VERSION_PLAN_CLASS, REASON_CLIENT_TOO_OLD};
    struct random random = {.state = SEED};
    double now = (double)time(NULL);
    size_t refused = 0;

    (void)state;
    for (int host = 1; host <= HOSTS; host++) {
        struct arena *arena = why_arena(comparison);

        offer_some(&random);
        arena_reset(arena);
        why_come(comparison, request_of(arena, host, 1, false), now);
        refused += why_compare(comparison, host, request_of(arena, host, 2, true), now + 1);
    }
    print_message("%zu of %d hosts were refused\n", refused, HOSTS);
    assert_true(refused > HOSTS / 4 && refused < HOSTS * 9 / 10);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (!why_was_told(comparison, expected[i]))
            fail_msg("nobody was told %s", reason_word(expected[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_qmctl_says_is_what_the_host_reads, setup, teardown)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
