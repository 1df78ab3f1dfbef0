/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of many workunits in one transaction: that it leaves what validation of one after the
 * other leaves, to the last bit, on random projects; what changes between reading and writing; and
 * that what fails for one workunit costs only that one. */
#include "tests/support/database.h"
#include "tests/support/test.h"

#include "db/validation.h"
#include "server/base/arena.h"
#include "server/base/random.h"
#include "server/passes/validation_parts.h"
#include "server/passes/validation_pass.h"
#include "server/policy/result/report_verdict.h"

#include <stdlib.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { NOW = 1800000000, PROJECTS = 6, JOBS = 120, RESULTS_MOST = 6, QUOTA = 40 };

/* --- a random project ---------------------------------------------------------------------------
 */

static int64_t below(struct random *random, int64_t bound)
{
    return (int64_t)(random_next(random) % (uint64_t)bound);
}

static const char *one_of(struct random *random, const char *const *words, size_t count)
{
    return words[below(random, (int64_t)count)];
}

static char folder[] = "/tmp/qm-validation-XXXXXX";

/* The content is the last letter of the name; "x" is not there. */
static void add_file(const char *name)
{
    char path[200];
    FILE *file;

    if (name[strlen(name) - 1] == 'x')
        return;
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputc(name[strlen(name) - 1], file) != EOF);
    assert_int_equal(fclose(file), 0);
}

/* Times as hosts may report them, and such as should not be. */
static const char *const spans[] = {"0", "10", "3600", "3500.25", "1e-9", "86400", "1e300", "-5"};
static const char *const speeds[] = {"0", "1e9", "5e9", "3.7e9", "1e300"};
static const char *const sizes[] = {"3.6e13", "4.32e11", "1", "0", "1e300", "1.7e13"};
static const char *const versions[] = {"11", "12", "13", "-2", "0"};
#define ONE_OF(random, words) one_of(random, words, sizeof(words) / sizeof((words)[0]))

/* Few accounts that share many jobs: a first user may have half of all hosts. */
static void add_accounts(struct test_database *database, struct random *random)
{
    int64_t hosts = 1 + below(random, 12), users = 1 + below(random, 6);

    test_sql(database,
             "INSERT INTO team (id, name, expavg_time) VALUES (1, 't1', %d), (2, 't2', 0)",
             NOW - 5000);
    for (int64_t id = 1; id <= users; id++)
        test_sql(database,
                 "INSERT INTO user (id, name, email_addr, authenticator, teamid, total_credit,"
                 " expavg_credit, expavg_time) VALUES (%d, 'u%d', 'u%d', 'a%d', %d, %.17g, %.17g,"
                 " %.17g)",
                 (int)id, (int)id, (int)id, (int)id, (int)below(random, 4),
                 random_unit(random) * 1e6, random_unit(random) * 100,
                 below(random, 3) == 0 ? 0 : NOW - random_unit(random) * 1e6);
    for (int64_t id = 1; id <= hosts; id++) {
        test_sql(database,
                 "INSERT INTO host (id, userid, total_credit, expavg_credit, expavg_time,"
                 " avg_turnaround) VALUES (%d, %d, %.17g, %.17g, %d, %.17g)",
                 (int)id, below(random, 2) ? 1 : (int)below(random, users + 2),
                 random_unit(random) * 1e5, random_unit(random), NOW - (int)below(random, 99999),
                 random_unit(random) * 1e5);
        for (size_t i = 0; i < 4; i++)
            if (below(random, 4) > 0)
                test_sql(database,
                         "INSERT INTO host_app_version (host_id, app_version_id, pfc_n, pfc_avg,"
                         " et_n, et_avg, et_var, et_q, turnaround_n, turnaround_avg,"
                         " max_jobs_per_day, consecutive_valid) VALUES (%d, %s, %d, %.17g, %d,"
                         " %.17g, %.17g, %.17g, %d, %.17g, %d, %d)",
                         (int)id, i == 3 ? "-1000002" : versions[i], (int)below(random, 30),
                         random_unit(random), (int)below(random, 30), random_unit(random) * 1e-10,
                         random_unit(random) * 1e-20, random_unit(random) * 1e-20,
                         (int)below(random, 30), random_unit(random) * 1e4,
                         below(random, 5) == 0 ? INT32_MAX : (int)below(random, 2 * QUOTA),
                         below(random, 9) == 0 ? INT32_MAX : (int)below(random, 12));
    }
}

