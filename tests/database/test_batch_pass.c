/* SPDX-License-Identifier: Apache-2.0 */
/* Batches: their rows while jobs end, their states, who has expired, and who may submit. */
#include "server/passes/batch_pass.h"

#include "config/config.h"
#include "db/admin.h"
#include "db/batches.h"
#include "db/figure_rows.h"
#include "db/hurries.h"
#include "db/mariadb.h"
#include "db/submitters.h"
#include "server/base/arena.h"
#include "server/passes/output_count.h"
#include "server/passes/transition_pass.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/base/banned.h"

#define NOW 1800000000
enum { JOBS = 600 };

static struct test_fixture *fixture;
static bool ends; /* what the owner of the pass says */
static struct failure failure;

static bool is_to_end(void *context)
{
    (void)context;
    return ends;
}

static struct pass_owner owner(void)
{
    return (struct pass_owner){.db = fixture->db,
                               .config = test_database_config(fixture->database),
                               .arena = fixture->arena,
                               .failure = &failure,
                               .is_to_end = is_to_end};
}

/* Batch 1 of user 5 has 600 jobs with an unsent result each; batch 2, which is nobody's, three. */
static int setup(void **state)
{
    (void)test_fixture_open(state);
    fixture = *state;
    ends = false;
    failure = (struct failure){.status = STATUS_OK};
    test_sql(fixture->database,
             "INSERT INTO app (id, name) VALUES (1, 'demo'), (2, 'rare');"
             "INSERT INTO user (id, email_addr, name, authenticator)"
             " VALUES (5, 'ada', 'Ada', 'a'), (6, 'bob', 'Bob', 'b');"
             "INSERT INTO batch (id, user_id, name, app_id, state, create_time)"
             " VALUES (1, 5, 'genomes', 1, 1, 100), (2, 0, 'other', 2, 0, 200);"
             "INSERT INTO workunit (id, name, appid, batch, transition_time)"
             " SELECT seq, CONCAT('job_', seq), 1, 1, 2000000000 FROM seq_1_to_%d;"
             "INSERT INTO workunit (id, name, appid, batch, transition_time)"
             " SELECT 1000 + seq, CONCAT('other_', seq), 2, 2, 2000000000 FROM seq_1_to_3;"
             "INSERT INTO result (id, name, workunitid, appid, batch, server_state)"
             " SELECT id, CONCAT(name, '_0'), id, appid, batch, 2 FROM workunit",
             JOBS);
    return 0;
}

static int64_t number(const char *what)
{
    return test_sql_integer(fixture->database, "SELECT %s", what);
}

static int64_t state_of(int id)
{
    return test_sql_integer(fixture->database, "SELECT state FROM batch WHERE id = %d", id);
}

static void pass(int64_t now)
{
    struct pass_owner from = owner();
    struct batch_schedule schedule = {.refresh_at = 0};

    assert_status(STATUS_OK, batch_pass(&from, now, &schedule));
    assert_true(schedule.refresh_at > 0);
}

/* --- what the row says ------------------------------------------------------------------------ */

static void a_row_follows_its_jobs(void **state)
{
    (void)state;
    pass(NOW);
    assert_i64(number("njobs FROM batch WHERE id = 1"), JOBS);
    assert_i64(number("1000 * fraction_done FROM batch WHERE id = 1"), 0);
    test_sql(fixture->database,
             "UPDATE workunit SET canonical_resultid = id, canonical_credit = 2 WHERE id <= 150;"
             "UPDATE workunit SET error_mask = 2 WHERE id = 151;"
             "UPDATE workunit SET error_mask = 16 WHERE id = 152;"
             /* an answer, and an error that came later: it has its answer */
             "UPDATE workunit SET error_mask = 4 WHERE id = 150");
    pass(NOW + 10);
    assert_i64(number("1000 * fraction_done FROM batch WHERE id = 1"), 1000 * 152 / JOBS);
    assert_i64(number("nerror_jobs FROM batch WHERE id = 1"), 2);
    assert_i64(number("credit_canonical FROM batch WHERE id = 1"), 300);
    assert_i64(state_of(1), BATCH_IN_PROGRESS);
    assert_i64(number("completion_time FROM batch WHERE id = 1"), 0);
    /* what is new has no jobs yet, as far as anybody knows */
    assert_i64(number("njobs FROM batch WHERE id = 2"), 0);
    assert_i64(state_of(2), BATCH_INIT);
}

static void the_last_job_completes_it_and_purged_ones_stay_counted(void **state)
{
    (void)state;
    test_sql(fixture->database, "UPDATE workunit SET canonical_resultid = id WHERE id < %d", JOBS);
    pass(NOW);
    assert_i64(state_of(1), BATCH_IN_PROGRESS);
    test_sql(fixture->database, "DELETE FROM workunit WHERE id <= 100");
    pass(NOW + 10);
    assert_i64(number("njobs FROM batch WHERE id = 1"), JOBS);
    assert_i64(number("fraction_done < 1 FROM batch WHERE id = 1"), 1);
    test_sql(fixture->database, "UPDATE workunit SET error_mask = 8 WHERE id = %d", JOBS);
    pass(NOW + 20);
    assert_i64(state_of(1), BATCH_COMPLETE);
    assert_i64(number("completion_time FROM batch WHERE id = 1"), NOW + 20);
    assert_i64(number("1000 * fraction_done FROM batch WHERE id = 1"), 1000);
    assert_i64(number("njobs FROM batch WHERE id = 1"), JOBS);
}

