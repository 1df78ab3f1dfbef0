/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs are collected and written some hundred at a time. Memory has two lifetimes: what all of them
 * share (templates, files, keys) and what one such part needs. There are two parts, since signing
 * keeps the processors busy while the database waits, and writing the other way round: while the
 * documents of one part are written and signed by threads, the caller's thread writes the rows of
 * the part before into the database. Rows go in in the order of the jobs.
 *
 * Results are made here, with their workunits, so that a project without BOINC's transitioner
 * works. It does not disturb one: there are as many unsent results as target_nresults asks for, and
 * transition_time is what a transition would make it; retries it makes from result_template_file,
 * which is why the result template must lie in the project folder.
 *
 * Jobs for given hosts, users or teams get an assignment instead; the server makes their results
 * when one of those meant asks, and flags of the workunit leave that to it. */
#include "server/submit/jobs.h"

#include "config/config.h"
#include "db/admin.h"
#include "db/states.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/policy/result/transition_rules.h"
#include "server/project/hierarchy.h"
#include "server/project/keys.h"
#include "server/submit/documents.h"
#include "server/submit/job_templates.h"
#include "server/submit/stage.h"
#include "server/submit/template_advice.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

#define PART_JOBS           512 /* workunits written at a time */
#define PART_RESULTS        2048
#define JOB_RESULTS_MOST    1000 /* target_nresults in parameters.def */
#define PART_BYTES          ((size_t)512 << 20)
#define BATCH_BYTES         ((size_t)4 << 30)
#define PART_DOCUMENT_BYTES ((size_t)16 << 20)

struct jobs_part {
    struct arena *arena;
    struct documents *documents; /* of the results */
    struct new_workunit workunits[PART_JOBS];
    const struct named_output *outputs[PART_JOBS];
    uint64_t lines[PART_JOBS]; /* their numbers; 0: there are none */
    int64_t ids[PART_JOBS];
    struct new_result results[PART_RESULTS + JOB_RESULTS_MOST];
    struct document_order orders[PART_RESULTS + JOB_RESULTS_MOST];
    size_t workunit_of_result[PART_RESULTS + JOB_RESULTS_MOST];
    size_t workunit_count, result_count, document_bytes;
    size_t results_wanted; /* of its workunits */
    size_t copied;         /* files that were copied for it and for the parts before */
};

struct jobs {
    struct jobs_settings settings;
    struct arena *arena; /* of all jobs */
    struct jobs_part parts[2];
    struct jobs_part *filling,
        *written; /* the one that takes jobs, the one that goes to the database */
    struct stage *stage;
    struct job_templates templates;
    uint64_t number; /* of the next name */
    uint64_t uncommitted;
    struct jobs_count count;
    struct text last_name;
    bool use_upload_url, have_single_quorum;
};

static enum status no_memory(struct failure *failure)
{
    return fail(failure, STATUS_NO_MEMORY, "no memory for these jobs");
}

static bool makes_results(const struct jobs *jobs)
{
    return !jobs->settings.by_transitioner && !jobs->settings.is_held &&
           jobs->settings.target == NULL;
}

static enum status begin_parts(struct jobs *jobs, struct failure *failure)
{
    struct text key = NO_TEXT;
    enum status status = STATUS_OK;
    if (jobs->templates.options.certificates)
        status = key_read(jobs->arena, jobs->settings.config, "upload_private", &key, failure);
    for (int i = 0; i < 2 && status == STATUS_OK; i++) {
        jobs->parts[i].arena = arena_create(PART_BYTES);
        status = jobs->parts[i].arena != NULL
                     ? documents_create(key, &jobs->parts[i].documents, failure)
                     : no_memory(failure);
    }
    return status;
}

enum status jobs_begin(const struct jobs_settings *settings, struct jobs **ret_jobs,
                       struct failure *failure)
{
    struct jobs *jobs = calloc(1, sizeof *jobs);
    if (jobs == NULL)
        return no_memory(failure);
    jobs->settings = *settings;
    jobs->arena = arena_create(BATCH_BYTES);
    jobs->filling = &jobs->parts[0];
    jobs->written = &jobs->parts[1];
    jobs->templates.arena = jobs->arena;
    jobs->templates.config = settings->config;
    jobs->templates.options = output_options_from(settings->config);
    if (!makes_results(jobs))
        jobs->templates.options.certificates = false;
    if (jobs->arena != NULL)
        jobs->stage = jobs->templates.stage = stage_create(jobs->arena, settings->config);
    if (jobs->stage != NULL)
        stage_watch(jobs->stage, &settings->watch);
    if (jobs->stage != NULL)
        stage_list(jobs->stage, settings->placed);
    if (jobs->stage != NULL && settings->names_inputs)
        stage_refuse_paths(jobs->stage);
    enum status status = jobs->stage != NULL ? begin_parts(jobs, failure) : no_memory(failure);
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
    for (int i = 0; i < 2; i++) {
        documents_destroy(jobs->parts[i].documents);
        arena_destroy(jobs->parts[i].arena);
    }
    arena_destroy(jobs->arena);
    free(jobs);
}

