/* SPDX-License-Identifier: Apache-2.0 */
/* `qmctl user delete`, `qmctl host delete` and `qmctl host sweep`. The project's database is worked
 * on in transactions of many results each, so that servers go on beside it; whoever is interrupted
 * gives the command again. In the last one the host's row is locked and deleted. Before it is
 * committed the file database and the availability logs forget the host: afterwards nobody would
 * know its number. */
#include "config/config.h"
#include "db/admin.h"
#include "db/files.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/shown.h"
#include "server/passes/pass_repeat.h"
#include "server/project/project.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/confirm.h"
#include "tools/qmctl/session/output.h"
#include "tools/qmctl/session/progress_line.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { LOG_FOLDERS = 1000 };

static enum status forget_files(struct session *session, const struct db_id_list *hosts)
{
    struct db *db = NULL;
    enum status status = db_files_open(session->config, &db, &session->failure);

    if (status == STATUS_NOT_FOUND) { /* there is none */
        session->failure = (struct failure){.status = STATUS_OK};
        return STATUS_OK;
    }
    for (size_t i = 0; i < hosts->count && status == STATUS_OK; i++)
        status = db_files_delete_host(db, hosts->items[i]);
    if (status == STATUS_OK)
        status = db_commit(db);
    status = db_failed(db, status, "file database", &session->failure);
    db_close(db);
    return status;
}

static enum status forget_logs(struct session *session, const struct db_id_list *hosts)
{
    for (size_t i = 0; i < hosts->count; i++) {
        char name[64], path[PATH_MAX];

        snprintf(name, sizeof(name), "time_stats_log/%" PRId64 "/%" PRId64,
                 hosts->items[i] % LOG_FOLDERS, hosts->items[i]);
        project_path(session->config, name, path, sizeof(path));
        if (unlink(path) != 0 && errno != ENOENT && errno != ENOTDIR)
            return fail(&session->failure, STATUS_IO, "%s: %s", path, strerror(errno));
    }
    return STATUS_OK;
}

struct person_deletion {
    struct session *session;
    const struct person *person;
    size_t results, hosts;
    bool is_over;
    bool is_one_of_many; /* whoever deletes them tells how it goes on */
};

static enum status delete_some(void *subject)
{
    struct person_deletion *deletion = subject;
    struct session *session = deletion->session;
    struct arena_mark mark = arena_mark(session->arena);
    struct db_id_list hosts = {.items = NULL};
    size_t results = 0;
    bool is_over = false;
    enum status status = db_admin_person_delete(session->db, session->arena, deletion->person,
                                                session->now, &hosts, &results, &is_over);

    if (status == STATUS_OK && is_over)
        status = forget_files(session, &hosts);
    if (status == STATUS_OK && is_over)
        status = forget_logs(session, &hosts);
    if (status == STATUS_OK)
        status = db_commit(session->db);
    if (status == STATUS_OK) {
        deletion->results += results;
        deletion->hosts = hosts.count;
        deletion->is_over = is_over;
    }
    if (!deletion->is_one_of_many)
        progress(session, "results forgotten", (int64_t)deletion->results);
    arena_rewind(session->arena, mark);
    return status;
}

static enum status delete_all_of(struct person_deletion *deletion)
{
    enum status status = STATUS_OK;

    while (status == STATUS_OK && !deletion->is_over)
        status = repeat_transaction(deletion->session->db, delete_some, deletion);
    return status;
}

/* Not found, though it was a moment ago: the last COMMIT was done and its answer lost, or somebody
 * else does the same. */
static enum status delete_person(struct session *session, const struct person *person)
{
    static const char *const titles[] = {"hosts", "results"};
    struct output_table done = TABLE_BEGIN(session, "hosts", titles);
    struct person_deletion deletion = {.session = session, .person = person};
    enum status status = delete_all_of(&deletion);

    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return session_db_failed(session, status, "deleting");
    table_number(&done, (int64_t)deletion.hosts);
    table_number(&done, (int64_t)deletion.results);
    table_tell(&done,
               status == STATUS_NOT_FOUND
                   ? TEXT("deleted, and nothing is left to count")
                   : text_print(session->arena,
                                "deleted: %s" COUNT_FORMAT "; " COUNT_FORMAT " made anonymous",
                                person->userid != 0 ? "the account, " : "",
                                COUNT_ARG(deletion.hosts, "host"),
                                COUNT_ARG(deletion.results, "result")));
    return STATUS_OK;
}

/* What BOINC's web pages keep, and others. */
static enum status name_other_tables(struct session *session)
{
    struct buffer list = buffer_in(session->arena);
    struct text *names = NULL;
    size_t count = 0;
    enum status status = session_db_failed(
        session, db_admin_person_other_tables(session->db, session->arena, &names, &count),
        "tables");

    for (size_t i = 0; i < count; i++) {
        buffer_add_string(&list, i == 0 ? "" : ", ");
        buffer_add(&list, names[i]);
    }
    if (count > 0)
        shown_line(stderr,
                   "not examined, although it may contain personal data: "
                   "table " TEXT_FORMAT,
                   TEXT_ARG(buffer_text(&list)));
    return status;
}

static enum exit_code delete_confirmed(struct session *session, const struct person *person,
                                       struct text lost, struct text word)
{
    enum exit_code code = confirm(session, lost, word);
    enum status status;

    if (code != EXIT_DONE)
        return code;
    status = delete_person(session, person);
    if (status == STATUS_OK)
        status = name_other_tables(session);
    return status == STATUS_OK ? EXIT_DONE : session_failed(session);
}

enum exit_code command_user_delete(struct session *session)
{
    struct user_row user = {.id = 0};
    struct host_entry *rows = NULL;
    size_t count = 0;
    enum status status = session_account(session, &user);

