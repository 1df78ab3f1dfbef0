/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs. The stored documents of app versions, workunits and results go out verbatim, with what the
 * server knows put in at fixed places: after the line <workunit> or <result>, before </result>,
 * in place of </app_version>. A client that gets a job whose parts are not all there drops it
 * without a word, so each job is checked as a whole before anything of it is written; and what
 * several jobs share (apps, versions, files, workunits) is written once. */
#include "db/rows.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/log.h"
#include "server/parse/client_age.h"
#include "server/parse/message.h"
#include "server/policy/version/buda.h"
#include "server/policy/version/version_choice.h"
#include "server/reply/answer.h"
#include "server/reply/reply.h"
#include "server/reply/reply_parts.h"

#include <string.h>

#include "server/base/banned.h"

/* A stored document, taken apart at its main element. */
struct document {
    struct text files; /* everything before: file_info elements */
    struct text body;  /* between the start tag's line and the end tag */
};

static struct text rest_after(struct text text, size_t offset)
{
    return (struct text){.at = text.at + offset, .length = text.length - offset};
}

static bool document_split(struct text xml, struct text start, struct text end,
                           struct document *ret_document)
{
    size_t at = text_find(xml, start);

    if (at == xml.length || memchr(xml.at, '\0', xml.length) != NULL ||
        text_contains(xml, TEXT("scheduler_reply>")))
        return false;
    struct text inside = rest_after(xml, at + start.length);
    size_t length = text_find(inside, end);
    if (length == inside.length || text_contains(text_first(inside, length), start))
        return false;
    ret_document->files = text_first(xml, at);
    ret_document->body = text_first(inside, length);
    return true;
}

static bool version_split(const struct answer_job *job, struct document *ret_document)
{
    return document_split(job->version->xml_doc, TEXT("<app_version>"), TEXT("</app_version>"),
                          ret_document);
}

static bool workunit_split(const struct answer_job *job, struct document *ret_document)
{
    return document_split(job->documents.workunit_xml, TEXT("<workunit>\n"), TEXT("</workunit>"),
                          ret_document);
}

static bool result_split(const struct answer_job *job, struct document *ret_document)
{
    return document_split(job->documents.result_xml, TEXT("<result>\n"), TEXT("</result>"),
                          ret_document);
}

/* --- checks ------------------------------------------------------------------------------- */

bool reply_takes_own_version(const struct client_app_version *own)
{
    return line_fits("platform", own->platform) && line_fits("plan_class", own->plan_class);
}

static bool version_fits(const struct answer_job *job)
{
    if (job->version == NULL)
        return reply_takes_own_version(job->anonymous);
    return line_fits("platform", job->platform) &&
           line_fits("plan_class", job->version->plan_class);
}

static bool names_fit(const struct answer_job *job, int64_t client_version)
{
    return line_holds(client_version, "wu_name", job->documents.workunit_name) &&
           line_holds(client_version, "name", job->documents.result_name) &&
           line_holds(client_version, "app_name", job->app->name) &&
           line_holds(client_version, "cmdline", job->usage.cmdline) && version_fits(job);
}

bool reply_lacks_variant(const struct answer_job *job)
{
    return job->variant == NULL && version_is_wrapper(job->version) &&
           text_contains(job->documents.workunit_xml, TEXT("<buda_app_name>"));
}

const char *reply_job_fault(const struct answer_job *job, int64_t client_version)
{
    struct document document;

    if (job->app == NULL)
        return "no app";
    if (job->version == NULL && job->anonymous == NULL)
        return "no version";
    if (job->version != NULL && !version_split(job, &document))
        return "app_version document";
    if (!workunit_split(job, &document))
        return "workunit document";
    if (!result_split(job, &document))
        return "result document";
    if (job->documents.result_name.length == 0 || job->documents.workunit_name.length == 0)
        return "no name";
    if (reply_lacks_variant(job))
        return "job of a science app without a variant";
    if (job->variant != NULL && job->documents.workunit_xml.length +
                                        job->variant->file_infos.length +
                                        job->variant->file_refs.length >
                                    BUDA_BYTES_MAX)
        return "workunit document with the files of its variant longer than clients read";
    if (!names_fit(job, client_version))
        return "name longer than this client reads";
    return NULL;
}

