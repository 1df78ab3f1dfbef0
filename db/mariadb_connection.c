/* SPDX-License-Identifier: Apache-2.0 */
/* Connections: where they go, how a session is set up, opening again and closing. The library never
 * reconnects: locks and the open transaction would be gone without anybody's knowing. */
#include "db/mariadb_internal.h"

#include "config/config.h"
#include "db/admin.h"
#include "db/adoption_rows.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/random.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/base/banned.h"

/* Seconds. A database that is stopped or cut off answers nothing and refuses nothing: a request on
 * an open connection has waited ANSWER_TIMEOUT_S when it notices, and CONNECT_TIMEOUT_S more when
 * the project is said to be down. No statement of a request takes so long; an administrator's goes
 * through whole tables. */
#define CONNECT_TIMEOUT_S     5
#define ANSWER_TIMEOUT_S      20
#define ADMIN_TIMEOUT_S       600
#define FILES_TIMEOUT_S       5    /* of the file database: no request waits long for it */
#define LOOK_TIMEOUT_S        5    /* of mariadb_open_briefly */
#define TABLE_LOCK_WAIT_S     3    /* for a whole table, or database; less than LOOK_TIMEOUT_S */
#define TABLE_LOCK_ADMIN_S    10   /* likewise, of an administrator's statement */
#define IDLE_WRITE_S          "60" /* as long as a lease of db/lease.h */
#define SCRATCH_BYTES_MAX     ((size_t)256 * 1024 * 1024)
#define SERVER_VERSION_OLDEST 100200 /* MariaDB 10.2: array binding */
#define SERVER_VERSION_NOWAIT 100300 /* MariaDB 10.3: a lock may be waited for 0 s */
#define SERVER_VERSION_IDLE   100300 /* MariaDB 10.3: idle transactions may be undone */

bool db_is_cluster(const struct db *db)
{
    return db->traits.is_cluster;
}

const struct actual_columns *db_actual_columns(const struct db *db)
{
    return &db->traits.columns;
}

static void start_library(void)
{
    (void)mysql_library_init(0, NULL, NULL);
}

/* Whatever the server's settings are: lists and answers come whole, and no statement is refused for
 * its kind. */
#define WHOLE_ANSWERS                                               \
    "sql_select_limit = 18446744073709551615, sql_big_selects = 1," \
    " sql_safe_updates = 0, group_concat_max_len = 1048576"

static bool undoes_idle(const struct db *db)
{
    return db->undoes_idle && mysql_get_server_version(db->mysql) >= SERVER_VERSION_IDLE;
}

static enum status set_session(struct db *db)
{
    unsigned flags = 0;
    char sql[512];
    enum status status;

    db->locks = LOCKS_WAITED_FOR;
    (void)snprintf(sql, sizeof(sql),
                   "SET SESSION autocommit = 0, tx_isolation = 'READ-COMMITTED',"
                   " sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',"
                   " innodb_lock_wait_timeout = " LOCK_WAIT_S ", lock_wait_timeout = %d,"
                   " character_set_results = NULL%s, " WHOLE_ANSWERS,
                   db->answer_timeout > ANSWER_TIMEOUT_S ? TABLE_LOCK_ADMIN_S : TABLE_LOCK_WAIT_S,
                   undoes_idle(db) ? ", idle_write_transaction_timeout = " IDLE_WRITE_S : "");
    status = db_run_text(db, sql);
    if (status != STATUS_OK)
        return status;
    (void)mariadb_get_infov(db->mysql, MARIADB_CONNECTION_SERVER_STATUS, &flags);
    if ((flags & SERVER_STATUS_AUTOCOMMIT) == 0)
        return STATUS_OK;
    /* A proxy between us may keep session settings to itself. */
    mariadb_note_own(db, "the session commits by itself, although autocommit = 0 was set");
    return STATUS_DB_REFUSED;
}

/* A server without a certificate of this authority for this name is not spoken to. */
static void encrypt(struct db *db)
{
    my_bool yes = 1;

    (void)mysql_optionsv(db->mysql, MYSQL_OPT_SSL_ENFORCE, &yes);
    (void)mysql_optionsv(db->mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &yes);
    (void)mysql_optionsv(db->mysql, MYSQL_OPT_SSL_CA, db->tls_ca);
    if (db->tls_cert != NULL)
        (void)mysql_optionsv(db->mysql, MYSQL_OPT_SSL_CERT, db->tls_cert);
    if (db->tls_key != NULL)
        (void)mysql_optionsv(db->mysql, MYSQL_OPT_SSL_KEY, db->tls_key);
}