static void add_result(struct test_database *database, struct random *random, int64_t workunit,
                       int64_t id, char *ret_letter)
{
    static const char letters[] = "aaaaaabbbx";
    int kind = (int)below(random, 10);
    /* Over with success; with an error; in progress; unsent; judged already. */
    int state = kind < 7 ? 5 : kind < 8 ? 4 : kind < 9 ? 2 : 5;
    int outcome = state != 5 ? 0 : below(random, 12) == 0 ? 3 : 1;
    char name[40];

    *ret_letter = letters[below(random, (int64_t)sizeof(letters) - 1)];
    (void)snprintf(name, sizeof(name), "r%d_%c", (int)id, *ret_letter);
    add_file(name);
    test_sql(database,
             "INSERT INTO result (id, workunitid, appid, name, server_state, outcome,"
             " validate_state, granted_credit, hostid, sent_time, received_time, report_deadline,"
             " elapsed_time, cpu_time, flops_estimate, app_version_id, runtime_outlier, xml_doc_in)"
             " VALUES (%d, %d, 1, '%s', %d, %d, %d, 0, %d, %d, %d, %d, %s, %s, %s, %s, %d,"
             " '<file_ref><file_name>%s</file_name></file_ref>')",
             (int)id, (int)workunit, name, state, outcome,
             kind == 9 && state == 5 ? (int)below(random, 6) : 0, (int)below(random, 14),
             NOW - (int)below(random, 90000), NOW - 100 + (int)below(random, 200),
             NOW + (int)below(random, 9999), ONE_OF(random, spans), ONE_OF(random, spans),
             ONE_OF(random, speeds), ONE_OF(random, versions), below(random, 8) == 0, name);
}

static void add_jobs(struct test_database *database, struct random *random)
{
    int64_t result = 1;

    for (int64_t id = 1; id <= JOBS; id++) {
        int64_t quorum = 1 + below(random, 3), count = below(random, RESULTS_MOST);
        bool has_answer = below(random, 5) == 0 && count > 0;
        char letter;

        test_sql(database,
                 "INSERT INTO workunit (id, name, appid, batch, need_validate, min_quorum,"
                 " target_nresults, max_success_results, rsc_fpops_est, canonical_credit,"
                 " transition_time, error_mask, canonical_resultid, assimilate_state) VALUES"
                 " (%d, 'w%d', 1, %d, %d, %d, %d, %d, %s, %s, %d, %d, %d, %d)",
                 (int)id, (int)id, (int)below(random, 2), below(random, 10) > 0, (int)quorum,
                 (int)(quorum + below(random, 2)), 3 + (int)below(random, 3), ONE_OF(random, sizes),
                 below(random, 4) == 0 ? "77.125" : "0", INT32_MAX, below(random, 12) == 0 ? 16 : 0,
                 has_answer ? (int)result : 0, has_answer ? 1 + (int)below(random, 2) : 0);
        for (int64_t i = 0; i < count; i++)
            add_result(database, random, id, result++, &letter);
        if (has_answer)
            test_sql(database,
                     "UPDATE result SET server_state = 5, outcome = 1, validate_state = 1,"
                     " granted_credit = 11.5 WHERE id = %d",
                     (int)(result - count));
    }
}

static const char *const tables[] = {"user",   "team",     "host",       "host_app_version",
                                     "result", "workunit", "app_version"};
/* All that a validation may change; their mod_time is the clock's. */
static const char *const columns[] = {
    "id, total_credit, expavg_credit, expavg_time",
    "id, total_credit, expavg_credit, expavg_time",
    "id, total_credit, expavg_credit, expavg_time, avg_turnaround",
    "host_id, app_version_id, pfc_n, pfc_avg, et_n, et_avg, et_var, et_q, turnaround_n,"
    " turnaround_avg, turnaround_var, turnaround_q, max_jobs_per_day, consecutive_valid",
    "id, server_state, outcome, validate_state, granted_credit",
    "id, need_validate, canonical_resultid, canonical_credit, transition_time, error_mask,"
    " assimilate_state, target_nresults",
    "id, pfc_n, pfc_avg"};
enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

static void keep_as(struct test_database *database, const char *prefix)
{
    for (size_t i = 0; i < TABLES; i++)
        test_sql(database, "DROP TABLE IF EXISTS %s_%s; CREATE TABLE %s_%s AS SELECT * FROM %s",
                 prefix, tables[i], prefix, tables[i], tables[i]);
}

static void restore(struct test_database *database)
{
    for (size_t i = 0; i < TABLES; i++)
        test_sql(database, "DELETE FROM %s; INSERT INTO %s SELECT * FROM before_%s", tables[i],
                 tables[i], tables[i]);
}

static void compare(struct test_database *database, uint64_t seed)
{
    for (size_t i = 0; i < TABLES; i++) {
        int64_t different = test_sql_integer(
            database,
            "SELECT COUNT(*) FROM ((SELECT %s FROM %s EXCEPT SELECT %s FROM twin_%s) UNION ALL"
            " (SELECT %s FROM twin_%s EXCEPT SELECT %s FROM %s)) AS different",
            columns[i], tables[i], columns[i], tables[i], columns[i], tables[i], columns[i],
            tables[i]);

        if (different != 0)
            fail_msg("seed %d: %d rows of %s differ", (int)seed, (int)different, tables[i]);
    }
}

/* --- the slow twin: one workunit after the other, each in a transaction of its own --------------
 */

static char letter_of(const struct judged_job *job, int64_t id)
{
    for (size_t i = 0; i < job->result_count; i++)
        if (job->results[i].id == id)
            return job->results[i].name.at[job->results[i].name.length - 1];
    return '\0';
}

static void decide(const struct judged_job *job, struct quorum *quorum,
                   struct quorum_result *results, struct quorum_result *verdicts,
                   struct quorum_decision *decision)
{
    static unsigned char answers[QUORUM_RESULTS_MAX * QUORUM_RESULTS_MAX];

    verdict_select(job, results, quorum);
    for (size_t i = 0; i < quorum->count; i++) {
        results[i].is_unusable = letter_of(job, results[i].id) == 'x';
        for (size_t j = 0; j < quorum->count; j++)
            answers[i * quorum->count + j] =
                letter_of(job, results[i].id) == letter_of(job, results[j].id) ? QUORUM_SAME
                                                                               : QUORUM_DIFFERENT;
    }
    quorum->answers = answers;
    assert_int_equal(quorum_decide(quorum, verdicts, decision), QUORUM_DECIDED);
}

static void judge_one(struct test_fixture *fixture, int64_t id)
{
    const struct verdict_rules rules = {
        .now = NOW, .daily_result_quota = QUOTA, .app_target_nresults = 2};
    struct quorum_result results[QUORUM_RESULTS_MAX], verdicts[QUORUM_RESULTS_MAX];
    struct credited_pair pairs[QUORUM_RESULTS_MAX];
    struct validation_rows before, after;
    struct verdict_counts counts = {.valid = 0};
    struct quorum_decision decision;
    struct quorum quorum;
    struct judged_job job;
    size_t pair_count = 0;

    arena_reset(fixture->arena);
    assert_status(STATUS_OK, db_validation_read(fixture->db, fixture->arena, &id, 1, &before));
    verdict_jobs(&before, &job);
    decide(&job, &quorum, results, verdicts, &decision);
    for (size_t i = 0; i < job.result_count; i++)
        if (job.results[i].hostid != 0)
            pairs[pair_count++] = (struct credited_pair){
                job.results[i].hostid, report_statistics_id(1, job.results[i].app_version_id)};
    assert_status(STATUS_OK, db_validation_lock(fixture->db, fixture->arena, &id, 1, pairs,
                                                pair_count, &before));
    assert_status(STATUS_OK, db_validation_copy(fixture->arena, &before, &after));
    verdict_jobs(&after, &job);
    verdict_apply(&rules, &decision, verdicts, quorum.count, &job, &after, &counts);
    assert_status(STATUS_OK, db_validation_save(fixture->db, fixture->arena, &before, &after));
    assert_status(STATUS_OK, db_commit(fixture->db));
}

