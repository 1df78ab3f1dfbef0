/* SPDX-License-Identifier: Apache-2.0 */
/* Which results are valid: each rule by itself, and all of them against a slow way of saying the
 * same, for every pattern of answers. Results are written as letters: the same letter is the same
 * answer, '-' a result whose files are missing. */
#include "server/policy/result/quorum.h"

#include "db/states.h"
#include "tests/support/test.h"

enum { MOST = 5, FIRST_ID = 101 };

struct trial {
    struct quorum quorum;
    struct quorum_result before[MOST + 1], after[MOST + 1];
    unsigned char known[(MOST + 1) * (MOST + 1)];
    unsigned char truth[(MOST + 1) * (MOST + 1)];
    struct quorum_decision decision;
    int questions;
};

static void begin(struct trial *trial, const char *letters, int64_t min_quorum,
                  int64_t target_nresults)
{
    size_t count = strlen(letters);

    *trial = (struct trial){.quorum = {.min_quorum = min_quorum,
                                       .target_nresults = target_nresults,
                                       .max_success_results = 6,
                                       .count = count}};
    for (size_t i = 0; i < count; i++) {
        trial->before[i] = (struct quorum_result){.id = FIRST_ID + (int64_t)i,
                                                  .outcome = OUTCOME_SUCCESS,
                                                  .validate_state = VALIDATE_INIT,
                                                  .is_unusable = letters[i] == '-'};
        for (size_t j = 0; j < count; j++)
            trial->truth[i * count + j] = letters[i] == letters[j] ? QUORUM_SAME : QUORUM_DIFFERENT;
    }
}

/* Answers what is asked until it is decided. */
static void decide(struct trial *trial)
{
    size_t count = trial->quorum.count;

    trial->quorum.results = trial->before;
    trial->quorum.answers = trial->known;
    memset(trial->known, 0, sizeof(trial->known));
    trial->questions = 0;
    while (quorum_decide(&trial->quorum, trial->after, &trial->decision) == QUORUM_COMPARE) {
        size_t i = trial->decision.first, j = trial->decision.second;

        assert_true(i != j && i < count && j < count);
        assert_false(trial->before[i].is_unusable || trial->before[j].is_unusable);
        assert_int_equal(trial->known[i * count + j], QUORUM_UNKNOWN);
        trial->known[i * count + j] = trial->known[j * count + i] = trial->truth[i * count + j];
        trial->questions++;
    }
    assert_true(trial->questions <= (int)(count * (count - 1) / 2));
}

/* The states of the results as digits. */
static void assert_states(const struct trial *trial, const char *wanted)
{
    char states[MOST + 2] = "";

    for (size_t i = 0; i < trial->quorum.count; i++)
        states[i] = (char)('0' + trial->after[i].validate_state);
    assert_string_equal(states, wanted);
}

static void the_first_with_a_majority_is_canonical(void **state)
{
    static const struct {
        const char *letters;
        int64_t min_quorum, target, canonical;
        const char *states;
        int64_t target_after;
        bool is_due;
    } cases[] = {
        {"A", 1, 1, 101, "1", 1, false},
        {"AA", 2, 2, 101, "11", 2, false},
        {"AB", 2, 2, 0, "44", 3, true}, /* 2 -> 3 */
        {"ABA", 2, 3, 101, "121", 3, false},
        {"BAA", 2, 3, 102, "211", 3, false},
        {"ABA", 3, 3, 101, "121", 3, false}, /* 3 needs 2 */
        {"AABB", 4, 4, 0, "4444", 5, true},  /* 4 needs 3 */
        {"ABBB", 4, 4, 102, "2111", 4, false},
        {"AB", 3, 3, 0, "00", 3, false}, /* too few: nobody was examined */
        {"AB", 2, 3, 0, "44", 3, false}, /* another one is under way */
        {"A-", 2, 2, 0, "42", 2, true},  /* the unusable one is made up for */
        {"-", 1, 1, 0, "2", 1, true},    /* (needed = target - successes) */
        {"--AA", 2, 4, 103, "2211", 4, false},
        {"-AB", 2, 3, 0, "244", 3, true},
        {"ABC", 1, 3, 101, "122", 3, false}, /* a quorum of one asks nobody */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct trial trial;

        begin(&trial, cases[i].letters, cases[i].min_quorum, cases[i].target);
        decide(&trial);
        assert_states(&trial, cases[i].states);
        assert_i64(trial.decision.canonical_resultid, cases[i].canonical);
        assert_i64(trial.decision.target_nresults, cases[i].target_after);
        assert_i64(trial.decision.error_mask, 0);
        assert_int_equal(trial.decision.is_due, cases[i].is_due);
        for (size_t j = 0; j < trial.quorum.count; j++)
            assert_i64(trial.after[j].outcome,
                       cases[i].letters[j] == '-' ? OUTCOME_VALIDATE_ERROR : OUTCOME_SUCCESS);
    }
}

static void too_many_without_consensus_are_an_error(void **state)
{
    struct trial trial;

    (void)state;
    begin(&trial, "ABC", 2, 3);
    trial.quorum.max_success_results = 2;
    decide(&trial);
    assert_i64(trial.decision.error_mask, WU_ERROR_TOO_MANY_SUCCESS_RESULTS);
    assert_i64(trial.decision.target_nresults, 3);
    assert_true(trial.decision.is_due);
    trial.quorum.max_success_results = 3;
    decide(&trial);
    assert_i64(trial.decision.error_mask, 0);
    assert_i64(trial.decision.target_nresults, 4);
}