static void jobs_that_are_tried_again_open_it(void **state)
{
    const struct job_selection selection = {.name_prefix = TEXT("job_7")};
    const struct job_change retry = {.kind = JOB_CHANGE_RETRY, .now = NOW};
    struct job_change_sums sums;
    struct pass_owner from = owner();

    (void)state;
    test_sql(fixture->database,
             "UPDATE workunit SET error_mask = 2; UPDATE result SET server_state = 5, outcome = 3;"
             "UPDATE batch SET state = 2, completion_time = 77");
    assert_status(STATUS_OK, job_change_pass(&from, &selection, &retry, "jobs", &sums));
    assert_i64((int64_t)sums.jobs.jobs, 11);
    assert_i64(state_of(1), BATCH_IN_PROGRESS);
    assert_i64(number("completion_time FROM batch WHERE id = 1"), 0);
    assert_i64(state_of(2), BATCH_COMPLETE);
}

static void jobs_that_are_added_open_it(void **state)
{
    static const int after[] = {BATCH_IN_PROGRESS, BATCH_IN_PROGRESS, BATCH_IN_PROGRESS,
                                BATCH_ABORTED, BATCH_RETIRED};

    (void)state;
    for (int before = BATCH_INIT; before <= BATCH_RETIRED; before++) {
        test_sql(fixture->database, "UPDATE batch SET state = %d WHERE id = 1", before);
        assert_status(STATUS_OK, db_batch_open(fixture->db, 1));
        assert_status(STATUS_OK, db_commit(fixture->db));
        assert_i64(state_of(1), after[before]);
    }
}

/* --- its end -----------------------------------------------------------------------------------
 */

static void abort_cancels_what_is_unfinished(void **state)
{
    struct pass_owner from = owner();
    struct job_change_sums sums;

    (void)state;
    test_sql(fixture->database, "UPDATE workunit SET canonical_resultid = id WHERE id <= 10;"
                                "UPDATE result SET server_state = 4 WHERE id = 11");
    assert_status(STATUS_OK, batch_abort(&from, 1, NOW, &sums));
    assert_true(sums.is_whole);
    assert_i64((int64_t)sums.jobs.jobs, JOBS - 10);
    assert_i64((int64_t)sums.jobs.in_progress, 1);
    assert_i64(state_of(1), BATCH_ABORTED);
    assert_i64(number("completion_time FROM batch WHERE id = 1"), NOW);
    assert_i64(number("COUNT(*) FROM workunit WHERE error_mask = 16 AND batch = 1"), JOBS - 10);
    assert_i64(number("COUNT(*) FROM workunit WHERE error_mask = 16 AND batch = 2"), 0);
    /* once more is the same */
    assert_status(STATUS_OK, batch_abort(&from, 1, NOW + 5, &sums));
    assert_i64((int64_t)sums.jobs.jobs, 0);
    assert_i64(number("completion_time FROM batch WHERE id = 1"), NOW);
}

static void an_abort_that_was_interrupted_has_not_ended_it(void **state)
{
    struct pass_owner from = owner();
    struct job_change_sums sums;

    (void)state;
    ends = true;
    assert_status(STATUS_OK, batch_abort(&from, 1, NOW, &sums));
    assert_false(sums.is_whole);
    assert_i64(state_of(1), BATCH_IN_PROGRESS);
}

static void only_what_is_finished_is_retired(void **state)
{
    struct pass_owner from = owner();
    int64_t unfinished = 0;

    (void)state;
    test_sql(fixture->database, "UPDATE workunit SET canonical_resultid = id WHERE id < %d", JOBS);
    assert_status(STATUS_INVALID, batch_retire(&from, 1, NOW, &unfinished));
    assert_i64(unfinished, 1);
    assert_i64(state_of(1), BATCH_IN_PROGRESS);
    test_sql(fixture->database, "UPDATE workunit SET canonical_resultid = id WHERE batch = 1");
    assert_status(STATUS_OK, batch_retire(&from, 1, NOW, &unfinished));
    assert_i64(state_of(1), BATCH_RETIRED);
    assert_i64(number("expire_time FROM batch WHERE id = 1"), 0);
    /* their files may go */
    assert_i64(number("COUNT(*) FROM workunit WHERE batch = 1 AND transition_time = 1800000000"),
               JOBS);
    assert_i64(number("COUNT(*) FROM workunit WHERE batch = 2 AND transition_time = 1800000000"),
               0);
}

static void a_retirement_that_was_interrupted_is_completed(void **state)
{
    (void)state;
    test_sql(fixture->database,
             "UPDATE workunit SET canonical_resultid = id WHERE batch = 1;"
             "UPDATE batch SET state = %d, expire_time = %d WHERE id = 1",
             BATCH_RETIRED, NOW - 1);
    pass(NOW);
    assert_i64(state_of(1), BATCH_RETIRED);
    assert_i64(number("COUNT(*) FROM workunit WHERE batch = 1 AND transition_time = 1800000000"),
               JOBS);
    assert_i64(number("expire_time FROM batch WHERE id = 1"), 0);
}

