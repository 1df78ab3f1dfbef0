/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a workunit follows from its results, looked at from the beginning each time: missed
 * deadlines, counts, errors of the workunit, results still wanted, files, and the moment of the
 * next look. The numbers at the functions are the steps of policy(7) 13.1.
 *
 * Two things differ from BOINC's transitioner. A workunit that has its answer gets no error bits
 * any more: results that were cancelled because of the answer are counted in the total and not as
 * wanted, so that the last allowed one would make an error of a workunit that succeeded. And with
 * `trusts` a quorum of successes is the answer, for projects without a validator. */
#include "server/submit/transition_rules.h"

#include "db/states.h"

#include "server/base/banned.h"

enum {
    EXIT_ABORTED_BY_USER = 203, /* counted with the missing replies */
    DAY = 86400,
    LOOK_AGAIN_LEAST = 10 * DAY,
    BEHIND_LEAST = 60,
    BEHIND_MOST = DAY,
    NUMBER_DIGITS_MAX = 18
};

struct tally {
    int64_t total, unsent, in_progress, over, success, errors, no_reply, couldnt_send;
    bool has_new; /* a success that nobody has judged */
};

struct pass {
    const struct transition_rules *rules;
    struct due_workunit_row *workunit;
    struct due_result_row *results;
    size_t count;
    struct tally tally;
};

static bool is_unsent(const struct due_result_row *result)
{
    return result->server_state == RESULT_INACTIVE || result->server_state == RESULT_UNSENT;
}

static bool is_success(const struct due_result_row *result)
{
    return result->server_state == RESULT_OVER && result->outcome == OUTCOME_SUCCESS;
}

static bool is_unjudged(const struct due_result_row *result)
{
    return is_success(result) && (result->validate_state == VALIDATE_INIT ||
                                  result->validate_state == VALIDATE_INCONCLUSIVE);
}

static bool is_open(const struct due_workunit_row *workunit)
{
    return workunit->canonical_resultid == 0 && workunit->error_mask == 0;
}

/* 1 */
static void time_out(struct pass *pass)
{
    for (size_t i = 0; i < pass->count; i++) {
        struct due_result_row *result = &pass->results[i];

        if (result->server_state == RESULT_IN_PROGRESS &&
            result->report_deadline < pass->rules->now) {
            result->server_state = RESULT_OVER;
            result->outcome = OUTCOME_NO_REPLY; /* received_time 0: a late report is still taken */
        }
    }
}

/* 1: nothing is left to compare with. */
static void find_too_late(struct pass *pass)
{
    int64_t canonical = pass->workunit->canonical_resultid;
    bool is_gone = false;

    for (size_t i = 0; i < pass->count && canonical != 0; i++)
        if (pass->results[i].id == canonical)
            is_gone = pass->results[i].file_delete_state == FILE_DELETE_DONE;
    for (size_t i = 0; i < pass->count && is_gone; i++) {
        struct due_result_row *result = &pass->results[i];

        if (is_success(result) && result->validate_state == VALIDATE_INIT)
            result->validate_state = VALIDATE_TOO_LATE;
    }
}

static void count_over(struct tally *tally, const struct due_result_row *result)
{
    tally->over++;
    switch (result->outcome) {
    case OUTCOME_SUCCESS:
        tally->success += result->validate_state != VALIDATE_INVALID;
        tally->has_new = tally->has_new || result->validate_state == VALIDATE_INIT;
        break;
    case OUTCOME_COULDNT_SEND:
        tally->couldnt_send++;
        break;
    case OUTCOME_CLIENT_ERROR:
        if (result->exit_status == EXIT_ABORTED_BY_USER)
            tally->no_reply++;
        else
            tally->errors++;
        break;
    case OUTCOME_VALIDATE_ERROR:
        tally->errors++;
        break;
    case OUTCOME_NO_REPLY:
    case OUTCOME_CLIENT_DETACHED:
        tally->no_reply++;
        break;
    default: /* DIDNT_NEED, and what we do not know */
        break;
    }
}

/* 2 */
static struct tally count_results(const struct pass *pass)
{
    struct tally tally = {.total = (int64_t)pass->count};

    for (size_t i = 0; i < pass->count; i++) {
        const struct due_result_row *result = &pass->results[i];

        if (is_unsent(result))
            tally.unsent++;
        else if (result->server_state == RESULT_IN_PROGRESS)
            tally.in_progress++;
        else
            count_over(&tally, result);
    }
    return tally;
}

