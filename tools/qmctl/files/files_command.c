/* SPDX-License-Identifier: Apache-2.0 */
/* `qmctl files`: which host holds which file, and orders to hosts: to receive a file, to upload
 * one, to delete one. With a file database an order is kept there and repeated until it is done;
 * without one it goes out once, as a message to the host. */
#include "config/config.h"
#include "db/admin.h"
#include "db/files.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/crypto.h"
#include "server/base/shown.h"
#include "server/project/hierarchy.h"
#include "server/project/keys.h"
#include "server/submit/stage.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/confirm.h"
#include "tools/qmctl/session/db_admin_user.h"
#include "tools/qmctl/session/output.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/base/banned.h"

enum { GET_BYTES_MAX_STANDARD = 1000000000 };

static enum status files_open(struct session *session, struct db **ret_db)
{
    enum status status = session_config(session);
    return status == STATUS_OK ? db_files_open(session->config, ret_db, &session->failure) : status;
}

/* The same status, with words for the session's failure. */
static enum status files_failed(struct session *session, struct db *db, enum status status)
{
    return db_failed(db, status, "file database", &session->failure);
}

enum exit_code command_files_init(struct session *session)
{
    static const char *const titles[] = {"files_db_name"};
    struct output_table done = TABLE_BEGIN(session, "databases", titles);
    enum status status = session_config(session);
    if (status == STATUS_OK)
        status = db_admin_user_take(session);
    if (status == STATUS_OK)
        status = db_files_make(session->config, &session->failure);
    if (status != STATUS_OK)
        return session_failed(session);
    table_text(&done, session->config->files_db_name);
    table_tell(&done, text_print(session->arena, "the file database " TEXT_FORMAT " exists",
                                 TEXT_ARG(session->config->files_db_name)));
    return EXIT_DONE;
}

/* --- questions ------------------------------------------------------------------------------- */

static void print_holders(struct session *session, const struct host_file_row *rows, size_t count)
{
    static const char *const titles[] = {"host", "file", "bytes", "status", "first_seen"};
    struct output_table table = TABLE_BEGIN(session, "hosts", titles);
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
    struct output_table table = TABLE_BEGIN(session, "files", titles);
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
        shown_line(stderr, "there are more: --after %" PRId64, rows[count - 1].hostid);
    else if (is_cut)
        shown_line(stderr, "there are more: --most N");
    return EXIT_DONE;
}

/* --- orders ---------------------------------------------------------------------------------- */

static const char *action_word(int64_t action)
{
    return action == FILE_SEND ? "send" : action == FILE_GET ? "get" : "delete";
}

static bool has_arrived(struct session *session, struct text name, double bytes)
{
    const struct config *config = session->config;
    return config->upload_dir.length > 0 &&
           hierarchy_has_file(session->arena, config->upload_dir, name, config->uldl_dir_fanout,
                              bytes);
}

/* Ends those whose file is here: the host does not get the order again. */
static enum status end_arrived(struct session *session, struct db *db,
                               struct file_order_row *orders, size_t count)
{
    struct file_order_row *done = ARENA_ARRAY(session->arena, count, struct file_order_row);
    size_t done_count = 0;
    if (done == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        if (orders[i].action != FILE_GET || orders[i].ended > 0 ||
            !has_arrived(session, orders[i].name, orders[i].nbytes))
            continue;
        orders[i].ended = session->now;
        orders[i].outcome = FILE_OUTCOME_DONE;
        done[done_count++] = orders[i];
    }
    return done_count > 0 ? db_file_orders_save(db, session->arena, done, done_count) : STATUS_OK;
}

static void print_orders(struct session *session, const struct file_order_row *orders, size_t count)
{
    static const char *const titles[] = {"host",  "file",       "order", "state",
                                         "given", "first_sent", "sent",  "ended"};
    struct output_table table = TABLE_BEGIN(session, "orders", titles);
    for (size_t i = 0; i < count; i++) {
        const struct file_order_row *order = &orders[i];
        const char *state = file_outcome_word(order->outcome);
        if (order->outcome == FILE_OUTCOME_OPEN)
            state = order->delivered == 0 ? "waits" : "sent";
        table_number(&table, order->hostid);
        table_text(&table, order->name);
        table_text(&table, text_from(action_word(order->action)));
        table_text(&table, text_from(state));
        table_time(&table, order->created);
        table_time(&table, order->delivered);
        table_number(&table, order->tries);
        table_time(&table, order->ended);
    }
    table_print(&table);
}

