/* SPDX-License-Identifier: Apache-2.0 */
/* Accounts. A new one has a random key and no password: whoever has the key is the user. */
#include "db/admin.h"
#include "server/base/arena.h"
#include "server/base/random.h"
#include "server/passes/pass_repeat.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/output.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

#define EMAIL_MAX 190 /* bytes: the column is unique and indexed */
enum { SETTINGS_SHOWN_BEFORE = 2 /* e-mail address and name have places of their own in a row */ };

static struct text random_hex(struct session *session)
{
    return text_print(session->arena, "%016" PRIx64 "%016" PRIx64, random_u64(), random_u64());
}

static bool is_email(struct text text)
{
    size_t at = text_find(text, TEXT("@"));
    if (at == 0 || at + 1 >= text.length || text.length > EMAIL_MAX)
        return false;
    for (size_t i = 0; i < text.length; i++)
        if ((unsigned char)text.at[i] <= ' ' || text.at[i] == 127)
            return false;
    return true;
}

enum exit_code command_user_add(struct session *session)
{
    static const char *const titles[] = {"id", "email", "account_key"};
    struct output_table done = TABLE_BEGIN(session, "accounts", titles);
    /* BOINC's pages hash it, as it is stored, with a password: clients do in lower case. */
    struct text email = text_lower_case(session->arena, text_from(session->arguments[0]));
    struct text rest = email;
    struct text name = text_from(option_value(session, "name"));
    int64_t id = 0;
    if (!is_email(email))
        return usage_failed(session, "\"%s\" is not an e-mail address", session->arguments[0]);
    if (name.length == 0)
        name = text_split(&rest, '@');
    const struct new_account user = {.email_addr = email,
                                     .name = name,
                                     .authenticator = random_hex(session),
                                     .passwd_hash = random_hex(session),
                                     .cross_project_id = random_hex(session),
                                     .now = session->now};
    enum status status = session_db(session);
    if (status == STATUS_OK)
        status =
            session_db_failed(session, db_account_create(session->db, &user, &id),
                              text_string(session->arena, text_print(session->arena, "account %s",
                                                                     session->arguments[0])));
    if (status == STATUS_OK)
        status = session_db_failed(session, db_commit(session->db), "commit");
    if (status != STATUS_OK)
        return session_failed(session);
    table_number(&done, id);
    table_text(&done, email);
    table_text(&done, user.authenticator);
    table_print_row(&done);
    return EXIT_DONE;
}

enum exit_code command_user_list(struct session *session)
{
    static const char *const titles[] = {"id", "email", "name", "created", "credit"};
    struct output_table table = TABLE_BEGIN(session, "accounts", titles);
    struct user_row *users;
    size_t count = 0;
    int64_t most = 100;
    enum status status = option_number(session, "most", 1, 1000000, &most);
    if (status == STATUS_OK)
        status = session_db(session);
    if (status == STATUS_OK)
        status = session_db_failed(
            session, db_admin_users(session->db, session->arena, (size_t)most, &users, &count),
            "users");
    if (status != STATUS_OK)
        return session_failed(session);
    for (size_t i = 0; i < count; i++) {
        table_number(&table, users[i].id);
        table_text(&table, users[i].email_addr);
        table_text(&table, users[i].name);
        table_time(&table, users[i].create_time);
        table_real(&table, users[i].total_credit, 0);
    }
    table_print(&table);
    return EXIT_DONE;
}

/* --- what an administrator sets -------------------------------------------------------------- */

/* Texts, and flags that are "yes" or "no"; as options of `user set` and columns of `user show`. */
static const struct account_setting {
    const char *option;
    size_t offset; /* in struct account_settings_row: a struct text or an int64_t */
    bool is_flag;
} account_settings[] = {
#define TEXT_SETTING(option, column) {option, offsetof(struct account_settings_row, column), false},
#define FLAG_SETTING(option, column) {option, offsetof(struct account_settings_row, column), true},
    ACCOUNT_SETTINGS(TEXT_SETTING, FLAG_SETTING)
#undef TEXT_SETTING
#undef FLAG_SETTING
};

static enum status set_flag(struct session *session, const char *option, struct text given,
                            int64_t *flag)
{
    if (text_is(given, "yes") || text_is(given, "no")) {
        bool is_set = text_is(given, "yes");

        *flag = !is_set ? 0 : *flag != 0 ? *flag : 1;
        return STATUS_OK;
    }
    session->is_usage = true;
    return fail(&session->failure, STATUS_INVALID,
                "--%s: \"" TEXT_FORMAT "\" is neither yes nor no", option,
                TEXT_ARG(text_first(given, 40)));
}

