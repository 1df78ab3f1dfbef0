/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of jobs and results. */
#include "db/admin.h"
#include "db/db.h"
#include "db/states.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/shown.h"
#include "tools/qmctl/jobs/answers.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

#define MOST_USUAL 100
#define MOST_MAX   1000000
#define PAGE_ROWS  2000

static const struct {
    const char *word;
    bool is_open;
} job_states[] = {
#define STATE(word, is_open) {word, is_open},
    JOB_STATES(STATE)
#undef STATE
};

static const struct {
    const char *group, *word;
    int64_t number;
} result_states[] = {
#define STATE(group, name, number, word) {#group, word, number},
#include "db/states.def"
#undef STATE
};

enum status answer_filter_read(struct session *session, struct answer_filter *ret_filter)
{
    const char *app_name = option_value(session, "app");
    struct answer_filter filter = {.outcome = -1, .before = INT64_MAX};
    int64_t most = MOST_USUAL;
    struct app_row app = {.id = 0};
    enum status status = option_number(session, "most", 1, MOST_MAX, &most);

    filter.name_prefix = text_from(option_value(session, "name"));
    if (status == STATUS_OK)
        status = option_number(session, "before", 1, INT64_MAX, &filter.before);
    if (status == STATUS_OK)
        status = session_db(session);
    if (status == STATUS_OK && option_given(session, "batch"))
        status = session_batch(session, option_value(session, "batch"), &filter.batch);
    if (status == STATUS_OK && app_name != NULL)
        status = session_app(session, app_name, &app);
    filter.appid = app.id;
    filter.most = (size_t)most;
    *ret_filter = filter;
    return status;
}

/* "--state: must be one of ..." */
static enum status state_unknown(struct session *session, const char *option,
                                 const struct buffer *words)
{
    session->is_usage = true;
    return fail(&session->failure, STATUS_INVALID, "--%s: must be one of " TEXT_FORMAT, option,
                TEXT_ARG(buffer_text(words)));
}

static void add_word(struct buffer *words, const char *word)
{
    buffer_print(words, "%s\"%s\"", words->length > 0 ? ", " : "", word);
}

static enum status read_job_state(struct session *session, struct answer_filter *filter)
{
    const char *given = option_value(session, "state");
    struct buffer words = buffer_in(session->arena);

    if (given == NULL)
        return STATUS_OK;
    filter->state = text_from(given);
    for (size_t i = 0; i < sizeof job_states / sizeof *job_states; i++) {
        add_word(&words, job_states[i].word);
        if (strcmp(job_states[i].word, given) != 0)
            continue;
        filter->is_open = job_states[i].is_open;
        return STATUS_OK;
    }
    return state_unknown(session, "state", &words);
}

static enum status read_result_state(struct session *session, const char *option, const char *group,
                                     int64_t *number)
{
    const char *given = option_value(session, option);
    struct buffer words = buffer_in(session->arena);

    if (given == NULL)
        return STATUS_OK;
    for (size_t i = 0; i < sizeof result_states / sizeof *result_states; i++) {
        if (strcmp(result_states[i].group, group) != 0)
            continue;
        add_word(&words, result_states[i].word);
        if (strcmp(result_states[i].word, given) != 0)
            continue;
        *number = result_states[i].number;
        return STATUS_OK;
    }
    return state_unknown(session, option, &words);
}

/* --- long lists --------------------------------------------------------------------------------
 */

static enum status print_page(struct session *session, struct answer_list *list,
                              const struct answer_filter *page, size_t *ret_count,
                              int64_t *ret_last)
{
    struct arena_mark mark = arena_mark(session->arena);
    enum status status = session_db_failed(
        session, list->read(session, page, &list->table, ret_count, ret_last), list->table.rows);

    if (status == STATUS_OK)
        status = db_rollback(session->db);
    if (status == STATUS_OK)
        status = table_flush(&list->table);
    arena_rewind(session->arena, mark);
    return status;
}

/* One page is in memory. */
enum exit_code answer_list_print(struct session *session, struct answer_list list,
                                 struct answer_filter filter)
{
    size_t left = filter.most, count = 0;
    int64_t last = 0;
    enum status status;

    do {
        filter.most = left < PAGE_ROWS ? left : PAGE_ROWS;
        status = print_page(session, &list, &filter, &count, &last);
        if (status != STATUS_OK)
            return session_failed(session);
        left -= count;
        filter.before = last;
        filter.goes_on = true;
    } while (count == filter.most && left > 0);
    table_print(&list.table);
    if (left == 0)
        shown_line(stderr, "there may be more: --before %" PRId64, last);
    return EXIT_DONE;
}

/* --- jobs --------------------------------------------------------------------------------------
 */

struct text job_errors(struct arena *arena, int64_t error_mask)
{
    struct buffer words = buffer_in(arena);

