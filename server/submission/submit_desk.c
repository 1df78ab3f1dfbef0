/* SPDX-License-Identifier: Apache-2.0 */
#include "server/submission/submit_desk.h"

#include "config/config.h"
#include "db/admin.h"
#include "db/batches.h"
#include "db/submitted.h"
#include "db/submitters.h"
#include "db/submitting.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/passes/batch_date_pass.h"
#include "server/passes/pass_repeat.h"
#include "server/project/hierarchy.h"
#include "server/submission/batch_desk.h"
#include "server/submission/template_desk.h"
#include "server/submit/inputs_lock.h"
#include "server/submit/jobs.h"
#include "server/submit/placed_list.h"
#include "server/submit/sandbox.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "server/base/banned.h"

enum { COMMIT_EVERY = 4096 /* jobs */, RENEW_S = 10, SHARE_DAYS = 30, ABANDONED_AT_ONCE = 100 };
enum { DELAY_BOUND_USUAL_S = 604800 /* where the request says none */ };
#define DAY_S          86400.0
#define FLOPS_OF_A_DAY (1e9 / 200) /* a day's credit of 200 is 1 GFLOPS */

struct submitting {
    struct desk *desk;
    const struct submitter *submitter;
    const struct wanted_batch *wanted;
    struct app_row app;
    double template_flops; /* of the batch's template; 0: it does not say */

    int64_t count; /* jobs */
    double flops;  /* of all; -1: not known */

    struct text name; /* of a new batch */
    int64_t id;       /* of the batch */
    int64_t priority;

    struct jobs *jobs;
    int64_t made; /* jobs, in the second walk */
    double renewed;
    enum status renewal; /* while a file was read */
    struct placed_list *placed;
};

/* --- each job by itself ----------------------------------------------------------------------- */

static enum status refuse_job(const struct submitting *submitting, const char *why)
{
    return fail(submitting->desk->failure, STATUS_INVALID, "job %" PRId64 ": %s", submitting->count,
                why);
}

static enum status check_line(const struct submitting *submitting, struct text line)
{
    if (line.length > SUBMITTED_LINE_MAX)
        return fail(submitting->desk->failure, STATUS_INVALID,
                    "job %" PRId64 ": command_line has more than %d bytes", submitting->count,
                    SUBMITTED_LINE_MAX);
    for (size_t at = 0, length; at < line.length; at += length) {
        length = text_character((struct text){line.at + at, line.length - at});
        if (length == 0 || (unsigned char)line.at[at] < ' ' || line.at[at] == 127)
            return fail(submitting->desk->failure, STATUS_INVALID,
                        "job %" PRId64 ": command_line has a control character, or is not UTF-8, "
                        "at byte %zu",
                        submitting->count, at + 1);
    }
    return STATUS_OK;
}

static enum status check_file(const struct submitting *submitting, const struct wanted_file *file)
{
    struct failure why = {.status = STATUS_OK};
    struct job_argument unused;
    enum status status = STATUS_INVALID;

    if (text_is(file->mode, "inline"))
        return STATUS_OK;
    if (text_is(file->mode, "local_staged"))
        status = file_name_check("input file", file->source, &why);
    else if (text_is(file->mode, "sandbox"))
        status = sandbox_name_check(file->source, &why);
    else if (text_is(file->mode, "remote"))
        status = job_remote_file_read(text_trim(file->url), text_trim(file->nbytes),
                                      text_trim(file->md5), &unused, &why);
    else
        (void)fail(&why, status,
                   "input files of mode \"" TEXT_FORMAT "\" are not taken: inline, sandbox, "
                   "local_staged or remote",
                   TEXT_ARG(text_first(file->mode, 60)));
    return status == STATUS_OK ? status : refuse_job(submitting, why.text);
}

static enum status set_parameter(struct job_parameters *values, const char *name, double number,
                                 struct failure *failure)
{
    const struct parameter *parameter = parameter_find(text_from(name), PARAMETER_ARGUMENT);
    char text[64];

