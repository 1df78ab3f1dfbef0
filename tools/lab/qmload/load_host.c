/* SPDX-License-Identifier: Apache-2.0 */
/* Requests in the shape that a present-day client gives them, and as much of the reply as such a
 * machine acts on. The reply is searched, not parsed: our own server's lines are what is read. */
#include "tools/lab/qmload/load_host.h"

#include "server/base/random.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

#define JOB_SECONDS 250.0 /* that a job takes these hosts */

static struct text take_turn(const struct turns *turns, size_t number, struct text otherwise)
{
    return turns->count == 0 ? otherwise : turns->items[number % turns->count];
}

void host_init(struct load_host *host, const struct load_profile *profile, size_t number)
{
    *host = (struct load_host){
        .profile = profile,
        .number = number,
        .authenticator = take_turn(&profile->authenticators, number, NO_TEXT),
        .platform = take_turn(&profile->platforms, number, TEXT("x86_64-pc-linux-gnu")),
        .vendor = take_turn(&profile->vendors, number, TEXT("GenuineIntel")),
    };
}

static void clear_job(struct load_job *job)
{
    free(job->name);
    free(job->file);
    free(job->uploaded);
    *job = (struct load_job){0};
}

void host_clear(struct load_host *host)
{
    for (size_t i = 0; i < host->job_count; i++)
        clear_job(&host->jobs[i]);
    free(host->jobs);
    free(host->code_sign_key);
    *host = (struct load_host){0};
}

static char *copy(struct text text)
{
    char *string = malloc(text.length + 1);

    if (string == NULL)
        abort(); /* a load generator without memory has nothing to say */
    if (text.length > 0)
        memcpy(string, text.at, text.length);
    string[text.length] = '\0';
    return string;
}

static void write_identity(const struct load_host *host, struct buffer *request)
{
    const struct load_profile *profile = host->profile;
    double seconds = host->seconds;

    buffer_add_string(request, "<scheduler_request>\n");
    buffer_print(request, "    <authenticator>" TEXT_FORMAT "</authenticator>\n",
                 TEXT_ARG(host->authenticator));
    buffer_print(request, "    <hostid>%" PRId64 "</hostid>\n", host->id);
    buffer_print(request, "    <rpc_seqno>%" PRId64 "</rpc_seqno>\n", host->rpc_seqno);
    buffer_add_string(request,
                      "    <core_client_major_version>8</core_client_major_version>\n"
                      "    <core_client_minor_version>0</core_client_minor_version>\n"
                      "    <core_client_release>2</core_client_release>\n"
                      "    <resource_share_fraction>1.000000</resource_share_fraction>\n"
                      "    <rrs_fraction>1.000000</rrs_fraction>\n"
                      "    <prrs_fraction>1.000000</prrs_fraction>\n"
                      "    <duration_correction_factor>1.000000</duration_correction_factor>\n"
                      "    <allow_multiple_clients>0</allow_multiple_clients>\n"
                      "    <sandbox>0</sandbox>\n"
                      "    <dont_send_work>0</dont_send_work>\n");
    buffer_print(request,
                 "    <work_req_seconds>%f</work_req_seconds>\n"
                 "    <cpu_req_secs>%f</cpu_req_secs>\n"
                 "    <cpu_req_instances>%" PRId64 ".000000</cpu_req_instances>\n"
                 "    <estimated_delay>0.000000</estimated_delay>\n"
                 "    <client_cap_plan_class>1</client_cap_plan_class>\n"
                 "    <platform_name>" TEXT_FORMAT "</platform_name>\n",
                 seconds, seconds, seconds > 0 ? profile->ncpus : INT64_C(0),
                 TEXT_ARG(host->platform));
    if (host->code_sign_key != NULL)
        buffer_print(request, "    <code_sign_key>\n%s\n</code_sign_key>\n", host->code_sign_key);
}

/* A figure of this host that is another one with each request, up to a hundredth less than `most`.
 */
static double near(const struct load_host *host, uint64_t figure, double most)
{
    uint64_t mark = random_mix(random_mix(host->number, (uint64_t)host->requests), figure);

    return most * (1 - 0.01 * (double)(mark >> 11) / (double)(UINT64_C(1) << 53));
}

