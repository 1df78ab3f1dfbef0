/* SPDX-License-Identifier: Apache-2.0 */
/* What waits, what is out, and what is known of a host. */
#include "config/config.h"
#include "db/admin.h"
#include "db/host_lists.h"
#include "server/base/arena.h"
#include "server/base/shown.h"
#include "server/policy/host/host_record.h"
#include "server/policy/limits/limits.h"
#include "server/policy/version/estimate.h"
#include "server/policy/version/presence.h"
#include "server/project/catalog.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/output.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/base/banned.h"

enum exit_code command_queue(struct session *session)
{
    static const char *const titles[] = {"app",       "unsent",        "in_progress", "over",
                                         "held_back", "oldest_unsent", "batch"};
    bool by_batch = option_given(session, "by-batch");
    struct output_table table = table_begin(session, "applications", titles, by_batch ? 7 : 6);
    struct queue_line *rows;
    size_t count = 0;
    enum status status = session_db(session);
    if (status == STATUS_OK)
        status = session_db_failed(
            session, db_admin_queue(session->db, session->arena, by_batch, &rows, &count), "queue");
    if (status != STATUS_OK)
        return session_failed(session);
    for (size_t i = 0; i < count; i++) {
        table_text(&table, rows[i].app);
        table_number(&table, rows[i].unsent);
        table_number(&table, rows[i].in_progress);
        table_number(&table, rows[i].over);
        table_number(&table, rows[i].inactive);
        table_time(&table, rows[i].oldest_unsent);
        if (by_batch)
            table_number(&table, rows[i].batch);
    }
    table_print(&table);
    return EXIT_DONE;
}

/* What a host has not said yet is 0 in its row. */
static struct text machine_words(struct arena *arena, const struct host_row *host)
{
    const double gib = 1073741824.0;
    struct text cpus = TEXT("CPUs unknown"), speed = TEXT("speed unknown");
    struct text memory = TEXT("memory unknown"), disk = TEXT("disk unknown");

    if (host->p_ncpus > 0)
        cpus = text_print(arena, "%" PRId64 " CPU%s " TEXT_FORMAT, host->p_ncpus,
                          host->p_ncpus == 1 ? "" : "s", TEXT_ARG(host->p_model));
    if (estimate_has_benchmark(host->p_fpops))
        speed = text_print(arena, "%.2f GFLOPS each", host->p_fpops / 1e9);
    if (host->m_nbytes > 0)
        memory = text_print(arena, "%.1f GiB memory", host->m_nbytes / gib);
    if (host_record_has_disk(host))
        disk = text_print(arena, "%.1f of %.1f GiB disk free", host->d_free / gib,
                          host->d_total / gib);
    return text_print(arena, TEXT_FORMAT ", " TEXT_FORMAT ", " TEXT_FORMAT ", " TEXT_FORMAT,
                      TEXT_ARG(cpus), TEXT_ARG(speed), TEXT_ARG(memory), TEXT_ARG(disk));
}

static struct text availability_words(struct arena *arena, const struct host_row *host)
{
    if (!(host->on_frac > 0))
        return TEXT("unknown how much of the time it is on");
    if (!(host->active_frac > 0))
        return text_print(arena, "on %.0f %% of the time", 100 * host->on_frac);
    return text_print(arena, "on %.0f %% of the time, computing %.0f %% of that",
                      100 * host->on_frac, 100 * host->active_frac);
}

static struct text name_words(struct text text, struct text otherwise)
{
    return text.length > 0 ? text : otherwise;
}

static void print_host(struct arena *arena, const struct host_entry *entry)
{
    const struct host_row *host = &entry->row;

    shown_line(stdout, "host %" PRId64 " of user %" PRId64 "%s", host->id, host->userid,
               host->userid == 0 ? " (merged into another)" : "");
    shown_line(stdout, "  " TEXT_FORMAT ", " TEXT_FORMAT " " TEXT_FORMAT,
               TEXT_ARG(name_words(host->domain_name, TEXT("name unknown"))),
               TEXT_ARG(name_words(host->os_name, TEXT("system unknown"))),
               TEXT_ARG(host->os_version));
    shown_line(stdout, "  " TEXT_FORMAT, TEXT_ARG(machine_words(arena, host)));
    shown_line(stdout, "  " TEXT_FORMAT, TEXT_ARG(availability_words(arena, host)));
    if (host->max_results_day == HOST_BANNED)
        shown_line(stdout, "  banned: it gets no jobs (qmctl host unban %" PRId64 ")", host->id);
    shown_line(stdout, "  jobs: %" PRId64 " in progress, %" PRId64 " succeeded, %" PRId64 " failed",
               entry->in_progress, entry->success, entry->error);
}

/* What deadlines go by, where it is learned: the host's own observations, and those of others. */
static enum status print_presence(struct session *session, const struct host_row *host)
{
    const struct presence_shares reported = {.cpu =
                                                 (host->on_frac > 0 ? host->on_frac : 1) *
                                                 (host->active_frac > 0 ? host->active_frac : 1)};
    struct learned_presence presence;
    struct presence_shares crowd, expected;
    struct text stored = NO_TEXT, *presences = NULL, others;
    size_t count = 0;
    enum status status = STATUS_OK;