struct jobs_count jobs_count(const struct jobs *jobs)
{
    return jobs->count;
}

bool jobs_use_upload_url(const struct jobs *jobs)
{
    return jobs->use_upload_url;
}

bool jobs_have_single_quorum(const struct jobs *jobs)
{
    return jobs->have_single_quorum;
}

struct text jobs_advice(const struct jobs *jobs, struct arena *arena)
{
    const struct job_templates *templates = &jobs->templates;
    struct buffer lines = buffer_in(arena);

    for (size_t i = 0; i < templates->input_count; i++) {
        const struct template_file *file = &templates->inputs[i].input.file;

        input_template_advice(file, &lines);
        for (size_t given = 0; given < jobs->settings.given_count; given++)
            input_template_override(file, jobs->settings.given[given].parameter,
                                    jobs->settings.given[given].value, &lines);
    }
    for (size_t i = 0; i < templates->output_count; i++)
        output_template_advice(&templates->outputs[i].output.file, &lines);
    return buffer_text(&lines);
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
            .name = text_print(jobs->filling->arena, "jf_" TEXT_FORMAT, TEXT_ARG(argument->md5))};
        memcpy(ret_file->md5, argument->md5.at, MD5_HEX_SIZE - 1);
        return STATUS_OK;
    }
    if (argument->is_content)
        return stage_content(jobs->stage, argument->content, ret_file, failure);
    if (argument->sandbox_of != 0)
        return stage_sandbox(jobs->stage, argument->sandbox_of, argument->name, ret_file, failure);
    if (input->kind != INPUT_REMOTE)
        return stage_input(jobs->stage, argument->name, input->gzip, ret_file, failure);
    enum status status = file_name_check("file name", argument->name, failure);
    if (status != STATUS_OK)
        return status;
    *ret_file = (struct job_file){
        .name = argument->name, .bytes = input->bytes, .gzipped_bytes = input->gzipped_bytes};
    memcpy(ret_file->md5, input->md5, MD5_HEX_SIZE);
    return STATUS_OK;
}

static enum status take_files(struct jobs *jobs, const struct input_template *input,
                              const struct job_line *line, struct job_file **ret_files,
                              struct failure *failure)
{
    struct job_file *files = ARENA_ARRAY(jobs->filling->arena, input->file_count, struct job_file);
    size_t next = 0;
    if (files == NULL)
        return no_memory(failure);
    if (line->file_count != input->argument_count)
        return fail(failure, STATUS_INVALID, "%s wants " COUNT_FORMAT " with each job, given: %zu",
                    input->file.name, COUNT_ARG(input->argument_count, "file"), line->file_count);
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
        name = text_print(jobs->filling->arena, TEXT_FORMAT "_%" PRIu64,
                          TEXT_ARG(jobs->settings.name), jobs->number);
    else if (name.length == 0)
        name = jobs->settings.name;
    jobs->number++;
    enum status status = job_name_check("job's name", name, failure);
    if (status == STATUS_OK)
        *ret_name = text_copy(jobs->filling->arena, name);
    return status;
}