/* BOINC's batch_stats.php keeps seconds there, the median of turnarounds. */
static void who_has_expired_is_retired_and_nobody_else(void **state)
{
    static const struct {
        double expire_time;
        int state;
    } rows[] = {{NOW, BATCH_RETIRED},
                {NOW + 1, BATCH_IN_PROGRESS},
                {0, BATCH_IN_PROGRESS},
                {86400, BATCH_IN_PROGRESS},
                {NOW - 1e8, BATCH_RETIRED}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        test_sql(fixture->database,
                 "UPDATE batch SET state = 1, expire_time = %.0f WHERE id = 1;"
                 "UPDATE workunit SET error_mask = 0, canonical_resultid = 0",
                 rows[i].expire_time);
        pass(NOW);
        assert_i64(state_of(1), rows[i].state);
        assert_i64(number("COUNT(*) FROM workunit WHERE error_mask = 16 AND batch = 1"),
                   rows[i].state == BATCH_RETIRED ? JOBS : 0);
    }
}

/* A finished job, whose host came long ago, of a batch in each state and of a mere number. */
static void files_stay_until_the_batch_is_retired(void **state)
{
    static const int64_t kept[] = {FILE_DELETE_INIT, FILE_DELETE_INIT, FILE_DELETE_INIT,
                                   FILE_DELETE_INIT, FILE_DELETE_READY};
    const struct config config = {.delete_delay_hours = 0};
    const struct pass_settings settings = {.now = NOW};
    struct pass_owner from = owner();
    struct pass_counts counts = {.jobs = 0};

    (void)state;
    from.config = &config;
    for (int batch = BATCH_INIT; batch <= BATCH_RETIRED + 1; batch++) {
        test_sql(fixture->database,
                 "UPDATE batch SET state = %d WHERE id = 1;"
                 "UPDATE workunit SET batch = %d, canonical_resultid = id, assimilate_state = 2,"
                 " file_delete_state = 0, transition_time = 1000 WHERE id = 1;"
                 "UPDATE result SET server_state = 5, outcome = 1, validate_state = 1,"
                 " file_delete_state = 0, received_time = 1000 WHERE id = 1",
                 batch, batch > BATCH_RETIRED ? 77 : 1);
        assert_status(STATUS_OK, transition_pass(&from, &settings, &counts));
        if (batch < BATCH_RETIRED) /* BOINC's pages may retire it meanwhile */
            assert_i64(number("transition_time FROM workunit WHERE id = 1"), NOW + 86400);
        assert_i64(number("file_delete_state FROM workunit WHERE id = 1"),
                   batch > BATCH_RETIRED ? FILE_DELETE_READY : kept[batch]);
        assert_i64(number("file_delete_state FROM result WHERE id = 1"),
                   batch > BATCH_RETIRED ? FILE_DELETE_READY : kept[batch]);
    }
}

/* --- bytes in outputs ------------------------------------------------------------------------- */

static char uploads[] = "/tmp/qm-outputs-XXXXXX";

static void put_output(const char *name, int bytes)
{
    char path[128];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s", uploads, name);
    file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < bytes; i++)
        assert_int_equal(fputc('x', file), 'x');
    assert_int_equal(fclose(file), 0);
}

/* Of job 1 two instances came back, of job 150 one, of job 400 one without its file; 500 failed. */
static void give_outputs_back(void)
{
    struct config *config = test_database_config(fixture->database);

    config->upload_dir = text_from(uploads);
    config->uldl_dir_fanout = 0;
    put_output("o2", 0);
    put_output("o1", 10);
    put_output("o1b", 11);
    put_output("o150", 100);
    test_sql(fixture->database,
             "INSERT INTO result (id, name, workunitid, appid, batch, server_state) VALUES"
             " (5001, 'job_1_1', 1, 1, 1, 5);"
             "UPDATE result SET xml_doc_in = CONCAT('<file_ref><file_name>o', IF(id = 5001, '1b',"
             " id), '</file_name></file_ref>') WHERE batch = 1;"
             "UPDATE result SET server_state = 5, outcome = IF(id = 500, 3, 1)"
             " WHERE id IN (1, 5001, 150, 400, 500);"
             "UPDATE workunit SET canonical_resultid = id WHERE id IN (1, 150, 400);"
             "UPDATE workunit SET error_mask = 1 WHERE id = 500");
}

static int64_t count_outputs(void)
{
    struct pass_owner from = owner();
    struct output_schedule schedule = {.count_at = 0};
    struct outputs_waiting_row waiting;

    assert_status(STATUS_OK, output_count_pass(&from, &schedule));
    assert_true(schedule.count_at > 0);
    assert_status(STATUS_OK, db_count_outputs(fixture->db, &waiting));
    assert_status(STATUS_OK, db_rollback(fixture->db));
    assert_i64(waiting.batches, waiting.bytes > 0);
    return waiting.bytes;
}

static void bytes_of_outputs_wait_until_the_batch_is_retired(void **state)
{
    (void)state;
    give_outputs_back();
    assert_i64(count_outputs(), 0); /* the batch does not know yet that jobs ended */
    pass(NOW);
    assert_i64(count_outputs(), 121);
    put_output("o2", 1000);
    assert_i64(count_outputs(), 121); /* nothing ended: nothing is looked at */
    test_sql(fixture->database, "UPDATE result SET server_state = 5, outcome = 1 WHERE id = 2;"
                                "UPDATE workunit SET canonical_resultid = id WHERE id = 2");
    pass(NOW);
    assert_i64(count_outputs(), 1121);
    test_sql(fixture->database, "UPDATE batch SET state = 4 WHERE id = 1");
    assert_i64(count_outputs(), 0);
    assert_i64(number("COUNT(*) FROM qm_batch_outputs"), 0);
}

