/* SPDX-License-Identifier: Apache-2.0 */
/* Accounts. A new one has a random key and no password: whoever has the key is the user. */
#include "db/admin.h"
#include "server/base/arena.h"
#include "server/base/random.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/output.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/base/banned.h"

#define EMAIL_MAX 190 /* bytes: the column is unique and indexed */

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
    table_tell(&done, text_print(session->arena, "user %" PRId64 "\naccount key " TEXT_FORMAT, id,
                                 TEXT_ARG(user.authenticator)));
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

enum exit_code command_user_show(struct session *session)
{
    static const char *const titles[] = {"id", "email", "name", "account_key", "team", "credit"};
    struct output_table table = TABLE_BEGIN(session, "accounts", titles);
    struct user_row user = {.id = 0};
    int64_t id = 0;
    enum status status = option_number(session, "id", 1, INT64_MAX, &id);
    if (status == STATUS_OK && id == 0 && session->argument_count == 0)
        return usage_failed(session, "user show needs an e-mail address or --id");
    if (status == STATUS_OK)
        status = session_db(session);
    if (status == STATUS_OK)
        status = db_admin_user_find(
            session->db, session->arena,
            session->argument_count > 0 ? text_from(session->arguments[0]) : NO_TEXT, id, &user);
    if (status == STATUS_NOT_FOUND)
        (void)fail(&session->failure, status, "there is no such account");
    if (session_db_failed(session, status, "user") != STATUS_OK)
        return session_failed(session);
    table_number(&table, user.id);
    table_text(&table, user.email_addr);
    table_text(&table, user.name);
    table_text(&table, user.authenticator);
    table_number(&table, user.teamid);
    table_real(&table, user.total_credit, 0);
    table_tell(&table, text_print(session->arena,
                                  "id           %" PRId64 "\nemail        " TEXT_FORMAT
                                  "\nname         " TEXT_FORMAT "\naccount key  " TEXT_FORMAT
                                  "\nteam         %" PRId64 "\ncredit       %.0f",
                                  user.id, TEXT_ARG(user.email_addr), TEXT_ARG(user.name),
                                  TEXT_ARG(user.authenticator), user.teamid, user.total_credit));
    return EXIT_DONE;
}
