/* SPDX-License-Identifier: Apache-2.0 */
/* A request says what the host is, what it wants, what it reports and, once the server has asked
 * for it, the whole queue of all projects with remaining times, so that the server can simulate
 * deadlines.
 *
 * Requests of two generations are written: today's, and that of client 6.4.5, the last age that
 * asked in one amount for all resources. Today's also says which version each job is of; servers
 * need that to count the jobs in progress of an application or a processor. */
#include "tools/lab/volunteers/wire/wire.h"

#include "server/base/buffer.h"
#include "server/base/random.h"
#include "tools/lab/volunteers/host/population.h"
#include "tools/lab/volunteers/host/rpc_messages.h"
#include "tools/lab/volunteers/host/versions.h"
#include "tools/lab/volunteers/wire/processor_kind.h"

#include <inttypes.h>

#include "server/base/banned.h"

#define DAY 86400.0

/* Three ages: before 6.6, and what could and what can run containers. */
static void write_client(const struct outgoing *outgoing, struct buffer *request)
{
    static const int scalar[] = {6, 4, 5}, old[] = {8, 0, 2}, today[] = {8, 2, 8};
    const int *version = outgoing->is_scalar                 ? scalar
                         : outgoing->machine->has_containers ? today
                                                             : old;

    buffer_print(request,
                 "    <core_client_major_version>%d</core_client_major_version>\n"
                 "    <core_client_minor_version>%d</core_client_minor_version>\n"
                 "    <core_client_release>%d</core_client_release>\n",
                 version[0], version[1], version[2]);
}

static void write_identity(const struct outgoing *outgoing, struct buffer *request)
{
    buffer_add_string(request, "<scheduler_request>\n    <authenticator>");
    buffer_add_xml(request, outgoing->authenticator);
    buffer_print(request,
                 "</authenticator>\n    <hostid>%" PRId64 "</hostid>\n"
                 "    <rpc_seqno>%" PRId64 "</rpc_seqno>\n",
                 outgoing->hostid, outgoing->rpc_seqno);
    write_client(outgoing, request);
    buffer_print(request,
                 "    <resource_share_fraction>%f</resource_share_fraction>\n"
                 "    <rrs_fraction>%f</rrs_fraction>\n"
                 "    <prrs_fraction>%f</prrs_fraction>\n"
                 "    <duration_correction_factor>%f</duration_correction_factor>\n",
                 outgoing->share_fraction, outgoing->runnable_fraction,
                 outgoing->potential_fraction, outgoing->correction);
    buffer_add_string(request, "    <allow_multiple_clients>0</allow_multiple_clients>\n"
                               "    <sandbox>0</sandbox>\n"
                               "    <dont_send_work>0</dont_send_work>\n");
    buffer_print(request, "    <work_req_seconds>%f</work_req_seconds>\n", outgoing->scalar);
    if (!outgoing->is_scalar)
        buffer_print(request,
                     "    <cpu_req_secs>%f</cpu_req_secs>\n"
                     "    <cpu_req_instances>%f</cpu_req_instances>\n",
                     outgoing->demands[CLIENT_CPU].seconds,
                     outgoing->demands[CLIENT_CPU].instances);
    buffer_print(request,
                 "    <estimated_delay>%f</estimated_delay>\n"
                 "    <client_cap_plan_class>1</client_cap_plan_class>\n    <platform_name>",
                 outgoing->demands[CLIENT_CPU].delay);
    buffer_add_xml(request, outgoing->platform);
    buffer_add_string(request, "</platform_name>\n");
}

static void write_linux(const struct machine *machine, struct buffer *request)
{
    buffer_add_string(request, "    <os_name>Linux Debian</os_name>\n"
                               "    <os_version>Debian GNU/Linux 12 (bookworm)</os_version>\n");
    if (machine->has_containers)
        buffer_add_string(request, "    <docker_version>5.4.2</docker_version>\n"
                                   "    <docker_type>2</docker_type>\n");
}

