/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a workunit that is due: each rule by itself, and all of them against a slow way
 * of saying the same in random cases. */
#include "server/policy/result/transition_rules.h"

#include "db/states.h"
#include "server/base/random.h"
#include "tests/support/test.h"

enum { NOW = 1800000000, DAY = 86400, MOST = 12, CASES = 200000, NONE = -1 };

struct world {
    struct transition_rules rules;
    struct due_workunit_row before, after;
    struct due_result_row results[MOST], changed[MOST];
    size_t count;
    struct transition_wanted wanted;
};

static struct world begin(void)
{
    return (struct world){.rules = {.now = NOW},
                          .before = {.id = 1,
                                     .min_quorum = 1,
                                     .target_nresults = 1,
                                     .max_error_results = 2,
                                     .max_total_results = 4,
                                     .delay_bound = DAY,
                                     .transition_time = NOW,
                                     .hr_class = 3,
                                     .app_version_id = 4,
                                     .size_class = -1,
                                     .priority = 7}};
}

static struct due_result_row *add(struct world *world, int64_t server_state, int64_t outcome,
                                  int64_t validate_state)
{
    static const char *const names[MOST] = {"w_0", "w_1", "w_2", "w_3", "w_4",  "w_5",
                                            "w_6", "w_7", "w_8", "w_9", "w_10", "w_11"};
    struct due_result_row *result = &world->results[world->count];

    *result = (struct due_result_row){.id = 100 + (int64_t)world->count,
                                      .workunitid = 1,
                                      .name = text_from(names[world->count]),
                                      .server_state = server_state,
                                      .outcome = outcome,
                                      .validate_state = validate_state,
                                      .report_deadline = NOW + DAY};
    world->count++;
    return result;
}
static struct due_result_row *add_over(struct world *world, int64_t outcome)
{
    return add(world, RESULT_OVER, outcome, VALIDATE_INIT);
}

static void decide(struct world *world)
{
    transition_decide(&world->rules, &world->before, world->results, world->count, &world->after,
                      world->changed, &world->wanted);
}

/* --- the steps ----------------------------------------------------------------------------- */

/* So whoever makes a job with its results may say when its first transition is. */
static void nothing_is_to_do_while_results_are_unsent(void **state)
{
    struct world world = begin();

    (void)state;
    add(&world, RESULT_UNSENT, OUTCOME_INIT, VALIDATE_INIT);
    decide(&world);
    assert_i64(world.after.transition_time, transition_time_open(NOW, DAY));
    assert_i64(transition_time_open(NOW, 20 * DAY), NOW + 30 * DAY);
    assert_i64(world.wanted.count, 0);
    assert_i64(world.after.need_validate + world.after.error_mask + world.after.assimilate_state,
               0);
    assert_i64(world.changed[0].server_state, RESULT_UNSENT);
    assert_i64(transition_time_open(NOW, INT32_MAX), TRANSITION_NEVER);
}

static void a_missed_deadline_is_no_reply_and_made_up_for(void **state)
{
    struct world world = begin();

    (void)state;
    add(&world, RESULT_IN_PROGRESS, OUTCOME_INIT, VALIDATE_INIT)->report_deadline = NOW - 1;
    decide(&world);
    assert_i64(world.changed[0].server_state, RESULT_OVER);
    assert_i64(world.changed[0].outcome, OUTCOME_NO_REPLY);
    assert_i64(world.changed[0].validate_state, VALIDATE_INIT);
    assert_i64(world.changed[0].received_time, 0); /* a late report is still taken */
    assert_i64(world.wanted.count, 1);
    assert_i64(world.wanted.first_number, 1);
    assert_i64(world.after.error_mask, 0);
    assert_i64(world.after.hr_class, 3); /* the host may be at work on it */
}

static void a_deadline_of_this_second_is_not_missed(void **state)
{
    struct world world = begin();

    (void)state;
    add(&world, RESULT_IN_PROGRESS, OUTCOME_INIT, VALIDATE_INIT)->report_deadline = NOW;
    decide(&world);
    assert_i64(world.changed[0].server_state, RESULT_IN_PROGRESS);
    assert_i64(world.after.transition_time, NOW);
    assert_i64(world.wanted.count, 0);
}

static void an_empty_workunit_gets_what_it_wants(void **state)
{
    struct world world = begin();

    (void)state;
    world.before.target_nresults = 3;
    decide(&world);
    assert_i64(world.wanted.count, 3);
    assert_i64(world.wanted.first_number, 0);
    assert_i64(world.wanted.priority, 7);
    assert_i64(world.after.transition_time, NOW + 10 * DAY);
    world.before.delay_bound = 20 * DAY;
    decide(&world);
    assert_i64(world.after.transition_time, NOW + 30 * DAY);
}

