/* SPDX-License-Identifier: Apache-2.0 */
/* The request is written as text and read by the server's own parser, so that from there on there
 * is no difference between a host that asks and one that is asked about. What the host said last of
 * what it can do is kept (server/policy/host/host_said.h). Of a host that has not come since that
 * is kept, it is made from the host's row. What the database does not know is left out, or assumed
 * and said. */
#include "tools/qmctl/why/why_request.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/json.h"
#include "server/policy/host/host_record.h"
#include "server/rpc/request.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "server/base/banned.h"

#define DAY      86400.0
#define MEGABYTE 1048576.0

enum { ASSUMPTION_LENGTH_MAX = 300, JOBS_LISTED_MAX = 10000, PLATFORMS_MAX = 8 };
/* Clients above say that they know plan classes (6.1.13, which nobody runs). */
enum { KNOWS_PLAN_CLASSES = 5 };

void assume(struct session *session, struct assumptions *assumptions, const char *format, ...)
{
    char line[ASSUMPTION_LENGTH_MAX];
    va_list arguments;

    if (assumptions->count == ASSUMPTIONS_MAX)
        return;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    assumptions->lines[assumptions->count++] = text_copy(session->arena, text_from(line));
}

static void add_real(struct buffer *buffer, const char *name, double value)
{
    buffer_print(buffer, "<%s>%.15g</%s>\n", name, value, name);
}

/* --- the client and its coprocessors: host.misc, as host_record.c and BOINC write it -----------
 */

static struct text misc_text(const struct json_object *misc, const char *name)
{
    struct json_member member = json_member(misc, name);

    return member.kind == JSON_KIND_TEXT ? member.text : NO_TEXT;
}

static void add_client(struct session *session, struct buffer *buffer,
                       const struct json_object *misc, struct assumptions *assumptions)
{
    static const char *const names[] = {"core_client_major_version", "core_client_minor_version",
                                        "core_client_release"};
    struct text version = misc_text(misc, "client_version"), parts[3];
    int64_t major = 0;

    if (version.length == 0) {
        version = TEXT("8.0.0");
        assume(session, assumptions, "client " TEXT_FORMAT ": its version is not known",
               TEXT_ARG(version));
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        parts[i] = text_split(&version, '.');
        buffer_add_element(buffer, 0, names[i], parts[i]);
    }
    if (text_to_i64(parts[0], &major) && major > KNOWS_PLAN_CLASSES)
        buffer_add_string(buffer, "<client_cap_plan_class>1</client_cap_plan_class>\n");
}

/* By the word of host.misc; rows of former versions have the type as clients say it. */
static const char *coproc_element(struct text type)
{
    static const struct {
        const char *words[2], *element;
    } elements[] = {
        {{"nvidia", "NVIDIA"}, "coproc_cuda"},
        {{"amd", "ATI"}, "coproc_ati"},
        {{"intel", "intel_gpu"}, "coproc_intel_gpu"},
        {{"apple", "apple_gpu"}, "coproc_apple_gpu"},
    };

    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (text_is(type, elements[i].words[0]) || text_is(type, elements[i].words[1]))
            return elements[i].element;
    return "coproc";
}

static double misc_real(const struct json_object *gpu, const char *name)
{
    struct json_member member = json_member(gpu, name);

    return member.kind == JSON_KIND_WHOLE && member.whole > 0 ? (double)member.whole : 0;
}

static void add_coprocs(struct session *session, struct buffer *buffer, const struct host_row *host,
                        const struct json_object *misc, struct assumptions *assumptions)
{
    size_t count = json_item_count(misc, "gpus");

    buffer_add_string(buffer, "<coprocs>\n");
    for (size_t i = 0; i < count; i++) {
        struct json_object gpu;
        double ram, flops;

        if (!json_item(misc, "gpus", i, &gpu))
            continue;
        ram = misc_real(&gpu, "ram_mb") * MEGABYTE;
        flops = misc_real(&gpu, "peak_flops");
        if (flops == 0 && host->p_ngpus > 0) /* the host's row has the sum */
            flops = host->p_gpu_fpops / (double)host->p_ngpus;
        buffer_print(buffer, "<%s>\n", coproc_element(misc_text(&gpu, "type")));
        buffer_add_element(buffer, 0, "type", misc_text(&gpu, "type"));
        buffer_add_element(buffer, 0, "name", misc_text(&gpu, "model"));
        add_real(buffer, "count", fmax(misc_real(&gpu, "count"), 1));
        add_real(buffer, "peak_flops", flops);
        add_real(buffer, "available_ram", ram > 0 ? ram : misc_real(&gpu, "ram"));
        buffer_print(buffer, "</%s>\n", coproc_element(misc_text(&gpu, "type")));
    }
    buffer_add_string(buffer, "</coprocs>\n");
    if (count > 0)
        assume(session, assumptions,
               "drivers and capabilities of coprocessors are not known (--request tells them)");
    else if (host->p_ngpus > 0)
        assume(session, assumptions, "no coprocessors: their types are not known");
}

