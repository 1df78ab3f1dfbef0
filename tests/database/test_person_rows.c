/* SPDX-License-Identifier: Apache-2.0 */
/* Deleting users and hosts: of a person nothing is left in any column that can hold something of
 * one (db/person.def, which is walked), others keep what is theirs, and jobs go to others. */
#include "db/admin.h"
#include "db/files.h"
#include "server/base/arena.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

#define NOW 1800000000
/* Ada, who goes, has hosts 70 and 71, and 72 and 73 were merged into 70. Bob has 80 and 81, alike.
 */
enum { ADA = 7, BOB = 8, ADAS_HOST = 70, BOBS_HOST = 80 };

static const struct place {
    const char *table, *column;
    bool is_host;
} places[] = {
#define USER                                  false
#define HOST                                  true
#define PERSON(table, column, holds, becomes) {#table, #column, holds},
#define WEB(table, column)
#include "db/person.def"
#undef PERSON
#undef WEB
#undef USER
#undef HOST
};
enum { PLACES = sizeof(places) / sizeof(places[0]) };
static const struct place web_places[] = {
#define PERSON(table, column, holds, becomes)
#define WEB(table, column) {#table, #column, false},
#include "db/person.def"
#undef PERSON
#undef WEB
};
enum { WEB_PLACES = sizeof(web_places) / sizeof(web_places[0]) };

static struct test_fixture *fixture;

static void add_person(int64_t user, int64_t host, const char *mark)
{
    struct test_database *database = fixture->database;

    test_sql(
        database,
        "INSERT INTO user SET id = %lld, email_addr = '%s@x', name = '%s', authenticator = '%s',"
        " country = '%s', postal_code = '%s', url = '%s', signature = '%s', venue = '%s',"
        " global_prefs = '%s', project_prefs = '%s', cross_project_id = '%s',"
        " passwd_hash = '%s', previous_email_addr = '%s', teamid = 4",
        (long long)user, mark, mark, mark, mark, mark, mark, mark, mark, mark, mark, mark, mark,
        mark);
    for (int i = 0; i < 4; i++)
        test_sql(database,
                 "INSERT INTO host SET id = %lld, userid = %lld, rpc_seqno = %lld,"
                 " domain_name = '%s', serialnum = '%s', last_ip_addr = '%s', p_model = '%s',"
                 " external_ip_addr = '%s', product_name = '%s', misc = '%s', host_cpid = 'c%d';"
                 "INSERT INTO host_app_version SET host_id = %lld, app_version_id = 11;"
                 "INSERT INTO qm_host SET hostid = %lld;"
                 "INSERT INTO qm_host_fate SET hostid = %lld;"
                 "INSERT INTO qm_host_said SET hostid = %lld, request = '%s';"
                 "INSERT INTO qm_host_variant SET hostid = %lld;"
                 "INSERT INTO msg_from_host SET hostid = %lld, xml = '%s';"
                 "INSERT INTO msg_to_host SET hostid = %lld, xml = '%s'",
                 (long long)(host + i), (long long)(i < 2 ? user : 0),
                 (long long)(i == 2   ? host
                             : i == 3 ? host + 2
                                      : 5),
                 mark, mark, mark, mark, mark, mark, mark, i, (long long)(host + i),
                 (long long)(host + i), (long long)(host + i), (long long)(host + i), mark,
                 (long long)(host + i), (long long)(host + i), mark, (long long)(host + i), mark);
    test_sql(database,
             "INSERT INTO assignment SET target_type = 2, target_id = %lld;"
             "INSERT INTO assignment SET target_type = 1, target_id = %lld;"
             "INSERT INTO batch SET user_id = %lld; INSERT INTO consent SET userid = %lld,"
             " source = '%s'; INSERT INTO credit_user SET userid = %lld;"
             "INSERT INTO credited_job SET userid = %lld; INSERT INTO user_submit SET user_id ="
             " %lld; INSERT INTO user_submit_app SET user_id = %lld;"
             "INSERT INTO qm_stream SET kind = 2, id = %lld;"
             "INSERT INTO team SET userid = %lld, ping_user = 5, name = 'team %lld';"
             "INSERT INTO team SET userid = 5, ping_user = %lld, name = 'wish %lld'",
             (long long)user, (long long)host, (long long)user, (long long)user, mark,
             (long long)user, (long long)user, (long long)user, (long long)user, (long long)user,
             (long long)user, (long long)user, (long long)user, (long long)user);
}