    if (number == 0 || parameter == NULL)
        return STATUS_OK;
    (void)snprintf(text, sizeof(text), parameter->type == PARAMETER_INTEGER ? "%.0f" : "%.17g",
                   number);
    return parameter_set(values, parameter, text_from(text), failure);
}

static enum status add_flops(struct submitting *submitting, const struct wanted_job *job)
{
    struct job_parameters unused;
    struct failure why = {.status = STATUS_OK};
    double flops = job->rsc_fpops_est;
    enum status status = STATUS_OK;

    if (flops <= 0 && job->input_template.length > 0)
        status = desk_document_flops(submitting->desk, job->input_template, &flops);
    if (flops <= 0)
        flops = submitting->wanted->rsc_fpops_est;
    if (flops <= 0 && job->input_template.length == 0)
        flops = submitting->template_flops;
    if (flops <= 0)
        submitting->flops = -1;
    else if (submitting->flops >= 0)
        submitting->flops += flops;
    if (status != STATUS_OK || flops <= 0)
        return status;
    /* What no job may have makes no sum, either. */
    status = set_parameter(&unused, "rsc_fpops_est", flops, &why);
    return status == STATUS_OK ? status : refuse_job(submitting, why.text);
}

static enum status look_at_job(void *context, const struct wanted_job *job)
{
    struct submitting *submitting = context;
    struct failure why = {.status = STATUS_OK};
    enum status status = STATUS_OK;

    submitting->count++;
    if (job->name.length > 0)
        status = job_name_check("name", job->name, &why);
    if (status != STATUS_OK)
        return refuse_job(submitting, why.text);
    if (job->has_target)
        return refuse_job(submitting, "jobs for a user, a host or a team are not taken");
    if (job->has_priority && (job->priority > INT32_MAX || job->priority < INT32_MIN))
        return refuse_job(submitting, "priority is not a number of 32 bits");
    status = check_line(submitting, job->command_line);
    for (size_t i = 0; i < job->file_count && status == STATUS_OK; i++)
        status = check_file(submitting, &job->files[i]);
    return status == STATUS_OK ? add_flops(submitting, job) : status;
}

static enum status estimate_job(void *context, const struct wanted_job *job)
{
    struct submitting *submitting = context;

    submitting->count++;
    return add_flops(submitting, job);
}

/* --- the batch -------------------------------------------------------------------------------- */

/* What is given stays below templates/. */
static enum status check_template(struct desk *desk, const char *what, struct text name)
{
    bool is_fit = name.length <= 200 && !text_contains(name, TEXT("..")) &&
                  !text_starts(name, TEXT("/")) && !text_starts(name, TEXT("."));

    for (size_t i = 0; i < name.length; i++) {
        unsigned char c = (unsigned char)name.at[i];

        is_fit = is_fit && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                            (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == '/');
    }
    return is_fit ? STATUS_OK
                  : fail(desk->failure, STATUS_INVALID, "%s is not the name of a template", what);
}

static struct text template_path(const struct submitting *submitting, struct text given,
                                 const char *usual)
{
    struct arena *arena = submitting->desk->arena;

    return given.length > 0 ? text_print(arena, "templates/" TEXT_FORMAT, TEXT_ARG(given))
                            : text_print(arena, "templates/" TEXT_FORMAT "_%s",
                                         TEXT_ARG(submitting->app.name), usual);
}

/* "USER:APP:Tue, 14 Nov 2023 22:13:20 +0000" */
static struct text usual_name(const struct submitting *submitting)
{
    enum { NAME_MOST = 254 };
    time_t now = (time_t)submitting->desk->now;
    struct tm parts;
    char date[64];

