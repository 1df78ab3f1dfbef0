/* SPDX-License-Identifier: Apache-2.0 */
/* A yardstick, no scheduler: a FastCGI program that does for each request what any server of this
 * kind must do in the database, in one transaction, and nothing else. It locks and reads the host
 * and the workunits, changes results, workunits, host and guard row by lists, and commits; then it
 * answers with as many bytes as the server that it is compared with. It decides nothing: jobs are
 * given out by their ids, one after the other, and who asks is believed.
 *
 * Rows are those of tools/bench: result N is the only one of workunit N and is called job_N_0;
 * hosts 1 to HOSTS are there. The program uses the client libraries alone and nothing of the
 * server. */
#include <argp.h>
#include <fcgiapp.h>
#include <inttypes.h>
#include <mysql.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "server/base/banned.h"

enum {
    LIST_MAX = 64,
    VALUES_MAX = LIST_MAX + 8,
    BODY_MAX = 1 << 20,
    REPLY_MAX = 1 << 20,
    BACKLOG = 4096
};

static struct {
    const char *listen, *db_socket, *db_name;
    long threads, jobs, bytes, hosts;
    int socket;
    pthread_mutex_t accept;
    _Atomic int64_t next_job, next_host;
} stub = {.threads = 8, .hosts = 2000, .accept = PTHREAD_MUTEX_INITIALIZER, .next_job = 1};

struct connection {
    MYSQL *mysql;
    /* By the length of the list. */
    MYSQL_STMT *host_lock, *host_save, *guard, *jobs_lock[LIST_MAX + 1], *jobs_send[LIST_MAX + 1],
        *workunits_due[LIST_MAX + 1], *reports_lock[LIST_MAX + 1], *reports_save[LIST_MAX + 1];
    char body[BODY_MAX + 1], reply[REPLY_MAX];
    size_t reply_length;
};

_Noreturn static void give_up(const char *what, const char *why)
{
    fprintf(stderr, "qmstub: %s: %s\n", what, why);
    exit(1);
}

/* `text` with its one %s replaced by as many question marks as the list is long. */
static MYSQL_STMT *prepare(struct connection *connection, MYSQL_STMT **kept, const char *before,
                           size_t list, const char *after)
{
    char sql[4096], marks[LIST_MAX * 2 + 1] = "";

    if (*kept != NULL)
        return *kept;
    for (size_t i = 0; i < list; i++)
        memcpy(marks + 2 * i, i + 1 < list ? "?," : "?", i + 1 < list ? 3 : 2);
    snprintf(sql, sizeof(sql), "%s%s%s", before, marks, after);
    *kept = mysql_stmt_init(connection->mysql);
    if (*kept == NULL || mysql_stmt_prepare(*kept, sql, strlen(sql)) != 0)
        give_up(sql, *kept == NULL ? "no memory" : mysql_stmt_error(*kept));
    return *kept;
}

static void run(MYSQL_STMT *statement, const int64_t *values, size_t count)
{
    MYSQL_BIND binds[VALUES_MAX] = {0};
    int64_t copies[VALUES_MAX];

    memcpy(copies, values, count * sizeof(*values));
    for (size_t i = 0; i < count; i++) {
        binds[i].buffer_type = MYSQL_TYPE_LONGLONG;
        binds[i].buffer = &copies[i];
    }
    if (mysql_stmt_bind_param(statement, binds) != 0 || mysql_stmt_execute(statement) != 0 ||
        (mysql_stmt_field_count(statement) > 0 && mysql_stmt_store_result(statement) != 0))
        give_up("statement", mysql_stmt_error(statement));
    mysql_stmt_free_result(statement);
}

static void run_list(MYSQL_STMT *statement, const int64_t *values, size_t count,
                     const int64_t *list, size_t length)
{
    int64_t all[VALUES_MAX];

    if (count > 0)
        memcpy(all, values, count * sizeof(*values));
    memcpy(all + count, list, length * sizeof(*list));
    run(statement, all, count + length);
}

static void take_reports(struct connection *c, const int64_t *ids, size_t count, int64_t now)
{
    run_list(
        prepare(
            c, &c->reports_lock[count],
            "SELECT result.id, hostid, server_state, outcome, result.appid, result.app_version_id,"
            " sent_time, transition_time FROM result JOIN workunit ON workunit.id = workunitid"
            " WHERE result.id IN (",
            count, ") FOR UPDATE"),
        NULL, 0, ids, count);
    run_list(prepare(c, &c->reports_save[count],
                     "UPDATE result SET server_state = 5, outcome = 1, client_state = 5,"
                     " cpu_time = 3600, elapsed_time = 3650, exit_status = 0, stderr_out ="
                     " '<core_client_version>8.0.2</core_client_version>', received_time = ?"
                     " WHERE id IN (",
                     count, ")"),
             &now, 1, ids, count);
    run_list(prepare(c, &c->workunits_due[count],
                     "UPDATE workunit SET transition_time = ? WHERE id IN (", count, ")"),
             &now, 1, ids, count);
}