    for (int64_t bit = 1; bit <= WU_ERROR_NO_CANONICAL_RESULT; bit *= 2)
        if ((error_mask & bit) != 0)
            buffer_print(&words, "%s%s", words.length > 0 ? ", " : "", state_word("WU_ERROR", bit));
    return buffer_text(&words);
}

static enum status count_jobs(struct session *session, const struct answer_filter *filter)
{
    static const char *const titles[] = {"app", "state", "jobs"};
    struct output_table table = TABLE_BEGIN(session, "jobs", titles);
    struct job_count_row *rows;
    size_t count;
    enum status status = session_db_failed(
        session, db_admin_job_counts(session->db, session->arena, filter, &rows, &count), "jobs");

    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        if (filter->state.length > 0 && !text_equal(rows[i].state, filter->state))
            continue;
        table_text(&table, rows[i].app);
        table_text(&table, rows[i].state);
        table_number(&table, rows[i].jobs);
    }
    if (status == STATUS_OK)
        table_print(&table);
    return status;
}

static enum status read_jobs(struct session *session, const struct answer_filter *filter,
                             struct output_table *table, size_t *ret_count, int64_t *ret_last)
{
    struct job_view *jobs = NULL;
    size_t count = 0;
    enum status status = db_admin_jobs(session->db, session->arena, filter, &jobs, &count);

    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        table_number(table, jobs[i].row.id);
        table_text(table, jobs[i].row.name);
        table_text(table, jobs[i].row.app);
        table_number(table, jobs[i].row.batch);
        table_text(table, jobs[i].row.state);
        table_number(table, jobs[i].unsent);
        table_number(table, jobs[i].in_progress);
        table_number(table, jobs[i].success);
        table_number(table, jobs[i].failed);
        table_time(table, jobs[i].row.create_time);
        table_words(table, job_errors(session->arena, jobs[i].row.error_mask));
        *ret_last = jobs[i].row.id;
    }
    *ret_count = count;
    return status;
}

enum exit_code command_jobs_list(struct session *session)
{
    static const char *const titles[] = {"id",     "name",    "app",         "batch",
                                         "state",  "unsent",  "in_progress", "success",
                                         "failed", "created", "errors"};
    bool counts = option_given(session, "count");
    struct answer_filter filter;

    if (counts && (option_given(session, "most") || option_given(session, "before")))
        return usage_failed(session, "--count counts all; --most and --before are for lines");
    enum status status = answer_filter_read(session, &filter);
    if (status == STATUS_OK)
        status = read_job_state(session, &filter);
    if (status == STATUS_OK && counts)
        status = count_jobs(session, &filter);
    if (status != STATUS_OK)
        return session_failed(session);
    return counts
               ? EXIT_DONE
               : answer_list_print(
                     session, (struct answer_list){TABLE_BEGIN(session, "jobs", titles), read_jobs},
                     filter);
}

/* --- results -----------------------------------------------------------------------------------
 */

static enum status read_results(struct session *session, const struct answer_filter *filter,
                                struct output_table *table, size_t *ret_count, int64_t *ret_last)
{
    struct result_entry_row *rows = NULL;
    size_t count = 0;
    enum status status = db_admin_results(session->db, session->arena, filter, &rows, &count);

    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        table_number(table, rows[i].id);
        table_text(table, rows[i].name);
        table_text(table, rows[i].app);
        table_number(table, rows[i].batch);
        table_text(table, text_from(state_word("RESULT", rows[i].server_state)));
        table_text(table, text_from(state_word("OUTCOME", rows[i].outcome)));
        table_text(table, text_from(state_word("VALIDATE", rows[i].validate_state)));
        table_number(table, rows[i].hostid);
        table_time(table, rows[i].sent_time);
        table_time(table, rows[i].report_deadline);
        table_time(table, rows[i].received_time);
        table_real(table, rows[i].elapsed_time, 1);
        table_number(table, rows[i].exit_status);
        table_real(table, rows[i].granted_credit, 2);
        table_text(table, rows[i].job);
        *ret_last = rows[i].id;
    }
    *ret_count = count;
    return status;
}

enum exit_code command_jobs_results(struct session *session)
{
    static const char *const titles[] = {
        "id",   "name",     "app",      "batch",   "state",       "outcome", "validation", "host",
        "sent", "deadline", "received", "elapsed", "exit_status", "credit",  "job"};
    struct answer_filter filter;
    enum status status = answer_filter_read(session, &filter);

    if (status == STATUS_OK)
        status = read_result_state(session, "state", "RESULT", &filter.server_state);
    if (status == STATUS_OK)
        status = read_result_state(session, "outcome", "OUTCOME", &filter.outcome);
    if (status != STATUS_OK)
        return session_failed(session);
    return answer_list_print(
        session, (struct answer_list){TABLE_BEGIN(session, "results", titles), read_results},
        filter);
}