    if (gmtime_r(&now, &parts) == NULL ||
        strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S +0000", &parts) == 0)
        date[0] = '\0';
    return text_first(text_print(submitting->desk->arena, TEXT_FORMAT ":" TEXT_FORMAT ":%s",
                                 TEXT_ARG(text_first(submitting->submitter->name, 150)),
                                 TEXT_ARG(text_first(submitting->app.name, 60)), date),
                      NAME_MOST);
}

/* Of a batch that takes jobs no more. */
static const char *why_closed(int64_t state)
{
    return state == BATCH_ABORTED   ? "is aborted"
           : state == BATCH_RETIRED ? "is retired"
                                    : "has its jobs already";
}

static enum status find_batch(struct submitting *submitting)
{
    const struct batch_named *named = &submitting->wanted->batch;
    struct owned_batch_row batch;
    enum status status;

    if (named->id == 0) {
        submitting->name = named->name.length > 0 ? named->name : usual_name(submitting);
        return batch_name_check(submitting->name, submitting->desk->failure);
    }
    status = desk_batch(submitting->desk, submitting->submitter, named, &batch);
    submitting->id = named->id;
    if (status == STATUS_OK && batch.state != BATCH_INIT)
        return fail(submitting->desk->failure, STATUS_INVALID, "batch %" PRId64 " %s", named->id,
                    why_closed(batch.state));
    return status;
}

/* What is checked before anything is written. */
static enum status look(struct submitting *submitting, const struct wanted_jobs *jobs,
                        wanted_job_call *call)
{
    const struct wanted_batch *wanted = submitting->wanted;
    struct desk *desk = submitting->desk;
    enum status status = desk_app(desk, submitting->submitter, wanted->app_name, &submitting->app);

    if (status == STATUS_OK)
        status = check_template(desk, "input_template_filename", wanted->input_template);
    if (status == STATUS_OK)
        status = check_template(desk, "output_template_filename", wanted->output_template);
    if (status == STATUS_OK)
        desk_template_flops(desk, template_path(submitting, wanted->input_template, "in"),
                            &submitting->template_flops);
    return status == STATUS_OK ? jobs->walk(jobs->source, call, submitting) : status;
}

/* --- the announcement ------------------------------------------------------------------------- */

static enum status check_limit(struct submitting *submitting, int64_t limit)
{
    struct db *db = submitting->desk->db;
    int64_t open = 0;
    enum status status = STATUS_OK;

    if (limit <= 0)
        return STATUS_OK;
    status = db_submitter_jobs(db, submitting->submitter->userid, false, &open);
    if (status == STATUS_OK && open + submitting->count > limit)
        status = db_submitter_jobs(db, submitting->submitter->userid, true, &open);
    if (status == STATUS_OK && open + submitting->count > limit)
        return fail(submitting->desk->failure, STATUS_INVALID,
                    "you have " COUNT_FORMAT " in progress and may have %" PRId64 ": %" PRId64
                    " more are too many",
                    COUNT_ARG(open, "job"), limit, submitting->count);
    return status;
}

/* BOINC's rule: who has used much of late, measured by his share, comes later. */
static double share_end(const struct submitter_share_row *share, double flops, double now)
{
    double speed = share->credit * FLOPS_OF_A_DAY;
    double start = fmax(share->logical_start_time, now);
    double delta = 0;

    if (speed > 0 && share->quotas > 0)
        delta = flops * (share->pfc > 0 ? share->pfc : 1) / speed / (share->quota / share->quotas);
    return fmin(start + delta, (double)INT32_MAX);
}

static enum status take_share(struct submitting *submitting, double *ret_end)
{
    struct desk *desk = submitting->desk;
    struct submitter_share_row share;
    enum status status =
        db_submitter_share(desk->db, submitting->submitter->userid, submitting->app.id,
                           (double)desk->now - SHARE_DAYS * DAY_S, &share);