/* What was counted up to a place stays so; what is not there any more goes with the next walk. */
static void counting_goes_on_where_it_was(void **state)
{
    (void)state;
    give_outputs_back();
    pass(NOW);
    test_sql(fixture->database,
             "INSERT INTO qm_batch_outputs SELECT id, fraction_done, nerror_jobs, 100, 7, 50"
             " FROM batch WHERE id = 1");
    assert_i64(count_outputs(), 107);
    test_sql(fixture->database, "UPDATE qm_batch_outputs SET place = 600, bytes = 300");
    assert_i64(count_outputs(), 107);
    test_sql(fixture->database, "UPDATE qm_batch_outputs SET nerror_jobs = 0");
    assert_i64(count_outputs(), 121);
}

/* A turn looks at a bounded number of jobs, the next one at the others. */
static void a_large_batch_takes_several_turns(void **state)
{
    struct pass_owner from = owner();
    struct output_schedule schedule = {.count_at = 0};

    (void)state;
    give_outputs_back();
    test_sql(fixture->database,
             "INSERT INTO workunit (id, name, appid, batch, transition_time, error_mask)"
             " SELECT 10000 + seq, CONCAT('more_', seq), 1, 1, 2000000000, 1 FROM seq_1_to_%d;"
             "INSERT INTO result (id, name, workunitid, appid, batch, server_state, outcome,"
             " xml_doc_in) VALUES (99999, 'last', 10000 + %d, 1, 1, 5, 1,"
             " '<file_ref><file_name>o1</file_name></file_ref>')",
             OUTPUTS_AT_ONCE, OUTPUTS_AT_ONCE);
    pass(NOW);
    assert_status(STATUS_OK, output_count_pass(&from, &schedule));
    assert_i64(number("place > 0 FROM qm_batch_outputs"), 1);
    assert_i64(number("counting FROM qm_batch_outputs"), 121);
    assert_status(STATUS_OK, output_count_pass(&from, &schedule)); /* it is not its time */
    assert_i64(number("counting FROM qm_batch_outputs"), 121);
    schedule.count_at = 0;
    assert_status(STATUS_OK, output_count_pass(&from, &schedule));
    assert_i64(number("bytes FROM qm_batch_outputs"), 131);
}

static void without_the_folder_nothing_is_counted(void **state)
{
    struct config *config = test_database_config(fixture->database);

    (void)state;
    give_outputs_back();
    pass(NOW);
    config->upload_dir = TEXT("/nowhere/at/all");
    assert_i64(count_outputs(), 0);
    config->upload_dir = text_from(uploads);
    assert_i64(count_outputs(), 121);
}

/* --- in a hurry ------------------------------------------------------------------------------- */

/* Of batch 1, 500 jobs have an answer, of 1 to 50 h; of 100 a host has the result: of 80 for an
 * hour, of 20 for 100 h. Hosts are 1, which returns results after 10 h, and 2, after 20. */
static void come_near_the_end(void)
{
    test_sql(fixture->database,
             "INSERT INTO host (id, userid, avg_turnaround, rpc_time) VALUES"
             " (1, 5, 36000, %d), (2, 5, 72000, %d);"
             "UPDATE workunit SET min_quorum = 1, target_nresults = 1, max_total_results = 20,"
             " max_error_results = 10, max_success_results = 20;"
             "UPDATE result SET hostid = 1 + (id > 580), server_state = 4, sent_time = %d"
             " - IF(id > 580, 360000, 3600) WHERE batch = 1;"
             "UPDATE result SET server_state = 5, outcome = 1, validate_state = 1,"
             " received_time = %d - id, sent_time = received_time - 360 * id WHERE id <= 500;"
             "UPDATE workunit SET canonical_resultid = id WHERE id <= 500",
             NOW, NOW, NOW, NOW);
}

static void want_hurry(void)
{
    struct config *config = test_database_config(fixture->database);

    config->send_result_abort = true;
    config->one_result_per_host_per_wu = true;
    assert_status(STATUS_OK, db_hurry_want(fixture->db, 1, true));
    assert_status(STATUS_OK, db_commit(fixture->db));
}

static int64_t wanted_results(const char *where)
{
    return test_sql_integer(fixture->database,
                            "SELECT COALESCE(SUM(target_nresults - 1), 0) FROM workunit WHERE %s",
                            where);
}

static void late_jobs_get_one_result_more(void **state)
{
    (void)state;
    come_near_the_end();
    pass(NOW);
    assert_i64(wanted_results("TRUE"), 0); /* in no hurry */
    want_hurry();
    pass(NOW);
    assert_i64(wanted_results("id > 580 AND batch = 1"), 20);
    assert_i64(wanted_results("id <= 580"), 0);
    assert_i64(
        number("COUNT(*) FROM workunit WHERE transition_time <= 1800000000 AND priority = 1"), 20);
    assert_i64(number("within FROM qm_hurry WHERE batch = 1"), 15 * 3600);
    pass(NOW); /* before their transition they are not made twice */
    assert_i64(wanted_results("TRUE"), 20);
    assert_i64(number("COUNT(*) FROM workunit WHERE priority = 1"), 20);
    test_sql(
        fixture->database,
        "INSERT INTO result (name, workunitid, appid, batch, server_state)"
        " SELECT CONCAT(name, '_1'), id, appid, batch, 2 FROM workunit WHERE target_nresults > 1");
    pass(NOW); /* each has what it was to have: if it is lost, nobody makes it again by itself */
    assert_i64(wanted_results("TRUE"), 0);
    pass(NOW);
    assert_i64(wanted_results("TRUE"), 0);
    /* another program that saw the jobs before */
    assert_status(STATUS_OK, db_hurry_copy(fixture->db, (const int64_t[]){590, 591}, 2, NOW));
    assert_status(STATUS_OK, db_commit(fixture->db));
    assert_i64(wanted_results("TRUE"), 0);
    test_sql(fixture->database,
             "UPDATE workunit SET target_nresults = 2 WHERE id IN (590, 591);"
             "UPDATE result SET server_state = 5, outcome = 1, validate_state = 4"
             " WHERE workunitid = 590 AND server_state = 4");
    assert_status(STATUS_OK, db_hurry_settle(fixture->db, (const int64_t[]){590, 591}, 2));
    assert_status(STATUS_OK, db_commit(fixture->db));
    assert_i64(wanted_results("TRUE"), 1); /* a quorum that may have to be decided by one more */
}

