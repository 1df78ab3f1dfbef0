/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a workunit follows from its results, worked out anew each time: missed deadlines,
 * counts, errors of the workunit, results still wanted, files, and the next transition_time. The
 * numbers at the functions are the steps of policy(7) 13.1.
 *
 * Three things differ from BOINC's transitioner. A workunit that has its answer gets no error bits
 * any more: results that were cancelled because of the answer are counted in the total and not as
 * wanted, so that the last allowed one would make an error of a workunit that succeeded. And files
 * of a VALIDATE_ERROR are deleted as those of other errors are, and those of missing replies at the
 * end: some of them may be there. And a result that its host had not begun by its deadline is a
 * missing reply: it says nothing of the workunit, and at the end of a batch in a hurry deadlines
 * are short. */
#include "server/policy/result/transition_rules.h"

#include "db/states.h"

#include "server/base/banned.h"

enum {
    DAY = 86400,
    NEXT_TIME_LEAST = 10 * DAY,
    BEHIND_LEAST = 60,
    BEHIND_MOST = DAY,
    HELD_AGAIN = DAY,
    NUMBER_DIGITS_MAX = 18
};

struct result_counts {
    int64_t total, unsent, in_progress, over, success, errors, no_reply, couldnt_send;
    bool has_new;      /* a success that nobody has looked at */
    bool has_unjudged; /* or that found no quorum */
};

struct transition {
    const struct transition_rules *rules;
    struct due_workunit_row *workunit;
    struct due_result_row *results;
    size_t count;
    struct result_counts counts;
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
static void time_out(struct transition *transition)
{
    for (size_t i = 0; i < transition->count; i++) {
        struct due_result_row *result = &transition->results[i];

        if (result->server_state == RESULT_IN_PROGRESS &&
            result->report_deadline < transition->rules->now) {
            result->server_state = RESULT_OVER;
            result->outcome = OUTCOME_NO_REPLY; /* received_time 0: a late report is still taken */
        }
    }
}

/* A success that came when its files were deleted may have brought them once more. */
static void close_success(struct due_result_row *result, int64_t validate_state)
{
    result->validate_state = validate_state;
    result->file_delete_state = FILE_DELETE_INIT;
}

/* 1: nothing is left to compare with, or nothing to compare. */
static void find_too_late(struct transition *transition)
{
    int64_t canonical = transition->workunit->canonical_resultid;
    bool is_gone = false;

    for (size_t i = 0; i < transition->count && canonical != 0; i++)
        if (transition->results[i].id == canonical)
            is_gone = transition->results[i].file_delete_state == FILE_DELETE_DONE;
    for (size_t i = 0; i < transition->count && canonical != 0; i++) {
        struct due_result_row *result = &transition->results[i];

        if (is_success(result) && result->validate_state == VALIDATE_INIT &&
            (is_gone || result->file_delete_state != FILE_DELETE_INIT))
            close_success(result, VALIDATE_TOO_LATE);
    }
}

static void count_over(struct result_counts *counts, const struct due_result_row *result)
{
    counts->over++;
    switch (result->outcome) {
    case OUTCOME_SUCCESS:
        counts->success += result->validate_state != VALIDATE_INVALID;
        counts->has_new = counts->has_new || result->validate_state == VALIDATE_INIT;
        counts->has_unjudged = counts->has_unjudged || is_unjudged(result);
        break;
    case OUTCOME_COULDNT_SEND:
        counts->couldnt_send++;
        break;
    case OUTCOME_CLIENT_ERROR:
        if (result->exit_status == EXIT_ABORTED_BY_USER ||
            result->exit_status == EXIT_UNSTARTED_LATE)
            counts->no_reply++;
        else
            counts->errors++;
        break;
    case OUTCOME_VALIDATE_ERROR:
        counts->errors++;
        break;
    case OUTCOME_NO_REPLY:
    case OUTCOME_CLIENT_DETACHED:
        counts->no_reply++;
        break;
    default: /* DIDNT_NEED, and what we do not know */
        break;
    }
}

/* 2 */
static struct result_counts count_results(const struct transition *transition)
{
    struct result_counts counts = {.total = (int64_t)transition->count};