static void write_machine(const struct load_host *host, struct buffer *request)
{
    uint64_t mark = random_mix(host->profile->run, host->number);

    buffer_add_string(request, "<working_global_preferences>\n<global_preferences>\n"
                               "   <mod_time>0.000000</mod_time>\n"
                               "   <work_buf_min_days>0.100000</work_buf_min_days>\n"
                               "   <max_ncpus_pct>100.000000</max_ncpus_pct>\n"
                               "   <disk_max_used_pct>90.000000</disk_max_used_pct>\n"
                               "   <ram_max_used_busy_pct>90.000000</ram_max_used_busy_pct>\n"
                               "   <ram_max_used_idle_pct>90.000000</ram_max_used_idle_pct>\n"
                               "</global_preferences>\n</working_global_preferences>\n");
    buffer_print(request,
                 "<cross_project_id>" TEXT_FORMAT "</cross_project_id>\n"
                 "<time_stats>\n"
                 "    <on_frac>%f</on_frac>\n"
                 "    <connected_frac>1.000000</connected_frac>\n"
                 "    <active_frac>%f</active_frac>\n"
                 "</time_stats>\n"
                 "<net_stats>\n    <bwup>%f</bwup>\n"
                 "    <bwdown>%f</bwdown>\n</net_stats>\n",
                 TEXT_ARG(text_first(host->authenticator, 32)), near(host, 1, 0.99),
                 near(host, 2, 0.99), near(host, 3, 1e6), near(host, 4, 1e7));
    buffer_print(request,
                 "<host_info>\n    <timezone>0</timezone>\n"
                 "    <domain_name>load-%zu</domain_name>\n"
                 "    <ip_addr>10.%zu.%zu.%zu</ip_addr>\n"
                 "    <host_cpid>%016" PRIx64 "%016" PRIx64 "</host_cpid>\n"
                 "    <p_ncpus>%" PRId64 "</p_ncpus>\n"
                 "    <p_vendor>" TEXT_FORMAT "</p_vendor>\n",
                 host->number, host->number >> 16 & 255, host->number >> 8 & 255,
                 host->number & 255, mark, random_mix(mark, 1), host->profile->ncpus,
                 TEXT_ARG(host->vendor));
    buffer_add_string(request, "    <p_model>Emulated CPU [Family 6 Model 85]</p_model>\n"
                               "    <p_features>fpu sse sse2 sse3 avx avx2</p_features>\n"
                               "    <p_fpops>4000000000.000000</p_fpops>\n"
                               "    <p_iops>12000000000.000000</p_iops>\n"
                               "    <p_membw>1000000000.000000</p_membw>\n"
                               "    <m_nbytes>34359738368.000000</m_nbytes>\n"
                               "    <m_cache>262144.000000</m_cache>\n"
                               "    <m_swap>8589934592.000000</m_swap>\n"
                               "    <d_total>1000000000000.000000</d_total>\n"
                               "    <os_name>Linux Debian</os_name>\n"
                               "    <os_version>Debian GNU/Linux 12 (bookworm)</os_version>\n");
    buffer_print(request,
                 "    <d_free>%f</d_free>\n</host_info>\n"
                 "<disk_usage>\n"
                 "    <d_boinc_used_total>%f</d_boinc_used_total>\n"
                 "    <d_boinc_used_project>%f</d_boinc_used_project>\n"
                 "    <d_project_share>400000000000.0</d_project_share>\n"
                 "</disk_usage>\n",
                 near(host, 5, 5e11), near(host, 6, 1e9), near(host, 7, 1e8));
}

bool host_job_fails(const struct load_profile *profile, struct text name)
{
    return (int64_t)(text_hash(name) % 100) < profile->errors;
}

/* Each request is taken to come a while after the one before. */
static void write_queue(const struct load_host *host, struct buffer *request)
{
    buffer_add_string(request, "<in_progress_results>\n");
    for (size_t i = host->reported; i < host->job_count; i++) {
        const struct load_job *job = &host->jobs[i];

        buffer_print(request,
                     "    <ip_result>\n        <name>%s</name>\n"
                     "        <report_deadline>%" PRId64 "</report_deadline>\n"
                     "        <time_remaining>%.2f</time_remaining>\n"
                     "        <avg_ncpus>1.000000</avg_ncpus>\n    </ip_result>\n",
                     job->name, job->deadline,
                     JOB_SECONDS / (double)(1 + host->requests - job->came_with));
    }
    buffer_add_string(request, "</in_progress_results>\n");
}