/* A job of its own; `columns` of the result. */
static void add_job(int64_t id, int64_t user, int64_t host, const char *columns)
{
    test_sql(fixture->database,
             "INSERT INTO workunit SET id = %lld, appid = 1, name = 'w%lld',"
             " transition_time = 2147483647;"
             "INSERT INTO result SET id = %lld, workunitid = %lld, name = 'r%lld', hostid = %lld,"
             " userid = %lld, stderr_out = 'MARK', %s",
             (long long)id, (long long)id, (long long)id, (long long)id, (long long)id,
             (long long)host, (long long)user, columns);
}

static int setup(void **state)
{
    fixture = *state;
    test_fixture_clear(fixture);
    add_person(ADA, ADAS_HOST, "MARK");
    add_person(BOB, BOBS_HOST, "Bob");
    return 0;
}

static int64_t delete_steps_by(struct db *db, struct person person)
{
    struct db_id_list hosts;
    bool is_over = false;
    int64_t steps = 0;

    while (!is_over) {
        size_t results = 0;

        assert_status(STATUS_OK, db_admin_person_delete(db, fixture->arena, &person, NOW, &hosts,
                                                        &results, &is_over));
        assert_status(STATUS_OK, db_commit(db));
        steps++;
    }
    return steps;
}

static int64_t delete_steps(struct person person)
{
    return delete_steps_by(fixture->db, person);
}

static int64_t held(const struct place *place, int64_t user, int64_t host)
{
    return test_sql_integer(fixture->database, "SELECT COUNT(*) FROM %s WHERE %s IN (%lld, %lld)",
                            place->table, place->column, (long long)(place->is_host ? host : user),
                            (long long)(strcmp(place->table, "assignment") == 0 ? host : -1));
}

/* How many texts of the whole database hold the word. */
static int64_t texts_with(const char *word)
{
    struct test_database *database = fixture->database;
    struct text names = test_sql_text(
        database,
        "SELECT GROUP_CONCAT(CONCAT(TABLE_NAME, '/', COLUMN_NAME)) FROM"
        " information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()"
        " AND DATA_TYPE IN ('varchar', 'char', 'text', 'mediumtext', 'blob', 'mediumblob')");
    char *list = text_keep(names);
    struct text rest = text_from(list);
    int64_t count = 0, columns = 0;

    while (rest.length > 0) {
        struct text column = text_split(&rest, ','), table = text_split(&column, '/');

        count += test_sql_integer(
            database, "SELECT COUNT(*) FROM " TEXT_FORMAT " WHERE " TEXT_FORMAT " LIKE '%%%s%%'",
            TEXT_ARG(table), TEXT_ARG(column), word);
        columns++;
    }
    free(list);
    assert_true(columns > 60);
    return count;
}

static void of_a_user_who_is_deleted_nothing_is_left(void **state)
{
    (void)state;
    struct test_database *database = fixture->database;

    add_job(1, ADA, ADAS_HOST, "server_state = 4");
    add_job(2, BOB, BOBS_HOST, "server_state = 4");
    test_sql(database, "UPDATE result SET stderr_out = 'Bob' WHERE id = 2");
    for (size_t i = 0; i < PLACES; i++) { /* each has something of both */
        assert_true(held(&places[i], ADA, ADAS_HOST) > 0);
        assert_true(held(&places[i], BOB, BOBS_HOST) > 0);
    }
    int64_t of_bob = texts_with("Bob");
    assert_true(texts_with("MARK") > 30);
    delete_steps((struct person){.userid = ADA});
    for (size_t i = 0; i < PLACES; i++) {
        if (held(&places[i], ADA, ADAS_HOST) != 0)
            fail_msg("%s.%s still knows the person", places[i].table, places[i].column);
        assert_true(held(&places[i], BOB, BOBS_HOST) > 0);
    }
    assert_i64(texts_with("MARK"), 0);
    assert_i64(texts_with("Bob"), of_bob);
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM user"), 1);
    assert_text(test_sql_text(database, "SELECT GROUP_CONCAT(id) FROM host"), "80,81,82,83");
    assert_text(test_sql_text(database, "SELECT CONCAT_WS('/', userid, public_cross_project_id"
                                        " = MD5('MARKMARK@x'), create_time) FROM user_deleted"),
                "7/1/1800000000");
    assert_text(test_sql_text(database, "SELECT GROUP_CONCAT(hostid, public_cross_project_id"
                                        " ORDER BY hostid) FROM host_deleted"),
                "70c0,71c1");
}

