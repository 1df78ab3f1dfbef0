/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that change many jobs at once (db/job_changes.h): all of them select jobs alike, count
 * with --dry-run what they would change, and are repeated when they were interrupted. */
#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/shown.h"
#include "server/passes/job_change_pass.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/confirm.h"
#include "tools/qmctl/session/output.h"
#include "tools/qmctl/session/pass_session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

/* What is said of each change: "3 jobs would be cancelled", "left alone: 2 jobs (...)". */
static const struct change_words {
    const char *would, *progress;
    const char *left; /* why it does not apply to a job */
} change_words[] = {
    [JOB_CHANGE_CANCEL] = {"would be cancelled", "jobs cancelled", "finished, or cancelled before"},
    [JOB_CHANGE_PRIORITY] = {"would get another priority", "jobs changed", "finished"},
    [JOB_CHANGE_TRANSITION] = {"would be due now", "jobs due",
                               "kept from transitions by transitioner_flags"},
    [JOB_CHANGE_REVALIDATE] = {"would be validated again", "jobs to be validated",
                               "without a result that can be judged again"},
    [JOB_CHANGE_RETRY] = {"would be tried again", "jobs tried again",
                          "not failed, cancelled, or with lost input files"},
};

struct changing {
    struct session *session;
    struct job_selection selection;
    struct text *names; /* of a file, or the one that is given */
    int64_t *lines;     /* where they stand */
    struct job_change change;
    struct jobs_changed sums;
};

/* --- which jobs ------------------------------------------------------------------------------ */

static enum status add_name(struct changing *changing, struct text name, int64_t line)
{
    struct arena *arena = changing->session->arena;
    size_t count = changing->selection.name_count;

    if ((count & (count - 1)) == 0) { /* full, if it ever was */
        size_t room = count == 0 ? 1 : 2 * count;
        struct text *names = ARENA_ARRAY(arena, room, struct text);
        int64_t *lines = ARENA_ARRAY(arena, room, int64_t);

        if (names == NULL || lines == NULL)
            return fail(&changing->session->failure, STATUS_NO_MEMORY, "too many names");
        if (count > 0) {
            memcpy(names, changing->names, count * sizeof(*names));
            memcpy(lines, changing->lines, count * sizeof(*lines));
        }
        changing->names = names;
        changing->lines = lines;
    }
    changing->names[count] = name;
    changing->lines[count] = line;
    changing->selection.names = changing->names;
    changing->selection.name_count = count + 1;
    return STATUS_OK;
}

static enum status read_lines(struct changing *changing, FILE *file, const char *path)
{
    struct session *session = changing->session;
    char bytes[JOB_NAME_BYTES + 2];

    for (int64_t line = 1; fgets(bytes, sizeof(bytes), file) != NULL; line++) {
        struct text text = text_from(bytes);
        bool is_whole = text_ends(text, TEXT("\n")) || feof(file);
        enum status status = STATUS_OK;

        text = text_trim(line == 1 ? text_without_mark(text) : text);
        if (!is_whole)
            return fail(&session->failure, STATUS_INVALID, "%s:%" PRId64 ": too long for a name",
                        path, line);
        if (text.length > 0 && !text_starts(text, TEXT("#")))
            status = add_name(changing, text_copy(session->arena, text), line);
        if (status != STATUS_OK)
            return status;
    }
    if (ferror(file))
        return fail(&session->failure, STATUS_IO, "%s cannot be read", path);
    return changing->selection.name_count > 0
               ? STATUS_OK
               : fail(&session->failure, STATUS_INVALID, "%s has no names of jobs", path);
}

static enum status read_file(struct changing *changing, const char *path)
{
    bool is_input = strcmp(path, "-") == 0;
    FILE *file = is_input ? stdin : fopen(path, "re");
    enum status status;

    if (file == NULL)
        return fail(&changing->session->failure, STATUS_IO, "%s: %s", path, strerror(errno));
    status = read_lines(changing, file, is_input ? "standard input" : path);
    if (!is_input)
        (void)fclose(file);
    return status;
}

/* --ids A-B, or one number. */
static enum status read_ids(struct session *session, struct job_selection *selection)
{
    struct text given = text_from(option_value(session, "ids")), last = given;
    struct text first = text_split(&last, '-');

    if (!option_given(session, "ids"))
        return STATUS_OK;
    if (first.length == given.length)
        last = first;
    if (text_to_i64(first, &selection->first_id) && text_to_i64(last, &selection->last_id) &&
        selection->first_id > 0 && selection->last_id >= selection->first_id)
        return STATUS_OK;
    session->is_usage = true;
    return fail(&session->failure, STATUS_INVALID,
                "--ids: \"%.40s\" is neither a number nor two as in 1000-2000",
                option_value(session, "ids"));
}