/* Containers run in a distribution that BOINC installs, which says by itself what GPUs they see. */
static void write_windows(const struct machine *machine, struct buffer *request)
{
    buffer_add_string(request, "    <os_name>Microsoft Windows 11</os_name>\n"
                               "    <os_version>Professional x64 Edition, (10.00.22631.00)"
                               "</os_version>\n");
    if (!machine->has_containers)
        return;
    buffer_add_string(request, "    <wsl>\n        <distro>\n"
                               "            <distro_name>boinc-buda-runner</distro_name>\n"
                               "            <distro_version>6</distro_version>\n"
                               "            <os_name>Alpine Linux</os_name>\n"
                               "            <os_version>3.22</os_version>\n"
                               "            <wsl_version>2</wsl_version>\n"
                               "            <docker_version>5.4.2</docker_version>\n"
                               "            <docker_type>2</docker_type>\n");
    for (size_t r = CLIENT_CPU + 1; r < CLIENT_RESOURCES; r++)
        if (machine->containers_see_gpus && machine->gpus[r - 1].count > 0)
            buffer_add_string(request, processor_kinds[r].wsl_gpu);
    buffer_add_string(request, "        </distro>\n    </wsl>\n");
}

static void write_machine(const struct outgoing *outgoing, struct buffer *request)
{
    const struct machine *machine = outgoing->machine;
    const struct outgoing_disk *disk = &outgoing->disk;

    buffer_print(request,
                 "<working_global_preferences>\n<global_preferences>\n"
                 "   <mod_time>0.000000</mod_time>\n"
                 "   <work_buf_min_days>%f</work_buf_min_days>\n"
                 "   <work_buf_additional_days>%f</work_buf_additional_days>\n"
                 "   <max_ncpus_pct>%f</max_ncpus_pct>\n"
                 "   <disk_max_used_pct>90.000000</disk_max_used_pct>\n"
                 "   <ram_max_used_busy_pct>90.000000</ram_max_used_busy_pct>\n"
                 "   <ram_max_used_idle_pct>90.000000</ram_max_used_idle_pct>\n"
                 "</global_preferences>\n</working_global_preferences>\n"
                 "<time_stats>\n    <on_frac>%f</on_frac>\n"
                 "    <connected_frac>1.000000</connected_frac>\n"
                 "    <active_frac>1.000000</active_frac>\n",
                 machine->buffer / DAY, machine->extra / DAY, machine->cpus_percent,
                 outgoing->on_fraction);
    /* A host that is on may compute, on all its processors. */
    if (!outgoing->is_scalar)
        buffer_print(request,
                     "    <total_active_duration>%f</total_active_duration>\n"
                     "    <total_gpu_active_duration>%f</total_gpu_active_duration>\n",
                     outgoing->active_time, outgoing->active_time);
    buffer_add_string(request, "</time_stats>\n");
    buffer_print(request,
                 "<host_info>\n    <timezone>0</timezone>\n"
                 "    <domain_name>v%016" PRIx64 "</domain_name>\n"
                 "    <host_cpid>%016" PRIx64 "%016" PRIx64 "</host_cpid>\n"
                 "    <p_ncpus>%" PRId64 "</p_ncpus>\n"
                 "    <p_vendor>GenuineIntel</p_vendor>\n"
                 "    <p_model>Emulated CPU [Family 6 Model 85]</p_model>\n"
                 "    <p_features>fpu sse sse2 pni ssse3 sse4_1 sse4_2 avx avx2</p_features>\n"
                 "    <p_fpops>%f</p_fpops>\n    <p_iops>%f</p_iops>\n"
                 "    <p_membw>1000000000.000000</p_membw>\n",
                 outgoing->mark, outgoing->mark, random_mix(outgoing->mark, 1), machine->cpus,
                 machine->flops, machine->flops * 3);
    buffer_print(request,
                 "    <m_nbytes>%f</m_nbytes>\n    <m_cache>262144.000000</m_cache>\n"
                 "    <m_swap>%f</m_swap>\n    <d_total>%f</d_total>\n    <d_free>%f</d_free>\n",
                 machine->memory, machine->memory, machine->disk * 2, disk->free);
    if (machine->is_windows)
        write_windows(machine, request);
    else
        write_linux(machine, request);
    buffer_print(request,
                 "</host_info>\n<disk_usage>\n"
                 "    <d_boinc_used_total>%f</d_boinc_used_total>\n"
                 "    <d_boinc_used_project>%f</d_boinc_used_project>\n"
                 "    <d_project_share>%f</d_project_share>\n</disk_usage>\n",
                 disk->used, disk->used_by_project, disk->share);
}

