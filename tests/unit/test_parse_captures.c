/* SPDX-License-Identifier: Apache-2.0 */
/* server/parse on what real clients sent: counts, names and, byte for byte, their tasks' output,
 * found a second time by a naive reading that knows how clients lay out their requests. */
#include "server/base/arena.h"
#include "server/base/xml.h"

#include "tests/support/requests.h"
#include "tests/support/test.h"

#include <stdlib.h>

#include "server/base/banned.h"

static void reads_every_capture_without_loss(void **state)
{
    size_t read = 0;

    (void)state;
    for (const char *const *path = capture_paths(); *path != NULL; path++, read++) {
        struct text body = capture_read_path(*path);
        struct parsed *parsed = parse_body(body);

        if (parsed->status != STATUS_OK || parsed->message.elements_dropped > 0)
            fail_msg("%s: %s %s, %zu dropped", *path, status_word(parsed->status),
                     parsed->failure.text, parsed->message.elements_dropped);
        assert_text(parsed->message.authenticator, "1234567890abcdef1234567890abcdef");
        assert_true(parsed->message.client_major == 7 || parsed->message.client_major == 8);
        assert_true(parsed->message.has_other_results);
        assert_int_equal(parsed->message.has_ip_results,
                         text_contains(body, TEXT("<in_progress_results>")));
        assert_true(parsed->message.has_working_global_preferences);
        assert_true(parsed->message.has_resource_request);
        assert_true(parsed->message.p_fpops > 0);
        parsed_free(parsed);
        text_free(body);
    }
    assert_true(read >= 99);
}

/* Counted in the files with grep. */
static const struct expected {
    const char *number;
    size_t results, other_results, ip_results, coprocs, app_versions, platforms, files, trickles;
    int64_t hostid, seqno, ncpus;
    double cpu_seconds;
} expected[] = {
    /*      res oth  ip cop ver pla fil tri  host seq cpu request */
    {"001", 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 1},
    {"022", 2, 0, 0, 0, 1, 2, 1, 0, 4242, 0, 2, 3456},
    {"029", 9, 0, 0, 0, 1, 2, 0, 0, 4242, 0, 12, 20736},
    {"043", 0, 5, 0, 0, 1, 2, 0, 0, 4242, 0, 2, 3406.333333},
    {"044", 3, 2, 0, 0, 1, 2, 0, 0, 4242, 1, 2, 3438.666666},
    {"047", 0, 1, 0, 0, 1, 2, 0, 1, 4242, 0, 1, 1719.25},
    {"054", 0, 2, 2, 1, 2, 2, 0, 0, 4242, 2, 4, 6906.974129},
    {"060", 2, 0, 0, 1, 2, 2, 0, 0, 4242, 3, 4, 6912},
    {"066", 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 2, 1},
    {"067", 2, 2, 0, 0, 1, 3, 0, 0, 4242, 0, 2, 3456},
    {"069", 0, 0, 0, 0, 1, 3, 0, 0, 4242, 2, 2, 0},
    {"076", 0, 2, 0, 0, 1, 2, 0, 0, 4242, 1, 2, 3436},
    {"082", 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 2, 1},
    {"083", 0, 0, 0, 0, 2, 1, 0, 0, 4242, 0, 2, 3456},
    {"088", 4, 0, 0, 0, 2, 2, 0, 0, 4242, 1, 4, 6912},
    {"092", 120, 0, 0, 0, 1, 2, 0, 0, 4242, 0, 64, 110592},
    {"137", 0, 2, 2, 3, 2, 2, 0, 0, 4242, 2, 4, 6906.967634},
};

static struct parsed *parse_capture(const char *number)
{
    struct text body = capture_read(number);
    struct parsed *parsed = parse_body(body);

    text_free(body);
    assert_status(STATUS_OK, parsed->status);
    return parsed;
}