    for (size_t i = 0; i < transition->count; i++) {
        const struct due_result_row *result = &transition->results[i];

        if (is_unsent(result))
            counts.unsent++;
        else if (result->server_state == RESULT_IN_PROGRESS)
            counts.in_progress++;
        else
            count_over(&counts, result);
    }
    return counts;
}

/* 2: a target below the quorum would be reached by too few to compare, and nobody asked again. */
static int64_t wanted_results(const struct due_workunit_row *workunit)
{
    return workunit->target_nresults > workunit->min_quorum ? workunit->target_nresults
                                                            : workunit->min_quorum;
}

/* 2, 3: what can no more succeed. Returns how many results are still to be made. */
static int64_t find_errors(struct transition *transition)
{
    struct due_workunit_row *workunit = transition->workunit;
    const struct result_counts *counts = &transition->counts;
    int64_t needed =
        wanted_results(workunit) - counts->unsent - counts->in_progress - counts->success;
    int64_t allowed = workunit->max_total_results - counts->total;

    if (workunit->canonical_resultid != 0)
        return 0;
    if (needed < 0)
        needed = 0;
    if (counts->couldnt_send > 0)
        workunit->error_mask |= WU_ERROR_COULDNT_SEND_RESULT;
    if (counts->errors > workunit->max_error_results)
        workunit->error_mask |= WU_ERROR_TOO_MANY_ERROR_RESULTS;
    if (allowed < 0 || (allowed == 0 && needed > 0))
        workunit->error_mask |= WU_ERROR_TOO_MANY_TOTAL_RESULTS;
    return needed < allowed ? needed : allowed;
}

/* 4: perhaps it was the kind of computer. */
static void release(struct transition *transition)
{
    const struct result_counts *counts = &transition->counts;

    if (transition->rules->hr_class_static || counts->errors == 0 || counts->success > 0 ||
        counts->in_progress > 0 || counts->no_reply > 0)
        return;
    transition->workunit->hr_class = 0;
    transition->workunit->app_version_id = 0;
}

static void cancel_unsent(struct transition *transition)
{
    for (size_t i = 0; i < transition->count; i++)
        if (is_unsent(&transition->results[i])) {
            transition->results[i].server_state = RESULT_OVER;
            transition->results[i].outcome = OUTCOME_DIDNT_NEED;
        }
}

/* 5: a late success is compared with the answer alone, whatever became of the others. */
static bool is_to_be_validated(const struct transition *transition)
{
    const struct result_counts *counts = &transition->counts;

    if (transition->workunit->canonical_resultid != 0)
        return counts->has_unjudged;
    return counts->has_new && counts->success >= transition->workunit->min_quorum;
}

/* 6 */
static void give_up(struct transition *transition)
{
    if (transition->workunit->error_mask == 0)
        return;
    cancel_unsent(transition);
    for (size_t i = 0; i < transition->count; i++)
        if (is_unjudged(&transition->results[i]))
            close_success(&transition->results[i], VALIDATE_NO_CHECK);
    if (transition->workunit->assimilate_state == ASSIMILATE_INIT)
        transition->workunit->assimilate_state = ASSIMILATE_READY;
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
static struct transition_wanted want_results(const struct transition *transition, int64_t needed)
{
    const struct transition_rules *rules = transition->rules;
    struct transition_wanted wanted = {.priority = transition->workunit->priority};

    if (!is_open(transition->workunit) || needed <= 0 ||
        transition->workunit->transitioner_flags == TRANSITIONER_NO_NEW_RESULTS)
        return wanted;
    wanted.count = needed;
    for (size_t i = 0; i < transition->count; i++) {
        int64_t number = name_number(transition->results[i].name);

        if (number >= wanted.first_number)
            wanted.first_number = number + 1;
    }
    if (transition->counts.over > 0 && rules->priority_on_over != 0)
        wanted.priority += rules->priority_on_over;
    else if (transition->counts.over > 0 && transition->counts.errors == 0)
        wanted.priority += rules->priority_on_over_except_error;
    return wanted;
}

/* 7: an assimilator that waits for the last result puts the workunit back. */
static void assimilate_deferred(struct transition *transition)
{
    bool is_complete = transition->workunit->canonical_resultid != 0 &&
                       transition->workunit->assimilate_state == ASSIMILATE_INIT;

    for (size_t i = 0; i < transition->count && is_complete; i++) {
        const struct due_result_row *result = &transition->results[i];

        is_complete = result->server_state == RESULT_OVER &&
                      !(is_success(result) && result->validate_state == VALIDATE_INIT);
    }
    if (is_complete)
        transition->workunit->assimilate_state = ASSIMILATE_READY;
}

static bool is_final(const struct due_result_row *result, int64_t now)
{
    if (result->server_state != RESULT_OVER ||
        (result->outcome == OUTCOME_SUCCESS && result->validate_state == VALIDATE_INIT))
        return false;
    return result->outcome != OUTCOME_NO_REPLY || result->report_deadline <= now;
}

/* 7. While its host may report it, a result without a report keeps what was uploaded for it: that
 * may be the first answer, or be compared with the answer. */
static bool has_no_use(const struct due_result_row *result, bool all_final, bool is_canonical)
{
    if (result->server_state != RESULT_OVER)
        return false;
    switch (result->outcome) {
    case OUTCOME_CLIENT_ERROR:
    case OUTCOME_VALIDATE_ERROR:
        return all_final || !is_canonical;
    case OUTCOME_SUCCESS:
        return result->validate_state != VALIDATE_INIT && (all_final || !is_canonical);
    case OUTCOME_NO_REPLY:
    case OUTCOME_CLIENT_DETACHED:
        return all_final;
    default: /* never sent */
        return false;
    }
}

static void mark_files(struct transition *transition, bool all_final)
{
    struct due_workunit_row *workunit = transition->workunit;

    if (all_final && workunit->file_delete_state == FILE_DELETE_INIT)
        workunit->file_delete_state = FILE_DELETE_READY;
    for (size_t i = 0; i < transition->count; i++) {
        struct due_result_row *result = &transition->results[i];

        if (result->file_delete_state == FILE_DELETE_INIT &&
            has_no_use(result, all_final, result->id == workunit->canonical_resultid))
            result->file_delete_state = FILE_DELETE_READY;
    }
}

/* 7. Returns when files are to be deleted that it is too early for; TRANSITION_NEVER: none. */
static int64_t delete_files(struct transition *transition)
{
    int64_t now = transition->rules->now, last = 0, next = TRANSITION_NEVER;
    bool all_final = true;

    if (transition->workunit->assimilate_state != ASSIMILATE_DONE)
        return TRANSITION_NEVER;
    if (transition->rules->keeps_files) /* BOINC's web pages retire a batch and tell nobody */
        return now + HELD_AGAIN;
    for (size_t i = 0; i < transition->count; i++) {
        const struct due_result_row *result = &transition->results[i];
        bool is_ended = is_final(result, now);

        all_final = all_final && is_ended;
        if (result->received_time > last)
            last = result->received_time;
        if (!is_ended && result->outcome == OUTCOME_NO_REPLY && result->report_deadline < next)
            next = result->report_deadline;
    }
    if (now < last + transition->rules->delete_delay)
        return last + transition->rules->delete_delay;
    mark_files(transition, all_final);
    return next;
}

int64_t transition_time_open(int64_t now, int64_t delay_bound)
{
    int64_t span = delay_bound + delay_bound / 2;
    int64_t next = now + (span > NEXT_TIME_LEAST ? span : NEXT_TIME_LEAST);

    return next < TRANSITION_NEVER ? next : TRANSITION_NEVER;
}

/* 8 */
static int64_t next_time(const struct transition *transition, int64_t deletion)
{
    const struct due_workunit_row *workunit = transition->workunit;
    int64_t now = transition->rules->now, next = TRANSITION_NEVER;

    if (is_open(workunit))
        next = transition_time_open(now, workunit->delay_bound);
    for (size_t i = 0; i < transition->count; i++)
        if (transition->results[i].server_state == RESULT_IN_PROGRESS &&
            transition->results[i].report_deadline < next)
            next = transition->results[i].report_deadline;
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
    struct transition transition = {
        .rules = rules, .workunit = ret_workunit, .results = ret_results, .count = count};
    int64_t needed;

    *ret_workunit = *workunit;
    for (size_t i = 0; i < count; i++)
        ret_results[i] = results[i];
    time_out(&transition);
    find_too_late(&transition);
    transition.counts = count_results(&transition);
    needed = find_errors(&transition);
    release(&transition);
    if (is_to_be_validated(&transition))
        ret_workunit->need_validate = 1;
    give_up(&transition);
    *ret_wanted = want_results(&transition, needed);
    assimilate_deferred(&transition);
    ret_workunit->transition_time = next_time(&transition, delete_files(&transition));
}
