/* SPDX-License-Identifier: Apache-2.0 */
/* Batches: jobs that were made together, with a name and an owner. */
#include "config/config.h"
#include "db/batches.h"
#include "db/hurries.h"
#include "server/base/arena.h"
#include "server/base/shown.h"
#include "server/passes/batch_pass.h"
#include "server/passes/pass_repeat.h"
#include "tools/qmctl/jobs/answers.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/confirm.h"
#include "tools/qmctl/session/pass_session.h"

#include <inttypes.h>
#include <string.h>

#include "server/base/banned.h"

enum { DAY = 86400, DAYS_MOST = 36500 };

/* --- what there is --------------------------------------------------------------------------- */

static struct text state_words(const struct batch_row *row)
{
    if (row->state != BATCH_STATE_NONE)
        return text_from(state_word("BATCH", row->state));
    return row->done + row->failed + row->cancelled < row->jobs ? TEXT("in progress")
                                                                : TEXT("complete");
}

static int64_t percent_of(const struct batch_row *row)
{
    return row->jobs > 0 ? 100 * (row->done + row->failed + row->cancelled) / row->jobs : 0;
}

static const char *const batch_titles[] = {
    "batch",   "name",      "owner",        "app",     "state",          "jobs",    "done",
    "failed",  "cancelled", "percent",      "unsent",  "in_progress",    "created", "completed",
    "expires", "hurry",     "output_bytes", "half_by", "nine_tenths_by", "ahead"};

static void put_batch(const struct session *session, struct output_table *table,
                      const struct batch_view *batch)
{
    const struct batch_row *row = &batch->row;

    table_number(table, row->batch);
    table_text(table, row->name);
    table_text(table, row->owner);
    table_text(table, row->app);
    table_text(table, state_words(row));
    table_number(table, row->jobs);
    table_number(table, row->done);
    table_number(table, row->failed);
    table_number(table, row->cancelled);
    table_number(table, percent_of(row));
    table_number(table, batch->unsent);
    table_number(table, batch->in_progress);
    table_time(table, row->created);
    table_time(table, row->completed);
    table_time(table, row->expires);
    table_text(table, config_hurries(session->config, row->hurry != 0) ? TEXT("yes") : TEXT("no"));
    table_number(table, row->output_bytes);
    table_time(table, row->half);
    table_time(table, row->most);
    table_number(table, row->ahead);
}

static enum status read_batches(struct session *session, const struct answer_filter *filter,
                                struct output_table *table, size_t *ret_count, int64_t *ret_last)
{
    struct batch_view *rows = NULL;
    size_t count = 0;
    enum status status = db_batch_list(session->db, session->arena, filter, &rows, &count);

    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        put_batch(session, table, &rows[i]);
        *ret_last = rows[i].row.batch;
    }
    *ret_count = count;
    return status;
}

enum exit_code command_batch_list(struct session *session)
{
    struct answer_filter filter;

    if (answer_filter_read(session, &filter) != STATUS_OK)
        return session_failed(session);
    return answer_list_print(
        session, (struct answer_list){TABLE_BEGIN(session, "batches", batch_titles), read_batches},
        filter);
}

/* For people, who need not know the titles. */
static void tell_hurry(const struct session *session, const struct batch_row *row)
{
    if (session->form != FORM_TEXT || row->hurry_within <= 0)
        return;
    shown_line(stdout, "its last jobs go to hosts that return results within %.1f hours on average",
               (double)row->hurry_within / 3600);
}

static void tell_date(const struct session *session, const struct batch_row *row)
{
    struct text half = moment_words(session, row->half), most = moment_words(session, row->most);

    if (session->form != FORM_TEXT || row->half == 0 || row->most == 0)
        return;
    shown_write(stdout,
                text_print(session->arena,
                           "half of such batches would be done by " TEXT_FORMAT
                           ", nine of ten by " TEXT_FORMAT "; " COUNT_FORMAT
                           " of others %s before it",
                           TEXT_ARG(half), TEXT_ARG(most), COUNT_ARG(row->ahead, "job"),
                           row->ahead == 1 ? "goes" : "go"),
                "");
    putchar('\n');
}

enum exit_code command_batch_show(struct session *session)
{
    struct output_table table = TABLE_BEGIN(session, "batches", batch_titles);
    struct answer_filter filter = {.before = INT64_MAX, .most = 1};
    struct batch_view *rows = NULL;
    size_t count = 0;
    enum status status = session_db(session);