enum exit_code command_files_orders(struct session *session)
{
    int64_t host = 0, most = 1000;
    struct file_order_row *orders = NULL;
    size_t count = 0;
    struct db *db = NULL;
    enum status status = option_number(session, "host", 1, INT64_MAX, &host);
    if (status == STATUS_OK)
        status = option_number(session, "most", 1, DB_FILES_MOST, &most);
    if (status == STATUS_OK)
        status = files_open(session, &db);
    if (status == STATUS_OK)
        status = db_file_orders_clean(db, session->now);
    if (status == STATUS_OK)
        status = db_file_orders(db, session->arena, host, (size_t)most, &orders, &count);
    if (status == STATUS_OK)
        status = end_arrived(session, db, orders, count);
    if (status == STATUS_OK)
        status = db_commit(db);
    status = files_failed(session, db, status);
    db_close(db);
    if (status != STATUS_OK)
        return session_failed(session);
    print_orders(session, orders, count);
    return EXIT_DONE;
}

/* --- new orders ------------------------------------------------------------------------------ */

/* Only a file that the host lists can be fetched or deleted, and it may come to list it. */
static enum status warn_if_not_listed(struct session *session, struct db *db,
                                      const struct file_order_row *order)
{
    struct host_file_row *rows;
    size_t count;
    enum status status = db_files_of_host(db, session->arena, order->hostid, &rows, &count);
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        if (rows[i].first_seen > 0 && text_equal(rows[i].name, order->name))
            return STATUS_OK;
    if (status == STATUS_OK)
        shown_line(stderr,
                   "host %" PRId64 " does not list " TEXT_FORMAT ": the order waits until it does",
                   order->hostid, TEXT_ARG(order->name));
    return status;
}

static enum status store_order(struct session *session, const struct file_order_row *order)
{
    struct db *db = NULL;
    enum status status = files_open(session, &db);
    if (status == STATUS_OK && order->action != FILE_SEND)
        status = files_failed(session, db, warn_if_not_listed(session, db, order));
    if (status == STATUS_OK)
        status = files_failed(session, db, db_file_orders_add(db, session->arena, order, 1));
    if (status == STATUS_OK)
        status = files_failed(session, db, db_commit(db));
    db_close(db);
    return status;
}

static enum status store_message(struct session *session, const struct file_order_row *order)
{
    struct text xml = order->xml;
    enum status status;
    if (!session->config->msg_to_host)
        return fail(&session->failure, STATUS_INVALID,
                    "neither files_db_name nor msg_to_host is set in config.xml");
    if (order->action == FILE_DELETE)
        xml = text_print(session->arena, "<delete_file_info>" TEXT_FORMAT "</delete_file_info>\n",
                         TEXT_ARG(order->name));
    status = session_db(session);
    if (status == STATUS_OK)
        status = session_db_failed(session,
                                   db_admin_message_add(session->db, order->hostid,
                                                        text_from(action_word(order->action)), xml,
                                                        session->now),
                                   "message");
    if (status == STATUS_OK)
        status = session_db_failed(session, db_commit(session->db), "message");
    return status;
}

static enum exit_code give_order(struct session *session, struct file_order_row *order)
{
    static const char *const titles[] = {"host", "order", "file"};
    struct output_table done = TABLE_BEGIN(session, "orders", titles);
    bool by_message =
        session->config->files_db_name.length == 0 || option_given(session, "message");
    enum status status = by_message ? store_message(session, order) : store_order(session, order);
    if (status != STATUS_OK)
        return session_failed(session);
    table_number(&done, order->hostid);
    table_text(&done, text_from(action_word(order->action)));
    table_text(&done, order->name);
    table_tell(&done,
               text_print(session->arena, "host %" PRId64 " gets the order to %s " TEXT_FORMAT,
                          order->hostid, action_word(order->action), TEXT_ARG(order->name)));
    return EXIT_DONE;
}

/* The host and the name; false with everything said. */
static bool begin_order(struct session *session, enum file_action action,
                        struct file_order_row *ret_order, enum exit_code *ret_code)
{
    struct file_order_row order = {
        .name = text_from(session->arguments[0]), .action = action, .created = session->now};
    enum status status = option_number(session, "host", 1, INT64_MAX, &order.hostid);
    if (status == STATUS_OK && order.hostid == 0) {
        *ret_code = usage_failed(session, "needs --host");
        return false;
    }
    if (status == STATUS_OK)
        status = session_config(session);
    if (status == STATUS_OK && action != FILE_SEND)
        status = file_name_check("file name", order.name, &session->failure);
    *ret_code = status == STATUS_OK ? EXIT_DONE : session_failed(session);
    *ret_order = order;
    return status == STATUS_OK;
}