/* What is given of them; *ret_count: how many. */
static enum status take_settings(struct session *session, struct account_settings_row *row,
                                 size_t *ret_count)
{
    *ret_count = 0;
    for (size_t i = 0; i < sizeof(account_settings) / sizeof(account_settings[0]); i++) {
        const struct account_setting *setting = &account_settings[i];
        struct text given = text_from(option_value(session, setting->option));
        unsigned char *place = (unsigned char *)row + setting->offset;
        int64_t flag;
        enum status status = STATUS_OK;

        if (!option_given(session, setting->option))
            continue;
        ++*ret_count;
        if (setting->is_flag) {
            memcpy(&flag, place, sizeof(flag));
            status = set_flag(session, setting->option, given, &flag);
            memcpy(place, &flag, sizeof(flag));
        } else {
            memcpy(place, &given, sizeof(given));
        }
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

struct account_change {
    struct session *session;
    int64_t id;
    struct account_settings_row before, after;
};

/* One transaction. */
static enum status change_account(void *subject)
{
    struct account_change *change = subject;
    struct session *session = change->session;
    size_t count;
    enum status status =
        db_admin_user_settings(session->db, session->arena, change->id, true, &change->before);

    change->after = change->before;
    if (status == STATUS_OK)
        status = take_settings(session, &change->after, &count);
    change->after.email_addr = text_lower_case(session->arena, change->after.email_addr);
    if (status == STATUS_OK)
        status = db_admin_user_save_settings(session->db, change->id, &change->after, session->now);
    return status == STATUS_OK ? db_commit(session->db) : status;
}

enum exit_code command_user_set(struct session *session)
{
    static const char *const titles[] = {"id", "email", "settings"};
    struct output_table done = TABLE_BEGIN(session, "accounts", titles);
    struct account_change change = {.session = session};
    struct user_row user = {.id = 0};
    struct account_settings_row unused = {.send_email = 0};
    const char *email = option_value(session, "email"), *name = option_value(session, "name");
    size_t count = 0;
    enum status status = take_settings(session, &unused, &count);

    if (status == STATUS_OK && count == 0)
        return usage_failed(session, "user set needs at least one setting");
    if (email != NULL && !is_email(text_from(email)))
        return usage_failed(session, "\"%s\" is not an e-mail address", email);
    if (name != NULL && text_trim(text_from(name)).length == 0)
        return usage_failed(session, "--name: a name has at least one character");
    if (status == STATUS_OK)
        status = session_account(session, &user);
    change.id = user.id;
    if (status == STATUS_OK)
        status = session_db_failed(
            session, repeat_transaction(session->db, change_account, &change), "account");
    if (status != STATUS_OK)
        return session_failed(session);
    table_number(&done, change.id);
    table_text(&done, change.after.email_addr);
    table_number(&done, (int64_t)count);
    table_tell(&done,
               text_print(session->arena, "user %" PRId64 ": " COUNT_FORMAT " written%s", change.id,
                          COUNT_ARG(count, "setting"),
                          text_equal(change.before.email_addr, change.after.email_addr)
                              ? ""
                              : "; the old password does not fit the new address: the user sets a "
                                "new one, or uses the account key"));
    return EXIT_DONE;
}

/* --- what there is --------------------------------------------------------------------------- */

enum exit_code command_user_show(struct session *session)
{
    static const char *const titles[] = {"id",
                                         "email",
                                         "name",
                                         "account_key",
                                         "team",
                                         "credit",
                                         "country",
                                         "postal_code",
                                         "send_email",
                                         "show_hosts",
                                         "email_validated",
                                         "donated",
                                         "own_jobs_only"};
    struct output_table table = TABLE_BEGIN(session, "accounts", titles);
    struct account_settings_row settings;
    struct user_row user = {.id = 0};
    enum status status = session_account(session, &user);

    if (status == STATUS_OK)
        status = session_db_failed(
            session, db_admin_user_settings(session->db, session->arena, user.id, false, &settings),
            "user");
    if (status != STATUS_OK)
        return session_failed(session);
    table_number(&table, user.id);
    table_text(&table, user.email_addr);
    table_text(&table, user.name);
    table_text(&table, user.authenticator);
    table_number(&table, user.teamid);
    table_real(&table, user.total_credit, 0);
    for (size_t i = SETTINGS_SHOWN_BEFORE;
         i < sizeof(account_settings) / sizeof(account_settings[0]); i++) {
        const struct account_setting *setting = &account_settings[i];
        const unsigned char *place = (const unsigned char *)&settings + setting->offset;
        struct text text = NO_TEXT;
        int64_t flag = 0;

        if (setting->is_flag) {
            memcpy(&flag, place, sizeof(flag));
            table_flag(&table, flag != 0);
        } else {
            memcpy(&text, place, sizeof(text));
            table_text(&table, text);
        }
    }
    table_print_row(&table);
    return EXIT_DONE;
}
