/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs are collected and written some hundred at a time. Memory has two lifetimes: what a whole
 * batch shares (templates, files, keys) and what one such part needs.
 *
 * Results are made here, with their workunits, so that a project without BOINC's transitioner
 * works. It does not disturb one: transition_time is "now", it reads the workunit,
 * finds as many unsent results as target_nresults asks for, and makes no more; retries it makes
 * from result_template_file, which is why the result template must lie in the project folder.
 *
 * Jobs for given hosts, users or teams get an assignment instead; the server makes their results
 * when one of those meant asks, and flags of the workunit leave that to it. */
#include "server/submit/jobs.h"

#include "config/config.h"
#include "db/admin.h"
#include "db/states.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/submit/documents.h"
#include "server/submit/hierarchy.h"
#include "server/submit/job_templates.h"
#include "server/submit/keys.h"
#include "server/submit/stage.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

#define PART_JOBS           512 /* workunits written at a time */
#define PART_RESULTS        2048
#define PART_BYTES          ((size_t)512 << 20)
#define BATCH_BYTES         ((size_t)4 << 30)
#define PART_DOCUMENT_BYTES ((size_t)16 << 20)

struct jobs {
    struct jobs_settings settings;
    struct arena *arena; /* of the batch */
    struct arena *part;  /* of what is not written yet */
    struct stage *stage;
    struct documents *documents; /* of the results */
    struct job_templates templates;
    struct new_workunit workunits[PART_JOBS];
    int64_t ids[PART_JOBS];
    struct new_result results[PART_RESULTS];
    struct document_order orders[PART_RESULTS];
    size_t workunit_of_result[PART_RESULTS];
    size_t workunit_count, result_count, document_bytes;
    uint64_t number; /* of the next name */
    struct jobs_count count;
    struct text last_name;
    bool have_output_files;
};

static enum status no_memory(struct failure *failure)
{
    return fail(failure, STATUS_NO_MEMORY, "no memory for these jobs");
}

static bool makes_results(const struct jobs *jobs)
{
    return !jobs->settings.by_transitioner && jobs->settings.target == NULL;
}

static enum status begin_documents(struct jobs *jobs, struct failure *failure)
{
    struct text key = NO_TEXT;
    enum status status = STATUS_OK;
    if (jobs->templates.options.certificates)
        status = key_read(jobs->arena, jobs->settings.config, "upload_private", &key, failure);
    return status == STATUS_OK ? documents_create(key, &jobs->documents, failure) : status;
}

enum status jobs_begin(const struct jobs_settings *settings, struct jobs **ret_jobs,
                       struct failure *failure)
{
    struct jobs *jobs = calloc(1, sizeof *jobs);
    if (jobs == NULL)
        return no_memory(failure);
    jobs->settings = *settings;
    jobs->arena = arena_create(BATCH_BYTES);
    jobs->part = arena_create(PART_BYTES);
    jobs->templates.arena = jobs->arena;
    jobs->templates.config = settings->config;
    jobs->templates.options = output_options_from(settings->config);
    if (!makes_results(jobs))
        jobs->templates.options.certificates = false;
    if (jobs->arena != NULL)
        jobs->stage = stage_create(jobs->arena, settings->config);
    enum status status = jobs->part != NULL && jobs->stage != NULL ? begin_documents(jobs, failure)
                                                                   : no_memory(failure);
    if (status != STATUS_OK) {
        jobs_end(jobs, false);
        return status;
    }
    *ret_jobs = jobs;
    return STATUS_OK;
}

void jobs_end(struct jobs *jobs, bool keep)
{
    if (jobs == NULL)
        return;
    if (jobs->stage != NULL)
        stage_end(jobs->stage, keep);
    documents_destroy(jobs->documents);
    arena_destroy(jobs->part);
    arena_destroy(jobs->arena);
    free(jobs);
}

struct jobs_count jobs_count(const struct jobs *jobs)
{
    return jobs->count;
}

bool jobs_have_output_files(const struct jobs *jobs)
{
    return jobs->have_output_files;
}

struct text jobs_last_name(const struct jobs *jobs)
{
    return jobs->last_name;
}

static enum status take_argument(struct jobs *jobs, const struct input_file *input,
                                 const struct job_argument *argument, struct job_file *ret_file,
                                 struct failure *failure)
{
    if (argument->remote_url.length > 0) {
        *ret_file = (struct job_file){
            .remote_url = argument->remote_url,
            .bytes = argument->bytes,
            .name = text_print(jobs->part, "jf_" TEXT_FORMAT, TEXT_ARG(argument->md5))};
        memcpy(ret_file->md5, argument->md5.at, MD5_HEX_SIZE - 1);
        return STATUS_OK;
    }
    if (input->kind != INPUT_REMOTE)
        return stage_input(jobs->stage, argument->name, input->gzip, ret_file, failure);
    if (!file_name_usable(argument->name))
        return fail(failure, STATUS_INVALID, "\"" TEXT_FORMAT "\" is not usable as a file name",
                    TEXT_ARG(text_first(argument->name, 60)));
    *ret_file = (struct job_file){
        .name = argument->name, .bytes = input->bytes, .gzipped_bytes = input->gzipped_bytes};
    memcpy(ret_file->md5, input->md5, MD5_HEX_SIZE);
    return STATUS_OK;
}