enum exit_code command_files_delete(struct session *session)
{
    struct file_order_row order;
    enum exit_code code;

    if (!begin_order(session, FILE_DELETE, &order, &code))
        return code;
    code = confirm(session,
                   text_print(session->arena, "the file " TEXT_FORMAT " of host %" PRId64,
                              TEXT_ARG(order.name), order.hostid),
                   order.name);
    return code == EXIT_DONE ? give_order(session, &order) : code;
}

static enum exit_code send_file(struct session *session, struct stage *stage,
                                struct file_order_row *order)
{
    struct job_file file;
    struct buffer xml = buffer_in(session->arena);
    enum status status = stage_input(stage, order->name, false, &file, &session->failure);

    if (status != STATUS_OK)
        return session_failed(session);
    order->name = file.name;
    buffer_print(&xml, "<file_info>\n    <name>" TEXT_FORMAT "</name>\n    <url>",
                 TEXT_ARG(file.name));
    hierarchy_write(&xml, session->config->download_url, file.name,
                    session->config->uldl_dir_fanout);
    buffer_print(&xml,
                 "</url>\n    <md5_cksum>%s</md5_cksum>\n    <nbytes>%" PRId64
                 "</nbytes>\n    <sticky/>\n    <report_on_rpc/>\n</file_info>\n",
                 file.md5, file.bytes);
    order->xml = buffer_text(&xml);
    return give_order(session, order);
}

enum exit_code command_files_send(struct session *session)
{
    struct file_order_row order;
    enum exit_code code;

    if (!begin_order(session, FILE_SEND, &order, &code))
        return code;
    struct stage *stage = stage_create(session->arena, session->config);
    if (stage == NULL) {
        (void)fail(&session->failure, STATUS_NO_MEMORY, "no memory");
        return session_failed(session);
    }
    code = send_file(session, stage, &order);
    stage_end(stage, code == EXIT_DONE || session->failure.status == STATUS_DB_UNKNOWN);
    return code;
}

static enum status sign_upload(struct session *session, struct text claim,
                               struct text *ret_signature)
{
    char md5[MD5_HEX_SIZE];
    struct text key;
    enum status status =
        key_read(session->arena, session->config, "upload_private", &key, &session->failure);
    md5_hex(claim, NO_TEXT, md5);
    return status == STATUS_OK
               ? rsa_sign_md5(session->arena, key, md5, ret_signature, &session->failure)
               : status;
}

enum exit_code command_files_get(struct session *session)
{
    int64_t bytes = GET_BYTES_MAX_STANDARD;
    struct file_order_row order;
    struct text signature;
    enum exit_code code;
    if (!begin_order(session, FILE_GET, &order, &code))
        return code;
    const struct config *config = session->config;
    struct buffer xml = buffer_in(session->arena);
    enum status status = option_number(session, "max-bytes", 1, INT64_C(1000000000000000), &bytes);
    if (status == STATUS_OK && config->upload_url.length == 0)
        status = fail(&session->failure, STATUS_INVALID, "upload_url is not set");
    if (status == STATUS_OK && url_upload_fault(config->upload_url) != NULL)
        status = fail(&session->failure, STATUS_INVALID, "upload_url %s",
                      url_upload_fault(config->upload_url));
    if (status == STATUS_OK && has_arrived(session, order.name, 0))
        status = fail(&session->failure, STATUS_INVALID,
                      TEXT_FORMAT " already exists in upload_dir", TEXT_ARG(order.name));
    /* The upload handler takes only what this certificate names. */
    if (status == STATUS_OK)
        status = sign_upload(session,
                             text_print(session->arena,
                                        "<name>" TEXT_FORMAT "</name><max_nbytes>%" PRId64
                                        "</max_nbytes>",
                                        TEXT_ARG(order.name), bytes),
                             &signature);
    if (status != STATUS_OK)
        return session_failed(session);
    buffer_print(&xml,
                 "<file_info>\n    <name>" TEXT_FORMAT "</name>\n    <generated_locally/>\n"
                 "    <upload_when_present/>\n    <sticky/>\n    <report_on_rpc/>\n"
                 "    <max_nbytes>%" PRId64 "</max_nbytes>\n    <url>",
                 TEXT_ARG(order.name), bytes);
    buffer_add_xml(&xml, config->upload_url);
    buffer_print(
        &xml, "</url>\n    <xml_signature>\n" TEXT_FORMAT "\n    </xml_signature>\n</file_info>\n",
        TEXT_ARG(text_trim(signature)));
    order.xml = buffer_text(&xml);
    return give_order(session, &order);
}
