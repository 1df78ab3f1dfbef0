/* SPDX-License-Identifier: Apache-2.0 */
/* qmctl deploy mariadb: the rights of the user by which servers, and this program, use the
 * database. They are printed for an administrator of the database, or applied as one; then it is
 * tried whether a server can work. */
#include "config/config.h"
#include "db/db.h"
#include "db/grants.h"
#include "server/base/arena.h"
#include "server/base/shown.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/db_admin_user.h"
#include "tools/qmctl/session/output.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { GRANTEES_MAX = 3 };

struct grants {
    struct db_grant items[GRANTEES_MAX * DB_GRANTS_MAX];
    size_t count;
};

/* As the database sees a connection by its Unix socket, or from this machine to itself. */
static bool is_local(struct text host)
{
    char own[256] = "";

    (void)gethostname(own, sizeof(own) - 1);
    host = text_first(host, text_find(host, TEXT(":")));
    return host.length == 0 || text_is(host, "localhost") || text_is(host, "127.0.0.1") ||
           text_equal_nocase(host, text_from(own));
}

static enum status find_host(struct session *session, struct text db_host, struct text *ret_host)
{
    *ret_host = text_from(option_value(session, "from"));
    if (ret_host->length > 0)
        return STATUS_OK;
    *ret_host = TEXT("localhost");
    if (is_local(db_host))
        return STATUS_OK;
    session->is_usage = true;
    return fail(&session->failure, STATUS_INVALID,
                "the database is at " TEXT_FORMAT
                ": give --from the name or address of this machine as the database sees it",
                TEXT_ARG(db_host));
}

static enum status add_database(struct session *session, const struct db_grantee *grantee,
                                struct text database, struct grants *grants)
{
    if (grantee->user.length == 0) {
        session->is_usage = true;
        return fail(&session->failure, STATUS_INVALID,
                    "config.xml has no db_user, so a server connects as the user who runs it: name "
                    "that user with --user");
    }
    grants->count +=
        db_grants_make(session->arena, grantee, database, &grants->items[grants->count]);
    return STATUS_OK;
}

/* A user of its own for the process that takes jobs, if config.xml names one. */
static void add_submission(struct session *session, struct text host, struct grants *grants)
{
    const struct config *config = session->config;
    const struct db_grantee grantee = {
        .user = config->submission_db_user, .password = config->submission_db_passwd, .host = host};

    if (config->submission && grantee.user.length > 0)
        grants->count += db_grants_make_submission(session->arena, &grantee, config->db_name,
                                                   &grants->items[grants->count]);
}

/* For the project's database, submission, and the file database if there is one. */
static enum status make_grants(struct session *session, struct grants *grants)
{
    const struct config *config = session->config;
    struct text given = text_from(option_value(session, "user"));
    struct db_grantee grantee = {.user = given.length > 0 ? given : config->db_user,
                                 .password = given.length > 0 ? NO_TEXT : config->db_passwd};
    enum status status = find_host(session, config->db_host, &grantee.host);

    grants->count = 0;
    if (status == STATUS_OK)
        status = add_database(session, &grantee, config->db_name, grants);
    if (status == STATUS_OK)
        add_submission(session, grantee.host, grants);
    if (status != STATUS_OK || config->files_db_name.length == 0)
        return status;
    if (config->files_db_user.length > 0) {
        grantee.user = config->files_db_user;
        grantee.password = config->files_db_passwd;
    }
    if (config->files_db_host.length > 0)
        status = find_host(session, config->files_db_host, &grantee.host);
    return status == STATUS_OK ? add_database(session, &grantee, config->files_db_name, grants)
                               : status;
}

/* For people as they would type it. */
static void print_sql(struct session *session, const struct grants *grants)
{
    static const char *const titles[] = {"sql"};
    struct output_table table = TABLE_BEGIN(session, "statements", titles);

    for (size_t i = 0; i < grants->count; i++) {
        if (session->form == FORM_TEXT)
            shown_line(stdout, TEXT_FORMAT ";", TEXT_ARG(grants->items[i].sql));
        else
            table_words(&table, grants->items[i].sql);
    }
    if (session->form != FORM_TEXT)
        table_print(&table);
}

static void print_done(struct session *session, const struct grants *grants)
{
    static const char *const titles[] = {"granted"};
    struct output_table table = TABLE_BEGIN(session, "grants", titles);

    for (size_t i = 0; i < grants->count; i++)
        table_words(&table, grants->items[i].words);
    table_print(&table);
}

/* A user without a password is known by who he is, so that nobody else can try. */
static enum exit_code try_it(struct session *session)
{
    struct failure failure = {0};
    enum db_trouble trouble;

    if (option_given(session, "user") || session->config->db_passwd.length == 0) {
        shown_line(stderr,
                   "qmctl: not tested: only that user of the system can; as that user, run qmctl "
                   "status");
        return EXIT_DONE;
    }
    trouble = db_examine(session->config, NULL, &failure);
    if (trouble == DB_TROUBLE_NONE)
        return EXIT_DONE;
    shown_line(stderr, "qmctl: granted, but the database %s: %s", db_trouble_words[trouble].words,
               failure.text);
    if (trouble == DB_TROUBLE_LOGIN)
        fputs("qmctl: the user already existed and has a different password\n", stderr);
    return EXIT_FAILED;
}

enum exit_code command_deploy_mariadb(struct session *session)
{
    struct config *admin = NULL;
    struct grants grants;
    enum status status = session_config(session);

    if (status == STATUS_OK)
        status = make_grants(session, &grants);
    if (status != STATUS_OK)
        return session_failed(session);
    if (!option_given(session, "apply")) {
        print_sql(session, &grants);
        return EXIT_DONE;
    }
    status = db_admin_user_config(session, &admin);
    if (status == STATUS_OK)
        status = db_grants_apply(admin, grants.items, grants.count, &session->failure);
    config_release(admin);
    if (status != STATUS_OK)
        return session_failed(session);
    print_done(session, &grants);
    return try_it(session);
}
