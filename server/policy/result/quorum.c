/* SPDX-License-Identifier: Apache-2.0 */
/* BOINC's rules, with one difference: a result that is a quorum's only unusable one, and a late one
 * that has nothing left to be compared with, get their state here as well. Being the same need not
 * be transitive: the first result that enough others are the same as is canonical, and what is the
 * same as that one is valid. */
#include "server/policy/result/quorum.h"

#include "db/states.h"

#include "server/base/banned.h"

static enum quorum_answer answer_of(const struct quorum *quorum, size_t first, size_t second)
{
    return first == second ? QUORUM_SAME
                           : (enum quorum_answer)quorum->answers[first * quorum->count + second];
}

/* What somebody found VALID stays so: its credit is granted. */
static void invalidate(struct quorum_result *result)
{
    if (result->validate_state == VALIDATE_VALID)
        return;
    if (result->is_unusable)
        result->outcome = OUTCOME_VALIDATE_ERROR;
    result->validate_state = VALIDATE_INVALID;
}

/* Asks about the first usable result that `index` was not compared with. False: there is none. */
static bool ask(const struct quorum *quorum, size_t index, struct quorum_decision *decision)
{
    for (size_t i = 0; i < quorum->count; i++)
        if (!quorum->results[i].is_unusable && answer_of(quorum, index, i) == QUORUM_UNKNOWN) {
            decision->first = index;
            decision->second = i;
            return true;
        }
    return false;
}

static int64_t count_same(const struct quorum *quorum, size_t index)
{
    int64_t same = 0;

    for (size_t i = 0; i < quorum->count; i++)
        same += !quorum->results[i].is_unusable && answer_of(quorum, index, i) == QUORUM_SAME;
    return same;
}

static bool is_unjudged(const struct quorum_result *result)
{
    return result->validate_state == VALIDATE_INIT ||
           result->validate_state == VALIDATE_INCONCLUSIVE;
}

/* --- there is a canonical result ------------------------------------------------------------- */

static enum quorum_step judge_late(const struct quorum *quorum, struct quorum_result *results,
                                   struct quorum_decision *decision)
{
    size_t canonical = 0;
    bool is_gone;

    while (canonical < quorum->count && results[canonical].id != quorum->canonical_resultid)
        canonical++;
    is_gone = canonical == quorum->count || results[canonical].is_unusable;
    if (!is_gone && ask(quorum, canonical, decision))
        return QUORUM_COMPARE;
    for (size_t i = 0; i < quorum->count; i++) {
        struct quorum_result *result = &results[i];

        if (i == canonical || !is_unjudged(result))
            continue;
        if (result->is_unusable)
            invalidate(result);
        else if (is_gone)
            result->validate_state = VALIDATE_TOO_LATE;
        else if (answer_of(quorum, canonical, i) == QUORUM_SAME)
            result->validate_state = VALIDATE_VALID;
        else
            invalidate(result);
    }
    decision->is_due = true;
    return QUORUM_DECIDED;
}

/* --- there is none ---------------------------------------------------------------------------- */

/* Finds the result that is to be canonical; `count`: none. */
static enum quorum_step find_canonical(const struct quorum *quorum,
                                       struct quorum_decision *decision, size_t *ret_found)
{
    int64_t usable = 0;

    *ret_found = quorum->count;
    for (size_t i = 0; i < quorum->count; i++)
        usable += !quorum->results[i].is_unusable;
    for (size_t i = 0; i < quorum->count && usable >= quorum->min_quorum; i++) {
        if (quorum->results[i].is_unusable)
            continue;
        if (ask(quorum, i, decision))
            return QUORUM_COMPARE;
        if (count_same(quorum, i) >= quorum->min_quorum / 2 + 1) {
            *ret_found = i;
            break;
        }
    }
    return QUORUM_DECIDED;
}

static void conclude(const struct quorum *quorum, size_t canonical, struct quorum_result *results,
                     struct quorum_decision *decision)
{
    decision->canonical_resultid = results[canonical].id;
    for (size_t i = 0; i < quorum->count; i++) {
        if (!results[i].is_unusable && answer_of(quorum, canonical, i) == QUORUM_SAME)
            results[i].validate_state = VALIDATE_VALID;
        else
            invalidate(&results[i]);
    }
    decision->is_due = quorum->others > 0;
}

static void wait_for_more(const struct quorum *quorum, struct quorum_result *results,
                          struct quorum_decision *decision)
{
    int64_t viable = quorum->others;

    decision->is_due = quorum->others > 0;
    for (size_t i = 0; i < quorum->count; i++) {
        if (results[i].is_unusable) {
            invalidate(&results[i]);
            decision->is_due = true;
        } else {
            viable++;
            if (results[i].validate_state == VALIDATE_INIT)
                results[i].validate_state = VALIDATE_INCONCLUSIVE;
        }
    }
    if (viable > quorum->max_success_results) {
        decision->error_mask |= WU_ERROR_TOO_MANY_SUCCESS_RESULTS;
        decision->is_due = true;
    } else if (viable >= quorum->target_nresults) {
        decision->target_nresults = viable + 1;
        decision->is_due = true;
    }
}

enum quorum_step quorum_decide(const struct quorum *quorum, struct quorum_result *ret_results,
                               struct quorum_decision *ret_decision)
{
    size_t canonical;

    *ret_decision = (struct quorum_decision){.canonical_resultid = quorum->canonical_resultid,
                                             .target_nresults = quorum->target_nresults,
                                             .error_mask = quorum->error_mask};
    for (size_t i = 0; i < quorum->count; i++)
        ret_results[i] = quorum->results[i];
    if (quorum->canonical_resultid != 0)
        return judge_late(quorum, ret_results, ret_decision);
    if ((int64_t)quorum->count + quorum->others < quorum->min_quorum || quorum->count == 0)
        return QUORUM_DECIDED;
    if (find_canonical(quorum, ret_decision, &canonical) == QUORUM_COMPARE)
        return QUORUM_COMPARE;
    if (canonical < quorum->count)
        conclude(quorum, canonical, ret_results, ret_decision);
    else
        wait_for_more(quorum, ret_results, ret_decision);
    return QUORUM_DECIDED;
}