static void finds_what_grep_finds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const struct expected *e = &expected[i];
        struct parsed *parsed = parse_capture(e->number);
        const struct message *m = &parsed->message;

        if (m->result_count != e->results || m->other_result_count != e->other_results ||
            m->ip_result_count != e->ip_results || m->coproc_count != e->coprocs ||
            m->app_version_count != e->app_versions || m->platform_count != e->platforms ||
            m->file_count != e->files || m->trickle_count != e->trickles)
            fail_msg("%s: results %zu other %zu ip %zu coprocs %zu versions %zu platforms %zu "
                     "files %zu trickles %zu",
                     e->number, m->result_count, m->other_result_count, m->ip_result_count,
                     m->coproc_count, m->app_version_count, m->platform_count, m->file_count,
                     m->trickle_count);
        assert_i64(m->hostid, e->hostid);
        assert_i64(m->rpc_seqno, e->seqno);
        assert_i64(m->p_ncpus, e->ncpus);
        assert_real(m->cpu_req_seconds, e->cpu_seconds, 1e-6);
        assert_int_equal(m->anonymous_platform, e->platforms == 1);
        assert_int_equal(m->dont_send_work, strcmp(e->number, "069") == 0);
        parsed_free(parsed);
    }
}

/* The part of `text` before `mark`; what is behind it stays in `*text`. */
static struct text cut(struct text *text, const char *mark)
{
    size_t at = text_find(*text, text_from(mark));
    struct text part = text_first(*text, at);

    if (at < text->length)
        at += strlen(mark);
    text->at += at;
    text->length -= at;
    return part;
}

/* The naive reading: results begin on lines of their own, and the last end tag in a result is the
 * one that the client wrote. */
static void check_outputs(const char *path, struct text body, const struct message *message)
{
    size_t count = 0;

    cut(&body, "\n<result>\n    <name>");
    while (body.length > 0) {
        struct text part = cut(&body, "\n<result>\n    <name>"), name = cut(&part, "</name>");
        struct text output;
        const char *last = NULL;

        cut(&part, "\n<stderr_out>");
        for (size_t i = 0; i + 13 <= part.length; i++)
            if (memcmp(part.at + i, "</stderr_out>", 13) == 0)
                last = part.at + i;
        assert_non_null(last);
        output = (struct text){part.at, (size_t)(last - part.at)};
        assert_true(count < message->result_count);
        if (!text_equal(message->results[count].name, name) ||
            !text_equal(message->results[count].stderr_out, output))
            fail_msg("%s: result %zu is " TEXT_FORMAT " with %zu bytes, wanted " TEXT_FORMAT
                     " with %zu",
                     path, count, TEXT_ARG(message->results[count].name),
                     message->results[count].stderr_out.length, TEXT_ARG(name), output.length);
        count++;
    }
    assert_int_equal(count, message->result_count);
}

static void keeps_each_output_byte_for_byte(void **state)
{
    (void)state;
    for (const char *const *path = capture_paths(); *path != NULL; path++) {
        struct text body = capture_read_path(*path);
        struct parsed *parsed = parse_body(body);

        check_outputs(*path, body, &parsed->message);
        parsed_free(parsed);
        text_free(body);
    }
}

static const struct reported_result *result_called(const struct message *message, const char *name)
{
    for (size_t i = 0; i < message->result_count; i++)
        if (text_is(message->results[i].name, name))
            return &message->results[i];
    fail_msg("no result %s", name);
    return NULL;
}