static void a_host_is_slow_with_one_version_only(void **state)
{
    (void)state;
    come_near_the_end();
    want_hurry();
    test_sql(fixture->database,
             "UPDATE result SET app_version_id = 3 + (id > 505) WHERE id > 500;"
             "INSERT INTO host_app_version (host_id, app_version_id, turnaround_n, turnaround_avg)"
             " VALUES (1, 3, 1, 360000), (1, 4, 0, 360000)");
    pass(NOW); /* it has returned nothing else, so its latest results tell */
    assert_i64(wanted_results("TRUE"), 20);
    test_sql(fixture->database,
             "SET sql_mode = '';"
             "INSERT INTO app_version (id, appid, version_num) VALUES (3, 1, 1), (9, 2, 1);"
             "INSERT INTO host_app_version (host_id, app_version_id, turnaround_n, turnaround_avg)"
             " VALUES (1, 9, 1, 100)");
    pass(NOW);
    assert_i64(wanted_results("id > 580 OR id BETWEEN 501 AND 505"), 25);
    assert_i64(wanted_results("TRUE"), 25);
}

/* What is no error for the transition leaves fewer results to a job, and no fewer errors. */
static void errors_are_counted_as_transitions_do(void **state)
{
    (void)state;
    come_near_the_end();
    want_hurry();
    test_sql(
        fixture->database,
        "UPDATE workunit SET max_total_results = 4, max_error_results = 2;"
        "INSERT INTO result (name, workunitid, appid, batch, server_state, outcome, exit_status)"
        " SELECT CONCAT(name, '_1'), id, appid, batch, 5, 3, IF(id %% 2, 200, 203)"
        " FROM workunit WHERE batch = 1 AND id > 580");
    pass(NOW);
    assert_i64(wanted_results("TRUE"), 0);
    test_sql(fixture->database, "UPDATE result SET exit_status = 1 WHERE outcome = 3");
    pass(NOW);
    assert_i64(wanted_results("TRUE"), 20);
}

static void an_answer_or_an_option_that_lacks_stops_it(void **state)
{
    (void)state;
    come_near_the_end();
    want_hurry();
    test_database_config(fixture->database)->send_result_abort = false;
    pass(NOW);
    assert_i64(wanted_results("TRUE"), 0);
    want_hurry();
    test_sql(fixture->database, "UPDATE workunit SET canonical_resultid = id WHERE id <= 590;"
                                "UPDATE workunit SET error_mask = 1 WHERE id = 600");
    pass(NOW);
    assert_i64(wanted_results("id BETWEEN 591 AND 599"), 9);
    assert_i64(wanted_results("TRUE"), 9);
}

static void all_batches_may_be_in_a_hurry(void **state)
{
    (void)state;
    come_near_the_end();
    want_hurry();
    assert_status(STATUS_OK, db_hurry_want(fixture->db, 1, false));
    assert_status(STATUS_OK, db_commit(fixture->db));
    pass(NOW);
    assert_i64(wanted_results("TRUE"), 0);
    test_database_config(fixture->database)->hurry_batches = true;
    pass(NOW);
    assert_i64(wanted_results("TRUE"), 20);
    assert_i64(number("COUNT(*) FROM qm_hurry WHERE wanted = 0 AND within > 0"), 1);
    test_database_config(fixture->database)->hurry_batches = false;
    pass(NOW); /* nobody wants it any more: all hosts may have what is left */
    assert_i64(number("within FROM qm_hurry"), 0);
}

static void who_is_over_is_forgotten(void **state)
{
    (void)state;
    come_near_the_end();
    test_sql(fixture->database, "INSERT INTO qm_hurry (batch, wanted, within) VALUES (1, 1, 5),"
                                " (2, 1, 0), (77, 1, 0)");
    pass(NOW);
    assert_i64(number("COUNT(*) FROM qm_hurry"), 2); /* 2 is INIT: jobs will be added */
    test_sql(fixture->database, "UPDATE batch SET state = 4");
    pass(NOW);
    assert_i64(number("COUNT(*) FROM qm_hurry"), 0);
}

/* --- when it will be done --------------------------------------------------------------------- */

static void a_batch_says_when_it_will_be_done(void **state)
{
    int64_t half, most;

    (void)state;
    come_near_the_end();
    test_sql(fixture->database, "UPDATE workunit SET delay_bound = 360000");
    pass(NOW);
    half = number("est_completion_time FROM batch WHERE id = 1");
    most = number("most FROM qm_batch_date WHERE batch = 1");
    assert_true(half > NOW + 100 * 3600 && half < most && most < NOW + 300 * 3600);
    assert_i64(number("half FROM qm_batch_date WHERE batch = 1"), half);
    assert_i64(number("made_at FROM qm_batch_date WHERE batch = 1"), NOW);
    test_sql(fixture->database, "UPDATE workunit SET canonical_resultid = id WHERE id > 500");
    pass(NOW + 10);
    assert_i64(number("est_completion_time FROM batch WHERE id = 1"), 0);
    pass(NOW + 20);
    assert_i64(number("COUNT(*) FROM qm_batch_date"), 0);
}