    if (status == STATUS_OK)
        status = session_batch(session, session->arguments[0], &filter.batch);
    if (status == STATUS_OK)
        status = session_db_failed(
            session, db_batch_list(session->db, session->arena, &filter, &rows, &count), "batch");
    if (status == STATUS_OK && count == 0)
        status = fail(&session->failure, STATUS_NOT_FOUND,
                      "there is no batch %" PRId64 " (qmctl batch list)", filter.batch);
    if (status != STATUS_OK)
        return session_failed(session);
    put_batch(session, &table, rows);
    table_print_row(&table);
    tell_hurry(session, &rows->row);
    tell_date(session, &rows->row);
    return EXIT_DONE;
}

/* --- its name, its owner, its end ------------------------------------------------------------ */

struct batch_change {
    struct session *session;
    int64_t id;
    struct new_batch wanted;
    bool has_name, has_owner, has_end, has_hurry;
    int64_t hurry;
};

/* --name, --owner, --days, --hurry. */
static enum status read_change(struct session *session, struct batch_change *change)
{
    const char *owner = option_value(session, "owner");
    struct user_row user = {.id = 0};
    int64_t days = 0;
    enum status status = option_number(session, "days", 0, DAYS_MOST, &days);

    change->has_name = option_given(session, "name");
    change->has_owner = owner != NULL;
    change->has_end = option_given(session, "days");
    change->wanted.name = text_from(option_value(session, "name"));
    change->wanted.now = session->now;
    change->wanted.expire_time = days > 0 ? session->now + days * DAY : 0;
    change->has_hurry = option_given(session, "hurry");
    if (status == STATUS_OK)
        status = option_yes(session, "hurry", &change->hurry);
    if (status == STATUS_OK && change->has_name)
        status = session_batch_name(session, change->wanted.name);
    if (status == STATUS_OK)
        status = session_batches(session);
    if (status == STATUS_OK && change->hurry != 0 && config_hurry_lacks(session->config) != NULL)
        status = fail(&session->failure, STATUS_INVALID, "--hurry needs %s in config.xml",
                      config_hurry_lacks(session->config));
    if (status == STATUS_OK && change->has_owner && !text_is(text_from(owner), "none"))
        status = session_user(session, owner, &user);
    change->wanted.userid = user.id;
    return status;
}

static enum status add_one(void *subject)
{
    struct batch_change *change = subject;
    enum status status = db_batch_add(change->session->db, &change->wanted, &change->id);

    return status == STATUS_OK ? db_commit(change->session->db) : status;
}

static enum status check_unused(struct session *session, struct text name)
{
    struct batch_entry_row batch;
    enum status status = db_batch_find(session->db, session->arena, 0, name, &batch);

    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    if (status == STATUS_OK || status == STATUS_INVALID)
        return fail(&session->failure, STATUS_INVALID, "batch %" PRId64 " has this name", batch.id);
    return session_db_failed(session, status, "batch");
}

enum exit_code command_batch_add(struct session *session)
{
    static const char *const titles[] = {"batch", "name"};
    struct output_table done = TABLE_BEGIN(session, "batches", titles);
    struct batch_change change = {.session = session};
    struct app_row app = {.id = 0};
    enum status status = session_batch_name(session, text_from(session->arguments[0]));

    if (!option_given(session, "app"))
        return usage_failed(session, "batch add needs --app");
    if (status == STATUS_OK)
        status = read_change(session, &change);
    if (status == STATUS_OK)
        status = session_app(session, option_value(session, "app"), &app);
    change.wanted.name = text_from(session->arguments[0]);
    change.wanted.appid = app.id;
    if (status == STATUS_OK)
        status = check_unused(session, change.wanted.name);
    if (status == STATUS_OK)
        status =
            session_db_failed(session, repeat_transaction(session->db, add_one, &change), "batch");
    if (status != STATUS_OK)
        return session_failed(session);
    table_number(&done, change.id);
    table_text(&done, change.wanted.name);
    table_tell(&done, text_print(session->arena, "batch %" PRId64, change.id));
    return EXIT_DONE;
}

static enum status set_one(void *subject)
{
    struct batch_change *change = subject;
    struct db *db = change->session->db;
    struct batch_entry_row batch;
    enum status status = db_batch_lock(db, change->session->arena, change->id, &batch);

    if (status == STATUS_OK && change->has_name)
        status = db_batch_rename(db, change->id, change->wanted.name);
    if (status == STATUS_OK && change->has_owner)
        status = db_batch_give(db, change->id, change->wanted.userid);
    if (status == STATUS_OK && change->has_end)
        status = db_batch_expire(db, change->id, change->wanted.expire_time);
    if (status == STATUS_OK && change->has_hurry)
        status = db_hurry_want(db, change->id, change->hurry != 0);
    return status == STATUS_OK ? db_commit(db) : status;
}