static void write_jobs(struct load_host *host, struct buffer *request)
{
    size_t held = host->profile->keeps_jobs ? host->job_count : host->held;

    host->reported = held < host->job_count ? host->job_count - held : 0;
    for (size_t i = 0; i < host->reported; i++) {
        bool fails = host_job_fails(host->profile, text_from(host->jobs[i].name));

        buffer_print(request,
                     "<result>\n    <name>%s</name>\n"
                     "    <final_cpu_time>249.000000</final_cpu_time>\n"
                     "    <final_elapsed_time>250.000000</final_elapsed_time>\n"
                     "    <exit_status>%d</exit_status>\n    <state>%d</state>\n"
                     "    <platform>" TEXT_FORMAT "</platform>\n"
                     "    <version_num>100</version_num>\n"
                     "<stderr_out>\n<core_client_version>8.0.2</core_client_version>\n"
                     "<![CDATA[\n<stderr_txt>\nemulated\n</stderr_txt>\n]]>\n</stderr_out>\n"
                     "%s</result>\n",
                     host->jobs[i].name, fails ? 1 : 0, fails ? 3 : 5, TEXT_ARG(host->platform),
                     host->jobs[i].uploaded != NULL ? host->jobs[i].uploaded : "");
    }
    buffer_add_string(request, "<other_results>\n");
    for (size_t i = host->reported; i < host->job_count; i++)
        buffer_print(request, "    <other_result>\n        <name>%s</name>\n    </other_result>\n",
                     host->jobs[i].name);
    buffer_add_string(request, "</other_results>\n");
    if (host->lists_queue)
        write_queue(host, request);
    buffer_add_string(request, "</scheduler_request>\n");
}

/* Which kind of request this is follows from the run, the host and how many it made before. */
static void draw_kind(struct load_host *host)
{
    const struct load_profile *profile = host->profile;
    uint64_t mark = random_mix(random_mix(profile->run, host->number), (uint64_t)host->requests);
    double all = 0, drawn;
    size_t at = 0;

    for (size_t i = 0; i < profile->kind_count; i++)
        all += profile->kinds[i].weight;
    drawn = all * ((double)(mark >> 11) / (double)(UINT64_C(1) << 53));
    while (at + 1 < profile->kind_count && drawn >= profile->kinds[at].weight)
        drawn -= profile->kinds[at++].weight;
    host->seconds = profile->kinds[at].jobs * profile->seconds;
    host->held = host->job_count > (size_t)profile->kinds[at].reports
                     ? host->job_count - (size_t)profile->kinds[at].reports
                     : 0;
}

void host_write_request(struct load_host *host, struct buffer *ret_request)
{
    host->requests++;
    host->rpc_seqno++;
    host->seconds = host->profile->seconds;
    if (host->profile->kind_count > 0)
        draw_kind(host);
    if (host->declines || host->is_leaving)
        host->seconds = 0;
    if (host->is_leaving)
        host->held = 0;
    write_identity(host, ret_request);
    write_machine(host, ret_request);
    write_jobs(host, ret_request);
}

bool load_element(struct text *rest, struct text begin, struct text end, struct text *ret_content)
{
    size_t at = text_find(*rest, begin);
    struct text content;

    if (at == rest->length)
        return false;
    content = (struct text){.at = rest->at + at + begin.length,
                            .length = rest->length - at - begin.length};
    at = text_find(content, end);
    if (at == content.length)
        return false;
    *rest = (struct text){.at = content.at + at + end.length,
                          .length = content.length - at - end.length};
    *ret_content = (struct text){.at = content.at, .length = at};
    return true;
}

bool host_has_job(const struct load_host *host, struct text name)
{
    for (size_t i = 0; i < host->job_count; i++) {
        if (text_is(name, host->jobs[i].name))
            return true;
    }
    return false;
}

void host_add_job(struct load_host *host, struct text name)
{
    if (host_has_job(host, name))
        return;
    if (host->job_count == host->job_capacity) {
        host->job_capacity = host->job_capacity == 0 ? 64 : host->job_capacity * 2;
        host->jobs = realloc(host->jobs, host->job_capacity * sizeof(*host->jobs));
        if (host->jobs == NULL)
            abort();
    }
    host->jobs[host->job_count++] =
        (struct load_job){.name = copy(name), .came_with = host->requests};
}

struct load_job *host_next_upload(const struct load_host *host)
{
    for (size_t i = 0; i < host->job_count; i++) {
        if (host->jobs[i].file != NULL)
            return &host->jobs[i];
    }
    return NULL;
}