const bool *reply_check_jobs(const struct reply *reply)
{
    const struct answer *answer = reply->answer;
    bool *is_written = ARENA_ARRAY(reply->sources->arena, answer->job_count, bool);

    if (is_written == NULL)
        return NULL;
    for (size_t i = 0; i < answer->job_count; i++) {
        const struct answer_job *job = &answer->jobs[i];
        const char *fault = job->is_checked ? NULL : reply_job_fault(job, reply->version);

        is_written[i] = fault == NULL;
        if (fault != NULL)
            log_line(LOG_LEVEL_WARNING, "event=job_not_sent result=%lld host=%lld why=\"%s\"",
                     (long long)job->resultid, (long long)reply->sources->host->id, fault);
    }
    return is_written;
}

/* The next job to be written from index *at on; NULL at the end. */
static const struct answer_job *next_job(const struct reply *reply, size_t *at)
{
    while (reply->job_is_written != NULL && *at < reply->answer->job_count) {
        size_t i = (*at)++;
        if (reply->job_is_written[i])
            return &reply->answer->jobs[i];
    }
    return NULL;
}

/* --- files -------------------------------------------------------------------------------- */

static struct text file_name(struct text file)
{
    size_t at = text_find(file, TEXT("<name>"));

    if (at == file.length)
        return file;
    struct text name = rest_after(file, at + strlen("<name>"));
    return text_trim(text_first(name, text_find(name, TEXT("<"))));
}

/* Writes what stands before a document's main element, without the files that this reply has
 * already. */
static void write_files(struct reply *reply, struct text rest)
{
    while (text_trim(rest).length > 0) {
        size_t start = text_find(rest, TEXT("<file_info>"));
        struct text before = text_trim(text_first(rest, start));
        if (before.length > 0)
            lines_verbatim(reply, before);
        rest = rest_after(rest, start);
        size_t end = text_find(rest, TEXT("</file_info>"));
        if (end < rest.length)
            end += strlen("</file_info>");
        struct text file = text_first(rest, end);
        if (file.length > 0 && text_set_add(&reply->files, file_name(file)))
            lines_verbatim(reply, file);
        rest = rest_after(rest, end);
    }
}

/* --- apps and versions -------------------------------------------------------------------- */

/* The bytes of a number, to keep it in a set of texts. */
static struct text number_bytes(const int64_t *number)
{
    return (struct text){.at = (const char *)number, .length = sizeof *number};
}

void reply_apps(struct reply *reply, const char *element)
{
    size_t at = 0;
    const struct answer_job *job;

    while ((job = next_job(reply, &at)) != NULL) {
        if (job->version == NULL || !text_set_add(&reply->apps, number_bytes(&job->app->id)))
            continue;
        line_begin(reply, element);
        line_name(reply, "name", job->app->name);
        line_text(reply, "user_friendly_name", job->app->user_friendly_name);
        line_integer(reply, "non_cpu_intensive", job->app->non_cpu_intensive != 0);
        line_integer(reply, "fraction_done_exact", job->app->fraction_done_exact != 0);
        line_end(reply, element);
    }
}

static void write_usage(struct reply *reply, const struct usage *usage)
{
    line_real(reply, "avg_ncpus", usage->avg_ncpus);
    if (usage->projected_flops > 0)
        line_real(reply, "flops", usage->projected_flops);
    if (usage->cmdline.length > 0)
        line_name(reply, "cmdline", usage->cmdline);
    if (usage->coproc_type.length == 0)
        return;
    buffer_add_string(reply->out, "<coproc>\n");
    if (text_is(usage->coproc_type, "NVIDIA") && reply->version < CLIENT_SAYS_NVIDIA)
        line_name(reply, "type", TEXT("CUDA"));
    else
        line_name(reply, "type", usage->coproc_type);
    line_real(reply, "count", usage->coproc_count);
    buffer_add_string(reply->out, "</coproc>\n");
    if (usage->gpu_ram > 0)
        line_real(reply, "gpu_ram", usage->gpu_ram);
}