/* Of a batch that is only a number. */
static enum status no_row(struct session *session, enum status status, int64_t id)
{
    if (status == STATUS_NOT_FOUND)
        return fail(&session->failure, status,
                    "batch %" PRId64 " has neither name nor owner: only jobs have its number, if "
                    "any (qmctl jobs list --batch %" PRId64 ")",
                    id, id);
    return session_db_failed(session, status, "batch");
}

enum exit_code command_batch_set(struct session *session)
{
    static const char *const titles[] = {"batch"};
    struct output_table done = TABLE_BEGIN(session, "batches", titles);
    struct batch_change change = {.session = session};
    enum status status = read_change(session, &change);

    if (status == STATUS_OK && !change.has_name && !change.has_owner && !change.has_end &&
        !change.has_hurry)
        return usage_failed(session, "batch set needs --name, --owner, --days or --hurry");
    if (status == STATUS_OK)
        status = session_batch(session, session->arguments[0], &change.id);
    if (status == STATUS_OK && change.has_name)
        status = check_unused(session, change.wanted.name);
    if (status == STATUS_OK)
        status = no_row(session, repeat_transaction(session->db, set_one, &change), change.id);
    if (status != STATUS_OK)
        return session_failed(session);
    table_number(&done, change.id);
    table_tell(&done, text_print(session->arena, "batch %" PRId64 " changed", change.id));
    if (change.has_hurry && change.hurry == 0 && session->config->hurry_batches)
        shown_line(stderr, "note: hurry_batches is set, so this batch is in a hurry like all");
    return EXIT_DONE;
}

/* --- its jobs -------------------------------------------------------------------------------- */

/* The batch that is named, whose row is there. */
static enum status find_batch(struct session *session, struct batch_entry_row *ret_batch)
{
    int64_t id;
    enum status status = session_batches(session);

    if (status == STATUS_OK)
        status = session_batch(session, session->arguments[0], &id);
    return status != STATUS_OK
               ? status
               : no_row(session, db_batch_find(session->db, session->arena, id, NO_TEXT, ret_batch),
                        id);
}

enum exit_code command_batch_abort(struct session *session)
{
    static const char *const titles[] = {"batch", "jobs", "unsent", "in_progress"};
    struct output_table done = TABLE_BEGIN(session, "batches", titles);
    struct batch_entry_row batch;
    struct job_change_sums sums;
    struct pass_owner owner;
    enum exit_code code;

    if (find_batch(session, &batch) != STATUS_OK)
        return session_failed(session);
    code = confirm(session,
                   text_print(session->arena, "the unfinished jobs of batch %" PRId64, batch.id),
                   text_from(session->arguments[0]));
    if (code != EXIT_DONE)
        return code;
    owner = session_owner(session);
    if (batch_abort(&owner, batch.id, session->now, &sums) != STATUS_OK)
        return session_failed(session);
    table_number(&done, batch.id);
    table_number(&done, (int64_t)sums.jobs.jobs);
    table_number(&done, (int64_t)sums.jobs.results);
    table_number(&done, (int64_t)sums.jobs.in_progress);
    table_tell(&done,
               text_print(session->arena,
                          "batch %" PRId64 " aborted: " COUNT_FORMAT " cancelled, " COUNT_FORMAT
                          " will not be sent, %" PRIu64 " with hosts",
                          batch.id, COUNT_ARG(sums.jobs.jobs, "job"),
                          COUNT_ARG(sums.jobs.results, "result"), sums.jobs.in_progress));
    return EXIT_DONE;
}

enum exit_code command_batch_retire(struct session *session)
{
    static const char *const titles[] = {"batch"};
    struct output_table done = TABLE_BEGIN(session, "batches", titles);
    struct batch_entry_row batch;
    struct pass_owner owner;
    int64_t unfinished = 0;
    enum status status = find_batch(session, &batch);

    if (status != STATUS_OK)
        return session_failed(session);
    owner = session_owner(session);
    status = batch_retire(&owner, batch.id, session->now, &unfinished);
    if (status == STATUS_INVALID)
        (void)fail(&session->failure, status,
                   COUNT_FORMAT " of batch %" PRId64 " %s unfinished: wait for %s, or end the "
                                "batch (qmctl batch abort)",
                   COUNT_ARG(unfinished, "job"), batch.id, unfinished == 1 ? "is" : "are",
                   unfinished == 1 ? "it" : "them");
    if (status != STATUS_OK)
        return session_failed(session);
    table_number(&done, batch.id);
    table_tell(&done,
               text_print(session->arena,
                          "batch %" PRId64 " retired: its output files may be deleted", batch.id));
    return EXIT_DONE;
}