/* --- platforms -------------------------------------------------------------------------------- */

static const struct {
    const char *os_name; /* what it begins with */
    const char *vendor;  /* of the processor; NULL: any */
    const char *platforms[3];
} usual_platforms[] = {
    {"Linux", "ARM", {"aarch64-unknown-linux-gnu", "arm-unknown-linux-gnueabihf"}},
    {"Linux", NULL, {"x86_64-pc-linux-gnu", "i686-pc-linux-gnu"}},
    {"Microsoft Windows", NULL, {"windows_x86_64", "windows_intelx86"}},
    {"Darwin", "Apple", {"arm64-apple-darwin", "x86_64-apple-darwin"}},
    {"Darwin", NULL, {"x86_64-apple-darwin"}},
    {"Android", NULL, {"aarch64-android-linux-gnu", "arm-android-linux-gnu"}},
    {"FreeBSD", NULL, {"x86_64-pc-freebsd__freebsd", "amd64-pc-freebsd"}},
};

static size_t guess_platforms(const struct host_row *host, struct text *ret_names)
{
    size_t count = 0;

    for (size_t i = 0; i < sizeof usual_platforms / sizeof *usual_platforms && count == 0; i++) {
        if (!text_starts(host->os_name, text_from(usual_platforms[i].os_name)) ||
            (usual_platforms[i].vendor != NULL &&
             !text_starts(host->p_vendor, text_from(usual_platforms[i].vendor))))
            continue;
        for (size_t j = 0; j < 3 && usual_platforms[i].platforms[j] != NULL; j++)
            ret_names[count++] = text_from(usual_platforms[i].platforms[j]);
    }
    return count;
}

static enum status find_platforms(struct session *session, const struct host_row *host,
                                  struct text *ret_names, size_t *ret_count, bool *ret_had_jobs)
{
    struct text *known = NULL;
    size_t known_count = 0;
    enum status status = session_db_failed(
        session,
        db_admin_host_platforms(session->db, session->arena, host->id, &known, &known_count),
        "platforms");

    *ret_count = 0;
    *ret_had_jobs = known_count > 0;
    for (size_t i = 0; i < known_count && *ret_count < PLATFORMS_MAX; i++)
        ret_names[(*ret_count)++] = known[i];
    if (*ret_count == 0)
        *ret_count = guess_platforms(host, ret_names);
    return status;
}

static enum status add_platforms(struct session *session, struct buffer *buffer,
                                 const struct host_row *host, struct assumptions *assumptions)
{
    struct text names[PLATFORMS_MAX];
    struct buffer words = buffer_in(session->arena);
    size_t count = 0;
    bool had_jobs = false;
    enum status status = find_platforms(session, host, names, &count, &had_jobs);

    if (option_given(session, "platform")) /* why_request_complete */
        return status;
    for (size_t i = 0; i < count; i++)
        buffer_print(&words, "%s" TEXT_FORMAT, i > 0 ? ", " : "", TEXT_ARG(names[i]));
    if (count == 0)
        buffer_add_string(&words, "none (--platform tells it)");
    assume(session, assumptions, "platforms, by %s: " TEXT_FORMAT,
           had_jobs ? "the jobs of before" : "the operating system", TEXT_ARG(buffer_text(&words)));
    if (count > 0)
        buffer_add_element(buffer, 0, "platform_name", names[0]);
    for (size_t i = 1; i < count; i++) {
        buffer_add_string(buffer, "<alt_platform>\n");
        buffer_add_element(buffer, 0, "name", names[i]);
        buffer_add_string(buffer, "</alt_platform>\n");
    }
    return status;
}

/* --- what the host said ----------------------------------------------------------------------- */

static enum status add_guesses(struct session *session, struct buffer *buffer,
                               const struct host_row *host, struct assumptions *assumptions)
{
    enum status status = add_platforms(session, buffer, host, assumptions);
    struct json_object misc;

    if (json_read(host->misc, &misc, NULL) != STATUS_OK) /* BOINC's need not be readable */
        misc = (struct json_object){NULL};
    add_client(session, buffer, &misc, assumptions);
    add_coprocs(session, buffer, host, &misc, assumptions);
    json_object_free(&misc);
    return status;
}

/* Without the tags of the root. */
static struct text inner_of(struct text request)
{
    const struct text begin = TEXT("<scheduler_request>\n"), end = TEXT("</scheduler_request>\n");

    if (!text_starts(request, begin) || !text_ends(request, end))
        return NO_TEXT;
    return (struct text){.at = request.at + begin.length,
                         .length = request.length - begin.length - end.length};
}