static void give_jobs(struct connection *c, const int64_t *ids, size_t count, int64_t host,
                      int64_t user, int64_t now)
{
    run_list(prepare(c, &c->jobs_lock[count],
                     "SELECT workunit.id, result.id, server_state, error_mask, canonical_resultid,"
                     " transition_time FROM workunit JOIN result ON workunitid = workunit.id"
                     " WHERE workunit.id IN (",
                     count, ") FOR UPDATE"),
             NULL, 0, ids, count);
    run_list(prepare(c, &c->jobs_send[count],
                     "UPDATE result SET server_state = 4, hostid = ?, userid = ?, sent_time = ?,"
                     " report_deadline = ?, app_version_id = 1, flops_estimate = 4e9 WHERE id IN (",
                     count, ")"),
             (int64_t[]){host, user, now, now + 604800}, 4, ids, count);
    run_list(prepare(c, &c->workunits_due[count],
                     "UPDATE workunit SET transition_time = ? WHERE id IN (", count, ")"),
             (int64_t[]){now + 604800}, 1, ids, count);
}

static void transact(struct connection *c, int64_t host, const int64_t *reports,
                     size_t report_count, const int64_t *jobs, size_t job_count)
{
    int64_t now = (int64_t)time(NULL), user = 1 + (host - 1) % 200;

    run(prepare(
            c, &c->host_lock,
            "SELECT id, userid, rpc_seqno, rpc_time, p_fpops, p_ncpus, m_nbytes, d_free, on_frac,"
            " active_frac, duration_correction_factor, max_results_day, host_cpid FROM host"
            " WHERE id = ? FOR UPDATE",
            0, ""),
        &host, 1);
    if (report_count > 0)
        take_reports(c, reports, report_count, now);
    if (job_count > 0)
        give_jobs(c, jobs, job_count, host, user, now);
    run(prepare(
            c, &c->host_save,
            "UPDATE host SET rpc_seqno = rpc_seqno + 1, rpc_time = ?, d_free = 5e11, on_frac = 1,"
            " p_fpops = 4e9, last_ip_addr = '10.0.0.1' WHERE id = ?",
            0, ""),
        (int64_t[]){now, host}, 2);
    run(prepare(c, &c->guard,
                "INSERT INTO qm_host (hostid, rpcs, token, changed) VALUES (?, 1, ?, ?)"
                " ON DUPLICATE KEY UPDATE rpcs = rpcs + 1, token = VALUES(token),"
                " changed = VALUES(changed)",
                0, ""),
        (int64_t[]){host, now, now}, 3);
    if (mysql_real_query(c->mysql, "COMMIT", 6) != 0)
        give_up("COMMIT", mysql_error(c->mysql));
}

/* --- requests and replies --------------------------------------------------------------------- */

static void add(struct connection *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct connection *c, const char *format, ...)
{
    va_list values;
    int length;

    va_start(values, format);
    length = vsnprintf(c->reply + c->reply_length, REPLY_MAX - c->reply_length, format, values);
    va_end(values);
    c->reply_length += (size_t)length;
    if (c->reply_length >= REPLY_MAX)
        give_up("reply", "too long");
}

static int64_t number_after(const char *at, const char *what)
{
    const char *found = at == NULL ? NULL : strstr(at, what);

    return found == NULL ? 0 : strtoll(found + strlen(what), NULL, 10);
}

static size_t read_reports(const char *body, int64_t *ret_ids)
{
    size_t count = 0;
    const char *at = body;

    while (count < LIST_MAX && (at = strstr(at, "<result>")) != NULL) {
        ret_ids[count++] = number_after(at, "<name>job_");
        at++;
    }
    return count;
}

static void write_reply(struct connection *c, int64_t host, bool is_new, const int64_t *reports,
                        size_t report_count, const int64_t *jobs, size_t job_count)
{
    long left;

    c->reply_length = 0;
    add(c, "<scheduler_reply>\n<userid>%" PRId64 "</userid>\n", 1 + (host - 1) % 200);
    if (is_new)
        add(c, "<hostid>%" PRId64 "</hostid>\n", host);
    for (size_t i = 0; i < report_count; i++)
        add(c, "<result_ack><name>job_%" PRId64 "_0</name></result_ack>\n", reports[i]);
    for (size_t i = 0; i < job_count; i++)
        add(c, "<result><name>job_%" PRId64 "_0</name></result>\n", jobs[i]);
    left = stub.bytes - (long)c->reply_length - 32;
    if (left > 0)
        add(c, "<!--%*s-->\n", (int)left, "");
    add(c, "</scheduler_reply>\n");
}