/* Half of its jobs are unsent: it depends on what goes before and how much is handed out. */
static void what_stands_before_a_batch_makes_it_later(void **state)
{
    int64_t half;

    (void)state;
    come_near_the_end();
    test_sql(fixture->database, "UPDATE workunit SET delay_bound = 360000;"
                                "UPDATE result SET server_state = 2, sent_time = 0 WHERE id > 550"
                                " AND batch = 1; UPDATE result SET sent_time = sent_time - 700000,"
                                " received_time = received_time - 700000 WHERE sent_time > 0");
    pass(NOW);
    assert_i64(number("half FROM qm_batch_date WHERE batch = 1"), 0); /* nothing was handed out */
    test_sql(fixture->database,
             "INSERT INTO qm_fate (hour, process, appid, app_version_id, batch, fate, exit_status,"
             " results) VALUES (%d, 1, 1, 1, 0, 1, 0, 40), (%d, 1, 1, 1, 0, 2, 0, 9999),"
             " (%d, 1, 1, 1, 0, 1, 0, 9999)",
             NOW / 3600 - 4, NOW / 3600 - 4, NOW / 3600 - 25);
    pass(NOW);
    half = number("half FROM qm_batch_date WHERE batch = 1");
    assert_true(half > NOW);
    assert_i64(number("ahead FROM qm_batch_date WHERE batch = 1"), 0);
    test_sql(fixture->database,
             "INSERT INTO result (name, workunitid, appid, batch, server_state, priority)"
             " SELECT CONCAT('more_', seq), 9000, 2, 0, 2, 1 FROM seq_1_to_1000");
    pass(NOW);
    assert_i64(number("ahead FROM qm_batch_date WHERE batch = 1"), 1000);
    /* 10 an hour */
    assert_true(number("half FROM qm_batch_date WHERE batch = 1") > half + 60 * 3600);
    test_sql(fixture->database, "UPDATE result SET priority = 0, id = id + 100000 WHERE batch = 0");
    pass(NOW);
    assert_i64(number("ahead FROM qm_batch_date WHERE batch = 1"), 0);
    assert_i64(number("half FROM qm_batch_date WHERE batch = 1"), half);
}

/* Counting goes on from batch to batch. Here more priorities take turns than are remembered, and
 * numbers of results do not rise with those of batches. */
static void what_stands_before_each_of_many_is_counted(void **state)
{
    (void)state;
    test_sql(fixture->database,
             "INSERT INTO batch (id, user_id, name, app_id, state, create_time)"
             " SELECT 100 + seq, 5, seq, 1, 1, 100 FROM seq_1_to_200;"
             "INSERT INTO workunit (id, name, appid, batch, transition_time)"
             " SELECT 5000 + seq, CONCAT('many_', seq), 1, 100 + seq, 2000000000"
             " FROM seq_1_to_200;"
             "INSERT INTO result (id, name, workunitid, appid, batch, server_state, priority)"
             " SELECT 5000 + seq * 77 %% 200, CONCAT('many_', seq), 5000 + seq, 1, 100 + seq, 2,"
             " IF(seq < 100, seq %% 3, seq * 7 %% 20) FROM seq_1_to_200");
    pass(NOW);
    assert_i64(number("COUNT(*) FROM qm_batch_date WHERE batch > 100"), 200);
    assert_i64(
        number("COUNT(*) FROM qm_batch_date JOIN result ON result.batch = qm_batch_date.batch"
               " WHERE result.batch > 100 AND ahead <> (SELECT COUNT(*) FROM result AS other"
               " WHERE other.server_state = 2 AND (other.priority > result.priority OR"
               " (other.priority = result.priority AND other.id < result.id)))"),
        0);
    assert_true(number("MAX(ahead) FROM qm_batch_date WHERE batch > 100") > 150);
}

/* Rows that the pass's connection has read so far. */
static int64_t rows_read(void)
{
    assert_status(STATUS_OK,
                  db_run_text(fixture->db, "INSERT INTO rows_read SELECT SUM(VARIABLE_VALUE)"
                                           " FROM information_schema.SESSION_STATUS"
                                           " WHERE VARIABLE_NAME LIKE 'HANDLER_READ%'"));
    assert_status(STATUS_OK, db_commit(fixture->db));
    return number("MAX(so_far) FROM rows_read");
}