    if (status != STATUS_OK)
        return status;
    *ret_end = share_end(&share, submitting->flops, (double)desk->now);
    submitting->priority = -(int64_t)*ret_end;
    return db_submitter_advance(desk->db, submitting->submitter->userid, *ret_end);
}

static enum status announce(void *subject)
{
    struct submitting *submitting = subject;
    struct desk *desk = submitting->desk;
    const struct new_batch batch = {.name = submitting->name,
                                    .userid = submitting->submitter->userid,
                                    .appid = submitting->app.id,
                                    .now = desk->now};
    struct submitter_rights_row rights;
    double end = 0;
    enum status status = db_submitter_lock(desk->db, submitting->submitter->userid, &rights);

    if (status == STATUS_OK)
        status = check_limit(submitting, rights.max_jobs_in_progress);
    if (status == STATUS_OK && submitting->wanted->has_share && !desk->config->submitter_streams)
        status = take_share(submitting, &end);
    if (status == STATUS_OK && submitting->wanted->batch.id == 0)
        status = db_submission_add(desk->db, &batch, &submitting->id);
    if (status == STATUS_OK)
        status = db_submission_begin(desk->db, submitting->id, submitting->count, end);
    if (status == STATUS_NOT_FOUND)
        return fail(desk->failure, STATUS_INVALID,
                    "batch %" PRId64 " has its jobs already, or another request submits them",
                    submitting->id);
    return status == STATUS_OK ? db_commit(desk->db) : status;
}

/* --- the jobs --------------------------------------------------------------------------------- */

static enum status read_parameters(struct submitting *submitting, struct job_parameters *values)
{
    const struct wanted_batch *wanted = submitting->wanted;
    const struct {
        const char *name;
        double value;
    } given[] = {{"app_version_num", (double)wanted->app_version_num},
                 {"rsc_fpops_est", wanted->rsc_fpops_est},
                 {"rsc_fpops_bound", wanted->rsc_fpops_bound},
                 {"rsc_memory_bound", wanted->rsc_memory_bound},
                 {"rsc_disk_bound", wanted->rsc_disk_bound},
                 {"delay_bound", wanted->delay_bound},
                 {"batch", (double)submitting->id},
                 {"priority", (double)submitting->priority}};
    enum status status = STATUS_OK;

    parameters_default(values);
    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]) && status == STATUS_OK; i++)
        status = set_parameter(values, given[i].name, given[i].value, submitting->desk->failure);
    return status;
}

/* Jobs are committed with a look at the row, and only so: none are added to a batch that was ended
 * or taken for abandoned meanwhile. */
static enum status renew(struct submitting *submitting)
{
    struct desk *desk = submitting->desk;
    struct jobs_count count = jobs_count(submitting->jobs);
    enum status status;

    if (desk->is_to_end != NULL && desk->is_to_end(desk->context))
        return fail(desk->failure, STATUS_IO, "the server stops: submit the batch again");
    if (clock_seconds() - submitting->renewed < RENEW_S &&
        count.jobs - count.committed < COMMIT_EVERY)
        return STATUS_OK;
    submitting->renewed = clock_seconds();
    status = db_submission_renew(desk->db, submitting->id);
    if (status == STATUS_NOT_FOUND)
        return fail(desk->failure, STATUS_INVALID, "batch %" PRId64 " was ended meanwhile",
                    submitting->id);
    return status == STATUS_OK ? jobs_commit(submitting->jobs, desk->failure)
                               : desk_failed(desk, status, "batch");
}

/* A large input file is read or copied. */
static bool renew_or_end(void *context)
{
    struct submitting *submitting = context;

    submitting->renewal = renew(submitting);
    return submitting->renewal != STATUS_OK;
}

static enum status fill_files(const struct submitter *submitter, const struct wanted_job *job,
                              struct job_argument *arguments, struct failure *failure)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < job->file_count && status == STATUS_OK; i++) {
        const struct wanted_file *file = &job->files[i];

        arguments[i] = (struct job_argument){.name = file->source};
        if (text_is(file->mode, "sandbox"))
            arguments[i].sandbox_of = submitter->userid;
        else if (text_is(file->mode, "inline"))
            arguments[i] = (struct job_argument){.is_content = true, .content = file->source};
        else if (text_is(file->mode, "remote"))
            status = job_remote_file_read(text_trim(file->url), text_trim(file->nbytes),
                                          text_trim(file->md5), &arguments[i], failure);
    }
    return status;
}