static void serve(struct connection *c, FCGX_Request *request)
{
    int64_t reports[LIST_MAX], jobs[LIST_MAX], host;
    size_t report_count, job_count = (size_t)stub.jobs;
    int length = FCGX_GetStr(c->body, BODY_MAX, request->in);
    bool is_new;

    c->body[length > 0 ? length : 0] = '\0';
    host = number_after(c->body, "<hostid>");
    is_new = host == 0;
    if (is_new)
        host = 1 + atomic_fetch_add(&stub.next_host, 1) % stub.hosts;
    report_count = read_reports(c->body, reports);
    if (strstr(c->body, "<scheduler_request>") == NULL)
        job_count = 0; /* somebody who looks whether it lives */
    for (size_t i = 0; i < job_count; i++)
        jobs[i] = atomic_fetch_add(&stub.next_job, 1);
    transact(c, host, reports, report_count, jobs, job_count);
    write_reply(c, host, is_new, reports, report_count, jobs, job_count);
    FCGX_FPrintF(request->out, "Content-Type: text/xml\r\nContent-Length: %d\r\n\r\n",
                 (int)c->reply_length);
    FCGX_PutStr(c->reply, (int)c->reply_length, request->out);
    FCGX_Finish_r(request);
}

static void connect_database(struct connection *c)
{
    c->mysql = mysql_init(NULL);
    if (c->mysql == NULL ||
        mysql_real_connect(c->mysql, NULL, "root", "", stub.db_name, 0, stub.db_socket, 0) ==
            NULL ||
        mysql_query(c->mysql,
                    "SET tx_isolation = 'READ-COMMITTED', autocommit = 0, sql_mode = ''") != 0)
        give_up("database", c->mysql == NULL ? "no memory" : mysql_error(c->mysql));
}

static void *work(void *context)
{
    struct connection *connection = calloc(1, sizeof(*connection));
    FCGX_Request request;

    (void)context;
    if (connection == NULL)
        give_up("thread", "no memory");
    connect_database(connection);
    FCGX_InitRequest(&request, stub.socket, 0);
    for (;;) {
        int accepted;

        pthread_mutex_lock(&stub.accept);
        accepted = FCGX_Accept_r(&request);
        pthread_mutex_unlock(&stub.accept);
        if (accepted < 0)
            give_up("accept", "failed");
        serve(connection, &request);
    }
    return NULL;
}

/* --- command line ----------------------------------------------------------------------------- */

static const struct argp_option options[] = {
    {"listen", 'l', "PATH", 0, "Socket to listen on (required)", 0},
    {"db-socket", 's', "PATH", 0, "Socket of MariaDB (required)", 0},
    {"db-name", 'd', "NAME", 0, "Database (required)", 0},
    {"threads", 't', "N", 0, "Threads, each with a connection (8)", 0},
    {"jobs", 'j', "N", 0, "Jobs for each request, up to 64 (0)", 0},
    {"bytes", 'b', "N", 0, "Length of a reply (as short as it can be)", 0},
    {"hosts", 'n', "N", 0, "Hosts 1 to N are there (2000)", 0},
    {0}};

static long number(const char *argument, long least, long most, struct argp_state *state)
{
    char *end;
    long value = strtol(argument, &end, 10);

    if (*end != '\0' || end == argument || value < least || value > most)
        argp_error(state, "%s: wanted a number from %ld to %ld", argument, least, most);
    return value;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    switch (key) {
    case 'l':
        stub.listen = argument;
        return 0;
    case 's':
        stub.db_socket = argument;
        return 0;
    case 'd':
        stub.db_name = argument;
        return 0;
    case 't':
        stub.threads = number(argument, 1, 256, state);
        return 0;
    case 'j':
        stub.jobs = number(argument, 0, LIST_MAX, state);
        return 0;
    case 'b':
        stub.bytes = number(argument, 0, REPLY_MAX - 1, state);
        return 0;
    case 'n':
        stub.hosts = number(argument, 1, 1000000, state);
        return 0;
    case ARGP_KEY_END:
        if (stub.listen == NULL || stub.db_socket == NULL || stub.db_name == NULL)
            argp_usage(state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .doc = "The least that a scheduling server must do in the database, behind the same web "
               "server: what tools/bench compares quartermaster with. Runs until it is killed."};

    argp_parse(&argp, argc, argv, 0, NULL, NULL);
    if (stub.listen == NULL || mysql_library_init(0, NULL, NULL) != 0 || FCGX_Init() != 0)
        give_up("start", "libraries");
    stub.socket = FCGX_OpenSocket(stub.listen, BACKLOG);
    if (stub.socket < 0 || chmod(stub.listen, 0666) != 0)
        give_up(stub.listen, "cannot be listened on");
    for (long i = 1; i < stub.threads; i++) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, work, NULL) != 0)
            give_up("thread", "cannot be started");
    }
    work(NULL);
    return 0;
}