static enum status connect_to_server(struct db *db)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    unsigned no = 0;
    uint64_t begun_ns;
    bool failed;

    (void)pthread_once(&once, start_library);
    db->mysql = mysql_init(NULL);
    if (db->mysql == NULL)
        return mariadb_lacks_memory(db);
    (void)mysql_optionsv(db->mysql, MYSQL_OPT_CONNECT_TIMEOUT, &db->connect_timeout);
    (void)mysql_optionsv(db->mysql, MYSQL_OPT_READ_TIMEOUT, &db->answer_timeout);
    (void)mysql_optionsv(db->mysql, MYSQL_OPT_WRITE_TIMEOUT, &db->answer_timeout);
    (void)mysql_optionsv(db->mysql, MYSQL_OPT_LOCAL_INFILE, &no);
    (void)mysql_optionsv(db->mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    if (db->tls_ca != NULL)
        encrypt(db);
    begun_ns = clock_ns();
    failed = mysql_real_connect(db->mysql, db->host, db->user, db->password,
                                db->with_database ? db->name : NULL, db->port, db->socket,
                                CLIENT_FOUND_ROWS) == NULL;
    mariadb_add_wait(db, begun_ns);
    if (failed) {
        enum status status = mariadb_note_connection(db, "connecting", false);

        /* Whether the server may be asked again is for db_error_status; who we are is not. */
        return status == STATUS_DB_BUG ? STATUS_DB_GONE : status;
    }
    if (strstr(mysql_get_server_info(db->mysql), "MariaDB") == NULL ||
        mysql_get_server_version(db->mysql) < SERVER_VERSION_OLDEST) {
        mariadb_note_own(db, "the database server is %s; MariaDB 10.2 or later is needed",
                         mysql_get_server_info(db->mysql));
        return STATUS_DB_REFUSED;
    }
    return set_session(db);
}

/* BOINC names columns' character sets nowhere; what the database has is what we send. */
static enum status set_character_set(struct db *db)
{
    char sql[160];

    (void)snprintf(sql, sizeof(sql),
                   "SET SESSION character_set_client = %s, character_set_connection = %s",
                   db->traits.character_set, db->traits.character_set);
    return db_run_text(db, sql);
}

/* Statements of the set-up are not those of a request. What it had to wait for, and what went wrong
 * before, is its own all the same. */
static void forget_set_up(struct db *db)
{
    struct db_count count = db->count;

    count.statements = count.round_trips = count.commits = count.prepares = 0;
    db->count = count;
}

static enum status refuse_writes(struct db *db)
{
    return db_run_text(db, "SET SESSION TRANSACTION READ ONLY");
}

/* Before an upgrade. */
static bool lacks_variants(const struct db *db)
{
    return db->inspects && !actual_table_exists(&db->traits.columns, "qm_result_variant");
}

static enum status open_connection(struct db *db)
{
    struct failure failure = {0};
    enum status status;

    database_traits_free(&db->traits);
    status = connect_to_server(db);

    if (status == STATUS_OK && db->with_database) {
        status = database_inspect(db, db->inspects, &db->traits, &failure);
        db->traits.columns.without_derived = !db->has_buda_apps || lacks_variants(db);
        if (failure.text[0] != '\0')
            (void)snprintf(db->error, sizeof(db->error), "%s", failure.text);
        if (status == STATUS_OK && db->inspects)
            status = set_character_set(db);
        if (status == STATUS_OK)
            status = db_commit(db);
        if (status == STATUS_OK && db->reads_only)
            status = refuse_writes(db);
        db->connection = (int64_t)random_u64();
        db->keeps_token = mariadb_wants_token(db);
        db->can_refuse_to_wait = mysql_get_server_version(db->mysql) >= SERVER_VERSION_NOWAIT;
        db->can_send_ahead = status == STATUS_OK && db->inspects && mariadb_can_send_ahead(db);
        if (status == STATUS_OK)
            status = mariadb_prepare_ahead(db);
        forget_set_up(db);
    }
    if (status != STATUS_OK)
        mariadb_disconnect(db);
    return status;
}

/* Where a database is. */
struct place {
    struct text host, socket, user, password, name;
    struct text tls_ca, tls_cert, tls_key;
    unsigned connect_timeout, answer_timeout; /* s */
    bool is_admin, has_buda_apps;
};

static struct place project_place(const struct config *config)
{
    return (struct place){.host = config->db_host,
                          .socket = config->db_socket,
                          .user = config->db_user,
                          .password = config->db_passwd,
                          .name = config->db_name,
                          .tls_ca = config->db_tls_ca,
                          .tls_cert = config->db_tls_cert,
                          .tls_key = config->db_tls_key,
                          .has_buda_apps = config->has_buda_apps,
                          .connect_timeout = CONNECT_TIMEOUT_S,
                          .answer_timeout = ANSWER_TIMEOUT_S};
}