static enum status read_selection(struct changing *changing)
{
    struct session *session = changing->session;
    const char *file = option_value(session, "file"), *app = option_value(session, "app");
    struct job_selection *selection = &changing->selection;
    struct app_row row = {.id = 0};
    enum status status = read_ids(session, selection);

    selection->name_prefix = text_from(option_value(session, "name"));
    selection->is_lost = option_given(session, "lost");
    if (status == STATUS_OK && session->argument_count > 0)
        status = add_name(changing, text_from(session->arguments[0]), 0);
    if (status == STATUS_OK && file != NULL)
        status = read_file(changing, file);
    if (status == STATUS_OK)
        status = session_db(session);
    if (status == STATUS_OK && option_given(session, "batch"))
        status = session_batch(session, option_value(session, "batch"), &selection->batch);
    if (status == STATUS_OK && app != NULL)
        status = session_app(session, app, &row);
    selection->appid = row.id;
    return status;
}

/* What stands for them, for people. */
static const char *selection_word(const struct session *session)
{
    static const char *const options[] = {"file", "name", "ids", "batch", "app"};
    const char *word = session->argument_count > 0 ? session->arguments[0] : NULL;

    if (option_given(session, "lost") && word == NULL)
        word = "lost";
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]) && word == NULL; i++)
        word = option_value(session, options[i]);
    return word;
}

static enum status change_all(struct changing *changing, bool is_rehearsed)
{
    struct session *session = changing->session;
    struct pass_owner owner = session_owner(session);
    struct job_change_sums sums;
    enum status status;

    changing->change.is_rehearsed = is_rehearsed;
    status = job_change_pass(
        &owner, &changing->selection, &changing->change,
        is_rehearsed ? "jobs counted" : change_words[changing->change.kind].progress, &sums);
    changing->sums = sums.jobs;
    return status;
}

/* --- what is said ---------------------------------------------------------------------------- */

static struct text left_words(const struct changing *changing)
{
    uint64_t left = changing->sums.selected - changing->sums.jobs;

    return left == 0 ? NO_TEXT
                     : text_print(changing->session->arena, "; left alone: " COUNT_FORMAT " (%s)",
                                  COUNT_ARG(left, "job"), change_words[changing->change.kind].left);
}

static struct text done_words(const struct changing *changing)
{
    struct arena *arena = changing->session->arena;
    const struct jobs_changed *sums = &changing->sums;

    if (changing->change.is_rehearsed)
        return text_print(arena, COUNT_FORMAT " %s", COUNT_ARG(sums->jobs, "job"),
                          change_words[changing->change.kind].would);
    switch (changing->change.kind) {
    case JOB_CHANGE_CANCEL:
        return text_print(arena,
                          COUNT_FORMAT " cancelled: " COUNT_FORMAT " will not be sent,"
                                       " %" PRIu64 " with hosts",
                          COUNT_ARG(sums->jobs, "job"), COUNT_ARG(sums->results, "result"),
                          sums->in_progress);
    case JOB_CHANGE_PRIORITY:
        return text_print(arena,
                          COUNT_FORMAT " with " COUNT_FORMAT " to be sent: priority %" PRId64
                                       ", as servers see at their next sweep",
                          COUNT_ARG(sums->jobs, "job"), COUNT_ARG(sums->results, "result"),
                          changing->change.priority);
    case JOB_CHANGE_TRANSITION:
        return text_print(arena, COUNT_FORMAT " due for transition now",
                          COUNT_ARG(sums->jobs, "job"));
    case JOB_CHANGE_REVALIDATE:
        return text_print(arena, COUNT_FORMAT " with " COUNT_FORMAT " to be validated again",
                          COUNT_ARG(sums->jobs, "job"), COUNT_ARG(sums->results, "result"));
    case JOB_CHANGE_RETRY:
        return text_print(arena, COUNT_FORMAT " to be tried again", COUNT_ARG(sums->jobs, "job"));
    }
    return NO_TEXT;
}

static void tell(struct changing *changing)
{
    static const char *const cancelled[] = {"jobs", "unsent", "in_progress"};
    static const char *const counted[] = {"jobs", "left_alone"};
    static const char *const changed[] = {"jobs", "results", "left_alone"};
    struct session *session = changing->session;
    const struct jobs_changed *sums = &changing->sums;
    bool is_rehearsed = changing->change.is_rehearsed;
    bool are_cancelled = changing->change.kind == JOB_CHANGE_CANCEL && !is_rehearsed;
    struct output_table done = are_cancelled  ? TABLE_BEGIN(session, "jobs", cancelled)
                               : is_rehearsed ? TABLE_BEGIN(session, "jobs", counted)
                                              : TABLE_BEGIN(session, "jobs", changed);

    table_number(&done, (int64_t)sums->jobs);
    if (!is_rehearsed)
        table_number(&done, (int64_t)sums->results);
    table_number(&done, (int64_t)(are_cancelled ? sums->in_progress : sums->selected - sums->jobs));
    table_tell(&done, text_print(session->arena, TEXT_FORMAT TEXT_FORMAT,
                                 TEXT_ARG(done_words(changing)), TEXT_ARG(left_words(changing))));
}