/* `result`: the element that brought the newest job, in the reply. */
static void take_file(struct load_host *host, struct text reply, struct text result)
{
    struct load_job *job = &host->jobs[host->job_count - 1];
    struct text content, name;

    if (!load_element(&result, TEXT("<file_name>"), TEXT("</file_name>"), &name))
        return;
    while (load_element(&reply, TEXT("<file_info>"), TEXT("</file_info>"), &content)) {
        struct text rest = content, of;

        if (load_element(&rest, TEXT("<name>"), TEXT("</name>"), &of) && text_equal(of, name) &&
            text_contains(content, TEXT("<upload_when_present"))) {
            job->file = copy(content);
            return;
        }
    }
}

static void read_deadline(struct load_host *host, struct text result)
{
    struct load_job *job = &host->jobs[host->job_count - 1];
    struct text content;

    if (!load_element(&result, TEXT("<report_deadline>"), TEXT("</report_deadline>"), &content) ||
        !text_to_i64(text_trim(content), &job->deadline))
        job->deadline = 0;
}

/* Whether the job was one of those reported; it is forgotten then. */
static bool acknowledge(struct load_host *host, struct text name)
{
    for (size_t i = 0; i < host->reported; i++) {
        if (!text_is(name, host->jobs[i].name))
            continue;
        clear_job(&host->jobs[i]);
        host->reported--;
        host->job_count--;
        host->jobs[i] = host->jobs[host->reported];
        host->jobs[host->reported] = host->jobs[host->job_count];
        return true;
    }
    return false;
}

static void read_identity(struct load_host *host, struct text reply)
{
    struct text rest = reply, content;
    int64_t id;

    if (load_element(&rest, TEXT("<hostid>"), TEXT("</hostid>"), &content) &&
        text_to_i64(content, &id) && id > 0) {
        host->id = id;
        host->rpc_seqno = 0;
    }
    if ((int64_t)(host->number % 100) >= host->profile->old &&
        text_contains(reply, TEXT("<send_full_workload/>")))
        host->lists_queue = true;
    rest = reply;
    if (load_element(&rest, TEXT("<code_sign_key>"), TEXT("</code_sign_key>"), &content)) {
        free(host->code_sign_key);
        host->code_sign_key = copy(text_trim(content));
    }
}

static enum reply_kind kind_of(struct text reply)
{
    if (!text_contains(reply, TEXT("<scheduler_reply>")) ||
        !text_contains(reply, TEXT("</scheduler_reply>")))
        return REPLY_BROKEN;
    if (text_contains(reply, TEXT("<project_is_down/>")))
        return REPLY_DOWN;
    return text_contains(reply, TEXT("<userid>")) ? REPLY_FULL : REPLY_SHORT;
}

struct reply_summary host_read_reply(struct load_host *host, struct text reply,
                                     const struct reply_taker *taker)
{
    struct reply_summary summary = {.kind = kind_of(reply)};
    struct text rest = reply, content, name;

    if (load_element(&rest, TEXT("<message"), TEXT("</message>"), &content)) {
        (void)text_split(&content, '>');
        summary.message = content;
    }
    rest = reply;
    if (!load_element(&rest, TEXT("<request_delay>"), TEXT("</request_delay>"), &content) ||
        !text_to_real(content, &summary.delay))
        summary.delay = 0;
    if (summary.kind != REPLY_FULL)
        return summary;
    read_identity(host, reply);
    rest = reply;
    while (load_element(&rest, TEXT("<result_ack>"), TEXT("</result_ack>"), &content)) {
        bool was_reported;

        if (!load_element(&content, TEXT("<name>"), TEXT("</name>"), &name))
            continue;
        was_reported = acknowledge(host, name);
        summary.acked += was_reported;
        if (taker->ack != NULL)
            taker->ack(taker->context, host, name, was_reported);
    }
    summary.missing_acks = host->reported;
    rest = reply;
    while (load_element(&rest, TEXT("<result>"), TEXT("</result>"), &content)) {
        struct text element = content;

        if (!load_element(&content, TEXT("<name>"), TEXT("</name>"), &name))
            continue;
        if (taker->job != NULL)
            taker->job(taker->context, host, name);
        if (host_has_job(host, name))
            continue; /* sent again */
        host_add_job(host, name);
        read_deadline(host, element);
        if (host->profile->upload_bytes > 0)
            take_file(host, reply, element);
    }
    return summary;
}