static void write_name(const char *name, struct buffer *request)
{
    buffer_add_string(request, "    <name>");
    buffer_add_xml(request, text_from(name));
    buffer_add_string(request, "</name>\n");
}

static void write_files(const struct outgoing_disk *disk, struct buffer *request)
{
    if (disk->tells_amounts)
        buffer_print(request,
                     "<project_disk_free>%f</project_disk_free>\n"
                     "<potentially_free_offender>%f</potentially_free_offender>\n"
                     "<potentially_free_self>%f</potentially_free_self>\n",
                     disk->amounts[0], disk->amounts[1], disk->amounts[2]);
    for (size_t i = 0; i < disk->file_count; i++) {
        buffer_add_string(request, "<file_info>\n");
        write_name(disk->files[i].name, request);
        buffer_print(request,
                     "    <nbytes>%f</nbytes>\n    <status>1</status>\n    <sticky/>\n"
                     "</file_info>\n",
                     disk->files[i].bytes);
    }
}

static void write_coprocs(const struct outgoing *outgoing, struct buffer *request)
{
    buffer_add_string(request, "<coprocs>\n");
    for (size_t r = CLIENT_CPU + 1; r < CLIENT_RESOURCES; r++) {
        const struct machine_gpu *gpu = &outgoing->machine->gpus[r - 1];
        const struct outgoing_demand *demand = &outgoing->demands[r];

        if (gpu->count == 0)
            continue;
        buffer_print(request, "<%s>\n   <count>%" PRId64 "</count>\n", processor_kinds[r].element,
                     gpu->count);
        if (!outgoing->is_scalar)
            buffer_print(request,
                         "   <req_secs>%f</req_secs>\n   <req_instances>%f</req_instances>\n"
                         "   <estimated_delay>%f</estimated_delay>\n",
                         demand->seconds, demand->instances, demand->delay);
        buffer_print(request, "   <peak_flops>%f</peak_flops>\n%s</%s>\n", gpu->flops,
                     processor_kinds[r].details, processor_kinds[r].element);
    }
    buffer_add_string(request, "</coprocs>\n");
}

/* NULL: not known. */
static const struct host_version *version_of(const struct outgoing *outgoing,
                                             const struct outgoing_job *job)
{
    if (outgoing->versions == NULL || job->version >= outgoing->versions->count)
        return NULL;
    return &outgoing->versions->at[job->version];
}

static void write_text(const char *element, const char *text, struct buffer *request)
{
    buffer_print(request, "    <%s>", element);
    buffer_add_xml(request, text_from(text));
    buffer_print(request, "</%s>\n", element);
}

static void write_version_name(const struct host_version *version, struct buffer *request)
{
    write_text("platform", version->platform, request);
    buffer_print(request, "    <version_num>%" PRId64 "</version_num>\n", version->number);
    if (version->plan_class[0] != '\0')
        write_text("plan_class", version->plan_class, request);
}

static void write_versions(const struct host_versions *versions, struct buffer *request)
{
    buffer_add_string(request, "<app_versions>\n");
    for (size_t i = 0; versions != NULL && i < versions->count; i++) {
        const struct host_version *version = &versions->at[i];

        buffer_add_string(request, "<app_version>\n");
        write_text("app_name", version->app, request);
        write_version_name(version, request);
        buffer_print(request, "    <avg_ncpus>%f</avg_ncpus>\n    <flops>%f</flops>\n",
                     version->cpus, version->flops);
        if (version->coproc != CLIENT_CPU)
            buffer_print(request,
                         "    <coproc>\n        <type>%s</type>\n"
                         "        <count>%f</count>\n    </coproc>\n",
                         processor_kinds[version->coproc].type, version->coprocs);
        buffer_add_string(request, "</app_version>\n");
    }
    buffer_add_string(request, "</app_versions>\n");
}