void reply_versions(struct reply *reply, const char *element)
{
    size_t at = 0;
    const struct answer_job *job;

    while ((job = next_job(reply, &at)) != NULL) {
        struct document document;

        if (job->version == NULL ||
            !text_set_add(&reply->app_versions, number_bytes(&job->version->id)) ||
            !version_split(job, &document))
            continue;
        write_files(reply, document.files);
        line_begin(reply, element);
        lines_verbatim(reply, text_trim(document.body));
        line_name(reply, "platform", job->platform);
        if (job->version->plan_class.length > 0)
            line_name(reply, "plan_class", job->version->plan_class);
        write_usage(reply, job->wrapper_usage != NULL ? job->wrapper_usage : &job->usage);
        line_end(reply, element);
    }
}

/* --- workunits ---------------------------------------------------------------------------- */

/* Clients that run variants take it instead of the version's, and know all types of coprocessors.
 */
static void write_variant_usage(struct reply *reply, const struct usage *usage)
{
    line_real(reply, "avg_ncpus", usage->avg_ncpus);
    line_real(reply, "flops", usage->projected_flops);
    if (usage->coproc_type.length > 0) {
        buffer_add_string(reply->out, "<coproc>\n");
        line_name(reply, "type", usage->coproc_type);
        line_real(reply, "count", usage->coproc_count);
        buffer_add_string(reply->out, "</coproc>\n");
    }
    if (usage->cmdline.length > 0)
        line_name(reply, "cmdline", usage->cmdline);
}

static void write_workunit_body(struct reply *reply, struct text body)
{
    size_t start = text_find(body, TEXT("<command_line>"));

    if (reply->version >= CLIENT_READS_LONG_COMMAND_LINES || start == body.length) {
        lines_verbatim(reply, body);
        return;
    }
    struct text command = rest_after(body, start + strlen("<command_line>"));
    size_t end = text_find(command, TEXT("</command_line>"));
    buffer_add(reply->out, text_first(body, start));
    buffer_add_string(reply->out, "<command_line>");
    struct text line = text_trim(text_first(command, end));
    for (size_t i = 0; i < line.length; i++)
        buffer_add_char(reply->out, line.at[i] == '\n' ? ' ' : line.at[i]);
    lines_verbatim(reply,
                   end < command.length ? rest_after(command, end) : TEXT("</command_line>"));
}

void reply_workunits(struct reply *reply, const char *element)
{
    size_t at = 0;
    const struct answer_job *job;

    while ((job = next_job(reply, &at)) != NULL) {
        struct document document;

        if (!text_set_add(&reply->workunits, number_bytes(&job->workunitid)) ||
            !workunit_split(job, &document))
            continue;
        write_files(reply, document.files);
        if (job->variant != NULL)
            write_files(reply, job->variant->file_infos);
        line_begin(reply, element);
        line_real(reply, "rsc_fpops_est", job->rsc_fpops_est * job->fpops_scale);
        line_real(reply, "rsc_fpops_bound", job->rsc_fpops_bound * job->fpops_scale);
        line_real(reply, "rsc_memory_bound", job->rsc_memory_bound);
        line_real(reply, "rsc_disk_bound", job->rsc_disk_bound);
        line_name(reply, "name", job->documents.workunit_name);
        line_name(reply, "app_name", job->app->name);
        if (text_trim(job->keywords).length > 0)
            line_text(reply, "job_keyword_ids", text_trim(job->keywords));
        write_workunit_body(reply, document.body);
        if (job->variant != NULL) {
            write_variant_usage(reply, &job->usage);
            lines_verbatim(reply, text_trim(job->variant->file_refs));
        }
        line_end(reply, element);
    }
}

/* --- results ------------------------------------------------------------------------------ */

void reply_results(struct reply *reply, const char *element)
{
    size_t at = 0;
    const struct answer_job *job;

    while ((job = next_job(reply, &at)) != NULL) {
        struct document document;
        const struct client_app_version *anonymous = job->anonymous;

        if (!result_split(job, &document))
            continue;
        write_files(reply, document.files);
        line_begin(reply, element);
        line_integer(reply, "report_deadline", job->report_deadline);
        line_name(reply, "wu_name", job->documents.workunit_name);
        line_name(reply, "name", job->documents.result_name);
        lines_verbatim(reply, document.body);
        line_name(reply, "platform", job->version != NULL ? job->platform : anonymous->platform);
        line_integer(reply, "version_num",
                     job->version != NULL ? job->version->version_num : anonymous->version_num);
        line_name(reply, "plan_class",
                  job->version != NULL ? job->version->plan_class : anonymous->plan_class);
        line_end(reply, element);
    }
}