static enum status make_job(void *context, const struct wanted_job *job)
{
    struct submitting *submitting = context;
    struct desk *desk = submitting->desk;
    struct failure why = {.status = STATUS_OK};
    struct job_argument arguments[SUBMITTED_FILES_MAX];
    struct job_line line = {.wu_name = job->name,
                            .command_line = job->command_line,
                            .wu_document = job->input_template,
                            .result_document = job->output_template,
                            .has_priority = job->has_priority,
                            .priority = job->priority,
                            .number = (uint64_t)++submitting->made,
                            .files = arguments,
                            .file_count = job->file_count};
    enum status status = renew(submitting);

    if (status == STATUS_OK && !jobs_have_room(submitting->jobs))
        status = jobs_make_room(submitting->jobs, desk->failure);
    if (status != STATUS_OK)
        return status;
    status = fill_files(submitting->submitter, job, arguments, &why);
    if (status == STATUS_OK)
        status = jobs_add(submitting->jobs, &line, &why);
    if (submitting->renewal != STATUS_OK)
        return submitting->renewal;
    return status == STATUS_OK
               ? status
               : fail(desk->failure, status, "job %" PRId64 ": %s", submitting->made, why.text);
}

/* All of them, and the point of no return, in the transaction of the last ones. */
static enum status accept_jobs(struct submitting *submitting)
{
    struct desk *desk = submitting->desk;
    int64_t there = 0;
    enum status status = jobs_flush(submitting->jobs, desk->failure);

    if (status != STATUS_OK)
        return status;
    status = db_submission_accept(desk->db, submitting->id);
    if (status == STATUS_OK)
        status = db_submission_counted(desk->db, submitting->id, &there);
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && there < submitting->count))
        return fail(desk->failure, STATUS_INVALID, "batch %" PRId64 " was ended meanwhile",
                    submitting->id);
    return status == STATUS_OK ? jobs_commit(submitting->jobs, desk->failure)
                               : desk_failed(desk, status, "batch");
}

static enum status make_jobs(struct submitting *submitting, const struct wanted_jobs *jobs)
{
    struct desk *desk = submitting->desk;
    const struct wanted_batch *wanted = submitting->wanted;
    struct jobs_settings settings = {
        .config = desk->config,
        .db = desk->db,
        .app = &submitting->app,
        .in_template =
            text_string(desk->arena, template_path(submitting, wanted->input_template, "in")),
        .out_template =
            text_string(desk->arena, template_path(submitting, wanted->output_template, "out")),
        .name = text_print(desk->arena, TEXT_FORMAT "_b%" PRId64, TEXT_ARG(submitting->app.name),
                           submitting->id),
        .numbered = true,
        .is_held = true,
        .counts_jobs = true,
        .names_inputs = true,
        .watch = {renew_or_end, submitting},
        .placed = submitting->placed,
        .now = desk->now};
    enum status status = read_parameters(submitting, &settings.parameters);

    submitting->renewed = clock_seconds();
    if (status == STATUS_OK)
        status = jobs_begin(&settings, &submitting->jobs, desk->failure);
    if (status == STATUS_OK)
        status = jobs->walk(jobs->source, make_job, submitting);
    if (status == STATUS_OK)
        status = accept_jobs(submitting);
    if (status != STATUS_OK)
        (void)db_rollback(desk->db);
    return status;
}

/* --- behind it -------------------------------------------------------------------------------- */

struct ending_submission {
    struct desk *desk;
    int64_t id;
    bool is_abandoned, is_accepted;
    struct submission_place place; /* when the last transaction had ended */
};

/* Nobody else is at it, and it did not change sides. */
static enum status hold_row(struct ending_submission *ending)
{
    struct db *db = ending->desk->db;

