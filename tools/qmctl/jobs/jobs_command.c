/* SPDX-License-Identifier: Apache-2.0 */
/* Making jobs. They are committed some thousand at a time, whole lines in their order: a mistake
 * leaves neither rows nor copied files of the jobs that were not committed yet. A million in one
 * transaction would take the database as long to undo as to make, and be seen by no server before
 * its end. */
#include "server/base/shown.h"
#include "server/submit/jobs.h"

#include "config/config.h"
#include "db/admin.h"
#include "db/batches.h"
#include "server/base/arena.h"
#include "server/submit/placed_list.h"
#include "tools/qmctl/check/upload_check.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/output.h"
#include "tools/qmctl/session/progress_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { COMMIT_EVERY = 10000 }; /* jobs */

/* --batch, by number or name, as a number. A name that no batch has is that of a new one. The row
 * is written with the first jobs or, as they are, not at all. */
static enum status take_batch(struct session *session, const struct app_row *app,
                              struct text *value)
{
    struct new_batch batch = {.name = *value, .appid = app->id, .now = session->now};
    int64_t id = 0;
    enum status status = STATUS_OK;

    if (text_to_i64(*value, &id) && id <= 0)
        return STATUS_OK; /* none, or refused with the other numbers */
    if (id == 0)
        status = session_batch_name(session, *value);
    if (status == STATUS_OK)
        status = session_batch(session, option_value(session, "batch"), &id);
    if (status == STATUS_NOT_FOUND && db_has_batches(session->db)) {
        session->failure = (struct failure){.status = STATUS_OK};
        status = session_db_failed(session, db_batch_add(session->db, &batch, &id), "batch");
        if (status == STATUS_OK)
            shown_line(stderr,
                       "note: there is no batch \"" TEXT_FORMAT "\" yet; this one is new: %" PRId64,
                       TEXT_ARG(*value), id);
    }
    if (status == STATUS_OK && db_has_batches(session->db))
        status = session_db_failed(session, db_batch_open(session->db, id), "batch");
    *value = text_print(session->arena, "%" PRId64, id);
    return status;
}

static enum status read_parameters(struct session *session, struct jobs_settings *settings)
{
    struct job_given *given = ARENA_ARRAY(session->arena, session->option_count, struct job_given);

    if (given == NULL)
        return fail(&session->failure, STATUS_NO_MEMORY, "no memory");
    parameters_default(&settings->parameters);
    for (size_t i = 0; i < session->option_count; i++) {
        const struct parameter *parameter =
            parameter_find(session->options[i].name, PARAMETER_ARGUMENT);
        struct text value = text_from(session->options[i].value);
        enum status status = STATUS_OK;

        if (parameter == NULL)
            continue;
        if (text_is(session->options[i].name, "batch"))
            status = take_batch(session, settings->app, &value);
        if (status == STATUS_OK)
            status = parameter_set(&settings->parameters, parameter, value, &session->failure);
        if (status != STATUS_OK)
            return status;
        given[settings->given_count++] = (struct job_given){parameter->name, value};
    }
    settings->given = given;
    return STATUS_OK;
}

static const char *template_name(struct session *session, const char *option, const char *ending)
{
    const char *given = option_value(session, option);
    if (given != NULL)
        return given;
    return text_string(session->arena, text_print(session->arena, "templates/%s_%s",
                                                  option_value(session, "app"), ending));
}

