/* SPDX-License-Identifier: Apache-2.0 */
/* Who may submit jobs over the web, which applications' and how many (db/submitters.h). */
#include "db/admin.h"
#include "db/submitters.h"
#include "server/base/arena.h"
#include "server/base/shown.h"
#include "server/passes/pass_repeat.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/output.h"

#include <inttypes.h>

#include "server/base/banned.h"

#define QUOTA_MOST 1e6
enum { JOBS_USUAL = 10000 };

struct submitter_change {
    struct session *session;
    struct user_row user;
    struct submitter_rights_row rights; /* of a new one; then what is written */
    bool is_new;
    int64_t *allowed, *forbidden; /* applications */
    size_t allowed_count, forbidden_count;
};

/* --- what is given --------------------------------------------------------------------------- */

static enum status read_apps(struct session *session, const char *option, int64_t **ret_ids,
                             size_t *ret_count)
{
    struct app_row app;
    const char *name;
    enum status status = STATUS_OK;

    *ret_count = 0;
    *ret_ids = ARENA_ARRAY(session->arena, session->option_count, int64_t);
    if (*ret_ids == NULL)
        return fail(&session->failure, STATUS_NO_MEMORY, "too many options");
    for (size_t index = 0;
         status == STATUS_OK && (name = option_next(session, option, &index)) != NULL;) {
        status = session_app(session, name, &app);
        (*ret_ids)[(*ret_count)++] = app.id;
    }
    return status;
}

static enum status read_quota(struct session *session, double *quota)
{
    double given = 0;

    if (!option_given(session, "quota"))
        return STATUS_OK;
    if (text_to_real(text_from(option_value(session, "quota")), &given) && given > 0 &&
        given <= QUOTA_MOST) {
        *quota = given;
        return STATUS_OK;
    }
    session->is_usage = true;
    return fail(&session->failure, STATUS_INVALID,
                "--quota: \"%.40s\" is not a number above 0, and %.0f at most",
                option_value(session, "quota"), QUOTA_MOST);
}

static enum status read_rights(struct session *session, struct submitter_rights_row *rights)
{
    enum status status = option_yes(session, "all-apps", &rights->submit_all);

    if (status == STATUS_OK)
        status = option_yes(session, "manage", &rights->manage_all);
    if (status == STATUS_OK)
        status = read_quota(session, &rights->quota);
    return status == STATUS_OK
               ? option_number(session, "max-jobs", 0, INT32_MAX, &rights->max_jobs_in_progress)
               : status;
}

/* --- writing it ------------------------------------------------------------------------------ */

/* One transaction. A row that came in between is the same as one that was there. */
static enum status write_rights(void *subject)
{
    struct submitter_change *change = subject;
    struct session *session = change->session;
    int64_t userid = change->user.id;
    struct submitter_rights_row rights = change->rights;
    enum status status = db_submitter_lock(session->db, userid, &rights);

    if (status == STATUS_OK && change->is_new)
        return fail(&session->failure, STATUS_INVALID,
                    "\"%s\" submits jobs already (qmctl submitter set)", session->arguments[0]);
    if (status == STATUS_NOT_FOUND && !change->is_new)
        return fail(&session->failure, status, "\"%s\" submits no jobs (qmctl submitter add)",
                    session->arguments[0]);
    if (status == STATUS_OK || status == STATUS_NOT_FOUND)
        status = read_rights(session, &rights);
    if (status == STATUS_OK)
        status = db_submitter_save(session->db, userid, &rights);
    for (size_t i = 0; status == STATUS_OK && i < change->allowed_count; i++)
        status = db_submitter_allow(session->db, userid, change->allowed[i]);
    for (size_t i = 0; status == STATUS_OK && i < change->forbidden_count; i++)
        status = db_submitter_forbid(session->db, userid, change->forbidden[i]);
    change->rights = rights;
    return status == STATUS_OK ? db_commit(session->db) : status;
}

static enum status change_rights(struct session *session, struct submitter_change *change)
{
    struct submitter_rights_row unused = {.quota = 0};
    enum status status = read_rights(session, &unused);

    if (status == STATUS_OK)
        status = session_batches(session);
    if (status == STATUS_OK)
        status = session_user(session, session->arguments[0], &change->user);
    if (status == STATUS_OK)
        status = read_apps(session, "app", &change->allowed, &change->allowed_count);
    if (status == STATUS_OK)
        status = read_apps(session, "not-app", &change->forbidden, &change->forbidden_count);
    if (status != STATUS_OK)
        return status;
    return session_db_failed(session, repeat_transaction(session->db, write_rights, change),
                             "submitter");
}