static void what_waits_and_what_is_out_is_not_made_again(void **state)
{
    struct world world = begin();

    (void)state;
    world.before.target_nresults = 4;
    world.before.min_quorum = 4;
    world.before.max_total_results = 9;
    add(&world, RESULT_UNSENT, OUTCOME_INIT, VALIDATE_INIT);
    add(&world, RESULT_INACTIVE, OUTCOME_INIT, VALIDATE_INIT);
    add(&world, RESULT_IN_PROGRESS, OUTCOME_INIT, VALIDATE_INIT);
    add_over(&world, OUTCOME_SUCCESS);
    decide(&world);
    assert_i64(world.wanted.count, 0);
    assert_i64(world.after.transition_time, NOW + DAY); /* the deadline of what is out */
    world.results[3].validate_state = VALIDATE_INVALID;
    decide(&world);
    assert_i64(world.wanted.count, 1);
    assert_i64(world.wanted.first_number, 4);
}

static void the_validator_is_called_at_the_quorum(void **state)
{
    struct world world = begin();

    (void)state;
    world.before.min_quorum = 2;
    world.before.target_nresults = 2;
    add_over(&world, OUTCOME_SUCCESS);
    add(&world, RESULT_IN_PROGRESS, OUTCOME_INIT, VALIDATE_INIT);
    decide(&world);
    assert_i64(world.after.need_validate, 0);
    world.results[1] = world.results[0];
    world.results[0].validate_state = VALIDATE_INCONCLUSIVE;
    decide(&world);
    assert_i64(world.after.need_validate, 1);
    world.results[1].validate_state = VALIDATE_INCONCLUSIVE; /* nothing new */
    decide(&world);
    assert_i64(world.after.need_validate, 0);
}

static void a_late_report_is_judged_beside_the_canonical_result(void **state)
{
    struct world world = begin();

    (void)state;
    world.before.canonical_resultid = 100;
    add(&world, RESULT_OVER, OUTCOME_SUCCESS, VALIDATE_VALID);
    add_over(&world, OUTCOME_SUCCESS);
    decide(&world);
    assert_i64(world.after.need_validate, 1);
    assert_i64(world.wanted.count, 0);
    assert_i64(world.after.transition_time, TRANSITION_NEVER);
    world.results[0].file_delete_state = FILE_DELETE_DONE; /* nothing to compare it with */
    decide(&world);
    assert_i64(world.after.need_validate, 0);
    assert_i64(world.changed[1].validate_state, VALIDATE_TOO_LATE);
}

/* A majority of five is the answer, two were wrong, one is late. */
static void a_late_report_is_judged_though_successes_are_few(void **state)
{
    struct world world = begin();

    (void)state;
    world.before.min_quorum = world.before.target_nresults = 5;
    world.before.max_total_results = 9;
    world.before.canonical_resultid = 100;
    for (int i = 0; i < 5; i++)
        add(&world, RESULT_OVER, OUTCOME_SUCCESS, i < 3 ? VALIDATE_VALID : VALIDATE_INVALID);
    decide(&world);
    assert_i64(world.after.need_validate, 0);
    add_over(&world, OUTCOME_SUCCESS);
    decide(&world);
    assert_i64(world.after.need_validate, 1);
    world.results[5].validate_state = VALIDATE_INCONCLUSIVE; /* it was beyond the list then */
    decide(&world);
    assert_i64(world.after.need_validate, 1);
    world.results[5].validate_state = VALIDATE_VALID;
    decide(&world);
    assert_i64(world.after.need_validate, 0);
}

static void errors_are_borne_up_to_their_number(void **state)
{
    struct world world = begin();

    (void)state;
    add_over(&world, OUTCOME_CLIENT_ERROR);
    add_over(&world, OUTCOME_VALIDATE_ERROR);
    decide(&world);
    assert_i64(world.after.error_mask, 0);
    assert_i64(world.wanted.count, 1);
    assert_i64(world.after.hr_class, 0); /* others may try */
    assert_i64(world.after.app_version_id, 0);
    world.rules.hr_class_static = true;
    decide(&world);
    assert_i64(world.after.hr_class, 3);
    assert_i64(world.after.app_version_id, 4);
    add_over(&world, OUTCOME_CLIENT_ERROR);
    decide(&world);
    assert_i64(world.after.error_mask, WU_ERROR_TOO_MANY_ERROR_RESULTS);
    assert_i64(world.after.assimilate_state, ASSIMILATE_READY);
    assert_i64(world.after.transition_time, TRANSITION_NEVER);
    assert_i64(world.wanted.count, 0);
    world.results[2].exit_status = 203; /* its user's wish is no error */
    decide(&world);
    assert_i64(world.after.error_mask, 0);
    world.results[2].exit_status = 200; /* nor that its host did not come to it */
    decide(&world);
    assert_i64(world.after.error_mask, 0);
    world.results[2].exit_status = 201;
    decide(&world);
    assert_i64(world.after.error_mask, WU_ERROR_TOO_MANY_ERROR_RESULTS);
}