/* Mistyped names are named. */
static enum status find_nothing(const struct changing *changing)
{
    struct session *session = changing->session;
    const struct jobs_changed *sums = &changing->sums;
    size_t first = sums->first_missing;

    if (sums->missing > 0 && changing->lines[first] > 0)
        return fail(&session->failure, STATUS_NOT_FOUND,
                    COUNT_FORMAT " in the list without a job; the first is \"" TEXT_FORMAT
                                 "\", line %" PRId64,
                    COUNT_ARG(sums->missing, "name"), TEXT_ARG(changing->names[first]),
                    changing->lines[first]);
    if (sums->selected == 1 && sums->jobs == 0 && session->argument_count > 0)
        return fail(&session->failure, STATUS_NOT_FOUND, "the job is left alone (%s)",
                    change_words[changing->change.kind].left);
    if (sums->selected == 0 && !changing->selection.is_lost)
        return fail(&session->failure, STATUS_NOT_FOUND,
                    "there is no such job (qmctl jobs list, qmctl batch list)");
    return STATUS_OK;
}

/* As of a shell's variable that was never set. */
static bool is_empty(const struct session *session)
{
    const char *prefix = option_value(session, "name");

    return prefix != NULL && text_trim(text_from(prefix)).length == 0;
}

static enum exit_code run_change(struct session *session, struct changing *changing)
{
    enum exit_code code = EXIT_DONE;
    enum status status = STATUS_OK;

    if (session->argument_count == 0 && selection_word(session) == NULL)
        return usage_failed(
            session, "%s needs a job's name, --name, --file, --ids, --batch, --app or --lost",
            session->command->name);
    if (session->argument_count > 1)
        return usage_failed(session, "%s takes the name of one job; for several, --file",
                            session->command->name);
    if (is_empty(session))
        return usage_failed(session, "an empty name stands for all jobs: use --app");
    if (session->argument_count > 0 && option_given(session, "file"))
        return usage_failed(session, "with --file, names stand there");
    status = read_selection(changing);
    if (status == STATUS_OK && session->command->asks && !option_given(session, "yes") &&
        !option_given(session, "dry-run")) {
        status = change_all(changing, true);
        if (status == STATUS_OK && changing->sums.jobs > 0)
            code = confirm(session,
                           text_print(session->arena, COUNT_FORMAT " without an answer",
                                      COUNT_ARG(changing->sums.jobs, "job")),
                           text_from(selection_word(session)));
        if (code != EXIT_DONE)
            return code;
    }
    if (status == STATUS_OK)
        status = change_all(changing, option_given(session, "dry-run"));
    if (status != STATUS_OK)
        return session_failed(session);
    if (changing->sums.selected > 0 || changing->selection.is_lost)
        tell(changing);
    return find_nothing(changing) == STATUS_OK ? EXIT_DONE : session_failed(session);
}

static enum exit_code run_kind(struct session *session, enum job_change_kind kind)
{
    struct changing changing = {.session = session, .change = {.kind = kind, .now = session->now}};

    return run_change(session, &changing);
}

enum exit_code command_jobs_cancel(struct session *session)
{
    return run_kind(session, JOB_CHANGE_CANCEL);
}

enum exit_code command_jobs_transition(struct session *session)
{
    return run_kind(session, JOB_CHANGE_TRANSITION);
}

enum exit_code command_jobs_revalidate(struct session *session)
{
    return run_kind(session, JOB_CHANGE_REVALIDATE);
}

enum exit_code command_jobs_retry(struct session *session)
{
    return run_kind(session, JOB_CHANGE_RETRY);
}

enum exit_code command_jobs_priority(struct session *session)
{
    struct changing changing = {.session = session,
                                .change = {.kind = JOB_CHANGE_PRIORITY, .now = session->now}};
    enum status status =
        option_number(session, "priority", INT32_MIN, INT32_MAX, &changing.change.priority);

    if (status != STATUS_OK)
        return session_failed(session);
    if (!option_given(session, "priority"))
        return usage_failed(session, "jobs priority needs --priority N");
    return run_change(session, &changing);
}