/* 2, 3: what can no more succeed. Returns how many results are still to be made. */
static int64_t find_errors(struct pass *pass)
{
    struct due_workunit_row *workunit = pass->workunit;
    const struct tally *tally = &pass->tally;
    int64_t needed =
        workunit->target_nresults - tally->unsent - tally->in_progress - tally->success;
    int64_t allowed = workunit->max_total_results - tally->total;

    if (workunit->canonical_resultid != 0)
        return 0;
    if (needed < 0)
        needed = 0;
    if (tally->couldnt_send > 0)
        workunit->error_mask |= WU_ERROR_COULDNT_SEND_RESULT;
    if (tally->errors > workunit->max_error_results)
        workunit->error_mask |= WU_ERROR_TOO_MANY_ERROR_RESULTS;
    if (allowed < 0 || (allowed == 0 && needed > 0))
        workunit->error_mask |= WU_ERROR_TOO_MANY_TOTAL_RESULTS;
    return needed < allowed ? needed : allowed;
}

/* 4: perhaps it was the kind of computer. */
static void release(struct pass *pass)
{
    const struct tally *tally = &pass->tally;

    if (pass->rules->hr_class_static || tally->errors == 0 || tally->success > 0 ||
        tally->in_progress > 0 || tally->no_reply > 0)
        return;
    pass->workunit->hr_class = 0;
    pass->workunit->app_version_id = 0;
}

static void cancel_unsent(struct pass *pass)
{
    for (size_t i = 0; i < pass->count; i++)
        if (is_unsent(&pass->results[i])) {
            pass->results[i].server_state = RESULT_OVER;
            pass->results[i].outcome = OUTCOME_DIDNT_NEED;
        }
}

/* 5. In the place of a validator: the success with the lowest id answers, the others agree. */
static void trust(struct pass *pass)
{
    struct due_workunit_row *workunit = pass->workunit;

    if (!pass->rules->trusts || workunit->error_mask != 0 ||
        (workunit->canonical_resultid == 0 &&
         (pass->tally.success == 0 || pass->tally.success < workunit->min_quorum)))
        return;
    for (size_t i = 0; i < pass->count; i++) {
        struct due_result_row *result = &pass->results[i];

        if (is_unjudged(result))
            result->validate_state = VALIDATE_VALID;
        if (workunit->canonical_resultid == 0 && is_success(result) &&
            result->validate_state == VALIDATE_VALID)
            workunit->canonical_resultid = result->id;
    }
    if (workunit->canonical_resultid == 0) /* successes of a state that we do not know */
        return;
    if (workunit->assimilate_state == ASSIMILATE_INIT)
        workunit->assimilate_state = ASSIMILATE_READY;
    workunit->need_validate = 0;
    pass->tally.has_new = false;
    cancel_unsent(pass);
}

/* 6 */
static void give_up(struct pass *pass)
{
    if (pass->workunit->error_mask == 0)
        return;
    cancel_unsent(pass);
    for (size_t i = 0; i < pass->count; i++)
        if (is_unjudged(&pass->results[i]))
            pass->results[i].validate_state = VALIDATE_NO_CHECK;
    if (pass->workunit->assimilate_state == ASSIMILATE_INIT)
        pass->workunit->assimilate_state = ASSIMILATE_READY;
}

/* The number behind the last underscore; -1: there is none. */
static int64_t name_number(struct text name)
{
    size_t at = name.length;
    int64_t number = 0;

    while (at > 0 && name.at[at - 1] >= '0' && name.at[at - 1] <= '9')
        at--;
    if (at == 0 || at == name.length || name.at[at - 1] != '_' ||
        name.length - at > NUMBER_DIGITS_MAX)
        return -1;
    for (; at < name.length; at++)
        number = 10 * number + (name.at[at] - '0');
    return number;
}

/* 6 */
static struct transition_wanted want_results(const struct pass *pass, int64_t needed)
{
    const struct transition_rules *rules = pass->rules;
    struct transition_wanted wanted = {.priority = pass->workunit->priority};

    if (!is_open(pass->workunit) || needed <= 0 ||
        pass->workunit->transitioner_flags == TRANSITIONER_NO_NEW_RESULTS)
        return wanted;
    wanted.count = needed;
    for (size_t i = 0; i < pass->count; i++) {
        int64_t number = name_number(pass->results[i].name);

        if (number >= wanted.first_number)
            wanted.first_number = number + 1;
    }
    if (pass->tally.over > 0 && rules->priority_on_over != 0)
        wanted.priority += rules->priority_on_over;
    else if (pass->tally.over > 0 && pass->tally.errors == 0)
        wanted.priority += rules->priority_on_over_except_error;
    return wanted;
}