static void an_error_of_the_workunit_cancels_and_closes(void **state)
{
    struct world world = begin();

    (void)state;
    world.before.error_mask = WU_ERROR_CANCELLED;
    world.before.target_nresults = 9;
    world.before.max_total_results = 20;
    add(&world, RESULT_UNSENT, OUTCOME_INIT, VALIDATE_INIT);
    add(&world, RESULT_INACTIVE, OUTCOME_INIT, VALIDATE_INIT);
    add(&world, RESULT_IN_PROGRESS, OUTCOME_INIT, VALIDATE_INIT);
    add_over(&world, OUTCOME_SUCCESS);
    add(&world, RESULT_OVER, OUTCOME_SUCCESS, VALIDATE_INCONCLUSIVE);
    add(&world, RESULT_OVER, OUTCOME_SUCCESS, VALIDATE_INVALID);
    decide(&world);
    for (int i = 0; i < 2; i++) {
        assert_i64(world.changed[i].server_state, RESULT_OVER);
        assert_i64(world.changed[i].outcome, OUTCOME_DIDNT_NEED);
    }
    assert_i64(world.changed[2].server_state, RESULT_IN_PROGRESS);
    assert_i64(world.changed[3].validate_state, VALIDATE_NO_CHECK);
    assert_i64(world.changed[4].validate_state, VALIDATE_NO_CHECK);
    assert_i64(world.changed[5].validate_state, VALIDATE_INVALID);
    assert_i64(world.after.assimilate_state, ASSIMILATE_READY);
    assert_i64(world.after.error_mask, WU_ERROR_CANCELLED);
    assert_i64(world.wanted.count, 0);
    assert_i64(world.after.transition_time, NOW + DAY);
}

static void what_cannot_be_sent_is_an_error(void **state)
{
    struct world world = begin();

    (void)state;
    add_over(&world, OUTCOME_COULDNT_SEND);
    decide(&world);
    assert_i64(world.after.error_mask, WU_ERROR_COULDNT_SEND_RESULT);
}

static void the_total_is_a_bound(void **state)
{
    struct world world = begin();

    (void)state;
    world.before.max_total_results = 2;
    world.before.target_nresults = 3;
    add_over(&world, OUTCOME_NO_REPLY);
    decide(&world);
    assert_i64(world.wanted.count, 1); /* 3 wanted */
    add_over(&world, OUTCOME_NO_REPLY);
    decide(&world);
    assert_i64(world.after.error_mask, WU_ERROR_TOO_MANY_TOTAL_RESULTS);
    world.before.target_nresults = 1; /* as many as allowed, but that is enough */
    world.results[1].outcome = OUTCOME_SUCCESS;
    decide(&world);
    assert_i64(world.after.error_mask, 0);
    world.before.max_total_results = 1;
    decide(&world);
    assert_i64(world.after.error_mask, WU_ERROR_TOO_MANY_TOTAL_RESULTS);
}

/* A quorum above the target: nothing else would ever ask for the results that it lacks. */
static void as_many_are_wanted_as_the_quorum_needs(void **state)
{
    struct world world = begin();

    (void)state;
    world.before.min_quorum = 3;
    world.before.target_nresults = 2;
    add_over(&world, OUTCOME_SUCCESS);
    add_over(&world, OUTCOME_SUCCESS);
    decide(&world);
    assert_i64(world.wanted.count, 1);
    world.before.max_total_results = 2;
    decide(&world);
    assert_i64(world.wanted.count, 0);
    assert_i64(world.after.error_mask, WU_ERROR_TOO_MANY_TOTAL_RESULTS);
}

static void an_answer_is_never_made_an_error(void **state)
{
    struct world world = begin();

    (void)state;
    world.before.canonical_resultid = 100;
    world.before.target_nresults = 2;
    world.before.max_total_results = 2;
    world.before.max_error_results = 0;
    add(&world, RESULT_OVER, OUTCOME_SUCCESS, VALIDATE_VALID);
    add_over(&world, OUTCOME_DIDNT_NEED);
    add_over(&world, OUTCOME_CLIENT_ERROR);
    decide(&world);
    assert_i64(world.after.error_mask, 0);
}