static void no_column_that_holds_people_is_missing(void **state)
{
    (void)state;
    struct text *names;
    size_t count;
    char *list;
    struct text rest;

    assert_status(STATUS_OK,
                  db_admin_person_other_tables(fixture->db, fixture->arena, &names, &count));
    assert_int_equal(count, 0);
    list = text_keep(test_sql_text(fixture->database,
                                   "SELECT GROUP_CONCAT(CONCAT(TABLE_NAME, '/', COLUMN_NAME)) FROM"
                                   " information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()"
                                   " AND COLUMN_NAME REGEXP '^((user|host)_?id|ping_user)$'"
                                   " AND TABLE_NAME NOT LIKE '%%\\_deleted'"));
    rest = text_from(list);
    while (rest.length > 0) {
        struct text column = text_split(&rest, ','), table = text_split(&column, '/');
        bool is_known = false;

        for (size_t i = 0; i < PLACES; i++)
            is_known =
                is_known || (text_is(table, places[i].table) && text_is(column, places[i].column));
        if (!is_known)
            fail_msg("person.def lacks " TEXT_FORMAT "." TEXT_FORMAT, TEXT_ARG(table),
                     TEXT_ARG(column));
    }
    free(list);
    test_sql(fixture->database, "CREATE TABLE profile (userid INT, response TEXT);"
                                "CREATE TABLE post (user INT, content TEXT);"
                                "CREATE TABLE moderators (modid INT)");
    assert_status(STATUS_OK,
                  db_admin_person_other_tables(fixture->other, fixture->arena, &names, &count));
    assert_int_equal(count, 2);
    assert_text(names[0], "moderators");
    assert_text(names[1], "post");
    test_sql(fixture->database, "DROP TABLE profile, post, moderators");
}

static void web_pages_forget_the_person(void **state)
{
    (void)state;
    struct test_database *database = fixture->database;
    struct db *db;

    test_database_add_web_tables(database);
    for (size_t i = 0; i < WEB_PLACES; i++)
        test_sql(database, "INSERT INTO %s SET %s = %d; INSERT INTO %s SET %s = %d",
                 web_places[i].table, web_places[i].column, ADA, web_places[i].table,
                 web_places[i].column, BOB);
    db = test_database_open(database);
    delete_steps_by(db, (struct person){.userid = ADA});
    db_close(db);
    for (size_t i = 0; i < WEB_PLACES; i++) {
        assert_i64(held(&web_places[i], ADA, 0), 0);
        assert_true(held(&web_places[i], BOB, 0) > 0);
    }
    for (size_t i = 0; i < WEB_PLACES; i++)
        test_sql(database, "DROP TABLE IF EXISTS %s", web_places[i].table);
}

/* Somebody else works on a job of hers: the deletion waits for that, and holds nothing of another.
 */
static void workunits_are_locked_before_results(void **state)
{
    (void)state;
    const struct job_key keys[] = {{.workunitid = 1, .resultid = 1},
                                   {.workunitid = 2, .resultid = 2}};
    struct locked_job job;
    struct db_id_list hosts;
    size_t results;
    bool is_over;

    add_job(1, ADA, ADAS_HOST, "server_state = 5, outcome = 1, validate_state = 1");
    add_job(2, ADA, ADAS_HOST, "server_state = 4");
    assert_status(STATUS_OK, db_jobs_lock(fixture->other, fixture->arena, &keys[0], 1, NULL, &job));
    assert_status(STATUS_DB_RETRY, db_admin_person_delete(fixture->db, fixture->arena,
                                                          &(struct person){.userid = ADA}, NOW,
                                                          &hosts, &results, &is_over));
    assert_status(STATUS_OK, db_jobs_lock(fixture->other, fixture->arena, &keys[1], 1, NULL, &job));
    assert_status(STATUS_OK, db_rollback(fixture->db));
    assert_status(STATUS_OK, db_rollback(fixture->other));
}