static void reads_results(void **state)
{
    static const struct {
        const char *capture, *name;
        int64_t exit_status, client_state;
        double elapsed;
    } results[] = {
        {"029", "job_big_0", 1, 3, 1.0144},    {"029", "job_segv_0", 11, 3, -1},
        {"029", "job_err_0", 3, 3, -1},        {"029", "job_exit_0", 7, 3, -1},
        {"029", "job_neg_0", 195, 3, -1},      {"029", "job_nul_0", 4, 3, -1},
        {"031", "job_ab0_0", 203, 6, -1},      {"035", "job_bs_0", -186, 1, -1},
        {"041", "job_nofin_0", -226, 3, -1},   {"044", "job_q0_0", 202, 6, 0},
        {"092", "job_b058_0", 0, 5, 2.121896}, {"024", "job_noout_0", 0, 3, -1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        struct parsed *parsed = parse_capture(results[i].capture);
        const struct reported_result *result = result_called(&parsed->message, results[i].name);

        assert_true(result->has_exit_status);
        assert_i64(result->exit_status, results[i].exit_status);
        assert_i64(result->state, results[i].client_state);
        assert_i64(result->app_version_num, 100);
        assert_i64(result->version_num, 100);
        assert_text(result->platform, "x86_64-pc-linux-gnu");
        if (results[i].elapsed >= 0)
            assert_real(result->final_elapsed_time, results[i].elapsed, 1e-9);
        parsed_free(parsed);
    }
}

static void keeps_uploaded_files_of_a_result_raw(void **state)
{
    struct parsed *parsed = parse_capture("022");
    const struct reported_result *two = result_called(&parsed->message, "job_two_0");

    (void)state;
    assert_true(text_starts(two->xml_doc_out, TEXT("<file_info>\n    <name>job_two_0_0</name>")));
    assert_true(text_contains(two->xml_doc_out, TEXT("<name>job_two_0_1</name>")));
    assert_true(text_ends(two->xml_doc_out, TEXT("</upload_url>\n</file_info>")));
    assert_text(parsed->message.files[0].name, "input_1");
    assert_real(parsed->message.files[0].nbytes, 220, 0);
    assert_i64(parsed->message.files[0].status, 1);
    parsed_free(parsed);

    parsed = parse_capture("026");
    assert_true(text_contains(parsed->message.results[0].xml_doc_out,
                              TEXT("<error_msg>\npermanent upload error\n</error_msg>")));
    parsed_free(parsed);
}

static void reads_coprocessors(void **state)
{
    struct parsed *parsed = parse_capture("137");
    const struct message *message = &parsed->message;
    const struct coproc *nvidia = &message->coprocs[0], *ati = &message->coprocs[1];
    const struct coproc *intel = &message->coprocs[2];

    (void)state;
    assert_text(nvidia->type, "NVIDIA");
    assert_text(nvidia->name, "NVIDIA GeForce RTX 3070");
    assert_true(nvidia->has_cuda && nvidia->has_opencl && !nvidia->has_cal && !nvidia->is_generic);
    assert_i64(nvidia->cuda_version, 12020);
    assert_i64(nvidia->driver_version, 53512);
    assert_i64(nvidia->compute_major * 10 + nvidia->compute_minor, 86);
    assert_real(nvidia->peak_flops, 20313600000000.0, 1);
    assert_real(nvidia->multi_processor_count, 46, 0);
    assert_real(nvidia->opencl.global_mem_size, 8364228608.0, 0);
    assert_text(nvidia->opencl.device_version, "OpenCL 3.0 CUDA");
    assert_true(nvidia->has_estimated_delay);
    assert_text(ati->type, "ATI");
    assert_true(!ati->has_cal && ati->atirt_detected && !ati->amdrt_detected);
    assert_true(ati->double_precision);
    assert_text(ati->cal_version, "1.4.1848");
    assert_real(ati->req_seconds, 1725.712561, 1e-6);
    assert_real(ati->req_instances, 0.5, 0);
    assert_text(intel->type, "intel_gpu");
    assert_text(intel->opencl.vendor, "Intel(R) Corporation");
    assert_text(message->app_versions[0].coproc_type, "ATI");
    assert_real(message->app_versions[0].coproc_count, 0.5, 0);
    assert_text(message->app_versions[0].plan_class, "opencl_ati_101");
    assert_i64(message->other_results[1].app_version, 0);
    assert_real(message->ip_results[1].natis, 0.5, 0);
    parsed_free(parsed);

    parsed = parse_capture("054");
    assert_text(parsed->message.coprocs[0].type, "miner_asic");
    assert_true(parsed->message.coprocs[0].is_generic);
    assert_real(parsed->message.coprocs[0].count, 2, 0);
    assert_real(parsed->message.ip_results[0].time_remaining, 4.57, 1e-9);
    assert_real(parsed->message.ip_results[1].avg_ncpus, 0.1, 1e-9);
    parsed_free(parsed);
}

static void reads_texts_around_the_jobs(void **state)
{
    struct parsed *parsed = parse_capture("066");

    (void)state;
    assert_text(parsed->message.client_brand, "Stub Brand 1.0");
    assert_text(parsed->message.client_opaque, "\n<![CDATA[\nopaque <line> & ]] end\n\n]]>\n");
    assert_text(parsed->message.platforms[0], "x86_64-pc-linux-gnu");
    assert_int_equal(parsed->message.code_sign_key.length, 0);
    parsed_free(parsed);

    parsed = parse_capture("067");
    assert_true(text_starts(parsed->message.time_stats_log, TEXT("\n1795175544.541694 power_on")));
    assert_true(text_starts(parsed->message.code_sign_key, TEXT("1024\nc8e5c6715")));
    assert_true(text_ends(parsed->message.code_sign_key, TEXT("10001\n.")));
    parsed_free(parsed);

    parsed = parse_capture("015");
    assert_true(parsed->message.has_global_preferences);
    assert_true(text_contains(parsed->message.global_preferences, TEXT("<venue name=\"home\">")));
    assert_text(parsed->message.global_prefs_source_email_hash, "0123456789abcdef0123456789abcdef");
    assert_true(text_contains(parsed->message.working_global_preferences,
                              TEXT("<work_buf_min_days>2.000000<")));
    assert_false(text_contains(parsed->message.working_global_preferences, TEXT("<global_pref")));
    parsed_free(parsed);

    parsed = parse_capture("047");
    assert_text(parsed->message.trickles[0].variety, "progress");
    assert_text(parsed->message.trickles[0].result_name, "job_tr_0");
    assert_text(parsed->message.trickles[0].xml,
                "\n      <result_name>job_tr_0</result_name>\n      <time>1795175566</time>\n"
                "<step>1</step>\n<note>caf\xc3\xa9 &amp; text</note>\n\n  ");
    parsed_free(parsed);
}

static void reads_the_host(void **state)
{
    struct parsed *parsed = parse_capture("137");
    const struct message *message = &parsed->message;

    (void)state;
    assert_i64(message_client_version(message), 80300);
    assert_text(message->os_version, "Debian GNU/Linux 12 (bookworm) [6.1.0-27-amd64-|libc 2.36]");
    assert_true(text_ends(message->p_features, TEXT(" rdpid fsrm")));
    assert_real(message->m_nbytes, 25276502016.0, 0);
    assert_real(message->d_free, 80821764096.0, 0);
    assert_true(message->has_disk_usage && message->has_on_frac && message->has_active_frac);
    assert_real(message->d_boinc_used_project, 45056, 0);
    assert_real(message->connected_frac, -1, 0);
    assert_real(message->n_bwdown, 2173722.323989, 1e-6);
    assert_i64(message->allow_multiple_clients, 1);
    assert_i64(message->sandbox, 0);
    assert_true(message->client_cap_plan_class);
    parsed_free(parsed);
}

static void reads_an_anonymous_platform(void **state)
{
    struct parsed *parsed = parse_capture("083");

    (void)state;
    assert_true(parsed->message.anonymous_platform);
    assert_i64(parsed->message.app_versions[1].version_num, 206);
    assert_text(parsed->message.app_versions[1].plan_class, "mt");
    assert_real(parsed->message.app_versions[1].avg_ncpus, 2, 0);
    assert_real(parsed->message.app_versions[0].flops, 2.5e9, 0);
    parsed_free(parsed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_capture_without_loss),
        cmocka_unit_test(finds_what_grep_finds),
        cmocka_unit_test(keeps_each_output_byte_for_byte),
        cmocka_unit_test(reads_results),
        cmocka_unit_test(keeps_uploaded_files_of_a_result_raw),
        cmocka_unit_test(reads_coprocessors),
        cmocka_unit_test(reads_texts_around_the_jobs),
        cmocka_unit_test(reads_the_host),
        cmocka_unit_test(reads_an_anonymous_platform),
    };

    xml_startup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