static void later_results_may_go_before_others(void **state)
{
    struct world world = begin();

    (void)state;
    world.rules.priority_on_over_except_error = 10;
    decide(&world);
    assert_i64(world.wanted.priority, 7);
    add_over(&world, OUTCOME_NO_REPLY);
    decide(&world);
    assert_i64(world.wanted.priority, 17);
    add_over(&world, OUTCOME_CLIENT_ERROR);
    decide(&world);
    assert_i64(world.wanted.priority, 7);
    world.rules.priority_on_over = 100;
    decide(&world);
    assert_i64(world.wanted.priority, 107);
}

static void targeted_jobs_are_made_elsewhere(void **state)
{
    struct world world = begin();

    (void)state;
    world.before.transitioner_flags = TRANSITIONER_NO_NEW_RESULTS;
    decide(&world);
    assert_i64(world.wanted.count, 0);
    assert_i64(world.after.error_mask, 0);
}

static void names_go_on_behind_the_highest_number(void **state)
{
    static const struct {
        const char *name;
        int64_t next;
    } cases[] = {{"w_5", 6},
                 {"w_x_007", 8},
                 {"w", 0},
                 {"w_", 0},
                 {"w_7x", 0},
                 {"7", 0},
                 {"w_99999999999999999999", 0},
                 {"_0", 1}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world world = begin();

        add_over(&world, OUTCOME_NO_REPLY)->name = text_from(cases[i].name);
        decide(&world);
        assert_i64(world.wanted.first_number, cases[i].next);
    }
}

static void a_deferred_assimilation_comes_with_the_last_result(void **state)
{
    struct world world = begin();

    (void)state;
    world.before.canonical_resultid = 100;
    add(&world, RESULT_OVER, OUTCOME_SUCCESS, VALIDATE_VALID);
    add(&world, RESULT_IN_PROGRESS, OUTCOME_INIT, VALIDATE_INIT);
    decide(&world);
    assert_i64(world.after.assimilate_state, ASSIMILATE_INIT);
    assert_i64(world.after.transition_time, NOW + DAY);
    world.results[1].server_state = RESULT_OVER;
    world.results[1].outcome = OUTCOME_SUCCESS;
    decide(&world);
    assert_i64(world.after.assimilate_state, ASSIMILATE_INIT);
    world.results[1].validate_state = VALIDATE_VALID;
    decide(&world);
    assert_i64(world.after.assimilate_state, ASSIMILATE_READY);
}

static void files_go_when_nobody_needs_them(void **state)
{
    struct world world = begin();

    (void)state;
    world.before.canonical_resultid = 100;
    world.before.assimilate_state = ASSIMILATE_DONE;
    world.rules.delete_delay = 3600;
    add(&world, RESULT_OVER, OUTCOME_SUCCESS, VALIDATE_VALID)->received_time = NOW - 3599;
    add_over(&world, OUTCOME_CLIENT_ERROR);
    add_over(&world, OUTCOME_NO_REPLY)->report_deadline = NOW + 1; /* given up by its host */
    add_over(&world, OUTCOME_VALIDATE_ERROR)->validate_state = VALIDATE_INVALID;
    decide(&world);
    assert_i64(world.after.transition_time, NOW + 1);
    assert_i64(world.changed[1].file_delete_state, FILE_DELETE_INIT);
    world.results[0].received_time = NOW - 3600;
    decide(&world);
    assert_i64(world.after.file_delete_state, FILE_DELETE_INIT);
    assert_i64(world.changed[0].file_delete_state, FILE_DELETE_INIT);
    assert_i64(world.changed[1].file_delete_state, FILE_DELETE_READY);
    assert_i64(world.changed[2].file_delete_state, FILE_DELETE_INIT);
    assert_i64(world.changed[3].file_delete_state, FILE_DELETE_READY);
    assert_i64(world.after.transition_time, NOW + 1);
    world.results[2].report_deadline = NOW;
    decide(&world);
    assert_i64(world.after.file_delete_state, FILE_DELETE_READY);
    assert_i64(world.changed[0].file_delete_state, FILE_DELETE_READY);
    assert_i64(world.changed[2].file_delete_state, FILE_DELETE_READY);
    assert_i64(world.after.transition_time, TRANSITION_NEVER);
    world.before.assimilate_state = ASSIMILATE_READY;
    decide(&world);
    assert_i64(world.after.file_delete_state, FILE_DELETE_INIT);
}

