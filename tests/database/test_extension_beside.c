/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlines that get later in the database, and who looks at them: our transitions, and BOINC's,
 * whose rules are played in SQL. The same stories, told with each of them, come to the same rows.
 */
#include "tests/support/database.h"
#include "tests/support/test.h"

#include "config/config.h"
#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/random.h"
#include "server/passes/transition_pass.h"

#include "server/base/banned.h"

enum {
    BEGIN = 1800000000,
    HOUR = 3600,
    BOUND = 48 * HOUR,
    MORE = 23400, /* that a deadline gets at once: 6.5 h */
    JOBS = 6,
    STEPS = 100,
    STORIES = 3,
    STATE_SIZE = 4096
};

/* --- who looks -------------------------------------------------------------------------------- */

typedef void transitions(struct test_fixture *fixture, int64_t now);

/* What becomes of jobs without errors and without an answer: the overdue end, what is missing is
 * made, and the next look is at the first deadline. */
static void look_as_boinc(struct test_fixture *fixture, int64_t now)
{
    long long time = now;

    test_sql(fixture->database,
             "CREATE OR REPLACE TEMPORARY TABLE due (id BIGINT PRIMARY KEY) AS"
             " SELECT id FROM workunit WHERE transition_time < %lld;"
             "UPDATE result JOIN due ON due.id = workunitid SET server_state = 5, outcome = 4"
             " WHERE server_state = 4 AND report_deadline < %lld",
             time, time);
    test_sql(fixture->database,
             "CREATE OR REPLACE TEMPORARY TABLE counts (id BIGINT PRIMARY KEY) AS"
             " SELECT workunitid AS id, COUNT(*) AS total, SUM(server_state IN (1, 2, 4)) +"
             " SUM(server_state = 5 AND outcome = 1 AND validate_state <> 2) AS counted,"
             " SUM(server_state = 5 AND outcome = 1) AS successes,"
             " MIN(IF(server_state = 4, report_deadline, 2147483647)) AS first_due"
             " FROM result JOIN due ON due.id = workunitid GROUP BY workunitid;"
             "UPDATE workunit JOIN counts USING (id) SET need_validate = 1 WHERE successes >= 1;"
             "UPDATE workunit JOIN counts USING (id) SET error_mask = error_mask | 8,"
             " assimilate_state = 1 WHERE total >= max_total_results"
             " AND (total > max_total_results OR target_nresults > counted);"
             "INSERT INTO result (workunitid, name, appid, server_state)"
             " SELECT workunit.id, CONCAT(name, '_', total), appid, 2 FROM workunit"
             " JOIN counts USING (id) WHERE error_mask = 0 AND target_nresults > counted;"
             "UPDATE workunit JOIN counts USING (id) SET transition_time ="
             " LEAST(first_due, IF(error_mask <> 0, 2147483647, %lld + 864000))",
             time);
}

static void look_as_we_do(struct test_fixture *fixture, int64_t now)
{
    struct failure failure = {.status = STATUS_OK};
    struct pass_settings settings = {.now = now};
    struct pass_counts counts = {.jobs = 0};
    struct config *config = test_database_config(fixture->database);
    struct pass_owner owner = {
        .db = fixture->db, .config = config, .arena = fixture->arena, .failure = &failure};

    config->project_dir_path = TEXT("."); /* of the sources: templates are there */
    config->dont_generate_upload_certificates = true;
    assert_status(STATUS_OK, transition_pass(&owner, &settings, &counts));
    assert_int_equal(failure.status, STATUS_OK);
}

/* --- a story ---------------------------------------------------------------------------------- */

static void begin_story(struct test_fixture *fixture)
{
    test_sql(fixture->database,
             "DELETE FROM workunit; DELETE FROM result;"
             "INSERT INTO workunit (id, name, appid, transition_time, delay_bound, min_quorum,"
             " target_nresults, max_error_results, max_total_results, max_success_results,"
             " result_template_file) SELECT seq, CONCAT('w', seq), 1, %d, %d, 1, 1, 9, 4, 4,"
             " 'templates/none_out.xml' FROM seq_1_to_%d",
             BEGIN - 1, BOUND, JOBS);
    test_sql(fixture->database,
             "INSERT INTO result (workunitid, name, appid, server_state)"
             " SELECT seq, CONCAT('w', seq, '_0'), 1, 2 FROM seq_1_to_%d",
             JOBS);
}

static int64_t result_in(struct test_fixture *fixture, int64_t workunitid, const char *condition)
{
    return test_sql_integer(fixture->database,
                            "SELECT COALESCE(MAX(id), 0) FROM result WHERE workunitid = %lld"
                            " AND %s",
                            (long long)workunitid, condition);
}