static void write_listed(const struct outgoing *outgoing, const struct outgoing_job *job,
                         struct buffer *request)
{
    const struct host_version *version = version_of(outgoing, job);

    buffer_add_string(request, "<other_result>\n");
    write_name(job->name, request);
    if (version != NULL && !outgoing->is_scalar) {
        buffer_print(request, "    <app_version>%zu</app_version>\n", job->version);
        if (version->plan_class[0] != '\0')
            write_text("plan_class", version->plan_class, request);
    }
    buffer_add_string(request, "</other_result>\n");
}

static int exit_status_of(const struct outgoing_job *job)
{
    enum { FAILED = 1, UNSTARTED_LATE = 200, ABORTED_BY_PROJECT = 202 };

    if (job->aborted)
        return job->unstarted_late ? UNSTARTED_LATE : ABORTED_BY_PROJECT;
    return job->failed ? FAILED : 0;
}

static void write_report(const struct outgoing *outgoing, const struct outgoing_job *job,
                         struct buffer *request)
{
    const struct host_version *version = version_of(outgoing, job);

    buffer_add_string(request, "<result>\n");
    write_name(job->name, request);
    if (version != NULL) {
        write_version_name(version, request);
        buffer_print(request, "    <app_version_num>%" PRId64 "</app_version_num>\n",
                     version->number);
    }
    buffer_print(request,
                 "    <final_cpu_time>%f</final_cpu_time>\n"
                 "    <final_elapsed_time>%f</final_elapsed_time>\n"
                 "    <exit_status>%d</exit_status>\n    <state>%d</state>\n"
                 "<stderr_out>\n<core_client_version>8.0.2</core_client_version>\n"
                 "<![CDATA[\n<stderr_txt>\nemulated\n</stderr_txt>\n]]>\n</stderr_out>\n"
                 "</result>\n",
                 job->elapsed, job->elapsed, exit_status_of(job),
                 job->aborted  ? 6
                 : job->failed ? 3
                               : 5);
}

static void write_queued(const struct outgoing *outgoing, const struct outgoing_job *job,
                         struct buffer *request)
{
    buffer_add_string(request, "<ip_result>\n");
    write_name(job->name, request);
    buffer_print(request, "    <report_deadline>%f</report_deadline>\n", job->deadline);
    if (outgoing->is_scalar) {
        buffer_print(request, "    <cpu_time_remaining>%f</cpu_time_remaining>\n", job->left);
    } else {
        buffer_print(request,
                     "    <time_remaining>%f</time_remaining>\n    <avg_ncpus>%f</avg_ncpus>\n",
                     job->left, job->cpus);
        if (job->coproc != CLIENT_CPU)
            buffer_print(request, "    <%s>%f</%s>\n", processor_kinds[job->coproc].instances,
                         job->coprocs, processor_kinds[job->coproc].instances);
    }
    buffer_add_string(request, "</ip_result>\n");
}

void outgoing_write(const struct outgoing *outgoing, struct buffer *request)
{
    write_identity(outgoing, request);
    write_machine(outgoing, request);
    write_files(&outgoing->disk, request);
    write_coprocs(outgoing, request);
    for (size_t i = 0; i < outgoing->job_count; i++)
        if (outgoing->jobs[i].is_own && outgoing->jobs[i].done)
            write_report(outgoing, &outgoing->jobs[i], request);
    if (!outgoing->is_scalar)
        write_versions(outgoing->versions, request);
    buffer_add_string(request, "<other_results>\n");
    for (size_t i = 0; i < outgoing->job_count; i++)
        if (outgoing->jobs[i].is_own && !outgoing->jobs[i].done)
            write_listed(outgoing, &outgoing->jobs[i], request);
    buffer_add_string(request, "</other_results>\n");
    if (outgoing->lists_queue) {
        buffer_add_string(request, "<in_progress_results>\n");
        for (size_t i = 0; i < outgoing->job_count; i++)
            if (!outgoing->jobs[i].done)
                write_queued(outgoing, &outgoing->jobs[i], request);
        buffer_add_string(request, "</in_progress_results>\n");
    }
    buffer_add_string(request, "</scheduler_request>\n");
}
