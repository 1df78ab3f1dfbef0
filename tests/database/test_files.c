/* SPDX-License-Identifier: Apache-2.0 */
/* The file database beside real requests: it follows them, costs the scheduling database nothing,
 * and may die at any moment. And what the passes over disk space cost those who need none. */
#include "db/files.h"

#include "config/config.h"
#include "db/mariadb.h"
#include "server/base/arena.h"
#include "server/base/counters.h"
#include "server/files/host_files.h"
#include "server/policy/disk/disk.h"
#include "server/pool/pool.h"
#include "tests/support/database.h"
#include "tests/support/serving.h"
#include "tests/support/test.h"

enum { NOW = SERVING_NOW, HOST = 1 };

static struct test_database *database;
static struct config *config;
static struct serving server;
static struct request *const request = &server.request;
static struct files_health health;
static struct files *files;
static uint64_t clock_ns;
static char name[64];

static void set(const char *option, const char *value)
{
    struct failure failure = {0};

    if (config_set(config, text_from(option), text_from(value), &failure) != STATUS_OK)
        fail_msg("%s: %s", option, failure.text);
}

static int setup(void **state)
{
    struct failure failure = {0};

    (void)state;
    database = test_database_create(true, NULL);
    config = test_database_config(database);
    (void)snprintf(name, sizeof(name), TEXT_FORMAT "_files", TEXT_ARG(config->db_name));
    set("files_db_name", name);
    set("delete_from_self", "1");
    if (db_files_make(config, &failure) != STATUS_OK)
        fail_msg("%s", failure.text);
    serving_add_hosts(database, 1);
    serving_open(&server, database);
    files = files_create(&health);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    files_destroy(files);
    test_sql(database, "DROP DATABASE IF EXISTS %s", name);
    serving_close(&server);
    test_database_destroy(database);
    return 0;
}

static void add_job(int id, double disk, const char *memory)
{
    serving_add_jobs(database,
                     &(struct new_jobs){.first = id, .count = 1, .disk = disk, .memory = memory});
}

static void forget_jobs(void)
{
    test_sql(database, "DELETE FROM result; DELETE FROM workunit; DELETE FROM %s.file_order", name);
}

/* One request with `elements` in it. */
static void serve(const char *elements, bool with_files)
{
    server.files = with_files ? files_ready(files, config, clock_ns) : NULL;
    serving_ask(
        &server,
        &(struct asking){.host = HOST, .work_seconds = 10, .disk_free = 2e9, .elements = elements},
        NOW, 1);
    assert_int_equal(request->attempts, 1);
    assert_true(text_contains(buffer_text(&server.reply), TEXT("</scheduler_reply>")));
}

#define GENOME \
    "<file_info>\n<name>genome</name>\n<nbytes>9e9</nbytes>\n<status>1</status>\n</file_info>\n"

static int64_t files_held(void)
{
    return test_sql_integer(database, "SELECT COUNT(*) FROM %s.host_file WHERE first_seen > 0",
                            name);
}

static int64_t link_id(void)
{
    return test_sql_integer(database,
                            "SELECT COALESCE(MAX(ID), 0) FROM information_schema.PROCESSLIST"
                            " WHERE DB = '%s'",
                            name);
}

/* --- the statements -------------------------------------------------------------------------- */

static void every_statement_prepares(void **state)
{
    struct failure failure = {0};
    struct db *of_files = NULL;

    (void)state;
    assert_status(STATUS_OK, db_files_open(config, &of_files, &failure));
    for (int i = STATEMENT_FILES; i < STATEMENT_COUNT; i++)
        if (db_prepare(of_files, (enum statement)i, 4) != STATUS_OK)
            fail_msg("%s", db_error(of_files));
    db_close(of_files);
}

static void it_is_never_the_projects_database(void **state)
{
    struct failure failure = {0};

    (void)state;
    set("files_db_name", text_string(server.arena, config->db_name));
    assert_status(STATUS_DB_REFUSED, db_files_make(config, &failure));
    set("files_db_name", name);
}

static void priority_expiry_and_introduction_never_fall(void **state)
{
    struct host_file_row row = {.hostid = 9,
                                .name = TEXT("x"),
                                .nbytes = 5,
                                .priority = 5,
                                .expiry = 500,
                                .first_seen = 100,
                                .last_seen = 100,
                                .last_used = 100};
    struct host_file_row *rows;
    struct failure failure = {0};
    struct db *of_files = NULL;
    size_t count;

    (void)state;
    assert_status(STATUS_OK, db_files_open(config, &of_files, &failure));
    assert_status(STATUS_OK, db_files_save(of_files, server.arena, &row, 1));
    row.priority = 1;
    row.expiry = row.last_used = 50;
    row.first_seen = row.last_seen = 300;
    row.nbytes = 7;
    assert_status(STATUS_OK, db_files_save(of_files, server.arena, &row, 1));
    assert_status(STATUS_OK, db_files_of_host(of_files, server.arena, 9, &rows, &count));
    assert_int_equal(count, 1);
    assert_i64(rows[0].priority, 5);
    assert_i64(rows[0].expiry, 500);
    assert_i64(rows[0].first_seen, 100);
    assert_i64(rows[0].last_seen, 300);
    assert_i64(rows[0].last_used, 100);
    assert_real(rows[0].nbytes, 7, 0);
    db_rollback(of_files);
    db_close(of_files);
}