static void hand_out(struct test_fixture *fixture, int64_t workunitid, int64_t now)
{
    long long sent = now, id = result_in(fixture, workunitid, "server_state = 2");

    test_sql(fixture->database,
             "UPDATE result SET server_state = 4, hostid = 7, sent_time = %lld,"
             " report_deadline = %lld WHERE id = %lld;"
             "UPDATE workunit SET transition_time = LEAST(transition_time, %lld)"
             " WHERE id = %lld AND %lld > 0",
             sent, sent + BOUND, id, sent + BOUND, (long long)workunitid, id);
}

/* As a host is heard of that has it still, up to twice its time. */
static void extend(struct test_fixture *fixture, int64_t workunitid)
{
    int64_t id = result_in(fixture, workunitid, "server_state = 4");
    struct extended_result later = {.id = id, .workunitid = workunitid};

    if (id == 0)
        return;
    later.deadline = test_sql_integer(fixture->database,
                                      "SELECT LEAST(report_deadline + %d, sent_time + 2 * %d)"
                                      " FROM result WHERE id = %lld",
                                      MORE, BOUND, (long long)id);
    assert_status(STATUS_OK, db_results_extend(fixture->db, fixture->arena, &later, 1));
    assert_status(STATUS_OK, db_commit(fixture->db));
}

/* Timed out or not: its report is taken, and has both look. */
static void report(struct test_fixture *fixture, int64_t workunitid, int64_t now)
{
    long long id =
        result_in(fixture, workunitid, "hostid <> 0 AND (server_state = 4 OR outcome = 4)");

    test_sql(
        fixture->database,
        "UPDATE result SET server_state = 5, outcome = 1, received_time = %lld WHERE id = %lld;"
        "UPDATE workunit SET transition_time = %lld WHERE id = %lld AND %lld > 0",
        (long long)now, id, (long long)now, (long long)workunitid, id);
}

static void note_state(struct test_fixture *fixture, char ret_state[STATE_SIZE])
{
    struct text state = test_sql_text(
        fixture->database,
        "SELECT GROUP_CONCAT(CONCAT_WS(' ', w.name, w.need_validate, w.error_mask, r.name,"
        " r.server_state, r.outcome, r.report_deadline, w.transition_time > %d) ORDER BY r.name)"
        " FROM workunit w JOIN result r ON r.workunitid = w.id",
        2000000000);

    assert_true(state.length < STATE_SIZE);
    (void)snprintf(ret_state, STATE_SIZE, TEXT_FORMAT, TEXT_ARG(state));
}

/* Who is on time ends nothing before its deadline, and leaves nothing behind it. */
static void check_deadlines(struct test_fixture *fixture, int64_t now)
{
    assert_i64(test_sql_integer(fixture->database,
                                "SELECT COUNT(*) FROM result WHERE server_state = 4"
                                " AND report_deadline < %lld",
                                (long long)now),
               0);
    assert_i64(test_sql_integer(fixture->database,
                                "SELECT COUNT(*) FROM result WHERE outcome = 4"
                                " AND report_deadline >= %lld",
                                (long long)now),
               0);
    /* Nobody sleeps through a deadline, though extending never moves the time of looking. */
    assert_i64(test_sql_integer(fixture->database,
                                "SELECT COUNT(*) FROM result JOIN workunit ON workunit.id ="
                                " workunitid WHERE server_state = 4"
                                " AND transition_time > report_deadline"),
               0);
}

static void tell(struct test_fixture *fixture, transitions *look, uint64_t seed,
                 char (*ret_states)[STATE_SIZE])
{
    struct random random = {.state = seed};
    int64_t now = BEGIN;

    begin_story(fixture);
    for (int step = 0; step < STEPS; step++) {
        int64_t workunitid = 1 + (int64_t)(random_next(&random) % JOBS);
        double event = random_unit(&random);

        now += 1 + (int64_t)(6 * HOUR * random_unit(&random));
        if (event < 0.35)
            hand_out(fixture, workunitid, now);
        else if (event < 0.65)
            extend(fixture, workunitid);
        else if (event < 0.72)
            report(fixture, workunitid, now);
        look(fixture, now + 1);
        check_deadlines(fixture, now + 1);
        note_state(fixture, ret_states[step]);
    }
}

static void both_come_to_the_same(void **state)
{
    static char boincs[STEPS][STATE_SIZE], ours[STEPS][STATE_SIZE];
    struct test_fixture *fixture = *state;
    int64_t extended;

    test_database_add_app(fixture->database);
    for (uint64_t seed = 1; seed <= STORIES; seed++) {
        tell(fixture, look_as_boinc, seed, boincs);
        tell(fixture, look_as_we_do, seed, ours);
        for (int step = 0; step < STEPS; step++)
            assert_string_equal(ours[step], boincs[step]);
    }
    extended = test_sql_integer(
        fixture->database, "SELECT COUNT(*) FROM result WHERE report_deadline > sent_time + %d",
        BOUND);
    assert_true(extended > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(both_come_to_the_same, test_fixture_open,
                                        test_fixture_close),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