static enum status write_workunit_document(struct jobs *jobs, const struct input_template *input,
                                           const struct job_line *line, struct text *ret_document,
                                           struct failure *failure)
{
    struct buffer buffer = buffer_in(jobs->filling->arena);
    struct input_document document = {
        .config = jobs->settings.config,
        .file_count = input->file_count,
        .command_line =
            joined(jobs->filling->arena, jobs->settings.command_line, line->command_line),
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

static void copy_parameters(const struct job_parameters *values, struct new_workunit *workunit)
{
#define PARAMETER(name, type, default_, minimum, maximum, place, help) \
    workunit->name = values->name;
#include "server/submit/parameters.def"
#undef PARAMETER
}

static bool is_for_one_host(const struct job_target *target)
{
    return target != NULL && target->type == ASSIGN_HOST;
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
    enum status status =
        job_templates_input(&jobs->templates, in, line->wu_document, &input, failure);
    if (status == STATUS_OK)
        status =
            job_templates_output(&jobs->templates, out, line->result_document, ret_output, failure);
    if (status == STATUS_OK)
        status = input_template_parameters(input, &values, failure);
    if (status == STATUS_OK)
        status = is_for_one_host(settings->target)
                     ? parameters_for_one_host(&values, input->file.name, failure)
                     : parameters_check(&values, input->file.name, failure);
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
    jobs->use_upload_url |= (*ret_output)->output.uses_upload_url;
    jobs->have_single_quorum |=
        values.min_quorum == 1 && settings->app->target_nresults <= 1 && settings->target == NULL;
    workunit->create_time = workunit->transition_time = settings->now;
    if (makes_results(jobs))
        workunit->transition_time = transition_time_open(settings->now, values.delay_bound);
    if (settings->is_held)
        workunit->transition_time = TRANSITION_NEVER;
    if (settings->target != NULL) {
        workunit->transition_time = TRANSITION_NEVER; /* there is nothing yet to look at */
        workunit->transitioner_flags =
            settings->target->is_multi ? TRANSITIONER_NO_TRANSITION : TRANSITIONER_NO_NEW_RESULTS;
    }
    return STATUS_OK;
}

bool jobs_have_room(const struct jobs *jobs)
{
    const struct jobs_part *part = jobs->filling;

    return part->workunit_count < PART_JOBS && part->results_wanted < PART_RESULTS &&
           part->document_bytes <= PART_DOCUMENT_BYTES;
}

enum status jobs_add(struct jobs *jobs, const struct job_line *line, struct failure *failure)
{
    struct jobs_part *part = jobs->filling;
    struct new_workunit workunit = {.appid = 0};
    const struct named_output *output;
    must(jobs_have_room(jobs));
    enum status status = make_workunit(jobs, line, &workunit, &output, failure);
    if (status != STATUS_OK)
        return status;
    must(workunit.target_nresults <= JOB_RESULTS_MOST);
    if (makes_results(jobs))
        part->results_wanted += (size_t)workunit.target_nresults;
    part->document_bytes += workunit.xml_doc.length;
    part->outputs[part->workunit_count] = output;
    part->lines[part->workunit_count] = line->number;
    part->workunits[part->workunit_count++] = workunit;
    if (arena_overflowed(part->arena) || arena_overflowed(jobs->arena))
        return no_memory(failure);
    return STATUS_OK;
}

static enum status explain(struct jobs *jobs, enum status status, struct failure *failure)
{
    return fail(failure, status, "%s", db_explain(jobs->settings.db, status));
}

/* All of a result but its document. */
static void add_results(struct jobs_part *part, size_t index)
{
    const struct new_workunit *workunit = &part->workunits[index];
    for (int64_t i = 0; i < workunit->target_nresults; i++) {
        struct new_result *result = &part->results[part->result_count];
        *result = (struct new_result){
            .name = text_print(part->arena, TEXT_FORMAT "_%" PRId64, TEXT_ARG(workunit->name), i),
            .appid = workunit->appid,
            .batch = workunit->batch,
            .priority = workunit->priority,
            .size_class = workunit->size_class,
            .create_time = workunit->create_time};
        documents_order(&part->outputs[index]->output, result, &part->orders[part->result_count]);
        part->workunit_of_result[part->result_count++] = index;
    }
}

/* Jobs that are there already leave the part. */
static enum status drop_known(struct jobs *jobs, struct jobs_part *part, struct failure *failure)
{
    size_t kept = 0, found = 0;
    enum status status = db_admin_workunit_ids(jobs->settings.db, part->arena, part->workunits,
                                               part->workunit_count, part->ids, &found);
    if (status != STATUS_OK)
        return explain(jobs, status, failure);
    for (size_t i = 0; i < part->workunit_count; i++) {
        if (part->ids[i] != 0)
            continue;
        part->outputs[kept] = part->outputs[i];
        part->lines[kept] = part->lines[i];
        part->workunits[kept++] = part->workunits[i];
    }
    jobs->count.known += part->workunit_count - kept;
    part->workunit_count = kept;
    return STATUS_OK;
}

static enum status close_part(struct jobs *jobs, struct jobs_part *part, struct failure *failure)
{
    enum status status = jobs->settings.skips_known ? drop_known(jobs, part, failure) : STATUS_OK;
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < part->workunit_count && makes_results(jobs); i++)
        add_results(part, i);
    part->copied = stage_copied(jobs->stage);
    return arena_overflowed(part->arena) ? no_memory(failure) : STATUS_OK;
}

static enum status write_rows(struct jobs *jobs, struct jobs_part *part)
{
    const struct jobs_settings *settings = &jobs->settings;
    enum status status = db_admin_workunits_add(settings->db, part->arena, part->workunits,
                                                part->workunit_count, part->ids);
    if (status == STATUS_OK && settings->target != NULL)
        status = db_admin_assignments_add(settings->db, part->arena, settings->target, part->ids,
                                          part->workunit_count, settings->now);
    for (size_t i = 0; i < part->result_count && status == STATUS_OK; i++)
        part->results[i].workunitid = part->ids[part->workunit_of_result[i]];
    if (status == STATUS_OK && part->result_count > 0)
        status = db_admin_results_add(settings->db, part->arena, part->results, part->result_count);
    return status;
}

static void forget_part(struct jobs_part *part)
{
    part->workunit_count = part->result_count = 0;
    part->results_wanted = part->document_bytes = 0;
    arena_reset(part->arena);
    documents_forget(part->documents);
}

enum status jobs_commit(struct jobs *jobs, struct failure *failure)
{
    struct text last = jobs->uncommitted > 0 ? jobs->last_name : NO_TEXT;
    enum status status = db_admin_jobs_commit(jobs->settings.db, last);
    if (status != STATUS_OK)
        return explain(jobs, status, failure);
    jobs->count.committed = jobs->count.jobs;
    jobs->uncommitted = 0;
    return STATUS_OK;
}

/* What stands behind "Duplicate entry", as the database says it; empty: it says something else. */
static struct text refused_name(struct db *db)
{
    struct text words = text_from(db_error(db)), mark = TEXT("Duplicate entry '");
    size_t at = text_find(words, mark);