    if (ending->is_abandoned)
        return db_submission_lock_abandoned(db, ending->id, &ending->is_accepted);
    return ending->is_accepted ? STATUS_OK : db_submission_renew(db, ending->id);
}

/* A part of the jobs, and behind the last of them the mark. */
static enum status end_part(void *subject)
{
    struct ending_submission *ending = subject;
    struct desk *desk = ending->desk;
    struct arena_mark mark = arena_mark(desk->arena);
    struct submission_place place = ending->place;
    enum status status = hold_row(ending);

    if (status == STATUS_OK)
        status = ending->is_accepted
                     ? db_submission_release(desk->db, desk->arena, ending->id, desk->now, &place)
                     : db_submission_drop(desk->db, desk->arena, ending->id, &place);
    if (status == STATUS_OK && place.is_last)
        status = ending->is_accepted ? db_submission_end(desk->db, ending->id)
                                     : db_submission_undo(desk->db, ending->id);
    arena_rewind(desk->arena, mark);
    if (status == STATUS_OK)
        status = db_commit(desk->db);
    if (status == STATUS_OK)
        ending->place = place;
    return status;
}

/* What cannot be done now, desk_recover does after a minute. */
static void end_submission(struct ending_submission *ending)
{
    enum status status = STATUS_OK;

    while (status == STATUS_OK && !ending->place.is_last)
        status = repeat_transaction(ending->desk->db, end_part, ending);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        log_line(LOG_LEVEL_WARNING, "event=submission_not_ended batch=%" PRId64 " status=\"%s\"",
                 ending->id, status_word(status));
}

#define LIST_OF_BATCH "batch_"

static const char *list_key(struct arena *arena, int64_t batch)
{
    return text_string(arena, text_print(arena, LIST_OF_BATCH "%" PRId64, batch));
}

enum status desk_submit(struct desk *desk, const struct submitter *submitter,
                        const struct wanted_batch *wanted, const struct wanted_jobs *jobs,
                        int64_t *ret_batch)
{
    struct submitting submitting = {.desk = desk,
                                    .submitter = submitter,
                                    .wanted = wanted,
                                    .priority = wanted->has_priority ? wanted->priority : 0};
    struct ending_submission ending = {.desk = desk};
    int lock;
    enum status status = look(&submitting, jobs, look_at_job);

    if (status == STATUS_OK && submitting.count == 0)
        return fail(desk->failure, STATUS_INVALID, "the batch has no jobs");
    if (status == STATUS_OK && wanted->has_share && !desk->config->submitter_streams &&
        submitting.flops < 0)
        return fail(desk->failure, STATUS_INVALID,
                    "no rsc_fpops_est was given, which allocation_priority needs");
    if (status == STATUS_OK)
        status = find_batch(&submitting);
    if (status != STATUS_OK)
        return status;
    /* Whoever deletes input files may take minutes, and nobody would renew meanwhile. */
    lock = inputs_lock_shared(text_string(desk->arena, desk->config->download_dir));
    status = repeat_transaction(desk->db, announce, &submitting);
    if (status != STATUS_OK) {
        inputs_unlock(lock);
        return desk_failed(desk, status, "batch");
    }
    submitting.placed = placed_list_begin(desk->arena, desk->config->download_dir,
                                          list_key(desk->arena, submitting.id));
    status = make_jobs(&submitting, jobs);
    ending.id = *ret_batch = submitting.id;
    ending.is_accepted = status == STATUS_OK;
    if (status != STATUS_DB_UNKNOWN)
        end_submission(&ending);
    jobs_end(submitting.jobs, status == STATUS_OK || status == STATUS_DB_UNKNOWN);
    placed_list_end(submitting.placed, status != STATUS_DB_UNKNOWN);
    inputs_unlock(lock);
    return status;
}