/* --- beside requests ------------------------------------------------------------------------- */

/* The scheduling database is asked nothing more. */
static int64_t order_number(struct db *of_files, struct file_order_row *ret_order)
{
    struct file_order_row *orders;
    size_t count;

    assert_status(STATUS_OK, db_file_orders(of_files, server.arena, HOST, 10, &orders, &count));
    *ret_order = orders[0];
    return (int64_t)count;
}

static void an_order_begins_anew_when_it_has_ended(void **state)
{
    struct failure failure = {0};
    struct db *of_files = NULL;
    struct file_order_row order = {
        .hostid = HOST, .name = TEXT("f"), .action = FILE_SEND, .created = 100, .tries = 1};
    struct file_order_row again = order, got;

    (void)state;
    again.created = 200;
    assert_status(STATUS_OK, db_files_open(config, &of_files, &failure));
    assert_status(STATUS_OK, db_file_orders_add(of_files, server.arena, &order, 1));
    assert_status(STATUS_OK, db_file_orders_add(of_files, server.arena, &again, 1));
    assert_i64(order_number(of_files, &got), 1);
    assert_i64(got.created, 100);
    assert_i64(got.tries, 2);
    got.ended = 150;
    got.outcome = FILE_OUTCOME_DONE;
    assert_status(STATUS_OK, db_file_orders_save(of_files, server.arena, &got, 1));
    assert_status(STATUS_OK, db_file_orders_add(of_files, server.arena, &again, 1));
    assert_i64(order_number(of_files, &got), 1);
    assert_i64(got.created, 200);
    assert_i64(got.tries, 1);
    assert_i64(got.ended, 0);
    assert_i64(got.outcome, FILE_OUTCOME_OPEN);
    assert_status(STATUS_OK, db_rollback(of_files));
    db_close(of_files);
}

static void a_deleted_host_leaves_neither_files_nor_orders(void **state)
{
    struct failure failure = {0};
    struct db *db = NULL;

    (void)state;
    test_sql(database,
             "INSERT INTO %s.host_file SET hostid = 41, name = 'a';"
             "INSERT INTO %s.host_file SET hostid = 42, name = 'a';"
             "INSERT INTO %s.file_order SET hostid = 41, name = 'b', action = 1, ended = 5;"
             "INSERT INTO %s.file_order SET hostid = 41, name = 'c', action = 1;"
             "INSERT INTO %s.file_order SET hostid = 42, name = 'c', action = 1",
             name, name, name, name, name);
    assert_status(STATUS_OK, db_files_open(config, &db, &failure));
    assert_status(STATUS_OK, db_files_delete_host(db, 41));
    assert_status(STATUS_OK, db_commit(db));
    db_close(db);
    assert_i64(test_sql_integer(database, "SELECT SUM(hostid = 41) FROM %s.host_file", name), 0);
    assert_i64(test_sql_integer(database, "SELECT SUM(hostid = 42) FROM %s.host_file", name), 1);
    assert_i64(test_sql_integer(database, "SELECT SUM(hostid = 41) FROM %s.file_order", name), 0);
    assert_i64(test_sql_integer(database, "SELECT SUM(hostid = 42) FROM %s.file_order", name), 1);
    test_sql(database,
             "DELETE FROM %s.host_file WHERE hostid = 42;"
             "DELETE FROM %s.file_order WHERE hostid = 42",
             name, name);
}

static void following_costs_the_project_nothing(void **state)
{
    struct db_count with, without;

    (void)state;
    serve(GENOME, false);
    serve(GENOME, false);
    without = request->counted;
    serve(GENOME, true);
    with = request->counted;
    assert_int_equal(with.statements, without.statements);
    assert_i64(files_held(), 1);
    serve("", true);
    assert_i64(files_held(), 0);
}

/* An element that cannot be read may have been a file: then nothing is forgotten. */
static void an_unreadable_list_forgets_nothing(void **state)
{
    (void)state;
    serve(GENOME, true);
    serve("<file_info>\n<name>genome\n<nbytes>9e9</nbytes>\n</file_info>\n", true);
    assert_true(request->message.elements_dropped > 0);
    assert_i64(files_held(), 1);
    serve("", true);
}