/* What is not said is as with the project's database. */
static struct place files_place(const struct config *config)
{
    struct place place = project_place(config);

    if (config->files_db_host.length > 0) {
        place.host = config->files_db_host;
        place.socket = NO_TEXT;
    }
    if (config->files_db_socket.length > 0)
        place.socket = config->files_db_socket;
    if (config->files_db_user.length > 0) {
        place.user = config->files_db_user;
        place.password = config->files_db_passwd;
    }
    place.name = config->files_db_name;
    place.connect_timeout = place.answer_timeout = FILES_TIMEOUT_S;
    return place;
}

/* NULL stays NULL: the library's own choice. */
static bool take(struct text text, char **ret_string)
{
    if (text.length == 0)
        return true;
    *ret_string = text_keep(text);
    return *ret_string != NULL;
}

/* As BOINC's programs read db_host from the same config.xml: it may be host:port, and the machine's
 * own name stands for its local socket. */
static enum status take_place(struct db *db, const struct place *place)
{
    const struct text local_host = TEXT("localhost"); /* by its socket */
    struct text host = place->host;
    char own[256] = "";
    int64_t port = 0;
    size_t colon = text_find(host, TEXT(":"));

    if (colon < host.length &&
        text_to_i64((struct text){host.at + colon + 1, host.length - colon - 1}, &port) &&
        port > 0 && port < 65536)
        host.length = colon;
    (void)gethostname(own, sizeof(own) - 1);
    if (host.length == 0 || (port == 0 && text_equal_nocase(host, text_from(own))))
        host = local_host;
    db->port = (unsigned)port;
    db->connect_timeout = place->connect_timeout;
    db->answer_timeout = place->answer_timeout;
    db->host = text_keep(host);
    db->name = text_keep(place->name);
    if (db->host == NULL || db->name == NULL || !take(place->socket, &db->socket) ||
        !take(place->user, &db->user) || !take(place->password, &db->password))
        return STATUS_NO_MEMORY;
    if (!text_equal(host, local_host) &&
        (!take(place->tls_ca, &db->tls_ca) || !take(place->tls_cert, &db->tls_cert) ||
         !take(place->tls_key, &db->tls_key)))
        return STATUS_NO_MEMORY;
    return STATUS_OK;
}

/* `ret_error` may be NULL. */
static enum status open_db(const struct place *place, bool with_database, bool inspects,
                           struct db **ret_db, unsigned *ret_error, struct failure *failure)
{
    struct db *db = calloc(1, sizeof(*db));
    enum status status = STATUS_NO_MEMORY;

    if (db == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    db->magic = DB_MAGIC;
    db->turn = 1;
    db->with_database = with_database;
    db->is_admin = place->is_admin;
    db->undoes_idle = !place->is_admin;
    db->has_buda_apps = place->has_buda_apps;
    db->inspects = inspects;
    db->scratch = arena_create(SCRATCH_BYTES_MAX);
    db->tail.arena = arena_create(SCRATCH_BYTES_MAX);
    if (db->scratch != NULL && db->tail.arena != NULL)
        status = take_place(db, place);
    if (status == STATUS_OK && with_database && db->name[0] == '\0') {
        status = STATUS_DB_REFUSED;
        mariadb_note_own(db, "the option db_name is not set");
    }
    if (status == STATUS_OK)
        status = open_connection(db);
    if (status != STATUS_OK) {
        (void)fail(failure, status, "database: %s", db->error);
        if (ret_error != NULL)
            *ret_error = db->error_number;
        db_close(db);
        return status;
    }
    *ret_db = db;
    return STATUS_OK;
}

enum status db_open(const struct config *config, struct db **ret_db, struct failure *failure)
{
    struct place place = project_place(config);

    return open_db(&place, true, true, ret_db, NULL, failure);
}

enum status mariadb_open_briefly(const struct config *config, struct db **ret_db,
                                 unsigned *ret_error, struct failure *failure)
{
    struct place place = project_place(config);

    place.answer_timeout = LOOK_TIMEOUT_S;
    return open_db(&place, true, true, ret_db, ret_error, failure);
}

enum status db_admin_open(const struct config *config, struct db **ret_db, struct failure *failure)
{
    struct place place = project_place(config);

    place.is_admin = true;
    place.answer_timeout = ADMIN_TIMEOUT_S;
    return open_db(&place, true, true, ret_db, NULL, failure);
}

enum status db_adoption_open(const struct config *config, struct db **ret_db,
                             struct failure *failure)
{
    struct place place = project_place(config);
    enum status status;