/* What was uploaded for them may be compared with the answer, until that goes. */
static void files_without_a_report_go_with_the_answer(void **state)
{
    struct world world = begin();

    (void)state;
    world.before.canonical_resultid = 100;
    world.before.assimilate_state = ASSIMILATE_DONE;
    add(&world, RESULT_OVER, OUTCOME_SUCCESS, VALIDATE_VALID);
    add_over(&world, OUTCOME_NO_REPLY)->report_deadline = NOW;
    add_over(&world, OUTCOME_CLIENT_DETACHED);
    add_over(&world, OUTCOME_DIDNT_NEED);
    add(&world, RESULT_IN_PROGRESS, OUTCOME_INIT, VALIDATE_INIT)->report_deadline = NOW;
    decide(&world);
    assert_i64(world.changed[1].file_delete_state, FILE_DELETE_INIT);
    assert_i64(world.changed[2].file_delete_state, FILE_DELETE_INIT);
    world.results[4].report_deadline = NOW - 1; /* the last one */
    decide(&world);
    for (int i = 0; i < 3; i++)
        assert_i64(world.changed[i].file_delete_state, FILE_DELETE_READY);
    assert_i64(world.changed[3].file_delete_state, FILE_DELETE_INIT);
    assert_i64(world.changed[4].file_delete_state, FILE_DELETE_READY);
}

static void without_an_answer_they_go_at_the_end(void **state)
{
    struct world world = begin();

    (void)state;
    world.before.error_mask = WU_ERROR_CANCELLED;
    world.before.assimilate_state = ASSIMILATE_DONE;
    add_over(&world, OUTCOME_NO_REPLY)->report_deadline = NOW;
    add(&world, RESULT_IN_PROGRESS, OUTCOME_INIT, VALIDATE_INIT)->report_deadline = NOW + DAY;
    decide(&world);
    assert_i64(world.changed[0].file_delete_state, FILE_DELETE_INIT);
    world.results[1].report_deadline = NOW - 1;
    decide(&world);
    assert_i64(world.changed[0].file_delete_state, FILE_DELETE_READY);
    assert_i64(world.changed[1].file_delete_state, FILE_DELETE_READY);
}

/* It may have uploaded once more what was deleted. */
static void a_report_behind_the_deletion_is_too_late(void **state)
{
    struct world world = begin();

    (void)state;
    world.before.canonical_resultid = 100;
    world.before.assimilate_state = ASSIMILATE_DONE;
    add(&world, RESULT_OVER, OUTCOME_SUCCESS, VALIDATE_VALID)->file_delete_state =
        FILE_DELETE_ERROR;
    add_over(&world, OUTCOME_SUCCESS)->file_delete_state = FILE_DELETE_DONE;
    decide(&world);
    assert_i64(world.changed[1].validate_state, VALIDATE_TOO_LATE);
    assert_i64(world.changed[1].file_delete_state, FILE_DELETE_READY);
    assert_i64(world.changed[0].file_delete_state, FILE_DELETE_ERROR);
    world.before.canonical_resultid = 0;
    world.before.error_mask = WU_ERROR_CANCELLED;
    decide(&world);
    assert_i64(world.changed[1].validate_state, VALIDATE_NO_CHECK);
    assert_i64(world.changed[1].file_delete_state, FILE_DELETE_READY);
}

static void a_second_look_changes_nothing(void **state)
{
    struct world world = begin();
    struct due_workunit_row first;

    (void)state;
    add(&world, RESULT_IN_PROGRESS, OUTCOME_INIT, VALIDATE_INIT)->report_deadline = NOW - 1;
    add(&world, RESULT_UNSENT, OUTCOME_INIT, VALIDATE_INIT);
    decide(&world);
    first = world.after;
    world.before = world.after;
    memcpy(world.results, world.changed, sizeof(world.results));
    decide(&world);
    assert_memory_equal(&first, &world.after, sizeof(first));
    assert_memory_equal(world.results, world.changed, sizeof(world.results));
    assert_i64(world.wanted.count, 0);
}

/* --- the slow way -------------------------------------------------------------------------- */

/* How many results are of these states; NONE: of any. */
static int64_t number_of(const struct world *world, int64_t server_state, int64_t outcome,
                         int64_t validate_state)
{
    int64_t found = 0;

    for (size_t i = 0; i < world->count; i++) {
        const struct due_result_row *result = &world->changed[i];

        found += (server_state == NONE || result->server_state == server_state) &&
                 (outcome == NONE ||
                  (result->server_state == RESULT_OVER && result->outcome == outcome)) &&
                 (validate_state == NONE || result->validate_state == validate_state);
    }
    return found;
}

static int64_t errors_of_nobody(const struct world *world)
{
    int64_t found = 0;

    for (size_t i = 0; i < world->count; i++)
        found += world->changed[i].server_state == RESULT_OVER &&
                 world->changed[i].outcome == OUTCOME_CLIENT_ERROR &&
                 (world->changed[i].exit_status == 203 || world->changed[i].exit_status == 200);
    return found;
}