static enum exit_code tell_rights(struct submitter_change *change, enum status status)
{
    static const char *const titles[] = {"id", "email"};
    struct session *session = change->session;
    struct output_table done = TABLE_BEGIN(session, "submitters", titles);

    if (status != STATUS_OK)
        return session_failed(session);
    table_number(&done, change->user.id);
    table_text(&done, change->user.email_addr);
    table_tell(
        &done,
        text_print(
            session->arena,
            "user %" PRId64 " may submit jobs: %s, quota %g, at most " COUNT_FORMAT " unfinished%s",
            change->user.id,
            change->rights.submit_all != 0 ? "all applications" : "of the applications named",
            change->rights.quota, COUNT_ARG(change->rights.max_jobs_in_progress, "job"),
            change->rights.max_jobs_in_progress == 0 ? " (0: any number)" : ""));
    return EXIT_DONE;
}

enum exit_code command_submitter_add(struct session *session)
{
    struct submitter_change change = {
        .session = session,
        .is_new = true,
        .rights = {.quota = 1, .max_jobs_in_progress = JOBS_USUAL},
    };

    if (!option_given(session, "app") && !option_given(session, "all-apps"))
        return usage_failed(session, "submitter add needs --app NAME, or --all-apps yes");
    return tell_rights(&change, change_rights(session, &change));
}

enum exit_code command_submitter_set(struct session *session)
{
    struct submitter_change change = {.session = session};

    if (session->option_count == 0)
        return usage_failed(session, "submitter set needs at least one setting");
    return tell_rights(&change, change_rights(session, &change));
}

static enum status remove_one(void *subject)
{
    struct submitter_change *change = subject;
    enum status status = db_submitter_remove(change->session->db, change->user.id, &change->is_new);

    return status == STATUS_OK ? db_commit(change->session->db) : status;
}

enum exit_code command_submitter_remove(struct session *session)
{
    static const char *const titles[] = {"id", "email"};
    struct output_table done = TABLE_BEGIN(session, "submitters", titles);
    struct submitter_change change = {.session = session};
    enum status status = session_batches(session);

    if (status == STATUS_OK)
        status = session_user(session, session->arguments[0], &change.user);
    if (status == STATUS_OK)
        status = session_db_failed(session, repeat_transaction(session->db, remove_one, &change),
                                   "submitter");
    if (status == STATUS_OK && !change.is_new)
        status = fail(&session->failure, STATUS_NOT_FOUND, "\"%s\" submits no jobs",
                      session->arguments[0]);
    if (status != STATUS_OK)
        return session_failed(session);
    table_number(&done, change.user.id);
    table_text(&done, change.user.email_addr);
    table_tell(&done, text_print(session->arena,
                                 "user %" PRId64 " may not submit jobs any more; batches go on",
                                 change.user.id));
    return EXIT_DONE;
}

/* --- the list -------------------------------------------------------------------------------- */

enum exit_code command_submitter_list(struct session *session)
{
    static const char *const titles[] = {"id",      "email", "name",    "quota",     "max_jobs",
                                         "manages", "apps",  "batches", "unfinished"};
    struct output_table table = TABLE_BEGIN(session, "submitters", titles);
    struct submitter_row *rows = NULL;
    size_t count = 0;
    enum status status = session_batches(session);

    if (status == STATUS_OK)
        status = session_db_failed(
            session, db_submitter_list(session->db, session->arena, &rows, &count), "submitters");
    if (status != STATUS_OK)
        return session_failed(session);
    for (size_t i = 0; i < count; i++) {
        table_number(&table, rows[i].user_id);
        table_text(&table, rows[i].email);
        table_text(&table, rows[i].name);
        table_real(&table, rows[i].quota, 2);
        table_number(&table, rows[i].max_jobs_in_progress);
        table_text(&table, rows[i].manage_all != 0 ? TEXT("yes") : TEXT("no"));
        table_text(&table, rows[i].submit_all != 0 ? TEXT("all") : rows[i].apps);
        table_number(&table, rows[i].batches);
        table_number(&table, rows[i].unfinished);
    }
    table_print(&table);
    return EXIT_DONE;
}