static void judge_one_by_one(struct test_fixture *fixture)
{
    int64_t id = 0;
    size_t count;

    for (;;) {
        assert_status(STATUS_OK, db_validation_due(fixture->db, 1, id, &id, 1, &count));
        assert_status(STATUS_OK, db_end(fixture->db));
        if (count == 0)
            return;
        judge_one(fixture, id);
    }
}

/* --- the pass ------------------------------------------------------------------------------------
 */

/* What happens at the nth moment at which the pass asks whether it is to end: it is about to take
 * something, or has read it and has not written it yet. */
struct meanwhile {
    struct test_database *database;
    const char *sql; /* NULL: nothing */
    int at, asked;
    char said[4000];
};

static bool happens(void *context)
{
    struct meanwhile *meanwhile = context;

    if (++meanwhile->asked == meanwhile->at && meanwhile->sql != NULL)
        test_sql(meanwhile->database, "%s", meanwhile->sql);
    return false;
}

static void hear(void *context, const char *sentence)
{
    struct meanwhile *meanwhile = context;
    size_t length = strlen(meanwhile->said);

    (void)snprintf(meanwhile->said + length, sizeof(meanwhile->said) - length, "%s\n", sentence);
}

static enum status validate(struct test_fixture *fixture, struct meanwhile *meanwhile,
                            const struct pass_settings *settings, struct pass_counts *counts)
{
    struct failure failure = {.status = STATUS_OK};
    struct config *config = test_database_config(fixture->database);
    struct pass_owner owner = {.db = fixture->db,
                               .config = config,
                               .arena = fixture->arena,
                               .failure = &failure,
                               .say = hear,
                               .is_to_end = happens,
                               .context = meanwhile};

    meanwhile->database = fixture->database;
    config->upload_dir = text_from(folder);
    config->daily_result_quota = QUOTA;
    *counts = (struct pass_counts){.jobs = 0};
    return validation_pass(&owner, settings, counts);
}

static void batches_leave_what_one_after_the_other_leaves(void **state)
{
    struct test_fixture *fixture = *state;
    struct test_database *database = fixture->database;

    for (uint64_t seed = 1; seed <= PROJECTS; seed++) {
        struct random random = {seed};
        struct meanwhile nothing = {.sql = NULL};
        struct pass_settings settings = {.now = NOW, .validate = "bitwise"};
        struct pass_counts counts;

        test_fixture_clear(fixture);
        test_database_add_app(database);
        test_sql(database, "UPDATE app SET target_nresults = 2;"
                           "INSERT INTO app_version (id, appid, version_num, platformid)"
                           " VALUES (12, 1, 2, 1), (13, 1, 3, 1)");
        add_accounts(database, &random);
        add_jobs(database, &random);
        keep_as(database, "before");
        judge_one_by_one(fixture);
        keep_as(database, "twin");
        restore(database);
        do {
            settings.jobs_max = 1 + below(&random, seed % 2 == 0 ? 7 : 200);
            assert_status(STATUS_OK, validate(fixture, &nothing, &settings, &counts));
            assert_i64(counts.put_off, 0);
        } while (test_sql_integer(database, "SELECT COUNT(*) FROM workunit WHERE need_validate") >
                 0);
        compare(database, seed);
    }
}

/* Ten workunits with a quorum of 1, each result of another host; the same user for all. */
static void add_simple(struct test_fixture *fixture)
{
    test_database_add_app(fixture->database);
    test_sql(fixture->database,
             "INSERT INTO user (id, name, email_addr, authenticator, expavg_time)"
             " SELECT seq, seq, seq, seq, %d FROM seq_1_to_2;"
             "INSERT INTO host (id, userid, expavg_time) SELECT seq, 1, %d FROM seq_1_to_11;"
             "INSERT INTO workunit (id, name, appid, need_validate, min_quorum, target_nresults,"
             " max_success_results, rsc_fpops_est, transition_time)"
             " SELECT seq, CONCAT('w', seq), 1, 1, 1, 1, 5, 4.32e11, %d FROM seq_1_to_10;"
             "INSERT INTO result (id, workunitid, name, server_state, outcome, hostid, sent_time,"
             " received_time, app_version_id) SELECT 10 * seq, seq, seq, 5, 1, seq, %d, %d, 11"
             " FROM seq_1_to_10;"
             "INSERT INTO result (id, workunitid, name, server_state) VALUES (41, 4, 'x', 4)",
             NOW, NOW, INT32_MAX, NOW - 7200, NOW);
}