/* By so many apps: of each 1,000 results that are over, and its batches with 10 jobs each. */
static int64_t read_for_many(int batches, int apps)
{
    int64_t before, reading;

    test_sql(fixture->database,
             "DELETE FROM batch; DELETE FROM workunit; DELETE FROM result; DELETE FROM app;"
             "CREATE TABLE IF NOT EXISTS rows_read (so_far BIGINT);"
             "INSERT INTO app (id, name) SELECT seq, seq FROM seq_1_to_%d;"
             "INSERT INTO batch (id, user_id, name, app_id, state, create_time)"
             " SELECT seq, 5, seq, 1 + seq %% %d, 1, 100 FROM seq_1_to_%d;"
             "INSERT INTO workunit (id, name, appid, batch, transition_time)"
             " SELECT seq, seq, 1 + (1 + (seq - 1) DIV 10) %% %d, 1 + (seq - 1) DIV 10, 2000000000"
             " FROM seq_1_to_%d;"
             "INSERT INTO result (name, workunitid, appid, batch, server_state, sent_time)"
             " SELECT name, id, appid, batch, IF(id %% 2, 2, 4), IF(id %% 2, 0, %d)"
             " FROM workunit;"
             "INSERT INTO result (name, workunitid, appid, server_state, outcome, sent_time,"
             " received_time) SELECT CONCAT('o', seq), 0, 1 + seq %% %d, 5, 1, %d, %d"
             " FROM seq_1_to_%d",
             apps, apps, batches, apps, 10 * batches, NOW - 5000, apps, NOW - 9000, NOW - 1000,
             1000 * apps);
    before = rows_read();
    reading = rows_read() - before;
    before = rows_read();
    pass(NOW);
    reading = rows_read() - before - reading;
    assert_i64(number("COUNT(*) FROM qm_batch_date WHERE half > 0 OR most > 0 OR made_at > 0"),
               batches);
    return reading;
}

/* What is common to batches is read once for all: twice as many cost no more than their own jobs,
 * with some looks at each; and what is recent of an app is read once. */
static void many_batches_read_little_beyond_their_jobs(void **state)
{
    int64_t few, many;

    (void)state;
    few = read_for_many(100, 5);
    many = read_for_many(300, 5);
    printf("rows read for 100 batches of 5 apps %" PRId64 ", for 300 %" PRId64 "\n", few, many);
    assert_true(many - few < 200 * 10 * 15);
    assert_true(few < 5 * 2000 + 100 * 10 * 15);
    test_sql(fixture->database, "DROP TABLE rows_read");
}

/* --- which there are ---------------------------------------------------------------------------
 */

static void lists_have_numbers_that_only_jobs_have_and_rows_without_jobs(void **state)
{
    struct answer_filter filter = {.before = INT64_MAX, .most = 10};
    struct batch_view *views;
    size_t count;

    (void)state;
    test_sql(fixture->database,
             "INSERT INTO batch (id, name, app_id, user_id) VALUES (7, 'empty', 1, 6);"
             "INSERT INTO workunit (id, name, appid, batch, create_time, error_mask)"
             " VALUES (2000, 'x', 2, 9, 55, 2);"
             "UPDATE result SET server_state = 4 WHERE id <= 3");
    assert_status(STATUS_OK, db_batch_list(fixture->db, fixture->arena, &filter, &views, &count));
    assert_i64((int64_t)count, 4);
    assert_i64(views[0].row.batch, 9);
    assert_i64(views[0].row.state, BATCH_STATE_NONE);
    assert_i64(views[0].row.created, 55);
    assert_i64(views[0].row.failed, 1);
    assert_text(views[0].row.app, "rare");
    assert_i64(views[1].row.batch, 7);
    assert_i64(views[1].row.jobs, 0);
    assert_text(views[1].row.owner, "bob");
    assert_i64(views[3].row.batch, 1);
    assert_i64(views[3].row.jobs, JOBS);
    assert_i64(views[3].unsent, JOBS - 3);
    assert_i64(views[3].in_progress, 3);
    filter = (struct answer_filter){.before = 9, .most = 1};
    assert_status(STATUS_OK, db_batch_list(fixture->db, fixture->arena, &filter, &views, &count));
    assert_i64((int64_t)count, 1);
    assert_i64(views[0].row.batch, 7);
    filter = (struct answer_filter){.before = INT64_MAX, .most = 10, .appid = 2};
    assert_status(STATUS_OK, db_batch_list(fixture->db, fixture->arena, &filter, &views, &count));
    assert_i64((int64_t)count, 2);
}

static void a_name_of_several_is_nobodys(void **state)
{
    struct batch_entry_row batch;

    (void)state;
    assert_status(STATUS_OK,
                  db_batch_find(fixture->db, fixture->arena, 0, TEXT("genomes"), &batch));
    assert_i64(batch.id, 1);
    test_sql(fixture->database, "INSERT INTO batch (name, user_id) VALUES ('genomes', 6)");
    assert_status(STATUS_INVALID,
                  db_batch_find(fixture->db, fixture->arena, 0, TEXT("genomes"), &batch));
    assert_status(STATUS_NOT_FOUND,
                  db_batch_find(fixture->db, fixture->arena, 0, TEXT("x' OR 1 = '1"), &batch));
    assert_status(STATUS_OK, db_batch_find(fixture->db, fixture->arena, 2, NO_TEXT, &batch));
    assert_text(batch.name, "other");
}