/* --for host:ID, user:ID, team:ID or all; `*ret_is_given` false: not given. */
static enum status read_target(struct session *session, struct job_target *ret_target,
                               bool *ret_is_given)
{
    static const struct {
        const char *word;
        int64_t type;
    } kinds[] = {{"host", ASSIGN_HOST}, {"user", ASSIGN_USER}, {"team", ASSIGN_TEAM}};
    const char *given = option_value(session, "for");
    struct text rest = text_from(given), word = text_split(&rest, ':');

    *ret_target = (struct job_target){.is_multi = option_given(session, "multi")};
    *ret_is_given = given != NULL;
    if (given == NULL)
        return STATUS_OK;
    if (text_is(text_from(given), "all")) {
        ret_target->type = ASSIGN_NONE;
        ret_target->is_multi = true;
        return STATUS_OK;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (text_is(word, kinds[i].word) && text_to_i64(rest, &ret_target->id) &&
            ret_target->id > 0) {
            ret_target->type = kinds[i].type;
            if (ret_target->type == ASSIGN_HOST && ret_target->is_multi)
                break;
            return STATUS_OK;
        }
    return fail(&session->failure, STATUS_INVALID,
                "--for: must be host:ID, user:ID, team:ID or all; --multi is not for a host");
}

static enum status find_target(struct session *session, const struct job_target *target)
{
    const struct config *config = session->config;
    bool exists = false;
    enum status status =
        session_db_failed(session, db_admin_target_exists(session->db, target, &exists), "target");

    if (status != STATUS_OK)
        return status;
    if (!exists)
        return fail(&session->failure, STATUS_NOT_FOUND, "there is no %s",
                    option_value(session, "for"));
    if (!(target->is_multi ? config->enable_assignment_multi : config->enable_assignment))
        shown_line(stderr,
                   "warning: %s is off in config.xml; until it is on nobody gets these jobs",
                   target->is_multi ? "enable_assignment_multi" : "enable_assignment");
    return STATUS_OK;
}

static enum status read_settings(struct session *session, struct app_row *app,
                                 struct job_target *target, struct jobs_settings *ret_settings)
{
    const char *app_name = option_value(session, "app");
    const char *name = option_value(session, "name");
    bool has_target = false;
    enum status status = read_target(session, target, &has_target);
    if (status == STATUS_OK)
        status = session_db(session);
    if (status != STATUS_OK)
        return status;
    status = session_app(session, app_name, app);
    if (status == STATUS_OK && has_target)
        status = find_target(session, target);
    if (status != STATUS_OK)
        return status;
    *ret_settings =
        (struct jobs_settings){.config = session->config,
                               .db = session->db,
                               .app = app,
                               .in_template = template_name(session, "in", "in"),
                               .out_template = template_name(session, "out", "out"),
                               .command_line = text_from(option_value(session, "command_line")),
                               .keywords = text_from(option_value(session, "keywords")),
                               .sub_appname = text_from(option_value(session, "sub_appname")),
                               .name = text_from(name),
                               .numbered = option_given(session, "stdin"),
                               .target = has_target ? target : NULL,
                               .by_transitioner = option_given(session, "transitioner"),
                               .skips_known = option_given(session, "go_on"),
                               .now = session->now};
    if (name == NULL)
        ret_settings->name =
            text_print(session->arena, "%s_%ld_%" PRId64, app_name, (long)getpid(), session->now);
    int64_t commit_every = COMMIT_EVERY;
    status = option_number(session, "commit_every", 0, INT64_MAX, &commit_every);
    ret_settings->commit_every = (uint64_t)commit_every;
    return status == STATUS_OK ? read_parameters(session, ret_settings) : status;
}

/* --remote_file URL,BYTES,MD5: a URL may hold commas itself. */
static enum status read_remote_file(struct session *session, const char *given,
                                    struct job_argument *ret_file)
{
    struct text url = text_from(given), parts[2] = {NO_TEXT, NO_TEXT};
    for (int i = 1; i >= 0; i--) {
        size_t comma = url.length;
        while (comma > 0 && url.at[comma - 1] != ',')
            comma--;
        if (comma == 0)
            return fail(&session->failure, STATUS_INVALID, "--remote_file: must be URL,BYTES,MD5");
        parts[i] = (struct text){url.at + comma, url.length - comma};
        url = text_first(url, comma - 1);
    }
    return job_remote_file_read(url, parts[0], parts[1], ret_file, &session->failure);
}

static enum status add_single(struct session *session, struct jobs *jobs)
{
    struct job_line line = {.file_count = 0};
    const char *given;
    line.files = ARENA_ARRAY(session->arena, session->argument_count + session->option_count,
                             struct job_argument);
    if (line.files == NULL)
        return fail(&session->failure, STATUS_NO_MEMORY, "no memory");
    for (size_t i = 0; i < session->argument_count; i++)
        line.files[line.file_count++].name = text_from(session->arguments[i]);
    for (size_t index = 0; (given = option_next(session, "remote_file", &index)) != NULL;) {
        enum status status = read_remote_file(session, given, &line.files[line.file_count++]);
        if (status != STATUS_OK)
            return status;
    }
    return jobs_add(jobs, &line, &session->failure);
}

/* One line at most a byte longer than allowed, so that a longer one is noticed. */
static enum status read_line(struct session *session, char *line, size_t size, uint64_t number,
                             struct text *ret_text)
{
    if (fgets(line, (int)size, stdin) == NULL) {
        if (ferror(stdin))
            return fail(&session->failure, STATUS_IO, "standard input cannot be read");
        return STATUS_NOT_FOUND;
    }
    *ret_text = text_from(line);
    if (!text_ends(*ret_text, TEXT("\n")) && !feof(stdin))
        return fail(&session->failure, STATUS_TOO_LARGE,
                    "line %" PRIu64 ": more than %d bytes, or a NUL byte", number, JOB_LINE_MAX);
    *ret_text = text_trim(number == 1 ? text_without_mark(*ret_text) : *ret_text);
    return STATUS_OK;
}

static enum status add_line(struct session *session, struct jobs *jobs, struct text text,
                            uint64_t number)
{
    struct arena_mark mark = arena_mark(session->arena);
    struct failure reason = {.status = STATUS_OK};
    struct job_line job;
    enum status status = job_line_read(session->arena, text, &job, &reason);
    job.number = number;
    if (status == STATUS_OK)
        status = jobs_add(jobs, &job, &reason);
    arena_rewind(session->arena, mark);
    if (status != STATUS_OK)
        return fail(&session->failure, status, "line %" PRIu64 ": %s", number, reason.text);
    return STATUS_OK;
}

static enum status add_lines(struct session *session, struct jobs *jobs)
{
    char line[JOB_LINE_MAX + 2];
    struct text text;
    enum status status;
    for (uint64_t number = 1;
         (status = read_line(session, line, sizeof line, number, &text)) == STATUS_OK; number++) {
        if (text.length == 0 || text_starts(text, TEXT("#")))
            continue;
        if (!jobs_have_room(jobs)) {
            status = jobs_make_room(jobs, &session->failure);
            progress(session, "jobs made", (int64_t)jobs_count(jobs).jobs);
        }
        if (status == STATUS_OK)
            status = add_line(session, jobs, text, number);
        if (status != STATUS_OK)
            return status;
    }
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status create(struct session *session, struct jobs *jobs)
{
    enum status status =
        option_given(session, "stdin") ? add_lines(session, jobs) : add_single(session, jobs);
    if (status == STATUS_OK)
        status = jobs_flush(jobs, &session->failure);
    if (status == STATUS_OK)
        status = jobs_commit(jobs, &session->failure);
    if (status != STATUS_OK)
        (void)db_rollback(session->db);
    return status;
}

/* What is left of a command that failed. */
static void tell_rest(const struct jobs_settings *settings, struct jobs_count count)
{
    if (count.committed > 0)
        shown_line(stderr,
                   COUNT_FORMAT " made, which stay; for the others give the same lines and options"
                                " again, with --name " TEXT_FORMAT " --go_on",
                   COUNT_ARG(count.committed, "job"), TEXT_ARG(settings->name));
}

static void tell_jobs(struct session *session, struct jobs_count count, struct text last)
{
    static const char *const titles[] = {"jobs", "results", "last_job"};
    struct output_table done = TABLE_BEGIN(session, "jobs", titles);
    struct text words = text_print(session->arena, "job " TEXT_FORMAT, TEXT_ARG(last));

    table_number(&done, (int64_t)count.jobs);
    table_number(&done, (int64_t)count.results);
    table_text(&done, last);
    if (option_given(session, "stdin"))
        words = text_print(session->arena, COUNT_FORMAT ", " COUNT_FORMAT,
                           COUNT_ARG(count.jobs, "job"), COUNT_ARG(count.results, "result"));
    if (option_given(session, "go_on"))
        words = text_print(session->arena, TEXT_FORMAT "; %" PRIu64 " were there", TEXT_ARG(words),
                           count.known);
    table_tell(&done, words);
    (void)fflush(stdout); /* uploads are asked about for some seconds */
}

/* For the first jobs of an application. */
static void tell_quorum(void)
{
    shown_line(stderr, "note: min_quorum is 1, so the first result that comes back is the answer, "
                       "compared with nothing. To have the results of two hosts compared: "
                       "--min_quorum 2, and one_result_per_user_per_wu in config.xml");
}

enum exit_code command_jobs_create(struct session *session)
{
    struct jobs_settings settings = {.placed = NULL};
    struct app_row app;
    struct job_target target;
    struct jobs *jobs = NULL;
    if (!option_given(session, "app"))
        return usage_failed(session, "jobs create needs --app");
    if (option_given(session, "for") && option_given(session, "transitioner"))
        return usage_failed(session, "results of jobs --for somebody are made by the server");
    if (option_given(session, "multi") && !option_given(session, "for"))
        return usage_failed(session, "--multi needs --for");
    if (option_given(session, "stdin") &&
        (session->argument_count > 0 || option_given(session, "remote_file")))
        return usage_failed(session, "with --stdin, name the files in the lines");
    if (option_given(session, "go_on") &&
        (!option_given(session, "stdin") || !option_given(session, "name")))
        return usage_failed(session, "--go_on needs --stdin and the --name of the lines before");
    bool use_upload_url = false, are_first = false;
    enum status status = read_settings(session, &app, &target, &settings);
    if (status == STATUS_OK)
        status = session_db_failed(session, db_admin_app_is_new(session->db, app.id, &are_first),
                                   "jobs");
    if (status == STATUS_OK)
        settings.placed =
            placed_list_begin(session->arena, session->config->download_dir, PLACED_BY_COMMAND);
    if (status == STATUS_OK)
        status = jobs_begin(&settings, &jobs, &session->failure);
    if (status == STATUS_OK)
        status = create(session, jobs);
    if (status == STATUS_OK) {
        tell_jobs(session, jobs_count(jobs), jobs_last_name(jobs));
        session_warn(jobs_advice(jobs, session->arena));
        if (are_first && jobs_have_single_quorum(jobs))
            tell_quorum();
    } else if (jobs != NULL) {
        tell_rest(&settings, jobs_count(jobs));
    }
    use_upload_url = status == STATUS_OK && jobs_use_upload_url(jobs);
    jobs_end(jobs, status == STATUS_OK || status == STATUS_DB_UNKNOWN);
    placed_list_end(settings.placed, status != STATUS_DB_UNKNOWN);
    if (use_upload_url) { /* takes its time, in which nobody waits for the folder's lock */
        struct text problem = upload_url_problem(session);
        if (problem.length > 0)
            shown_line(stderr, "warning: " TEXT_FORMAT, TEXT_ARG(problem));
    }
    return status == STATUS_OK ? EXIT_DONE : session_failed(session);
}