static const struct pass_settings trusting = {.now = NOW, .trusts = true};
enum { READ = 4 /* asked for the fourth time, the pass has read all and written nothing */ };

/* Whatever changes, each is credited once, to whom it belongs when that is written. */
static void what_changes_meanwhile_is_done_alone(void **state)
{
    static const struct {
        const char *sql;
        int valid, credit_of_first, credit_of_second;
    } cases[] = {
        {"UPDATE result SET server_state = 5, outcome = 1, hostid = 11 WHERE id = 41", 11, 11, 0},
        {"UPDATE result SET hostid = 11 WHERE id = 30", 10, 10, 0}, /* hosts were merged */
        {"UPDATE result SET hostid = 11 WHERE id = 30; DELETE FROM host WHERE id = 3", 10, 10, 0},
        {"UPDATE host SET userid = 2 WHERE id = 5", 10, 9, 1}, /* a host changed hands */
        {"UPDATE workunit SET error_mask = 16 WHERE id = 7", 9, 9, 0},
        {"UPDATE workunit SET need_validate = 0 WHERE id = 1", 9, 9, 0}, /* others were quicker */
        {"UPDATE workunit SET min_quorum = 2 WHERE id = 2", 9, 9, 0},
        {"DELETE FROM workunit WHERE id = 9; DELETE FROM result WHERE id = 90", 9, 9, 0},
        {"UPDATE user SET teamid = 5 WHERE id = 1", 10, 10, 0},
    };
    struct test_fixture *fixture = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct meanwhile meanwhile = {.sql = cases[i].sql, .at = READ};
        struct pass_counts counts;

        test_fixture_clear(fixture);
        add_simple(fixture);
        assert_status(STATUS_OK, validate(fixture, &meanwhile, &trusting, &counts));
        assert_string_equal(meanwhile.said, "");
        if (counts.valid != cases[i].valid ||
            test_sql_integer(fixture->database,
                             "SELECT 1000 * (SELECT total_credit FROM user WHERE id = 1)"
                             " + (SELECT total_credit FROM user WHERE id = 2)") !=
                1000 * cases[i].credit_of_first + cases[i].credit_of_second)
            fail_msg("%s", cases[i].sql);
        assert_i64(test_sql_integer(fixture->database,
                                    "SELECT COUNT(*) FROM workunit WHERE need_validate"),
                   0);
        assert_i64(test_sql_integer(fixture->database, "SELECT (SELECT SUM(total_credit) FROM host)"
                                                       " - (SELECT SUM(total_credit) FROM user)"),
                   0);
    }
}

/* One that changes again each time it is read is left, and said. */
static void what_cannot_be_written_costs_only_itself(void **state)
{
    struct test_fixture *fixture = *state;
    struct meanwhile nothing = {.sql = NULL};
    struct pass_counts counts;

    add_simple(fixture);
    test_sql(fixture->database, "CREATE TRIGGER refuse BEFORE UPDATE ON workunit FOR EACH ROW"
                                " SET NEW.batch = IF(NEW.id = 6 AND NEW.need_validate = 0,"
                                " (SELECT 1 UNION SELECT 2), NEW.batch)");
    assert_status(STATUS_OK, validate(fixture, &nothing, &trusting, &counts));
    assert_i64(counts.valid, 9);
    assert_i64(counts.put_off, 1);
    assert_non_null(strstr(nothing.said, "validation of job w6: "));
    assert_null(strstr(nothing.said, "w5"));
    assert_i64(test_sql_integer(fixture->database, "SELECT total_credit FROM user WHERE id = 1"),
               9);
    assert_i64(test_sql_integer(fixture->database, "SELECT id FROM workunit WHERE need_validate"),
               6);
    assert_i64(
        test_sql_integer(fixture->database, "SELECT validate_state FROM result WHERE id = 60"), 0);
    test_sql(fixture->database, "DROP TRIGGER refuse");
    assert_status(STATUS_OK, validate(fixture, &nothing, &trusting, &counts));
    assert_i64(counts.valid, 1);
}