/* Whatever encoding a project or a computer uses. */
static void names_are_bytes(void **state)
{
    (void)state;
    serve("<file_info>\n<name>caf\xe9</name>\n<nbytes>9e9</nbytes>\n<status>1</status>\n"
          "</file_info>\n",
          true);
    assert_i64(files_held(), 1);
    serve("", true);
    assert_i64(files_held(), 0);
}

static void a_killed_link_costs_no_request(void **state)
{
    uint64_t failures = counter_value(COUNTER_files_failures);

    (void)state;
    add_job(1, 1e6, "1e6");
    serve("", true);
    assert_int_equal(request->attempt.jobs_sent, 1);
    forget_jobs();
    add_job(2, 1e6, "1e6");
    test_sql(database, "KILL %lld", (long long)link_id());
    serve(GENOME, true);
    assert_int_equal(request->attempt.jobs_sent, 1);
    assert_true(atomic_load(&health.is_away));
    assert_true(counter_value(COUNTER_files_failures) > failures);
    /* It is left alone for a while, then all is well again. */
    failures = counter_value(COUNTER_files_failures);
    serve(GENOME, true);
    assert_null(request->files);
    assert_int_equal(counter_value(COUNTER_files_failures), failures);
    clock_ns = UINT64_MAX / 2;
    serve(GENOME, true);
    assert_non_null(request->files);
    assert_false(atomic_load(&health.is_away));
    assert_i64(files_held(), 1);
    forget_jobs();
}

/* Killed while a pass wants to know what may be deleted: no deletion, no job, no failure. */
static void a_link_killed_before_the_third_pass_deletes_nothing(void **state)
{
    (void)state;
    add_job(3, 5e9, "1e6");
    serve("", true);
    test_sql(database, "KILL %lld", (long long)link_id());
    serve(GENOME, true);
    assert_int_equal(request->attempt.jobs_sent, 0);
    assert_int_equal(request->attempt.answer.delete_files.count, 0);
    clock_ns += UINT64_C(1000000000000);
    files_destroy(files);
    files = files_create(&health);
    serve(GENOME, true);
    assert_int_equal(request->attempt.jobs_sent, 1);
    assert_int_equal(request->attempt.answer.delete_files.count, 1);
    forget_jobs();
    serve("", true);
}

/* A file that a job brings is known before it is seen, with what its document says. */
static void what_a_job_brings_is_known_beforehand(void **state)
{
    (void)state;
    add_job(4, 1e6, "1e6");
    test_sql(database,
             "UPDATE workunit SET xml_doc = '<file_info>\\n<name>tables</name>\\n<sticky/>"
             "\\n<priority>3</priority>\\n<exp_days>10</exp_days>\\n<nbytes>77</nbytes>"
             "\\n</file_info>\\n<workunit>\\n</workunit>\\n' WHERE id = 4;"
             "UPDATE result SET xml_doc_in = '<file_info>\\n<name>answer</name>\\n<sticky/>"
             "\\n<priority>5</priority>\\n</file_info>\\n<result>\\n</result>\\n' WHERE id = 4");
    serve("", true);
    assert_int_equal(request->attempt.jobs_sent, 1);
    assert_i64(files_held(), 0);
    serve("<file_info>\n<name>tables</name>\n<nbytes>77</nbytes>\n<status>1</status>\n"
          "</file_info>\n"
          "<file_info>\n<name>answer</name>\n<nbytes>88</nbytes>\n<status>1</status>\n"
          "</file_info>\n",
          true);
    assert_i64(test_sql_integer(database,
                                "SELECT priority FROM %s.host_file WHERE hostid = %d AND"
                                " name = 'tables' AND first_seen = %d AND expiry = %d",
                                name, HOST, NOW, NOW + 10 * 86400),
               3);
    assert_i64(test_sql_integer(database,
                                "SELECT priority FROM %s.host_file WHERE hostid = %d AND"
                                " name = 'answer' AND nbytes = 88 AND expiry = %d",
                                name, HOST, NOW + 60 * 86400),
               5);
    forget_jobs();
    serve("", true);
}

/* --- passes ---------------------------------------------------------------------------------- */

#define AMOUNTS                                                    \
    "<project_disk_free>1e9</project_disk_free>\n"                 \
    "<potentially_free_offender>3e9</potentially_free_offender>\n" \
    "<potentially_free_self>9e9</potentially_free_self>\n"

static uint64_t statements_for(const char *elements)
{
    serve(elements, true);
    assert_int_equal(request->attempt.jobs_sent, 0);
    return request->counted.statements;
}