    if (at == words.length)
        return NO_TEXT;
    words = (struct text){words.at + at + mark.length, words.length - at - mark.length};
    return text_first(words, text_find(words, TEXT("'")));
}

/* A name that is taken, by the line or job that has it. */
static enum status explain_part(struct jobs *jobs, const struct jobs_part *part, enum status status,
                                struct failure *failure)
{
    struct text name = refused_name(jobs->settings.db);
    const char *what = jobs->settings.counts_jobs ? "job" : "line";
    uint64_t first = 0, last = 0;

    for (size_t i = 0; i < part->workunit_count && name.length > 0; i++)
        if (text_equal_nocase(part->workunits[i].name, name)) {
            first = first == 0 ? part->lines[i] : first;
            last = part->lines[i];
        }
    if (status != STATUS_DB_REFUSED || last == 0)
        return explain(jobs, status, failure);
    if (first != last)
        return fail(failure, status,
                    "%s %" PRIu64 ": the name " TEXT_FORMAT " is taken in %s %" PRIu64 " already",
                    what, last, TEXT_ARG(name), what, first);
    return fail(failure, status,
                "%s %" PRIu64 ": the name " TEXT_FORMAT
                " is taken already, from before or in an earlier %s",
                what, last, TEXT_ARG(name), what);
}

/* Its documents are there. */
static enum status write_part(struct jobs *jobs, struct jobs_part *part, struct failure *failure)
{
    enum status status = STATUS_OK;
    if (part->workunit_count > 0) {
        status = write_rows(jobs, part);
        if (status != STATUS_OK)
            return explain_part(jobs, part, status, failure);
        jobs->count.jobs += part->workunit_count;
        jobs->count.results += part->result_count;
        jobs->uncommitted += part->workunit_count;
        jobs->last_name = text_copy(jobs->arena, part->workunits[part->workunit_count - 1].name);
    }
    if (jobs->settings.commit_every > 0 && jobs->uncommitted >= jobs->settings.commit_every) {
        status = jobs_commit(jobs, failure);
        if (status != STATUS_OK)
            return status;
        stage_keep(jobs->stage, part->copied);
    }
    forget_part(part);
    return STATUS_OK;
}

enum status jobs_make_room(struct jobs *jobs, struct failure *failure)
{
    struct jobs_part *filled = jobs->filling, *before = jobs->written;
    enum status status = close_part(jobs, filled, failure), written;
    if (status != STATUS_OK)
        return status;
    documents_begin(filled->documents, filled->orders, filled->result_count);
    written = write_part(jobs, before, failure);
    status = documents_end(filled->documents, written == STATUS_OK ? failure : NULL);
    if (written != STATUS_OK || status != STATUS_OK)
        return written != STATUS_OK ? written : status;
    jobs->filling = before;
    jobs->written = filled;
    return STATUS_OK;
}

enum status jobs_flush(struct jobs *jobs, struct failure *failure)
{
    enum status status = jobs_make_room(jobs, failure);
    return status == STATUS_OK ? write_part(jobs, jobs->written, failure) : status;
}