static const char *result_words(int64_t id)
{
    static char words[200];
    struct text text =
        test_sql_text(fixture->database,
                      "SELECT CONCAT_WS('/', server_state, outcome, validate_state, hostid, userid,"
                      " received_time, stderr_out, transition_time, result.file_delete_state)"
                      " FROM result"
                      " JOIN workunit ON workunit.id = workunitid WHERE result.id = %lld",
                      (long long)id);

    snprintf(words, sizeof(words), TEXT_FORMAT, TEXT_ARG(text));
    return words;
}

static void jobs_go_to_others_and_results_stay(void **state)
{
    (void)state;

    add_job(1, ADA, ADAS_HOST, "server_state = 4");
    add_job(2, ADA, ADAS_HOST + 1, "server_state = 5, outcome = 1, received_time = 9");
    add_job(3, ADA, ADAS_HOST,
            "server_state = 5, outcome = 1, validate_state = 4, received_time = 9");
    add_job(4, ADA, ADAS_HOST,
            "server_state = 5, outcome = 1, validate_state = 1, received_time = 9");
    add_job(5, ADA, ADAS_HOST, "server_state = 5, outcome = 3, received_time = 9");
    add_job(6, ADA, ADAS_HOST,
            "server_state = 5, outcome = 1, validate_state = 1, received_time = 9");
    add_job(7, ADA, ADAS_HOST,
            "server_state = 5, outcome = 1, received_time = 9, file_delete_state = 2");
    test_sql(fixture->database, "UPDATE workunit SET canonical_resultid = id, assimilate_state = 1"
                                " WHERE id = 4;"
                                "UPDATE workunit SET canonical_resultid = id, assimilate_state = 2"
                                " WHERE id = 6");
    delete_steps((struct person){.userid = ADA});
    /* Files of what others do anew are deleted, as no transition would say that they may be. */
    assert_string_equal(result_words(1), "5/7/2/0/0/1800000000//1800000000/1");
    assert_string_equal(result_words(2), "5/7/2/0/0/9//1800000000/1");
    assert_string_equal(result_words(3), "5/7/2/0/0/9//1800000000/1");
    assert_string_equal(result_words(4), "5/1/1/0/0/9/MARK/2147483647/0"); /* to be assimilated */
    assert_string_equal(result_words(5), "5/3/0/0/0/9//2147483647/0");
    assert_string_equal(result_words(6), "5/1/1/0/0/9//2147483647/0");
    assert_string_equal(result_words(7), "5/7/2/0/0/9//1800000000/2");
}

static void a_host_goes_alone(void **state)
{
    (void)state;
    struct test_database *database = fixture->database;

    add_job(1, ADA, ADAS_HOST, "server_state = 4");
    add_job(2, ADA, ADAS_HOST + 1, "server_state = 4");
    add_job(3, BOB, BOBS_HOST, "server_state = 4");
    delete_steps((struct person){.hostid = ADAS_HOST});
    assert_text(test_sql_text(database, "SELECT GROUP_CONCAT(id) FROM host"), "71,80,81,82,83");
    assert_text(test_sql_text(database, "SELECT GROUP_CONCAT(hostid) FROM qm_host"),
                "71,80,81,82,83");
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM user"), 2);
    assert_text(test_sql_text(database, "SELECT authenticator FROM user WHERE id = 7"), "MARK");
    assert_string_equal(result_words(1), "5/7/2/0/7/1800000000//1800000000/1");
    assert_string_equal(result_words(2), "4/0/0/71/7/0/MARK/2147483647/0");
    assert_string_equal(result_words(3), "4/0/0/80/8/0/MARK/2147483647/0");
    assert_text(test_sql_text(database, "SELECT GROUP_CONCAT(hostid) FROM host_deleted"), "70");
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM user_deleted"), 0);
    struct db_id_list hosts;
    size_t results;
    bool is_over;
    assert_status(STATUS_NOT_FOUND, db_admin_person_delete(fixture->db, fixture->arena,
                                                           &(struct person){.hostid = ADAS_HOST},
                                                           NOW, &hosts, &results, &is_over));
    assert_status(STATUS_OK, db_rollback(fixture->db));
}