static void a_database_of_former_years_has_only_numbers(void **state)
{
    struct answer_filter filter = {.before = INT64_MAX, .most = 10};
    const struct job_selection selection = {.batch = 2};
    const struct job_change retry = {.kind = JOB_CHANGE_RETRY, .now = NOW};
    struct job_change_sums sums;
    struct pass_owner from;
    struct batch_schedule schedule = {.refresh_at = 0};
    struct batch_view *views;
    size_t count;

    (void)state;
    assert_true(db_has_batches(fixture->db));
    test_sql(fixture->database, "UPDATE workunit SET error_mask = 2; DROP TABLE batch");
    db_close(fixture->db);
    fixture->db = test_database_open(fixture->database);
    from = owner();
    assert_false(db_has_batches(fixture->db));
    assert_status(STATUS_OK, db_batch_list(fixture->db, fixture->arena, &filter, &views, &count));
    assert_i64((int64_t)count, 2);
    assert_text(views[0].row.name, "");
    assert_i64(views[0].row.state, BATCH_STATE_NONE);
    assert_status(STATUS_OK, batch_pass(&from, NOW, &schedule));
    assert_status(STATUS_OK, job_change_pass(&from, &selection, &retry, "jobs", &sums));
    assert_i64((int64_t)sums.jobs.jobs, 3);
    test_sql(fixture->database,
             "CREATE TABLE batch (id INT, user_id INT, name VARCHAR(99), state INT,"
             " app_id INT, create_time INT, completion_time DOUBLE,"
             " credit_canonical DOUBLE, njobs INT, fraction_done DOUBLE,"
             " nerror_jobs INT)");
    db_close(fixture->db);
    fixture->db = test_database_open(fixture->database);
    from = owner();
    test_sql(fixture->database, "INSERT INTO batch SET id = 2, user_id = 5, state = 1");
    assert_status(STATUS_OK, batch_pass(&from, NOW, &schedule));
    assert_i64(state_of(2), BATCH_IN_PROGRESS);
}

/* --- who may submit ----------------------------------------------------------------------------
 */

static void a_submitter_has_rights_applications_and_a_count(void **state)
{
    struct submitter_rights_row rights = {.quota = 2.5, .max_jobs_in_progress = 7};
    struct submitter_row *rows;
    size_t count;
    bool was;

    (void)state;
    assert_status(STATUS_NOT_FOUND, db_submitter_lock(fixture->db, 5, &rights));
    assert_status(STATUS_OK, db_submitter_save(fixture->db, 5, &rights));
    assert_status(STATUS_OK, db_submitter_allow(fixture->db, 5, 2));
    assert_status(STATUS_OK, db_submitter_allow(fixture->db, 5, 1));
    assert_status(STATUS_OK, db_submitter_allow(fixture->db, 5, 1));
    test_sql(fixture->database, "UPDATE workunit SET error_mask = 2 WHERE id <= 100");
    assert_status(STATUS_OK, db_submitter_list(fixture->db, fixture->arena, &rows, &count));
    assert_i64((int64_t)count, 1);
    assert_text(rows[0].email, "ada");
    assert_text(rows[0].apps, "demo rare");
    assert_i64(rows[0].unfinished, JOBS - 100);
    assert_i64((int64_t)(10 * rows[0].quota), 25);
    assert_status(STATUS_OK, db_submitter_forbid(fixture->db, 5, 2));
    rights.submit_all = 1;
    assert_status(STATUS_OK, db_submitter_save(fixture->db, 5, &rights));
    assert_status(STATUS_OK, db_submitter_lock(fixture->db, 5, &rights));
    assert_i64(rights.submit_all, 1);
    assert_status(STATUS_OK, db_submitter_list(fixture->db, fixture->arena, &rows, &count));
    assert_text(rows[0].apps, "demo");
    assert_status(STATUS_OK, db_submitter_remove(fixture->db, 5, &was));
    assert_true(was);
    assert_status(STATUS_OK, db_submitter_remove(fixture->db, 5, &was));
    assert_false(was);
    assert_status(STATUS_OK, db_commit(fixture->db));
    assert_i64(number("COUNT(*) FROM user_submit_app"), 0);
}

static int open_folder(void **state)
{
    (void)state;
    return mkdtemp(uploads) == NULL ? -1 : 0;
}

static int close_folder(void **state)
{
    char command[sizeof(uploads) + 16];
    FILE *process;

    (void)state;
    (void)snprintf(command, sizeof(command), "rm -r %s", uploads);
    process = popen(command, "r");
    return process == NULL ? -1 : pclose(process);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, test_fixture_close)
    const struct CMUnitTest tests[] = {
        CASE(a_row_follows_its_jobs),
        CASE(the_last_job_completes_it_and_purged_ones_stay_counted),
        CASE(jobs_that_are_tried_again_open_it),
        CASE(jobs_that_are_added_open_it),
        CASE(abort_cancels_what_is_unfinished),
        CASE(an_abort_that_was_interrupted_has_not_ended_it),
        CASE(only_what_is_finished_is_retired),
        CASE(a_retirement_that_was_interrupted_is_completed),
        CASE(who_has_expired_is_retired_and_nobody_else),
        CASE(files_stay_until_the_batch_is_retired),
        CASE(bytes_of_outputs_wait_until_the_batch_is_retired),
        CASE(counting_goes_on_where_it_was),
        CASE(a_large_batch_takes_several_turns),
        CASE(without_the_folder_nothing_is_counted),
        CASE(late_jobs_get_one_result_more),
        CASE(a_host_is_slow_with_one_version_only),
        CASE(errors_are_counted_as_transitions_do),
        CASE(an_answer_or_an_option_that_lacks_stops_it),
        CASE(all_batches_may_be_in_a_hurry),
        CASE(a_batch_says_when_it_will_be_done),
        CASE(what_stands_before_a_batch_makes_it_later),
        CASE(what_stands_before_each_of_many_is_counted),
        CASE(many_batches_read_little_beyond_their_jobs),
        CASE(who_is_over_is_forgotten),
        CASE(lists_have_numbers_that_only_jobs_have_and_rows_without_jobs),
        CASE(a_name_of_several_is_nobodys),
        CASE(a_database_of_former_years_has_only_numbers),
        CASE(a_submitter_has_rights_applications_and_a_count),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