static void who_has_lost_its_lease_writes_nothing(void **state)
{
    struct test_fixture *fixture = *state;
    struct meanwhile meanwhile = {.sql = "UPDATE qm_lease SET valid_until = 1", .at = READ};
    struct pass_counts counts;

    add_simple(fixture);
    assert_status(STATUS_OK, validate(fixture, &meanwhile, &trusting, &counts));
    assert_i64(counts.valid, 0);
    assert_i64(test_sql_integer(fixture->database, "SELECT SUM(total_credit) FROM user"), 0);
    assert_i64(
        test_sql_integer(fixture->database, "SELECT COUNT(*) FROM workunit WHERE need_validate"),
        10);
    assert_i64(
        test_sql_integer(fixture->database, "SELECT COUNT(*) FROM qm_lease WHERE token <> 0"), 0);
}

/* Whichever command fails, however: what was granted was granted once, and the rest is done. */
static void whatever_fails_nothing_is_granted_twice(void **state)
{
    static const enum status failures[] = {STATUS_DB_GONE, STATUS_DB_RETRY, STATUS_DB_REFUSED};
    struct test_fixture *fixture = *state;
    uint64_t most = 0;

    for (size_t kind = 0; kind < 3; kind++)
        for (uint64_t n = 1; n < 100 && most < 100; n++) {
            struct meanwhile nothing = {.sql = NULL};
            struct pass_counts counts;
            enum status status;

            test_fixture_clear(fixture);
            add_simple(fixture);
            db_fail_nth(fixture->db, n, failures[kind]);
            status = validate(fixture, &nothing, &trusting, &counts);
            db_fail_nth(fixture->db, 0, STATUS_OK);
            if (status != STATUS_OK || counts.valid < 10) {
                most = n > most ? n : most;
                (void)db_rollback(fixture->db);
                assert_status(STATUS_OK, db_reopen(fixture->db));
                assert_status(STATUS_OK, validate(fixture, &nothing, &trusting, &counts));
            }
            assert_i64(test_sql_integer(fixture->database,
                                        "SELECT SUM(total_credit) * 1000000 + (SELECT"
                                        " SUM(total_credit) FROM host) * 1000 + (SELECT"
                                        " SUM(validate_state = 1) FROM result) FROM user"),
                       10010010);
        }
}

static void a_transaction_is_halved_when_long_and_doubled_when_short(void **state)
{
    (void)state;
    assert_int_equal(validation_write_most(16, 16, 0.001), 32);
    assert_int_equal(validation_write_most(64, 64, 0.001), 64);
    assert_int_equal(validation_write_most(16, 3, 0.001), 16);  /* says nothing of 16 */
    assert_int_equal(validation_write_most(16, 16, 0.015), 16); /* 32 would take too long */
    assert_int_equal(validation_write_most(16, 16, 0.021), 8);
    assert_int_equal(validation_write_most(64, 5, 0.021), 2);
    assert_int_equal(validation_write_most(2, 1, 9), 1);
    assert_int_equal(validation_write_most(1, 1, 0.001), 2);
}

static int open_folder(void **state)
{
    char other[sizeof(folder) + 8];
    FILE *file;

    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    (void)snprintf(other, sizeof(other), "%s/other", folder); /* it is not empty */
    file = fopen(other, "w");
    return file == NULL || fclose(file) != 0 ? -1 : 0;
}

static int close_folder(void **state)
{
    char command[sizeof(folder) + 16];
    FILE *process;

    (void)state;
    (void)snprintf(command, sizeof(command), "rm -r %s", folder);
    process = popen(command, "r");
    return process == NULL ? -1 : pclose(process);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, test_fixture_open, test_fixture_close)
    const struct CMUnitTest tests[] = {
        CASE(batches_leave_what_one_after_the_other_leaves),
        CASE(what_changes_meanwhile_is_done_alone),
        CASE(what_cannot_be_written_costs_only_itself),
        CASE(who_has_lost_its_lease_writes_nothing),
        CASE(whatever_fails_nothing_is_granted_twice),
        cmocka_unit_test(a_transaction_is_halved_when_long_and_doubled_when_short),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