    if (status == STATUS_OK)
        status = session_db_failed(
            session, db_admin_hosts(session->db, session->arena, 0, user.id, 1000, &rows, &count),
            "hosts");
    if (status != STATUS_OK)
        return session_failed(session);
    return delete_confirmed(
        session,
        &(struct person){.userid = user.id,
                         .gives_jobs_to_all = option_given(session, "give-jobs")},
        text_print(session->arena,
                   "user %" PRId64 " " TEXT_FORMAT " (" TEXT_FORMAT "), " COUNT_FORMAT
                   ", %.0f credit",
                   user.id, TEXT_ARG(user.name), TEXT_ARG(user.email_addr),
                   COUNT_ARG(count, "host"), user.total_credit),
        user.email_addr);
}

enum exit_code command_host_delete(struct session *session)
{
    struct host_entry *rows = NULL;
    size_t count = 0;
    int64_t id = 0;
    enum status status = STATUS_OK;

    if (!text_to_i64(text_from(session->arguments[0]), &id) || id < 1)
        return usage_failed(session, "\"%s\" is not the number of a host", session->arguments[0]);
    status = session_db(session);
    if (status == STATUS_OK)
        status = session_db_failed(
            session, db_admin_hosts(session->db, session->arena, id, 0, 1, &rows, &count), "host");
    if (status == STATUS_OK && count == 0)
        status = fail(&session->failure, STATUS_NOT_FOUND,
                      "there is no host %" PRId64 " (qmctl hosts)", id);
    if (status != STATUS_OK)
        return session_failed(session);
    return delete_confirmed(
        session,
        &(struct person){.hostid = id, .gives_jobs_to_all = option_given(session, "give-jobs")},
        text_print(session->arena,
                   "host %" PRId64 " " TEXT_FORMAT " of user %" PRId64 ", " COUNT_FORMAT
                   " in progress, %.0f credit",
                   id, TEXT_ARG(rows[0].row.domain_name), rows[0].row.userid,
                   COUNT_ARG(rows[0].in_progress, "job"), rows[0].row.total_credit),
        text_from(session->arguments[0]));
}

/* --- rows whose owners are gone --------------------------------------------------------------- */

struct host_sweep {
    struct session *session;
    struct orphan_place place;
    struct db_id_list hosts; /* of the last look */
    size_t found, results;
};

static enum status look_for_orphans(void *subject)
{
    struct host_sweep *sweep = subject;
    struct session *session = sweep->session;
    struct orphan_place place = sweep->place;
    enum status status = db_admin_orphan_hosts(session->db, session->arena, &place, &sweep->hosts);

    if (status == STATUS_OK)
        status = db_rollback(session->db);
    if (status == STATUS_OK)
        sweep->place = place;
    return status;
}

static enum status delete_orphans(struct host_sweep *sweep)
{
    struct session *session = sweep->session;
    enum status status = STATUS_OK;

    for (size_t i = 0; i < sweep->hosts.count && status == STATUS_OK; i++) {
        const struct person person = {.hostid = sweep->hosts.items[i]};
        struct person_deletion deletion = {
            .session = session, .person = &person, .is_one_of_many = true};

        status = delete_all_of(&deletion);
        sweep->results += deletion.results;
        /* A record that was merged into one before it went with that. */
        if (status == STATUS_NOT_FOUND)
            status = STATUS_OK;
    }
    return status;
}

static enum status sweep_hosts(struct session *session, bool deletes, struct host_sweep *ret_sweep)
{
    enum status status = STATUS_OK;

    *ret_sweep = (struct host_sweep){.session = session};
    while (status == STATUS_OK && !ret_sweep->place.is_done) {
        struct arena_mark mark = arena_mark(session->arena);

        status = repeat_transaction(session->db, look_for_orphans, ret_sweep);
        if (status == STATUS_OK && deletes)
            status = delete_orphans(ret_sweep);
        if (status == STATUS_OK)
            ret_sweep->found += ret_sweep->hosts.count;
        arena_rewind(session->arena, mark);
        progress(session, deletes ? "hosts deleted" : "hosts without an account",
                 (int64_t)ret_sweep->found);
    }
    return session_db_failed(session, status, "host");
}

enum exit_code command_host_sweep(struct session *session)
{
    static const char *const titles[] = {"hosts", "results"};
    struct output_table done = TABLE_BEGIN(session, "hosts", titles);
    bool deletes = option_given(session, "delete") && !option_given(session, "dry-run");
    struct host_sweep sweep = {.found = 0};
    enum status status = session_db(session);

    if (status == STATUS_OK && (!deletes || !option_given(session, "yes")))
        status = sweep_hosts(session, false, &sweep);
    if (status == STATUS_OK && deletes) {
        struct text lost = text_print(session->arena, COUNT_FORMAT " whose account is gone",
                                      COUNT_ARG(sweep.found, "host"));
        enum exit_code code = sweep.found == 0 ? EXIT_DONE : confirm(session, lost, TEXT("hosts"));

        if (code != EXIT_DONE)
            return code;
        status = sweep_hosts(session, true, &sweep);
    }
    if (status != STATUS_OK)
        return session_failed(session);
    table_number(&done, (int64_t)sweep.found);
    table_number(&done, (int64_t)sweep.results);
    table_tell(
        &done,
        deletes
            ? text_print(session->arena, COUNT_FORMAT " deleted; " COUNT_FORMAT " made anonymous",
                         COUNT_ARG(sweep.found, "host"), COUNT_ARG(sweep.results, "result"))
            : text_print(session->arena, COUNT_FORMAT " whose account is gone (--delete deletes)",
                         COUNT_ARG(sweep.found, "host")));
    return EXIT_DONE;
}