/* Many results are many transactions; from the first one on the account's key opens nothing. */
static void many_results_go_in_steps(void **state)
{
    (void)state;
    struct test_database *database = fixture->database;
    const struct person ada = {.userid = ADA};
    struct db_id_list hosts;
    size_t results = 0;
    bool is_over;

    test_sql(database,
             "INSERT INTO workunit (id, appid, name) SELECT seq, 1, CONCAT('w', seq) FROM"
             " seq_1_to_2500;"
             "INSERT INTO result (id, workunitid, name, server_state, hostid, userid)"
             " SELECT seq, seq, CONCAT('r', seq), 5, 70, IF(seq > 2400, 8, 7) FROM seq_1_to_2500");
    assert_status(STATUS_OK, db_admin_person_delete(fixture->db, fixture->arena, &ada, NOW, &hosts,
                                                    &results, &is_over));
    assert_status(STATUS_OK, db_commit(fixture->db));
    assert_false(is_over);
    assert_int_equal(results, PERSON_RESULTS_AT_ONCE);
    assert_i64(test_sql_integer(database, "SELECT authenticator = 'MARK' OR passwd_hash <> ''"
                                          " FROM user WHERE id = 7"),
               0);
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM host"), 8);
    assert_i64(delete_steps(ada), 4); /* 1000, 400, 100 of another user on her host, the rest */
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM result WHERE hostid = 0"), 2500);
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM result WHERE userid = 8"), 100);
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM result WHERE userid = 0"), 2400);
}

/* A request holds the host's lock, then comes after the deletion. */
static void requests_wait_or_find_nothing(void **state)
{
    (void)state;
    struct host_row host;
    struct db_id_list hosts;
    size_t results;
    bool is_over;

    assert_status(STATUS_OK, db_host_lock(fixture->other, fixture->arena, ADAS_HOST, &host));
    assert_status(STATUS_DB_RETRY, db_admin_person_delete(fixture->db, fixture->arena,
                                                          &(struct person){.userid = ADA}, NOW,
                                                          &hosts, &results, &is_over));
    assert_status(STATUS_OK, db_rollback(fixture->db));
    assert_status(STATUS_OK, db_rollback(fixture->other));
    delete_steps((struct person){.userid = ADA});
    assert_status(STATUS_NOT_FOUND, db_host_lock(fixture->other, fixture->arena, ADAS_HOST, &host));
    assert_status(STATUS_NOT_FOUND, db_user_lock(fixture->other, ADA));
    assert_status(STATUS_OK, db_rollback(fixture->other));
}

/* --- jobs that were for them --- */

/* 1 for her host, 2 for her, 3 for both, 4 for her and him, 5 for all hosts of hers, 6 for her host
 * and done, 7 for her host, which had one instance of it. */
static void assign_jobs(void)
{
    test_sql(fixture->database,
             "DELETE FROM assignment; DELETE FROM result; DELETE FROM workunit;"
             "INSERT INTO workunit (id, appid, name, transitioner_flags, transition_time,"
             " max_total_results, canonical_resultid) SELECT seq, 1, CONCAT('w', seq),"
             " IF(seq = 5, 1, 2), 2147483647, 1, IF(seq = 6, 9, 0) FROM seq_1_to_7;"
             "INSERT INTO assignment (create_time, target_type, target_id, multi, workunitid,"
             " resultid) VALUES (1, 1, 70, 0, 1, 0), (1, 2, 7, 0, 2, 0), (1, 1, 70, 0, 3, 0),"
             " (1, 2, 7, 0, 3, 0), (1, 2, 7, 0, 4, 0), (1, 2, 8, 0, 4, 0), (1, 2, 7, 1, 5, 0),"
             " (1, 1, 70, 0, 6, 0), (1, 1, 70, 0, 7, 0);"
             "INSERT INTO result (id, workunitid, name, server_state, hostid, userid)"
             " VALUES (71, 7, 'r', 4, 70, 7)");
}

static struct text jobs(const char *columns)
{
    return test_sql_text(fixture->database,
                         "SELECT GROUP_CONCAT(id, ' ', %s ORDER BY id SEPARATOR ', ')"
                         " FROM workunit WHERE transition_time = %d",
                         columns, NOW);
}

static void jobs_that_were_for_them_alone_end(void **state)
{
    struct lost_jobs_row lost;

    (void)state;
    assign_jobs();
    delete_steps((struct person){.userid = ADA});
    assert_text(jobs("error_mask, ' ', transitioner_flags"),
                "1 16 2, 2 16 2, 3 16 2, 5 16 2, 7 16 2");
    assert_status(STATUS_OK, db_admin_lost_jobs(fixture->db, 100, &lost));
    assert_i64(lost.without_target, 0);
    assign_jobs();
    delete_steps((struct person){.hostid = BOBS_HOST});
    assert_i64(test_sql_integer(fixture->database, "SELECT SUM(error_mask) FROM workunit"), 0);
}