    place.is_admin = true;
    place.answer_timeout = ADMIN_TIMEOUT_S;
    status = open_db(&place, true, false, ret_db, NULL, failure);
    if (status != STATUS_OK)
        return status;
    status = db_read_only(*ret_db);
    if (status != STATUS_OK) {
        (void)fail(failure, status, "database: %s", (*ret_db)->error);
        db_close(*ret_db);
        *ret_db = NULL;
    }
    return status;
}

enum status db_connect(const struct config *config, struct db **ret_db, struct failure *failure)
{
    struct place place = project_place(config);

    place.answer_timeout = ADMIN_TIMEOUT_S; /* an upgrade changes whole tables */
    return open_db(&place, false, false, ret_db, NULL, failure);
}

enum status db_connect_files(const struct config *config, bool with_database, struct db **ret_db,
                             struct failure *failure)
{
    struct place place = files_place(config);

    return open_db(&place, with_database, false, ret_db, NULL, failure);
}

enum status db_reopen(struct db *db)
{
    bool was_refused = db->was_refused;
    enum status status;

    must(db->magic == DB_MAGIC);
    mariadb_disconnect(db);
    status = open_connection(db);
    if (status != STATUS_OK)
        return status;
    db->was_refused = false;
    if (!was_refused || !db->traits.is_read_only)
        return STATUS_OK;
    mariadb_note_own(db, "the database server is still read-only");
    mariadb_disconnect(db);
    return STATUS_DB_GONE;
}

/* A row in use is younger than a day by far, as it is written anew twice a day: rows that are older
 * meet none that a transaction has changed and not yet committed. */
#define KEPT_FOR_S 86400
enum { FORGETTING_ONE_IN = 64, FORGOTTEN_MOST = 256 };

/* The rows are found without locks and deleted by their numbers: a DELETE that searches would wait
 * for the youngest row as well. */
static enum status delete_connections(struct db *db)
{
    struct connection_forget_values values[FORGOTTEN_MOST];
    size_t count = 0;
    struct id_cursor rows;
    struct id_row row;
    enum status status =
        DB_QUERY(db, connections_old, NULL, &rows, .age = KEPT_FOR_S, .most = FORGOTTEN_MOST);

    if (status != STATUS_OK)
        return status;
    while (count < FORGOTTEN_MOST && DB_NEXT(&rows, &row))
        values[count++] = (struct connection_forget_values){.id = row.id, .age = KEPT_FOR_S};
    status = DB_END(&rows);
    if (status == STATUS_OK)
        status = DB_RUN_BULK(db, connection_forget, values, count, NULL);
    return status == STATUS_OK ? db_commit(db) : status;
}

/* Connections that ended leave their rows behind, one per request where each request is a process
 * of its own. One in some that are closed deletes old rows, more of them than have been closed
 * since; what becomes of it matters to nobody. */
static void forget_connections_of_others(struct db *db)
{
    if (!db->keeps_token || (uint64_t)db->connection % FORGETTING_ONE_IN != 0 ||
        db_rollback(db) != STATUS_OK)
        return;
    db->keeps_token = false; /* not for this */
    if (delete_connections(db) != STATUS_OK)
        (void)db_rollback(db);
}

enum status db_read_only(struct db *db)
{
    enum status status = db_rollback(db);

    must(db->magic == DB_MAGIC);
    db->reads_only = true;
    db->keeps_token = false;
    mariadb_forget_prepared(db); /* they lock what they read */
    return status == STATUS_OK ? refuse_writes(db) : status;
}

enum status db_undo_idle(struct db *db)
{
    must(db->magic == DB_MAGIC);
    if (db->undoes_idle)
        return STATUS_OK;
    db->undoes_idle = true;
    return undoes_idle(db)
               ? db_run_text(db, "SET SESSION idle_write_transaction_timeout = " IDLE_WRITE_S)
               : STATUS_OK;
}

void db_close(struct db *db)
{
    if (db == NULL)
        return;
    must(db->magic == DB_MAGIC);
    forget_connections_of_others(db);
    mariadb_disconnect(db);
    database_traits_free(&db->traits);
    arena_destroy(db->scratch);
    arena_destroy(db->tail.arena);
    free(db->host);
    free(db->socket);
    free(db->user);
    free(db->password);
    free(db->name);
    free(db->tls_ca);
    free(db->tls_cert);
    free(db->tls_key);
    db->magic = 0;
    free(db);
}

const char *db_library_version(void)
{
    return mysql_get_client_info();
}
