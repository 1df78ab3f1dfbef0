/* SPDX-License-Identifier: Apache-2.0 */
/* Which hosts there are, and what an administrator does with one of them. */
#include "db/admin.h"
#include "db/host_lists.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/fates/fates_summary.h"
#include "server/passes/pass_repeat.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/output.h"

#include <inttypes.h>
#include <math.h>

#include "server/base/banned.h"

enum { DAY = 86400, DAYS_MOST = 36500, HOSTS_MOST = 100000 };

/* --- the list -------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    enum host_order order;
} orders[] = {
#define ORDER_WORD(name, word) {word, HOST_ORDER_##name},
    HOST_ORDERS(ORDER_WORD)
#undef ORDER_WORD
};

static enum status read_order(struct session *session, enum host_order *ret_order)
{
    struct text given = text_from(option_value(session, "order"));
    struct buffer known = buffer_in(session->arena);

    *ret_order = HOST_ORDER_NEWEST;
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        if (given.length == 0)
            return STATUS_OK;
        if (text_is(given, orders[i].word)) {
            *ret_order = orders[i].order;
            return STATUS_OK;
        }
        buffer_print(&known, "%s%s", i == 0 ? "" : ", ", orders[i].word);
    }
    session->is_usage = true;
    return fail(&session->failure, STATUS_INVALID, "--order: \"%.40s\" is none of " TEXT_FORMAT,
                option_value(session, "order"), TEXT_ARG(buffer_text(&known)));
}

static enum status read_platform(struct session *session, int64_t *ret_id)
{
    const char *given = option_value(session, "platform");
    enum status status;

    if (given == NULL)
        return STATUS_OK;
    status = db_admin_platform_find(session->db, text_from(given), ret_id);
    if (status == STATUS_NOT_FOUND)
        return fail(&session->failure, status, "there is no platform \"%s\" (qmctl platform list)",
                    given);
    return session_db_failed(session, status, "platform");
}

static enum status read_user(struct session *session, int64_t *ret_id)
{
    const char *given = option_value(session, "user");
    struct user_row user = {.id = 0};
    enum status status = given == NULL ? STATUS_OK : session_user(session, given, &user);

    *ret_id = user.id;
    return status;
}

static enum status read_days(struct session *session, const char *option, int64_t *ret_moment)
{
    int64_t days = 0;
    enum status status = option_number(session, option, 1, DAYS_MOST, &days);

    if (days > 0)
        *ret_moment = session->now - days * DAY;
    return status;
}

static enum status read_filter(struct session *session, struct host_filter *filter)
{
    int64_t most = 100;
    enum status status = read_order(session, &filter->order);

    if (status == STATUS_OK)
        status = option_number(session, "most", 1, HOSTS_MOST, &most);
    if (status == STATUS_OK)
        status = read_days(session, "days", &filter->since);
    if (status == STATUS_OK)
        status = read_days(session, "gone", &filter->before);
    if (status == STATUS_OK)
        status = session_db(session);
    if (status == STATUS_OK)
        status = read_user(session, &filter->userid);
    if (status == STATUS_OK)
        status = read_platform(session, &filter->platformid);
    filter->most = (size_t)most;
    filter->is_banned = option_given(session, "banned");
    filter->is_ownerless = option_given(session, "ownerless");
    filter->now = session->now;
    return status;
}

/* Of the two, the one that an administrator has to know of. */
static struct text state_of(const struct host_line_row *host, int64_t ended, int64_t failed)
{
    if (host->max_results_day == HOST_BANNED)
        return TEXT("BANNED");
    if (host->has_owner == 0)
        return TEXT("no owner");
    return fates_alarm(ended, failed) ? TEXT("FAILS") : TEXT("ok");
}

static void put_host(struct output_table *table, const struct host_line_row *host)
{
    int64_t ended = llround(fmin(host->ended, 1e15)), failed = llround(fmin(host->failed, 1e15));

    table_number(table, host->id);
    table_text(table, host->has_owner != 0 ? host->email_addr : TEXT("-"));
    table_text(table, host->domain_name);
    table_text(table, host->platforms.length > 0 ? host->platforms : host->os_name);
    table_number(table, host->p_ncpus);
    table_real(table, host->p_fpops / 1e9, 2);
    table_time(table, host->rpc_time);
    table_number(table, host->in_progress);
    table_number(table, ended);
    table_number(table, failed);
    table_real(table, 100 * fates_share(ended, failed), 1);
    table_real(table, host->expavg_credit, 1);
    table_text(table, state_of(host, ended, failed));
}