/* 7: an assimilator that waits for the last result puts the workunit back. */
static void assimilate_deferred(struct pass *pass)
{
    bool is_complete = pass->workunit->canonical_resultid != 0 &&
                       pass->workunit->assimilate_state == ASSIMILATE_INIT;

    for (size_t i = 0; i < pass->count && is_complete; i++) {
        const struct due_result_row *result = &pass->results[i];

        is_complete = result->server_state == RESULT_OVER &&
                      !(is_success(result) && result->validate_state == VALIDATE_INIT);
    }
    if (is_complete)
        pass->workunit->assimilate_state = ASSIMILATE_READY;
}

static bool is_settled(const struct due_result_row *result, int64_t now)
{
    if (result->server_state != RESULT_OVER ||
        (result->outcome == OUTCOME_SUCCESS && result->validate_state == VALIDATE_INIT))
        return false;
    return result->outcome != OUTCOME_NO_REPLY || result->report_deadline <= now;
}

/* 7. Returns when files are to be deleted that it is too early for; TRANSITION_NEVER: none. */
static int64_t delete_files(struct pass *pass)
{
    struct due_workunit_row *workunit = pass->workunit;
    int64_t now = pass->rules->now, last = 0;
    bool all_settled = true;

    if (workunit->assimilate_state != ASSIMILATE_DONE)
        return TRANSITION_NEVER;
    for (size_t i = 0; i < pass->count; i++) {
        all_settled = all_settled && is_settled(&pass->results[i], now);
        if (pass->results[i].received_time > last)
            last = pass->results[i].received_time;
    }
    if (now < last + pass->rules->delete_delay)
        return last + pass->rules->delete_delay;
    if (all_settled && workunit->file_delete_state == FILE_DELETE_INIT)
        workunit->file_delete_state = FILE_DELETE_READY;
    for (size_t i = 0; i < pass->count; i++) {
        struct due_result_row *result = &pass->results[i];
        bool is_finished =
            result->server_state == RESULT_OVER &&
            (result->outcome == OUTCOME_CLIENT_ERROR ||
             (result->outcome == OUTCOME_SUCCESS && result->validate_state != VALIDATE_INIT));

        if (is_finished && result->file_delete_state == FILE_DELETE_INIT &&
            (all_settled || result->id != workunit->canonical_resultid))
            result->file_delete_state = FILE_DELETE_READY;
    }
    return TRANSITION_NEVER;
}

/* 8 */
static int64_t next_look(const struct pass *pass, int64_t deletion)
{
    const struct due_workunit_row *workunit = pass->workunit;
    int64_t now = pass->rules->now, next = TRANSITION_NEVER;

    if (is_open(workunit)) {
        int64_t span = workunit->delay_bound + workunit->delay_bound / 2;

        next = now + (span > LOOK_AGAIN_LEAST ? span : LOOK_AGAIN_LEAST);
    }
    for (size_t i = 0; i < pass->count; i++)
        if (pass->results[i].server_state == RESULT_IN_PROGRESS &&
            pass->results[i].report_deadline < next)
            next = pass->results[i].report_deadline;
    if (deletion < next)
        next = deletion;
    if (next < now) { /* we are late: do not stand in our own way */
        int64_t behind = 2 * (now - next);

        behind = behind > BEHIND_MOST ? BEHIND_MOST : behind;
        next = now + (behind < BEHIND_LEAST ? BEHIND_LEAST : behind);
    }
    return next < TRANSITION_NEVER ? next : TRANSITION_NEVER;
}

void transition_decide(const struct transition_rules *rules,
                       const struct due_workunit_row *workunit,
                       const struct due_result_row *results, size_t count,
                       struct due_workunit_row *ret_workunit, struct due_result_row *ret_results,
                       struct transition_wanted *ret_wanted)
{
    struct pass pass = {
        .rules = rules, .workunit = ret_workunit, .results = ret_results, .count = count};
    int64_t needed;

    *ret_workunit = *workunit;
    for (size_t i = 0; i < count; i++)
        ret_results[i] = results[i];
    time_out(&pass);
    find_too_late(&pass);
    pass.tally = count_results(&pass);
    needed = find_errors(&pass);
    release(&pass);
    trust(&pass);
    if (pass.tally.has_new && pass.tally.success >= workunit->min_quorum) /* 5 */
        ret_workunit->need_validate = 1;
    give_up(&pass);
    *ret_wanted = want_results(&pass, needed);
    assimilate_deferred(&pass);
    ret_workunit->transition_time = next_look(&pass, delete_files(&pass));
}