static void or_they_are_everybodys(void **state)
{
    (void)state;
    assign_jobs();
    delete_steps((struct person){.hostid = ADAS_HOST, .gives_jobs_to_all = true});
    assert_text(jobs("error_mask, ' ', transitioner_flags, ' ', max_total_results"),
                "1 0 0 1, 7 0 0 2");
}

/* As other programs leave them: they delete people, but not what was for these. */
static void jobs_that_nothing_ends_are_counted(void **state)
{
    struct lost_jobs_row lost;

    (void)state;
    assign_jobs();
    assert_status(STATUS_OK, db_admin_lost_jobs(fixture->db, 100, &lost));
    assert_i64(lost.without_target, 0);
    test_sql(fixture->database, "DELETE FROM user WHERE id = 7");
    assert_status(STATUS_OK, db_admin_lost_jobs(fixture->db, 100, &lost));
    assert_i64(lost.without_target, 2);                                      /* 2 and 5 */
    test_sql(fixture->database, "UPDATE host SET userid = 0 WHERE id = 70"); /* merged */
    assert_status(STATUS_OK, db_admin_lost_jobs(fixture->db, 100, &lost));
    assert_i64(lost.without_target, 5); /* 4 is his too, 6 is done */
    test_sql(fixture->database, "UPDATE workunit SET assimilate_state = IF(id = 6, 2, 0);"
                                "REPLACE INTO app (id, name) VALUES (1, 'app')");
    assert_status(STATUS_OK, db_admin_lost_jobs(fixture->db, 100, &lost));
    assert_i64(lost.without_app, 0);
    test_sql(fixture->database, "UPDATE workunit SET appid = 99 WHERE id > 4");
    assert_status(STATUS_OK, db_admin_lost_jobs(fixture->db, 100, &lost));
    assert_i64(lost.without_app, 2); /* 5 and 7 */
    assert_status(STATUS_OK, db_admin_lost_jobs(fixture->db, 1, &lost));
    assert_i64(lost.without_app, 1);
    assert_i64(lost.without_target, 2); /* 1 and 7 */
    assert_status(STATUS_OK, db_rollback(fixture->db));
}

static void a_clock_that_was_set_back_leaves_traces(void **state)
{
    struct clock_traces_row traces;

    (void)state;
    test_sql(fixture->database,
             "UPDATE host SET rpc_time = %d, avg_turnaround = 5; DELETE FROM result;"
             "INSERT INTO result (id, workunitid, name, sent_time, received_time) SELECT seq, 1,"
             " CONCAT('r', seq), IF(seq = 2, %d, %d), IF(seq = 3, %d, 0) FROM seq_1_to_5",
             NOW, NOW + 1, NOW, NOW + 1);
    assert_status(STATUS_OK, db_admin_clock_traces(fixture->db, NOW, 100, &traces));
    assert_i64(traces.results, 2);
    assert_i64(traces.hosts, 0);
    assert_i64(traces.negative, 0);
    test_sql(fixture->database,
             "UPDATE host SET rpc_time = %d, avg_turnaround = -7200"
             " WHERE id = 70",
             NOW + 1);
    assert_status(STATUS_OK, db_admin_clock_traces(fixture->db, NOW, 100, &traces));
    assert_i64(traces.hosts, 1);
    assert_i64(traces.negative, 1);
    assert_status(STATUS_OK, db_admin_clock_traces(fixture->db, NOW, 3, &traces));
    assert_i64(traces.results, 1); /* of the newest */
    assert_status(STATUS_OK, db_rollback(fixture->db));
}

#define CASE(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(jobs_that_were_for_them_alone_end),
        CASE(or_they_are_everybodys),
        CASE(jobs_that_nothing_ends_are_counted),
        CASE(a_clock_that_was_set_back_leaves_traces),
        CASE(of_a_user_who_is_deleted_nothing_is_left),
        CASE(no_column_that_holds_people_is_missing),
        CASE(web_pages_forget_the_person),
        CASE(jobs_go_to_others_and_results_stay),
        CASE(a_host_goes_alone),
        CASE(many_results_go_in_steps),
        CASE(workunits_are_locked_before_results),
        CASE(requests_wait_or_find_nothing),
    };

    return cmocka_run_group_tests(tests, test_fixture_open, test_fixture_close);
}