enum status desk_estimate(struct desk *desk, const struct submitter *submitter,
                          const struct wanted_batch *wanted, const struct wanted_jobs *jobs,
                          double *ret_half, double *ret_most)
{
    struct submitting submitting = {.desk = desk, .submitter = submitter, .wanted = wanted};
    struct pass_owner owner = desk_owner(desk);
    struct jobs_planned planned = {.delay_bound = DELAY_BOUND_USUAL_S};
    struct batch_date date = {.half = 0};
    double credit = 0;
    enum status status = look(&submitting, jobs, estimate_job);

    if (status == STATUS_OK && submitting.flops < 0)
        return fail(desk->failure, STATUS_INVALID, "no rsc_fpops_est was given for a job");
    if (status == STATUS_OK)
        status = desk_failed(desk, db_users_credit(desk->db, &credit), "credit");
    planned.appid = submitting.app.id;
    planned.count = submitting.count;
    planned.priority = wanted->has_priority ? wanted->priority : 0;
    if (wanted->delay_bound >= 1 && wanted->delay_bound <= INT32_MAX)
        planned.delay_bound = (int64_t)wanted->delay_bound;
    if (status == STATUS_OK)
        status = batch_date_of_planned(&owner, &planned, desk->now, &date);
    if (status != STATUS_OK)
        return status;
    *ret_half = date.half > 0 ? (double)(date.half - desk->now)
                              : submitting.flops / (credit > 0 ? credit * FLOPS_OF_A_DAY : 1e9);
    *ret_most = date.half > 0 && date.most > 0 ? (double)(date.most - desk->now) : 0;
    return STATUS_OK;
}

/* Of a call that brought files, what has a row stays. */
static enum placed_fate fate_of_call(void *context, const char *key)
{
    const struct text words = TEXT(LIST_OF_BATCH), given = text_from(key);
    struct desk *desk = context;
    struct submission_fate_row fate;
    enum status status;
    int64_t batch;

    if (text_is(given, PLACED_BY_COMMAND))
        return PLACED_WAITS; /* for whoever deletes input files */
    if (!text_starts(given, words) ||
        !text_to_i64((struct text){given.at + words.length, given.length - words.length}, &batch))
        return PLACED_GOES;
    status = db_submission_fate(desk->db, batch, &fate);
    if (status == STATUS_NOT_FOUND)
        return PLACED_GOES;
    if (status != STATUS_OK || fate.is_under_way != 0)
        return PLACED_WAITS;
    return fate.has_jobs != 0 ? PLACED_STAYS : PLACED_GOES;
}

static bool has_row(void *context, struct text place)
{
    struct desk *desk = context;
    struct arena_mark mark = arena_mark(desk->arena);
    bool is_noted = false;
    enum status status =
        db_job_file_is_noted(desk->db, desk->arena, text_behind_last(place, '/'), &is_noted);

    arena_rewind(desk->arena, mark);
    return status != STATUS_OK || is_noted;
}

static enum status clear_placed(struct desk *desk)
{
    const struct placed_judge judge = {fate_of_call, has_row, desk};

    if (desk->config->download_dir.length > 0)
        placed_lists_clear(desk->arena, desk->config->download_dir, ABANDONED_AT_ONCE, &judge);
    return db_end(desk->db);
}

enum status desk_recover(struct desk *desk)
{
    struct abandoned_row *rows;
    size_t count = 0;
    enum status status =
        db_has_batches(desk->db)
            ? db_submissions_abandoned(desk->db, desk->arena, ABANDONED_AT_ONCE, &rows, &count)
            : STATUS_OK;

    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct ending_submission ending = {.desk = desk, .id = rows[i].id, .is_abandoned = true};

        log_line(LOG_LEVEL_WARNING, "event=submission_recovered batch=%" PRId64 " accepted=%d",
                 rows[i].id, rows[i].state != BATCH_INIT);
        end_submission(&ending);
    }
    if (status == STATUS_OK)
        status = clear_placed(desk);
    return desk_failed(desk, status, "batches");
}
