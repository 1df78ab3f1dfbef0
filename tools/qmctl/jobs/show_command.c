/* SPDX-License-Identifier: Apache-2.0 */
/* One job with all that is known of it: its results, their output files, what they wrote to
 * standard error. */
#include "config/config.h"
#include "db/admin.h"
#include "db/states.h"
#include "server/base/arena.h"
#include "server/base/shown.h"
#include "server/passes/upload_folder.h"
#include "server/submit/output_files.h"
#include "tools/qmctl/jobs/answers.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "server/base/banned.h"

#define STDERR_SHOWN 4000 /* bytes of each, for people */

struct text stderr_of(struct text stderr_out)
{
    const struct text open = TEXT("<stderr_txt>"), close = TEXT("</stderr_txt>");
    size_t at = text_find(stderr_out, open);

    if (at == stderr_out.length)
        return stderr_out;
    stderr_out.at += at + open.length;
    stderr_out.length -= at + open.length;
    if (text_starts(stderr_out, TEXT("\n"))) {
        stderr_out.at++;
        stderr_out.length--;
    }
    return text_first(stderr_out, text_find(stderr_out, close));
}

const char *file_presence_word(enum file_presence presence)
{
    static const char *const words[] = {[FILE_PRESENT] = "present",
                                        [FILE_ABSENT] = "not made",
                                        [FILE_MISSING] = "missing",
                                        [FILE_DELETED] = "deleted"};
    return words[presence];
}

enum file_presence answer_file_find(struct session *session, const struct answer_row *answer,
                                    const struct output_file *file, struct text *ret_path,
                                    int64_t *ret_bytes)
{
    const struct config *config = session->config;
    struct stat found;

    *ret_path = output_file_path(session->arena, file, config->upload_dir, config->uldl_dir_fanout);
    *ret_bytes = -1;
    if (ret_path->length > 0 && lstat(text_string(session->arena, *ret_path), &found) == 0 &&
        S_ISREG(found.st_mode)) {
        *ret_bytes = (int64_t)found.st_size;
        return FILE_PRESENT;
    }
    if (answer->file_delete_state == FILE_DELETE_DONE)
        return FILE_DELETED;
    return file->optional && folder_is_there(session->arena, config->upload_dir, NULL)
               ? FILE_ABSENT
               : FILE_MISSING;
}

static void print_clean_lines(struct text text)
{
    shown_write(stdout, text, "\n\t");
    if (text.length > 0 && text.at[text.length - 1] != '\n')
        putchar('\n');
}

static void print_job_for_people(struct session *session, const struct job_view *job,
                                 struct text errors)
{
    struct text batch = NO_TEXT;

    if (job->row.batch != 0)
        batch = text_print(session->arena, ", batch %" PRId64, job->row.batch);
    if (text_equal(errors, job->row.state))
        errors = NO_TEXT; /* cancelled, and nothing else is wrong */
    if (errors.length > 0)
        errors = text_print(session->arena, " (" TEXT_FORMAT ")", TEXT_ARG(errors));
    shown_line(stdout,
               "job " TEXT_FORMAT ", number %" PRId64 ", of application " TEXT_FORMAT TEXT_FORMAT,
               TEXT_ARG(job->row.name), job->row.id, TEXT_ARG(job->row.app), TEXT_ARG(batch));
    shown_line(stdout,
               "  " TEXT_FORMAT TEXT_FORMAT "; results: %" PRId64 " unsent, %" PRId64
               " in progress, %" PRId64 " succeeded, %" PRId64 " failed; quorum: %" PRId64,
               TEXT_ARG(job->row.state), TEXT_ARG(errors), job->unsent, job->in_progress,
               job->success, job->failed, job->row.min_quorum);
    putchar('\n');
}

static void print_job(struct session *session, const struct job_view *job)
{
    static const char *const titles[] = {
        "id",      "name",   "app",         "batch",   "state",  "quorum",          "priority",
        "created", "unsent", "in_progress", "success", "failed", "next_transition", "errors"};
    struct output_table table = TABLE_BEGIN(session, "jobs", titles);
    struct text errors = job_errors(session->arena, job->row.error_mask);

    if (session->form == FORM_TEXT) {
        print_job_for_people(session, job, errors);
        return;
    }
    table_number(&table, job->row.id);
    table_text(&table, job->row.name);
    table_text(&table, job->row.app);
    table_number(&table, job->row.batch);
    table_text(&table, job->row.state);
    table_number(&table, job->row.min_quorum);
    table_number(&table, job->row.priority);
    table_time(&table, job->row.create_time);
    table_number(&table, job->unsent);
    table_number(&table, job->in_progress);
    table_number(&table, job->success);
    table_number(&table, job->failed);
    table_time(&table, job->row.transition_time);
    table_words(&table, errors);
    table_print(&table);
}

/* For people a dash where there is nothing yet; scripts read the column as it is. */
static void add_number(struct output_table *table, bool is_there, int64_t number)
{
    if (is_there || table->session->form != FORM_TEXT)
        table_number(table, number);
    else
        table_text(table, TEXT("-"));
}