static enum status add_said(struct session *session, struct buffer *buffer,
                            const struct host_row *host, struct assumptions *assumptions)
{
    struct text said = NO_TEXT;
    enum status status =
        session_db_failed(session, db_admin_host_said(session->db, session->arena, host->id, &said),
                          "what the host said");

    said = inner_of(said);
    if (status != STATUS_OK)
        return status;
    if (said.length == 0)
        return add_guesses(session, buffer, host, assumptions);
    buffer_add(buffer, said);
    return STATUS_OK;
}

void why_request_complete(struct session *session, struct message *message)
{
    size_t count = 0, index = 0;
    const char *value;

    while (count < PLATFORMS_MAX && (value = option_next(session, "platform", &index)) != NULL)
        message->platforms[count++] = text_from(value);
    if (count > 0) {
        message->platform_count = count;
        message->anonymous_platform = text_is(message->platforms[0], "anonymous");
    }
    message->has_resource_request = true;
    message->cpu_req_seconds = message->work_req_seconds = DAY * (double)message->p_ncpus;
    for (size_t i = 0; i < message->coproc_count; i++)
        message->coprocs[i].req_seconds = DAY * message->coprocs[i].count;
}

/* --- the rest --------------------------------------------------------------------------------- */

static void add_host(struct buffer *buffer, const struct host_row *host)
{
    add_real(buffer, "duration_correction_factor", host->duration_correction_factor);
    buffer_add_string(buffer, "<time_stats>\n");
    if (host->on_frac > 0)
        add_real(buffer, "on_frac", host->on_frac);
    if (host->connected_frac > 0)
        add_real(buffer, "connected_frac", host->connected_frac);
    if (host->active_frac > 0)
        add_real(buffer, "active_frac", host->active_frac);
    if (host->gpu_active_frac > 0)
        add_real(buffer, "gpu_active_frac", host->gpu_active_frac);
    buffer_add_string(buffer, "</time_stats>\n<net_stats>\n");
    add_real(buffer, "bwup", host->n_bwup);
    add_real(buffer, "bwdown", host->n_bwdown);
    buffer_add_string(buffer, "</net_stats>\n<host_info>\n");
    buffer_add_element(buffer, 0, "domain_name", host->domain_name);
    buffer_print(buffer, "<p_ncpus>%" PRId64 "</p_ncpus>\n", host->p_ncpus);
    buffer_add_element(buffer, 0, "p_vendor", host->p_vendor);
    buffer_add_element(buffer, 0, "p_model", host->p_model);
    add_real(buffer, "p_fpops", host->p_fpops);
    add_real(buffer, "p_iops", host->p_iops);
    add_real(buffer, "m_nbytes", host->m_nbytes);
    add_real(buffer, "m_swap", host->m_swap);
    add_real(buffer, "d_total", host->d_total);
    if (host_record_has_disk(host))
        add_real(buffer, "d_free", host->d_free);
    buffer_add_element(buffer, 0, "os_name", host->os_name);
    buffer_add_element(buffer, 0, "os_version", host->os_version);
    buffer_add_string(buffer, "</host_info>\n<disk_usage>\n");
    add_real(buffer, "d_boinc_used_total", host->d_boinc_used_total);
    add_real(buffer, "d_boinc_used_project", host->d_boinc_used_project);
    add_real(buffer, "d_project_share", host->d_boinc_max);
    buffer_add_string(buffer, "</disk_usage>\n");
}

static enum status add_jobs(struct session *session, struct buffer *buffer,
                            const struct host_row *host, bool is_idle)
{
    struct result_row *rows = NULL;
    size_t count = 0;
    enum status status = STATUS_OK;

    if (!is_idle)
        status = session_db_failed(session,
                                   db_results_in_progress(session->db, session->arena, host->id,
                                                          JOBS_LISTED_MAX, &rows, &count),
                                   "jobs in progress");
    buffer_add_string(buffer, "<other_results>\n");
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        buffer_add_string(buffer, "<other_result>\n");
        buffer_add_element(buffer, 0, "name", rows[i].name);
        buffer_add_string(buffer, "</other_result>\n");
    }
    buffer_add_string(buffer, "</other_results>\n");
    return status;
}

enum status why_request_make(struct session *session, const struct host_row *host, bool is_idle,
                             struct assumptions *assumptions, struct text *ret_request)
{
    struct buffer buffer = buffer_in(session->arena);
    enum status status;

    buffer_add_string(&buffer, "<scheduler_request>\n");
    status = add_said(session, &buffer, host, assumptions);
    if (status == STATUS_OK)
        status = add_jobs(session, &buffer, host, is_idle);
    if (status != STATUS_OK)
        return status;
    add_host(&buffer, host);
    buffer_add_string(&buffer, "</scheduler_request>\n");
    assume(session, assumptions,
           "it asks for a day of work on every processor, its queue contains no other project's "
           "jobs, and it has only the account's preferences");
    *ret_request = buffer_text(&buffer);
    return buffer.overflowed ? STATUS_NO_MEMORY : STATUS_OK;
}