static enum status take_files(struct jobs *jobs, const struct input_template *input,
                              const struct job_line *line, struct job_file **ret_files,
                              struct failure *failure)
{
    struct job_file *files = ARENA_ARRAY(jobs->part, input->file_count, struct job_file);
    size_t next = 0;
    if (files == NULL)
        return no_memory(failure);
    if (line->file_count != input->argument_count)
        return fail(failure, STATUS_INVALID, "%s wants %zu files with each job, given are %zu",
                    input->file.name, input->argument_count, line->file_count);
    for (size_t i = 0; i < input->file_count; i++) {
        const struct input_file *file = &input->files[i];
        enum status status =
            file->kind == INPUT_CONSTANT
                ? stage_input(jobs->stage, file->physical_name, file->gzip, &files[i], failure)
                : take_argument(jobs, file, &line->files[next++], &files[i], failure);
        if (status != STATUS_OK)
            return status;
    }
    *ret_files = files;
    return STATUS_OK;
}

static struct text joined(struct arena *arena, struct text a, struct text b)
{
    if (a.length == 0 || b.length == 0)
        return a.length > 0 ? a : b;
    return text_print(arena, TEXT_FORMAT " " TEXT_FORMAT, TEXT_ARG(a), TEXT_ARG(b));
}

static enum status name_job(struct jobs *jobs, const struct job_line *line, struct text *ret_name,
                            struct failure *failure)
{
    struct text name = line->wu_name;
    if (name.length == 0 && jobs->settings.numbered)
        name = text_print(jobs->part, TEXT_FORMAT "_%" PRIu64, TEXT_ARG(jobs->settings.name),
                          jobs->number);
    else if (name.length == 0)
        name = jobs->settings.name;
    jobs->number++;
    if (!file_name_usable(name))
        return fail(failure, STATUS_INVALID, "\"" TEXT_FORMAT "\" is not usable as a job's name",
                    TEXT_ARG(text_first(name, 60)));
    *ret_name = text_copy(jobs->part, name);
    return STATUS_OK;
}

static enum status write_workunit_document(struct jobs *jobs, const struct input_template *input,
                                           const struct job_line *line, struct text *ret_document,
                                           struct failure *failure)
{
    struct buffer buffer = buffer_in(jobs->part);
    struct input_document document = {
        .config = jobs->settings.config,
        .file_count = input->file_count,
        .command_line = joined(jobs->part, jobs->settings.command_line, line->command_line),
        .sub_appname = jobs->settings.sub_appname,
        .sticky_lifetime = jobs->settings.config->deletion_policy_expire};
    struct job_file *files = NULL;
    enum status status = take_files(jobs, input, line, &files, failure);
    document.files = files;
    if (status == STATUS_OK)
        status = input_template_write(input, &document, &buffer, failure);
    *ret_document = buffer_text(&buffer);
    return status;
}

/* All but the documents, which are written and signed for a whole part. */
static void add_results(struct jobs *jobs, const struct named_output *output,
                        const struct new_workunit *workunit)
{
    for (int64_t i = 0; i < workunit->target_nresults; i++) {
        struct new_result *result = &jobs->results[jobs->result_count];
        *result = (struct new_result){
            .name = text_print(jobs->part, TEXT_FORMAT "_%" PRId64, TEXT_ARG(workunit->name), i),
            .appid = workunit->appid,
            .batch = workunit->batch,
            .priority = workunit->priority,
            .size_class = workunit->size_class,
            .create_time = workunit->create_time};
        documents_order(&output->output, result, &jobs->orders[jobs->result_count]);
        jobs->workunit_of_result[jobs->result_count++] = jobs->workunit_count;
    }
}

static void copy_parameters(const struct job_parameters *values, struct new_workunit *workunit)
{
#define PARAMETER(name, type, default_, minimum, maximum, place, help) \
    workunit->name = values->name;
#include "server/submit/parameters.def"
#undef PARAMETER
}