static void add_real(struct output_table *table, bool is_there, double number, int decimals)
{
    if (is_there || table->session->form != FORM_TEXT)
        table_real(table, number, decimals);
    else
        table_text(table, TEXT("-"));
}

static void print_results(struct session *session, const struct answer_row *rows, size_t count)
{
    static const char *const titles[] = {
        "result",   "state",   "outcome",     "validation", "host",      "sent",  "deadline",
        "received", "elapsed", "exit_status", "credit",     "canonical", "stderr"};
    bool for_people = session->form == FORM_TEXT;
    struct output_table table = table_begin(session, "results", titles, for_people ? 12 : 13);

    for (size_t i = 0; i < count; i++) {
        const struct result_row *result = &rows[i].result;

        table_text(&table, result->name);
        table_text(&table, text_from(state_word("RESULT", result->server_state)));
        table_text(&table, text_from(state_word("OUTCOME", result->outcome)));
        table_text(&table, text_from(state_word("VALIDATE", result->validate_state)));
        add_number(&table, result->hostid != 0, result->hostid);
        table_time(&table, result->sent_time);
        table_time(&table, result->report_deadline);
        table_time(&table, result->received_time);
        add_real(&table, result->received_time > 0, rows[i].elapsed_time, 1);
        add_number(&table, result->received_time > 0, rows[i].exit_status);
        add_real(&table, result->received_time > 0, rows[i].granted_credit, 2);
        table_text(&table, result->id == rows[i].canonical_resultid ? TEXT("yes") : TEXT("no"));
        if (!for_people)
            table_words(&table, stderr_of(rows[i].stderr_out));
    }
    table_print(&table);
}

/* Of results that have been sent; before, there can be none. */
static enum status print_files(struct session *session, const struct answer_row *rows, size_t count)
{
    static const char *const titles[] = {"result", "file", "bytes", "is", "path"};
    struct output_table table = TABLE_BEGIN(session, "files", titles);

    for (size_t i = 0; i < count; i++) {
        struct output_file *files;
        size_t file_count;
        enum status status =
            output_files_read(session->arena, rows[i].xml_doc_in, &files, &file_count);

        if (status != STATUS_OK)
            return fail(&session->failure, status, TEXT_FORMAT ": its document: %s",
                        TEXT_ARG(rows[i].result.name), status_word(status));
        for (size_t j = 0; j < file_count && rows[i].result.sent_time > 0; j++) {
            struct text path;
            int64_t bytes;
            enum file_presence presence =
                answer_file_find(session, &rows[i], &files[j], &path, &bytes);

            if (presence == FILE_MISSING && rows[i].result.outcome != OUTCOME_SUCCESS)
                presence = FILE_ABSENT;
            table_text(&table, rows[i].result.name);
            table_text(&table, files[j].open_name);
            table_number(&table, bytes);
            table_text(&table, text_from(file_presence_word(presence)));
            table_words(&table, path);
        }
    }
    if (table.cell_count > 0) {
        if (session->form != FORM_JSON)
            putchar('\n');
        table_print(&table);
    }
    return STATUS_OK;
}

static void print_stderr(const struct answer_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct text written = stderr_of(rows[i].stderr_out);

        if (written.length == 0)
            continue;
        putchar('\n');
        shown_line(stdout, "standard error of " TEXT_FORMAT "%s", TEXT_ARG(rows[i].result.name),
                   written.length > STDERR_SHOWN ? ", the end of it" : "");
        if (written.length > STDERR_SHOWN)
            written = (struct text){written.at + written.length - STDERR_SHOWN, STDERR_SHOWN};
        print_clean_lines(written);
    }
}

enum exit_code command_jobs_show(struct session *session)
{
    const char *name = session->argument_count > 0 ? session->arguments[0] : NULL;
    struct job_view job = {.row = {.id = 0}};
    struct answer_row *rows = NULL;
    size_t count = 0;
    int64_t id = 0;
    enum status status = option_number(session, "id", 1, INT64_MAX, &id);

    if (status == STATUS_OK && (id == 0) == (name == NULL))
        return usage_failed(session, "jobs show needs either a job's name or --id");
    if (status == STATUS_OK)
        status = session_db(session);
    if (status == STATUS_OK)
        status = db_admin_job(session->db, session->arena, id, text_from(name), &job);
    if (status == STATUS_NOT_FOUND)
        (void)fail(&session->failure, status, "there is no such job");
    if (status == STATUS_OK)
        status = db_admin_answers_of_job(session->db, session->arena, job.row.id, &rows, &count);
    if (session_db_failed(session, status, "job") != STATUS_OK)
        return session_failed(session);
    print_job(session, &job);
    print_results(session, rows, count);
    if (print_files(session, rows, count) != STATUS_OK)
        return session_failed(session);
    if (session->form == FORM_TEXT)
        print_stderr(rows, count);
    return EXIT_DONE;
}
