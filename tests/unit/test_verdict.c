/* SPDX-License-Identifier: Apache-2.0 */
/* Which results of a workunit are looked at group. */
#include "server/policy/result/verdict.h"

#include "db/states.h"
#include "tests/support/test.h"

enum { MANY = 150 };

static struct judged_result_row results[MANY];

static struct judged_workunit_row workunit;

static struct judged_job many(int64_t canonical)
{
    for (int i = 0; i < MANY; i++)
        results[i] = (struct judged_result_row){
            .id = i + 1, .server_state = RESULT_OVER, .outcome = OUTCOME_SUCCESS};
    workunit = (struct judged_workunit_row){.canonical_resultid = canonical, .min_quorum = 2};
    return (struct judged_job){.workunit = &workunit, .results = results, .result_count = MANY};
}

static void of_very_many_results_the_first_are_taken(void **state)
{
    struct judged_job job = many(0);
    struct quorum_result taken[QUORUM_RESULTS_MAX];
    struct quorum quorum;

    (void)state;
    verdict_select(&job, taken, &quorum);
    assert_int_equal(quorum.count, QUORUM_RESULTS_MAX - 1);
    assert_i64(quorum.others, MANY - QUORUM_RESULTS_MAX + 1);
    assert_i64(taken[98].id, 99);
}

static void the_canonical_one_is_always_among_them(void **state)
{
    struct judged_job job = many(MANY);
    struct quorum_result taken[QUORUM_RESULTS_MAX];
    struct quorum quorum;

    (void)state;
    results[MANY - 1].validate_state = VALIDATE_VALID;
    verdict_select(&job, taken, &quorum);
    assert_int_equal(quorum.count, QUORUM_RESULTS_MAX);
    assert_i64(taken[QUORUM_RESULTS_MAX - 1].id, MANY);
    assert_i64(quorum.others, MANY - QUORUM_RESULTS_MAX);
}

static void only_successes_without_a_verdict_count(void **state)
{
    struct judged_job job = many(0);
    struct quorum_result taken[QUORUM_RESULTS_MAX];
    struct quorum quorum;

    (void)state;
    job.result_count = 6;
    results[0].validate_state = VALIDATE_INVALID;
    results[1].server_state = RESULT_IN_PROGRESS;
    results[2].outcome = OUTCOME_CLIENT_ERROR;
    results[3].validate_state = VALIDATE_INCONCLUSIVE;
    results[4].validate_state = VALIDATE_NO_CHECK;
    verdict_select(&job, taken, &quorum);
    assert_int_equal(quorum.count, 3); /* BOINC counts those too that were not checked */
    assert_i64(taken[0].id, 4);
    workunit.canonical_resultid = 6;
    verdict_select(&job, taken, &quorum);
    assert_int_equal(quorum.count, 2);
    workunit.error_mask = WU_ERROR_CANCELLED;
    verdict_select(&job, taken, &quorum);
    assert_int_equal(quorum.count, 0);
}

/* Also beyond those that are looked at group. */
static void a_result_that_came_meanwhile_is_seen(void **state)
{
    struct judged_job before = many(0), after = before;

    (void)state;
    assert_true(verdict_is_current(&before, &after));
    after.result_count = MANY - 1;
    assert_false(verdict_is_current(&before, &after));
    before.result_count = 2;
    after.result_count = 3;
    assert_false(verdict_is_current(&before, &after));
    assert_false(verdict_is_current(&after, &before)); /* nor is one that has gone */
}

/* Nobody is given a job whose answer is known; who has one may still report it. */
static void an_answer_ends_what_nobody_has_begun(void **state)
{
    struct judged_result_row given[] = {
        {.id = 1, .server_state = RESULT_UNSENT},
        {.id = 2, .server_state = RESULT_OVER, .outcome = OUTCOME_SUCCESS, .granted_credit = 7},
        {.id = 3, .server_state = RESULT_IN_PROGRESS, .report_deadline = 300},
        {.id = 4, .server_state = RESULT_IN_PROGRESS, .report_deadline = 500},
        {.id = 5, .server_state = RESULT_OVER, .report_deadline = 100},
        {.id = 6, .server_state = RESULT_INACTIVE}};
    struct judged_workunit_row judged = {.need_validate = 1, .target_nresults = 2};
    const struct judged_job job = {&judged, given, sizeof(given) / sizeof(given[0])};
    struct validation_rows rows = {.host_count = 0};
    const struct verdict_rules rules = {.now = 200};
    struct quorum_decision decision = {.canonical_resultid = 2, .target_nresults = 2};
    struct verdict_counts counts = {0};

    (void)state;
    verdict_apply(&rules, &decision, NULL, 0, &job, &rows, &counts);
    assert_i64(judged.transition_time, 300);
    assert_i64(judged.canonical_resultid, 2);
    assert_i64(judged.assimilate_state, ASSIMILATE_READY);
    assert_i64(judged.need_validate, 0);
    for (size_t i = 0; i < job.result_count; i += 5) {
        assert_i64(given[i].server_state, RESULT_OVER);
        assert_i64(given[i].outcome, OUTCOME_DIDNT_NEED);
    }
    assert_i64(given[2].server_state, RESULT_IN_PROGRESS);
    assert_int_equal(counts.accepted, 1);

    /* The next copy that comes finds the answer there. */
    judged.transition_time = 400;
    judged.assimilate_state = ASSIMILATE_DONE;
    verdict_apply(&rules, &decision, NULL, 0, &job, &rows, &counts);
    assert_i64(judged.transition_time, 400);
    assert_i64(judged.assimilate_state, ASSIMILATE_DONE);
    assert_int_equal(counts.accepted, 1);
    decision.is_due = true;
    verdict_apply(&rules, &decision, NULL, 0, &job, &rows, &counts);
    assert_i64(judged.transition_time, 200);
}