enum exit_code command_hosts(struct session *session)
{
    static const char *const titles[] = {
        "id",          "user",  "name",   "platforms", "cpus",         "gflops", "last_contact",
        "in_progress", "ended", "failed", "failed_%",  "credit_a_day", "state"};
    struct output_table table = TABLE_BEGIN(session, "hosts", titles);
    struct host_filter filter = {.userid = 0};
    struct host_line_row *rows = NULL;
    size_t count = 0;
    enum status status = read_filter(session, &filter);

    if (status == STATUS_OK)
        status = session_db_failed(
            session, db_host_list(session->db, session->arena, &filter, &rows, &count), "host");
    if (status != STATUS_OK)
        return session_failed(session);
    for (size_t i = 0; i < count; i++)
        put_host(&table, &rows[i]);
    table_print(&table);
    return EXIT_DONE;
}

/* --- one host -------------------------------------------------------------------------------- */

struct host_change {
    struct session *session;
    int64_t id;
    bool is_banned; /* is to be */
    bool was_banned;
    uint64_t versions;
};

static enum status ban_one(void *subject)
{
    struct host_change *change = subject;
    enum status status =
        db_host_ban(change->session->db, change->id, change->is_banned, &change->was_banned);

    return status == STATUS_OK ? db_commit(change->session->db) : status;
}

static enum status clear_one(void *subject)
{
    struct host_change *change = subject;
    enum status status = db_host_clear(change->session->db, change->id, &change->versions);

    return status == STATUS_OK ? db_commit(change->session->db) : status;
}

static enum status change_host(struct host_change *change, const char *word, transaction_call *call)
{
    struct session *session = change->session;
    enum status status = STATUS_OK;

    if (!text_to_i64(text_from(word), &change->id) || change->id < 1) {
        session->is_usage = true;
        return fail(&session->failure, STATUS_INVALID, "\"%.40s\" is not the number of a host",
                    word);
    }
    status = session_db(session);
    if (status == STATUS_OK)
        status = repeat_transaction(session->db, call, change);
    if (status == STATUS_NOT_FOUND)
        return fail(&session->failure, status, "there is no host %" PRId64 " (qmctl hosts)",
                    change->id);
    return session_db_failed(session, status, "host");
}

static enum exit_code set_ban(struct session *session, bool is_banned)
{
    static const char *const titles[] = {"host", "banned", "was_banned"};
    struct output_table done = TABLE_BEGIN(session, "hosts", titles);

    for (size_t i = 0; i < session->argument_count; i++) {
        struct host_change change = {.session = session, .is_banned = is_banned};

        if (change_host(&change, session->arguments[i], ban_one) != STATUS_OK)
            return session_failed(session);
        table_number(&done, change.id);
        table_number(&done, is_banned);
        table_number(&done, change.was_banned);
        table_tell(&done, text_print(session->arena, "host %" PRId64 "%s", change.id,
                                     is_banned && change.was_banned ? " was banned before"
                                     : is_banned ? " gets no more jobs, neither new nor lost ones; "
                                                   "what it reports is still taken"
                                     : change.was_banned ? " may get jobs again"
                                                         : " was not banned"));
    }
    return EXIT_DONE;
}

enum exit_code command_host_ban(struct session *session)
{
    return set_ban(session, true);
}

enum exit_code command_host_unban(struct session *session)
{
    return set_ban(session, false);
}

enum exit_code command_host_clear(struct session *session)
{
    static const char *const titles[] = {"host", "versions"};
    struct output_table done = TABLE_BEGIN(session, "hosts", titles);

    for (size_t i = 0; i < session->argument_count; i++) {
        struct host_change change = {.session = session};

        if (change_host(&change, session->arguments[i], clear_one) != STATUS_OK)
            return session_failed(session);
        table_number(&done, change.id);
        table_number(&done, (int64_t)change.versions);
        table_tell(&done, text_print(session->arena,
                                     "host %" PRId64 ": quotas of " COUNT_FORMAT
                                     " and counts of failures reset",
                                     change.id, COUNT_ARG(change.versions, "version")));
    }
    return EXIT_DONE;
}
