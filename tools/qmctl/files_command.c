/* SPDX-License-Identifier: Apache-2.0 */
/* Files on hosts: which host holds which. Orders are in orders_command.c. */
#include "db/files.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "tools/qmctl/commands.h"
#include "tools/qmctl/files_command.h"
#include "tools/qmctl/output.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/base/banned.h"

enum status files_open(struct session *session, struct db **ret_db)
{
    enum status status = session_config(session);
    return status == STATUS_OK ? db_files_open(session->config, ret_db, &session->failure) : status;
}

enum status files_failed(struct session *session, const struct db *db, enum status status)
{
    if (status == STATUS_OK)
        return status;
    return fail(&session->failure, status, "file database: %s%s%s", status_word(status),
                db == NULL || db_error(db)[0] == '\0' ? "" : ": ", db == NULL ? "" : db_error(db));
}

enum exit_code command_files_init(struct session *session)
{
    enum status status = session_config(session);
    if (status == STATUS_OK)
        status = db_files_make(session->config, &session->failure);
    if (status != STATUS_OK)
        return session_failed(session);
    printf("the file database " TEXT_FORMAT " is there\n",
           TEXT_ARG(session->config->files_db_name));
    return EXIT_DONE;
}

/* --- questions ------------------------------------------------------------------------------- */

static void print_holders(struct session *session, const struct host_file_row *rows, size_t count)
{
    static const char *const titles[] = {"host", "file", "bytes", "status", "first_seen"};
    struct output_table table = TABLE_BEGIN(session, titles);
    for (size_t i = 0; i < count; i++) {
        table_number(&table, rows[i].hostid);
        table_text(&table, rows[i].name);
        table_real(&table, rows[i].nbytes, 0);
        table_number(&table, rows[i].status);
        table_time(&table, rows[i].first_seen);
    }
    table_print(&table);
}

static void print_files(struct session *session, const struct host_file_row *rows, size_t count)
{
    static const char *const titles[] = {"host",       "file",      "bytes",
                                         "status",     "priority",  "expiry",
                                         "first_seen", "last_seen", "last_used"};
    struct output_table table = TABLE_BEGIN(session, titles);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].first_seen == 0) /* sent, never seen */
            continue;
        table_number(&table, rows[i].hostid);
        table_text(&table, rows[i].name);
        table_real(&table, rows[i].nbytes, 0);
        table_number(&table, rows[i].status);
        table_number(&table, rows[i].priority);
        table_time(&table, rows[i].expiry);
        table_time(&table, rows[i].first_seen);
        table_time(&table, rows[i].last_seen);
        table_time(&table, rows[i].last_used);
    }
    table_print(&table);
}

enum exit_code command_files(struct session *session)
{
    const char *file = option_value(session, "file");
    int64_t host = 0, most = 1000, after = 0;
    struct host_file_row *rows = NULL;
    size_t count = 0;
    struct db *db = NULL;
    enum status status = option_number(session, "host", 1, INT64_MAX, &host);
    if (status == STATUS_OK)
        status = option_number(session, "after", 0, INT64_MAX, &after);
    if (status == STATUS_OK)
        status = option_number(session, "most", 1, DB_FILES_MOST, &most);
    if (status == STATUS_OK && (host == 0) == (file == NULL))
        return usage_failed(session, "files needs --host or --file");
    if (status == STATUS_OK)
        status = files_open(session, &db);
    if (status == STATUS_OK)
        status = files_failed(session, db,
                              host != 0 ? db_files_of_host(db, session->arena, host, &rows, &count)
                                        : db_files_holders(db, session->arena, text_from(file),
                                                           after, (size_t)most + 1, &rows, &count));
    db_close(db);
    if (status != STATUS_OK)
        return session_failed(session);
    bool is_cut = count > (size_t)most;
    if (is_cut)
        count = (size_t)most;
    if (host == 0)
        print_holders(session, rows, count);
    else
        print_files(session, rows, count);
    if (is_cut && host == 0)
        fprintf(stderr, "there are more: --after %" PRId64 "\n", rows[count - 1].hostid);
    else if (is_cut)
        fprintf(stderr, "there are more: --most N\n");
    return EXIT_DONE;
}