/* One host alone could make itself trusted by what nobody compares. */
static void a_result_that_nobody_compares_earns_no_trust(void **state)
{
    struct judged_result_row given[] = {{.id = 1,
                                         .hostid = 3,
                                         .app_version_id = 7,
                                         .server_state = RESULT_OVER,
                                         .outcome = OUTCOME_SUCCESS}};
    struct judged_version_row version = {.host_id = 3, .app_version_id = 7};
    struct judged_workunit_row of = {.target_nresults = 1};
    const struct judged_job job = {&of, given, 1};
    struct validation_rows rows = {.host_versions = &version, .host_version_count = 1};
    struct verdict_rules rules = {.now = 200, .app_target_nresults = 2};
    const struct quorum_decision decision = {.target_nresults = 1};
    struct quorum_result judged = {
        .id = 1, .outcome = OUTCOME_SUCCESS, .validate_state = VALIDATE_VALID};
    struct verdict_counts counts = {0};

    (void)state;
    verdict_apply(&rules, &decision, &judged, 1, &job, &rows, &counts);
    assert_i64(version.consecutive_valid, 0);
    assert_int_equal(counts.valid, 1);
    rules.app_target_nresults = 1; /* where no workunit goes to two */
    given[0].validate_state = VALIDATE_INIT;
    verdict_apply(&rules, &decision, &judged, 1, &job, &rows, &counts);
    assert_i64(version.consecutive_valid, 1);
    rules.app_target_nresults = of.target_nresults = 2; /* and for two hosts */
    given[0].validate_state = VALIDATE_INIT;
    verdict_apply(&rules, &decision, &judged, 1, &job, &rows, &counts);
    assert_i64(version.consecutive_valid, 2);
    judged.validate_state = VALIDATE_INCONCLUSIVE;
    verdict_apply(&rules, &decision, &judged, 1, &job, &rows, &counts);
    assert_int_equal(counts.undecided, 1);
    assert_int_equal(counts.valid, 3);
}

/* Each workunit has its own results, and none those of a workunit that is not there any more. */
static void results_are_dealt_out_by_workunit(void **state)
{
    struct judged_workunit_row workunits[] = {{.id = 3}, {.id = 5}, {.id = 8}};
    struct judged_result_row all[] = {{.id = 9, .workunitid = 1},  {.id = 2, .workunitid = 3},
                                      {.id = 7, .workunitid = 3},  {.id = 1, .workunitid = 4},
                                      {.id = 30, .workunitid = 8}, {.id = 31, .workunitid = 9}};
    const struct validation_rows rows = {.workunits = workunits,
                                         .workunit_count = 3,
                                         .results = all,
                                         .result_count = sizeof(all) / sizeof(all[0])};
    struct judged_job jobs[3];

    (void)state;
    verdict_jobs(&rows, jobs);
    assert_ptr_equal(jobs[0].workunit, &workunits[0]);
    assert_int_equal(jobs[0].result_count, 2);
    assert_i64(jobs[0].results[0].id, 2);
    assert_int_equal(jobs[1].result_count, 0);
    assert_int_equal(jobs[2].result_count, 1);
    assert_i64(jobs[2].results[0].id, 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_very_many_results_the_first_are_taken),
        cmocka_unit_test(the_canonical_one_is_always_among_them),
        cmocka_unit_test(only_successes_without_a_verdict_count),
        cmocka_unit_test(a_result_that_came_meanwhile_is_seen),
        cmocka_unit_test(an_answer_ends_what_nobody_has_begun),
        cmocka_unit_test(a_result_that_nobody_compares_earns_no_trust),
        cmocka_unit_test(results_are_dealt_out_by_workunit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