static enum status make_workunit(struct jobs *jobs, const struct job_line *line,
                                 struct new_workunit *workunit,
                                 const struct named_output **ret_output, struct failure *failure)
{
    const struct jobs_settings *settings = &jobs->settings;
    struct job_parameters values = settings->parameters;
    const struct input_template *input = NULL;
    struct text in = line->wu_template, out = line->result_template;
    if (in.length == 0)
        in = text_from(settings->in_template);
    if (out.length == 0)
        out = text_from(settings->out_template);
    if (line->has_priority)
        values.priority = line->priority;
    enum status status = job_templates_input(&jobs->templates, in, &input, failure);
    if (status == STATUS_OK)
        status = job_templates_output(&jobs->templates, out, ret_output, failure);
    if (status == STATUS_OK)
        status = input_template_parameters(input, &values, failure);
    if (status == STATUS_OK)
        status = parameters_check(&values, input->file.name, failure);
    if (status == STATUS_OK)
        status = name_job(jobs, line, &workunit->name, failure);
    if (status == STATUS_OK)
        status = write_workunit_document(jobs, input, line, &workunit->xml_doc, failure);
    if (status != STATUS_OK)
        return status;
    copy_parameters(&values, workunit);
    workunit->appid = settings->app->id;
    workunit->keywords = settings->keywords;
    workunit->result_template_file = (*ret_output)->stored_path;
    jobs->have_output_files |= (*ret_output)->output.file_count > 0;
    workunit->create_time = workunit->transition_time = settings->now;
    if (settings->target != NULL) {
        workunit->transition_time = TRANSITION_NEVER; /* there is nothing yet to look at */
        workunit->transitioner_flags =
            settings->target->is_multi ? TRANSITIONER_NO_TRANSITION : TRANSITIONER_NO_NEW_RESULTS;
    }
    return STATUS_OK;
}

enum status jobs_add(struct jobs *jobs, const struct job_line *line, struct failure *failure)
{
    struct new_workunit workunit = {.appid = 0};
    const struct named_output *output;
    enum status status = STATUS_OK;
    if (jobs->workunit_count == PART_JOBS || jobs->document_bytes > PART_DOCUMENT_BYTES)
        status = jobs_flush(jobs, failure);
    if (status == STATUS_OK)
        status = make_workunit(jobs, line, &workunit, &output, failure);
    if (status != STATUS_OK)
        return status;
    bool with_results = makes_results(jobs);
    if (with_results && jobs->result_count + (size_t)workunit.target_nresults > PART_RESULTS) {
        /* What was made for this job goes with the part that is written now: make it again. */
        status = jobs_flush(jobs, failure);
        jobs->number--;
        if (status == STATUS_OK)
            status = make_workunit(jobs, line, &workunit, &output, failure);
    }
    if (status != STATUS_OK)
        return status;
    if (with_results)
        add_results(jobs, output, &workunit);
    jobs->document_bytes += workunit.xml_doc.length;
    jobs->workunits[jobs->workunit_count++] = workunit;
    jobs->last_name = workunit.name;
    if (arena_overflowed(jobs->part) || arena_overflowed(jobs->arena))
        return no_memory(failure);
    return STATUS_OK;
}

static enum status explain(struct jobs *jobs, enum status status, struct failure *failure)
{
    return fail(failure, status, "%s", db_explain(jobs->settings.db, status));
}

enum status jobs_flush(struct jobs *jobs, struct failure *failure)
{
    if (jobs->workunit_count == 0)
        return STATUS_OK;
    struct text last_name = jobs->last_name;
    enum status status =
        documents_write(jobs->documents, jobs->orders, jobs->result_count, failure);
    if (status != STATUS_OK)
        return status;
    status = db_admin_workunits_add(jobs->settings.db, jobs->part, jobs->workunits,
                                    jobs->workunit_count, jobs->ids);
    if (status != STATUS_OK)
        return explain(jobs, status, failure);
    if (jobs->settings.target != NULL)
        status = db_admin_assignments_add(jobs->settings.db, jobs->part, jobs->settings.target,
                                          jobs->ids, jobs->workunit_count, jobs->settings.now);
    if (status != STATUS_OK)
        return explain(jobs, status, failure);
    for (size_t i = 0; i < jobs->result_count; i++)
        jobs->results[i].workunitid = jobs->ids[jobs->workunit_of_result[i]];
    if (jobs->result_count > 0)
        status =
            db_admin_results_add(jobs->settings.db, jobs->part, jobs->results, jobs->result_count);
    if (status != STATUS_OK)
        return explain(jobs, status, failure);
    jobs->count.jobs += jobs->workunit_count;
    jobs->count.results += jobs->result_count;
    jobs->last_name = text_copy(jobs->arena, last_name);
    jobs->workunit_count = jobs->result_count = jobs->document_bytes = 0;
    arena_reset(jobs->part);
    documents_forget(jobs->documents);
    return STATUS_OK;
}