static void move(struct world *world, int64_t server_state, int64_t outcome, int64_t validate_from,
                 int64_t outcome_to, int64_t validate_to)
{
    for (size_t i = 0; i < world->count; i++) {
        struct due_result_row *result = &world->changed[i];

        if (result->server_state != server_state ||
            (outcome != NONE && result->outcome != outcome) ||
            (validate_from != NONE && result->validate_state != validate_from))
            continue;
        result->server_state = RESULT_OVER;
        result->outcome = outcome_to == NONE ? result->outcome : outcome_to;
        result->validate_state = validate_to == NONE ? result->validate_state : validate_to;
    }
}

static const struct due_result_row *by_id(const struct world *world, int64_t id)
{
    for (size_t i = 0; i < world->count; i++)
        if (world->changed[i].id == id)
            return &world->changed[i];
    return NULL;
}

/* Sentence by sentence, each counted anew from the rows. */
static void decide_slowly(struct world *world)
{
    struct due_workunit_row *after = &world->after;
    int64_t success, needed, allowed, errors, given, deletion = TRANSITION_NEVER, last = 0;
    bool has_new, is_late, settled = true;

    *after = world->before;
    memcpy(world->changed, world->results, sizeof(world->results));
    for (size_t i = 0; i < world->count; i++)
        if (world->changed[i].server_state == RESULT_IN_PROGRESS &&
            world->changed[i].report_deadline < NOW) {
            world->changed[i].server_state = RESULT_OVER;
            world->changed[i].outcome = OUTCOME_NO_REPLY;
        }
    const struct due_result_row *canonical = by_id(world, after->canonical_resultid);
    bool is_gone = canonical != NULL && canonical->file_delete_state == FILE_DELETE_DONE;
    for (size_t i = 0; i < world->count && canonical != NULL; i++) {
        struct due_result_row *result = &world->changed[i];

        if (result->server_state == RESULT_OVER && result->outcome == OUTCOME_SUCCESS &&
            result->validate_state == VALIDATE_INIT &&
            (is_gone || result->file_delete_state != FILE_DELETE_INIT)) {
            result->validate_state = VALIDATE_TOO_LATE;
            result->file_delete_state = FILE_DELETE_INIT;
        }
    }
    has_new = number_of(world, RESULT_OVER, OUTCOME_SUCCESS, VALIDATE_INIT) > 0;
    is_late = has_new || number_of(world, RESULT_OVER, OUTCOME_SUCCESS, VALIDATE_INCONCLUSIVE) > 0;
    success = number_of(world, RESULT_OVER, OUTCOME_SUCCESS, NONE) -
              number_of(world, RESULT_OVER, OUTCOME_SUCCESS, VALIDATE_INVALID);
    errors = number_of(world, RESULT_OVER, OUTCOME_CLIENT_ERROR, NONE) - errors_of_nobody(world) +
             number_of(world, RESULT_OVER, OUTCOME_VALIDATE_ERROR, NONE);
    given = number_of(world, RESULT_OVER, OUTCOME_NO_REPLY, NONE) +
            number_of(world, RESULT_OVER, OUTCOME_CLIENT_DETACHED, NONE) + errors_of_nobody(world);
    needed =
        after->target_nresults > after->min_quorum ? after->target_nresults : after->min_quorum;
    needed -= success + number_of(world, RESULT_UNSENT, NONE, NONE) +
              number_of(world, RESULT_INACTIVE, NONE, NONE) +
              number_of(world, RESULT_IN_PROGRESS, NONE, NONE);
    allowed = after->max_total_results - (int64_t)world->count;
    if (after->canonical_resultid == 0) {
        if (number_of(world, RESULT_OVER, OUTCOME_COULDNT_SEND, NONE) > 0)
            after->error_mask |= 1;
        if (errors > after->max_error_results)
            after->error_mask |= 2;
        if (allowed < 0 || (allowed == 0 && needed > 0))
            after->error_mask |= 8;
    }
    if (!world->rules.hr_class_static && errors > 0 && success == 0 && given == 0 &&
        number_of(world, RESULT_IN_PROGRESS, NONE, NONE) == 0)
        after->hr_class = after->app_version_id = 0;
    int64_t over = number_of(world, RESULT_OVER, NONE, NONE);
    if (after->canonical_resultid != 0 ? is_late : has_new && success >= after->min_quorum)
        after->need_validate = 1;
    if (after->error_mask != 0) {
        move(world, RESULT_UNSENT, NONE, NONE, OUTCOME_DIDNT_NEED, NONE);
        move(world, RESULT_INACTIVE, NONE, NONE, OUTCOME_DIDNT_NEED, NONE);
        for (size_t i = 0; i < world->count; i++) {
            struct due_result_row *result = &world->changed[i];

            if (result->server_state == RESULT_OVER && result->outcome == OUTCOME_SUCCESS &&
                (result->validate_state == VALIDATE_INIT ||
                 result->validate_state == VALIDATE_INCONCLUSIVE)) {
                result->validate_state = VALIDATE_NO_CHECK;
                result->file_delete_state = FILE_DELETE_INIT;
            }
        }
        if (after->assimilate_state == ASSIMILATE_INIT)
            after->assimilate_state = ASSIMILATE_READY;
    }
    world->wanted = (struct transition_wanted){.priority = after->priority};
    if (after->error_mask == 0 && after->canonical_resultid == 0 &&
        after->transitioner_flags != 2 && needed > 0) {
        world->wanted.count = needed < allowed ? needed : allowed;
        world->wanted.first_number = (int64_t)world->count;
        if (over > 0 && world->rules.priority_on_over != 0)
            world->wanted.priority += world->rules.priority_on_over;
        else if (over > 0 && errors == 0)
            world->wanted.priority += world->rules.priority_on_over_except_error;
    }
    if (after->canonical_resultid != 0 && after->assimilate_state == ASSIMILATE_INIT &&
        number_of(world, RESULT_OVER, NONE, NONE) == (int64_t)world->count &&
        number_of(world, RESULT_OVER, OUTCOME_SUCCESS, VALIDATE_INIT) == 0)
        after->assimilate_state = ASSIMILATE_READY;
    for (size_t i = 0; i < world->count; i++) {
        const struct due_result_row *result = &world->changed[i];

        last = result->received_time > last ? result->received_time : last;
        settled =
            settled && result->server_state == RESULT_OVER &&
            !(result->outcome == OUTCOME_SUCCESS && result->validate_state == VALIDATE_INIT) &&
            !(result->outcome == OUTCOME_NO_REPLY && result->report_deadline > NOW);
        if (after->assimilate_state == ASSIMILATE_DONE && result->server_state == RESULT_OVER &&
            result->outcome == OUTCOME_NO_REPLY && result->report_deadline > NOW &&
            result->report_deadline < deletion)
            deletion = result->report_deadline;
    }
    if (after->assimilate_state == ASSIMILATE_DONE && NOW < last + world->rules.delete_delay)
        deletion = last + world->rules.delete_delay;
    else if (after->assimilate_state == ASSIMILATE_DONE) {
        if (settled && after->file_delete_state == FILE_DELETE_INIT)
            after->file_delete_state = FILE_DELETE_READY;
        for (size_t i = 0; i < world->count; i++) {
            struct due_result_row *result = &world->changed[i];
            bool is_canonical = result->id == after->canonical_resultid;

            if (result->server_state == RESULT_OVER && (!is_canonical || settled) &&
                result->file_delete_state == FILE_DELETE_INIT &&
                (result->outcome == OUTCOME_CLIENT_ERROR ||
                 result->outcome == OUTCOME_VALIDATE_ERROR ||
                 (settled && (result->outcome == OUTCOME_NO_REPLY ||
                              result->outcome == OUTCOME_CLIENT_DETACHED)) ||
                 (result->outcome == OUTCOME_SUCCESS && result->validate_state != VALIDATE_INIT)))
                result->file_delete_state = FILE_DELETE_READY;
        }
    }
    int64_t next = TRANSITION_NEVER;
    if (after->canonical_resultid == 0 && after->error_mask == 0) {
        next = NOW + after->delay_bound * 3 / 2;
        next = next < NOW + 10 * DAY ? NOW + 10 * DAY : next;
    }
    next = next > TRANSITION_NEVER ? TRANSITION_NEVER : next;
    for (size_t i = 0; i < world->count; i++)
        if (world->changed[i].server_state == RESULT_IN_PROGRESS &&
            world->changed[i].report_deadline < next)
            next = world->changed[i].report_deadline;
    after->transition_time = deletion < next ? deletion : next;
}