/* Jobs that need too much memory, or none at all: disk space is not in the way. */
static void passes_cost_nothing_when_disk_was_no_reason(void **state)
{
    uint64_t plain = statements_for("");

    (void)state;
    assert_int_equal(statements_for(AMOUNTS), plain);
    assert_int_equal(statements_for(GENOME), plain);
    for (int i = 20; i < 30; i++)
        add_job(i, 1e6, "1e12");
    plain = statements_for("");
    assert_int_equal(statements_for(AMOUNTS), plain);
    assert_int_equal(statements_for(GENOME), plain);
    /* And where it was, they are made. */
    forget_jobs();
    add_job(31, 2e9, "1e6");
    plain = statements_for("<project_disk_free>1e9</project_disk_free>\n");
    serve(AMOUNTS, true);
    assert_int_equal(request->attempt.jobs_sent, 1);
    assert_true(request->counted.statements > plain);
    forget_jobs();
}

/* Jobs without end that fit no pass hide none that fits a later one. */
static void a_flood_hides_nothing(void **state)
{
    (void)state;
    for (int i = 100; i < 160; i++)
        add_job(i, 1e6, "1e12");
    add_job(99, 8e9, "1e6");
    serve(AMOUNTS, true);
    assert_int_equal(request->attempt.jobs_sent, 1);
    assert_int_equal(request->attempt.disk_pass, DISK_PASSES);
    forget_jobs();
}

/* --- with a pool ----------------------------------------------------------------------------- */

static void put_into_pool(int id, double disk)
{
    struct pool_job job = {.resultid = id,
                           .workunit = {.id = id,
                                        .appid = 1,
                                        .rsc_fpops_est = 1e11,
                                        .rsc_fpops_bound = 1e15,
                                        .rsc_memory_bound = 1e6,
                                        .rsc_disk_bound = disk,
                                        .delay_bound = 86400}};

    pool_sweep_begin(server.pool);
    assert_status(STATUS_OK, pool_put(server.pool, &job, 1));
    while (pool_sweep_end(server.pool))
        ;
}

static void passes_ask_the_pool(void **state)
{
    (void)state;
    server.pool = pool_create(1000, false);
    add_job(41, 8e9, "1e6");
    put_into_pool(41, 8e9);
    serve(AMOUNTS, true);
    assert_int_equal(request->attempt.jobs_sent, 1);
    assert_int_equal(request->attempt.disk_pass, DISK_PASSES);
    pool_destroy(server.pool);
    server.pool = NULL;
    forget_jobs();
}

/* A claim on the strength of a file that the job itself needs is undone, in the pool too. */
static void an_undone_claim_goes_back_to_the_pool(void **state)
{
    (void)state;
    server.pool = pool_create(1000, false);
    add_job(42, 5e9, "1e6");
    put_into_pool(42, 5e9);
    test_sql(database, "UPDATE workunit SET xml_doc = '<workunit>\n<file_ref>\n<file_name>genome"
                       "</file_name>\n</file_ref>\n</workunit>\n' WHERE id = 42");
    serve(GENOME, true);
    assert_int_equal(request->attempt.jobs_sent, 0);
    assert_int_equal(request->attempt.answer.delete_files.count, 0);
    assert_i64(test_sql_integer(database, "SELECT server_state FROM result WHERE id = 42"), 2);
    serve(GENOME "<file_info>\n<name>spare</name>\n<nbytes>9e9</nbytes>\n<status>1</status>\n"
                 "</file_info>\n",
          true);
    assert_int_equal(request->attempt.jobs_sent, 1);
    assert_int_equal(request->attempt.answer.delete_files.count, 1);
    assert_true(text_is(request->attempt.answer.delete_files.first->text, "spare"));
    pool_destroy(server.pool);
    server.pool = NULL;
    forget_jobs();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_statement_prepares),
        cmocka_unit_test(it_is_never_the_projects_database),
        cmocka_unit_test(priority_expiry_and_introduction_never_fall),
        cmocka_unit_test(an_order_begins_anew_when_it_has_ended),
        cmocka_unit_test(a_deleted_host_leaves_neither_files_nor_orders),
        cmocka_unit_test(following_costs_the_project_nothing),
        cmocka_unit_test(an_unreadable_list_forgets_nothing),
        cmocka_unit_test(names_are_bytes),
        cmocka_unit_test(a_killed_link_costs_no_request),
        cmocka_unit_test(a_link_killed_before_the_third_pass_deletes_nothing),
        cmocka_unit_test(what_a_job_brings_is_known_beforehand),
        cmocka_unit_test(passes_cost_nothing_when_disk_was_no_reason),
        cmocka_unit_test(a_flood_hides_nothing),
        cmocka_unit_test(passes_ask_the_pool),
        cmocka_unit_test(an_undone_claim_goes_back_to_the_pool),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