    if (!session->config->learn_availability)
        return STATUS_OK;
    status = db_admin_host_presence(session->db, session->arena, host->id, &stored);
    if (status == STATUS_OK)
        status = db_host_presences(session->db, session->arena, CROWD_MOST, &presences, &count);
    if (session_db_failed(session, status, "qm_host") != STATUS_OK)
        return status;
    presence = presence_read(stored);
    crowd = presence_of_crowd(presences, count);
    expected = presence_expect(&presence, crowd, reported);
    if (presence.begun == 0) {
        shown_line(stdout, "  nothing is learned of its availability (learn_availability)");
        return STATUS_OK;
    }
    others = crowd.cpu > 0
                 ? text_print(session->arena, "other hosts for %.0f %%", 100 * crowd.cpu)
                 : text_print(session->arena, "its client says %.0f %%", 100 * reported.cpu);
    shown_line(stdout,
               "  deadlines go by an availability of %.0f %%: in the two days after a contact it "
               "computed for %.0f %% (weight %.1f), " TEXT_FORMAT " (weight 5)",
               100 * expected.cpu, 100 * (double)presence.cpu, (double)presence.weight,
               TEXT_ARG(others));
    return STATUS_OK;
}

/* What the host has got today of each app version, and what it may. */
static enum status print_quota(struct session *session, const struct host_row *host)
{
    int64_t quota = session->config->daily_result_quota;
    bool day_is_new = quota_day_is_new(host->id, host->rpc_time, session->now);
    struct host_app_version_row *rows;
    size_t count = 0;
    enum status status = session_db_failed(
        session, db_host_app_versions(session->db, session->arena, host->id, &rows, &count),
        "host_app_version");

    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct host_app_version_row *row = &rows[i];

        int64_t today = day_is_new ? 0 : row->n_jobs_today;

        if (quota > 0)
            shown_line(stdout,
                       "  app version %" PRId64 ": " COUNT_FORMAT " today, of at most %" PRId64
                       " for each processor",
                       row->app_version_id, COUNT_ARG(today, "job"),
                       limits_daily(row->max_jobs_per_day, quota, 1));
        else
            shown_line(stdout,
                       "  app version %" PRId64 ": " COUNT_FORMAT
                       " today, no quota (daily_result_quota)",
                       row->app_version_id, COUNT_ARG(today, "job"));
    }
    putchar('\n');
    return status;
}

static enum status print_jobs(struct session *session, int64_t hostid, size_t most)
{
    static const char *const titles[] = {"name", "app", "state", "outcome", "sent", "deadline"};
    struct output_table table = TABLE_BEGIN(session, "jobs", titles);
    struct host_result_row *rows;
    size_t count = 0;
    enum status status = session_db_failed(
        session, db_admin_host_results(session->db, session->arena, hostid, most, &rows, &count),
        "jobs");
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct result_row *row = &rows[i].result;
        table_text(&table, row->name);
        table_text(&table, rows[i].app);
        table_text(&table, text_from(state_word("RESULT", row->server_state)));
        table_text(&table, text_from(state_word("OUTCOME", row->outcome)));
        table_time(&table, row->sent_time);
        table_time(&table, row->report_deadline);
    }
    if (status == STATUS_OK)
        table_print(&table);
    return status;
}

static void print_hosts(struct session *session, const struct host_entry *rows, size_t count)
{
    static const char *const titles[] = {"id",           "name",        "system",  "cpus",
                                         "last_contact", "in_progress", "success", "error"};
    struct output_table table = TABLE_BEGIN(session, "hosts", titles);
    for (size_t i = 0; i < count; i++) {
        table_number(&table, rows[i].row.id);
        table_text(&table, rows[i].row.domain_name);
        table_text(&table, rows[i].row.os_name);
        table_number(&table, rows[i].row.p_ncpus);
        table_time(&table, rows[i].row.rpc_time);
        table_number(&table, rows[i].in_progress);
        table_number(&table, rows[i].success);
        table_number(&table, rows[i].error);
    }
    table_print(&table);
}

enum exit_code command_host(struct session *session)
{
    const char *email = option_value(session, "user");
    int64_t id = 0, most = 20;
    struct user_row user = {.id = 0};
    struct host_entry *rows = NULL;
    size_t count = 0;
    if (session->argument_count > 0 &&
        (!text_to_i64(text_from(session->arguments[0]), &id) || id <= 0))
        return usage_failed(session, "\"%s\" is not the number of a host", session->arguments[0]);
    if ((id == 0) == (email == NULL))
        return usage_failed(session, "host needs either a number or --user");
    enum status status = option_number(session, "most", 1, 10000, &most);
    if (status == STATUS_OK)
        status = session_db(session);
    if (status == STATUS_OK && email != NULL)
        status = db_admin_user_find(session->db, session->arena, text_from(email), 0, &user);
    if (status == STATUS_OK)
        status =
            db_admin_hosts(session->db, session->arena, id, user.id, (size_t)most, &rows, &count);
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && id != 0 && count == 0))
        status = fail(&session->failure, STATUS_NOT_FOUND, "there is no such %s",
                      email != NULL ? "user" : "host");
    if (session_db_failed(session, status, "host") != STATUS_OK)
        return session_failed(session);
    if (email != NULL) {
        print_hosts(session, rows, count);
        return EXIT_DONE;
    }
    if (session->form != FORM_TEXT) {
        print_hosts(session, rows, count);
    } else if (count > 0) {
        print_host(session->arena, &rows[0]);
        if (print_presence(session, &rows[0].row) != STATUS_OK ||
            print_quota(session, &rows[0].row) != STATUS_OK)
            return session_failed(session);
    }
    return print_jobs(session, id, (size_t)most) == STATUS_OK ? EXIT_DONE : session_failed(session);
}