static int64_t draw(struct random *random, int64_t most)
{
    return (int64_t)(random_next(random) % (uint64_t)(most + 1));
}

static void draw_result(struct world *world, struct random *random)
{
    static const int64_t states[] = {1, 2, 4, 4, 5, 5, 5, 5, 5}, exits[] = {0, 0, 0, 200, 203};
    int64_t server_state = states[draw(random, 8)];
    struct due_result_row *result = add(world, server_state, OUTCOME_INIT, VALIDATE_INIT);

    if (server_state == RESULT_OVER) {
        result->outcome = draw(random, 2) == 0 ? 1 + draw(random, 6) : OUTCOME_SUCCESS;
        result->validate_state =
            result->outcome == OUTCOME_SUCCESS ? draw(random, 5) : 2 * draw(random, 1);
        result->exit_status = exits[draw(random, 4)];
        result->received_time = draw(random, 1) == 0 ? 0 : NOW - draw(random, 4000);
        result->file_delete_state = draw(random, 3);
    }
    result->report_deadline = NOW - 2 + draw(random, 4);
}

static struct world draw_world(struct random *random)
{
    struct world world = begin();

    world.rules.delete_delay = draw(random, 1) * 3600;
    world.rules.priority_on_over = draw(random, 1) * 100;
    world.rules.priority_on_over_except_error = draw(random, 1) * 10;
    world.rules.hr_class_static = draw(random, 3) == 0;
    world.before.min_quorum = 1 + draw(random, 2);
    world.before.target_nresults = 1 + draw(random, 4);
    world.before.max_error_results = draw(random, 4);
    world.before.max_total_results = 1 + draw(random, 9);
    world.before.delay_bound = draw(random, 20) * DAY;
    world.before.transitioner_flags = draw(random, 3) == 0 ? 2 : 0;
    world.before.error_mask = draw(random, 7) == 0 ? WU_ERROR_CANCELLED : 0;
    world.before.assimilate_state = draw(random, 2);
    world.before.need_validate = draw(random, 1);
    world.before.file_delete_state = draw(random, 2);
    for (int64_t left = draw(random, 7); left > 0; left--)
        draw_result(&world, random);
    for (size_t i = 0; i < world.count && draw(random, 2) == 0; i++)
        if (world.results[i].outcome == OUTCOME_SUCCESS &&
            world.results[i].validate_state == VALIDATE_VALID)
            world.before.canonical_resultid = world.results[i].id;
    return world;
}