static void being_the_same_need_not_be_transitive(void **state)
{
    struct trial trial;

    (void)state;
    begin(&trial, "ABC", 3, 3);
    for (size_t i = 0; i < 9; i++) /* the middle one is the same as both */
        trial.truth[i] = i == 2 || i == 6 ? QUORUM_DIFFERENT : QUORUM_SAME;
    decide(&trial);
    assert_i64(trial.decision.canonical_resultid, 101); /* with one other, which is enough */
    assert_states(&trial, "112");
}

static void late_results_are_compared_with_the_canonical_one(void **state)
{
    struct trial trial;

    (void)state;
    begin(&trial, "AAB-", 2, 2);
    trial.quorum.canonical_resultid = 101;
    trial.before[0].validate_state = VALIDATE_VALID;
    trial.before[1].validate_state = VALIDATE_INCONCLUSIVE;
    decide(&trial);
    assert_states(&trial, "1122");
    assert_i64(trial.after[3].outcome, OUTCOME_VALIDATE_ERROR);
    assert_i64(trial.after[2].outcome, OUTCOME_SUCCESS);
    assert_i64(trial.decision.canonical_resultid, 101);
    assert_true(trial.decision.is_due);
    assert_int_equal(trial.questions, 2);
    trial.before[0].is_unusable = true; /* nothing is left to compare with */
    decide(&trial);
    assert_states(&trial, "1552");
    trial.before[0].is_unusable = false;
    trial.quorum.canonical_resultid = 7; /* its row is gone */
    decide(&trial);
    assert_states(&trial, "1552");
}

static void those_beyond_the_list_come_later(void **state)
{
    struct trial trial;

    (void)state;
    begin(&trial, "AB", 2, 2);
    trial.quorum.others = 3;
    decide(&trial);
    assert_i64(trial.decision.target_nresults, 6); /* five are viable */
    assert_true(trial.decision.is_due);
    begin(&trial, "AA", 2, 2);
    trial.quorum.others = 1;
    decide(&trial);
    assert_i64(trial.decision.canonical_resultid, 101);
    assert_true(trial.decision.is_due);
}

/* --- the slow way ------------------------------------------------------------------------------
 */

static void assert_slowly(const struct trial *trial)
{
    const struct quorum *quorum = &trial->quorum;
    size_t count = quorum->count, chosen = count;
    int64_t usable = 0, viable = (int64_t)count;

    for (size_t i = 0; i < count; i++)
        usable += trial->before[i].is_unusable ? 0 : 1;
    for (size_t i = count; i > 0 && usable >= quorum->min_quorum; i--) { /* the last wins */
        int64_t alike = 0;

        for (size_t j = 0; j < count; j++)
            if (!trial->before[j].is_unusable &&
                (i - 1 == j || trial->truth[(i - 1) * count + j] == QUORUM_SAME))
                alike++;
        if (!trial->before[i - 1].is_unusable && alike > quorum->min_quorum / 2)
            chosen = i - 1;
    }
    if (viable < quorum->min_quorum || count == 0) {
        for (size_t i = 0; i < count; i++)
            assert_i64(trial->after[i].validate_state, trial->before[i].validate_state);
        return;
    }
    assert_i64(trial->decision.canonical_resultid, chosen < count ? trial->before[chosen].id : 0);
    for (size_t i = 0; i < count; i++) {
        int64_t wanted = VALIDATE_INCONCLUSIVE;

        if (trial->before[i].is_unusable)
            wanted = VALIDATE_INVALID;
        else if (chosen < count)
            wanted = i == chosen || trial->truth[chosen * count + i] == QUORUM_SAME
                         ? VALIDATE_VALID
                         : VALIDATE_INVALID;
        assert_i64(trial->after[i].validate_state, wanted);
        viable -= wanted == VALIDATE_INVALID;
    }
    if (chosen < count)
        return;
    assert_i64(trial->decision.error_mask, viable > quorum->max_success_results ? 4 : 0);
    assert_i64(trial->decision.target_nresults,
               viable <= quorum->max_success_results && viable >= quorum->target_nresults
                   ? viable + 1
                   : quorum->target_nresults);
}

static int try_pattern(unsigned pattern, unsigned unusable, size_t count, int64_t min_quorum)
{
    struct trial trial;
    unsigned bit = 1;

    begin(&trial, &"ABCDE"[MOST - count], min_quorum, (int64_t)count - 1 + (pattern & 1));
    trial.quorum.max_success_results = 2 + (pattern & 2);
    for (size_t i = 0; i < count; i++) {
        trial.before[i].is_unusable = (unusable >> i & 1) != 0;
        for (size_t j = i + 1; j < count; j++, bit <<= 1)
            trial.truth[i * count + j] = trial.truth[j * count + i] =
                (pattern & bit) != 0 ? QUORUM_SAME : QUORUM_DIFFERENT;
    }
    decide(&trial);
    assert_slowly(&trial);
    return trial.decision.canonical_resultid != 0;
}

static void the_slow_way_agrees(void **state)
{
    int tried = 0, answered = 0;

    (void)state;
    for (size_t count = 0; count <= MOST; count++)
        for (unsigned pattern = 0; pattern < 1U << (count * (count - (count > 0)) / 2); pattern++)
            for (unsigned unusable = 0; unusable < 1U << count; unusable++)
                for (int64_t min_quorum = 1; min_quorum <= MOST + 1; min_quorum++, tried++)
                    answered += try_pattern(pattern, unusable, count, min_quorum);
    assert_true(answered > tried / 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_with_a_majority_is_canonical),
        cmocka_unit_test(too_many_without_consensus_are_an_error),
        cmocka_unit_test(being_the_same_need_not_be_transitive),
        cmocka_unit_test(late_results_are_compared_with_the_canonical_one),
        cmocka_unit_test(those_beyond_the_list_come_later),
        cmocka_unit_test(the_slow_way_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