static void the_slow_way_agrees(void **state)
{
    struct random random = {.state = 53};
    int64_t made = 0, errors = 0, judged = 0, deleted = 0;

    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct world world = draw_world(&random), slow = world;

        decide(&world);
        decide_slowly(&slow);
        if (memcmp(&world.after, &slow.after, sizeof(world.after)) != 0 ||
            memcmp(world.changed, slow.changed, world.count * sizeof(world.changed[0])) != 0 ||
            world.wanted.count != slow.wanted.count ||
            world.wanted.priority != slow.wanted.priority ||
            world.wanted.first_number != slow.wanted.first_number)
            fail_msg("case %d", i);
        made += world.wanted.count;
        errors += world.after.error_mask != world.before.error_mask;
        judged += world.after.need_validate > world.before.need_validate;
        deleted += world.after.file_delete_state > world.before.file_delete_state;
    }
    assert_true(made > 1000 && errors > 1000 && judged > 1000 && deleted > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_to_do_while_results_are_unsent),
        cmocka_unit_test(a_missed_deadline_is_no_reply_and_made_up_for),
        cmocka_unit_test(a_deadline_of_this_second_is_not_missed),
        cmocka_unit_test(an_empty_workunit_gets_what_it_wants),
        cmocka_unit_test(what_waits_and_what_is_out_is_not_made_again),
        cmocka_unit_test(the_validator_is_called_at_the_quorum),
        cmocka_unit_test(a_late_report_is_judged_beside_the_canonical_result),
        cmocka_unit_test(a_late_report_is_judged_though_successes_are_few),
        cmocka_unit_test(errors_are_borne_up_to_their_number),
        cmocka_unit_test(an_error_of_the_workunit_cancels_and_closes),
        cmocka_unit_test(what_cannot_be_sent_is_an_error),
        cmocka_unit_test(the_total_is_a_bound),
        cmocka_unit_test(as_many_are_wanted_as_the_quorum_needs),
        cmocka_unit_test(an_answer_is_never_made_an_error),
        cmocka_unit_test(later_results_may_go_before_others),
        cmocka_unit_test(targeted_jobs_are_made_elsewhere),
        cmocka_unit_test(names_go_on_behind_the_highest_number),
        cmocka_unit_test(a_deferred_assimilation_comes_with_the_last_result),
        cmocka_unit_test(files_go_when_nobody_needs_them),
        cmocka_unit_test(files_without_a_report_go_with_the_answer),
        cmocka_unit_test(without_an_answer_they_go_at_the_end),
        cmocka_unit_test(a_report_behind_the_deletion_is_too_late),
        cmocka_unit_test(a_second_look_changes_nothing),
        cmocka_unit_test(the_slow_way_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
