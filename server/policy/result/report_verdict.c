/* SPDX-License-Identifier: Apache-2.0 */
/* A report is either booked or dropped. A dropped one must be acknowledged too, or the client would
 * report it for ever. So what has to be decided is only which rows may still take a report. The
 * cases stand in one table in the header; this file finds the case of a row. */
#include "server/policy/result/report_verdict.h"

#include "db/states.h"
#include "server/parse/message.h"
#include "server/policy/host/bounds.h"

#include <math.h>

#include "server/base/banned.h"

/* Exit codes with a meaning to the server (protocol(7) 5.3). */
enum { EXIT_NONE = -162 };

/* 1000000 * appid + 2..6 (protocol(7) 5.4) */
static const int64_t anonymous_factor = 1000000;

const struct report_verdict report_verdicts[REPORT_CASE_COUNT] = {
#define REPORT_VERDICT(name_, books_, acknowledges_, word_) \
    [REPORT_##name_] = {.books = books_, .acknowledges = acknowledges_, .word = word_},
    REPORT_CASES(REPORT_VERDICT)
#undef REPORT_VERDICT
};

/* The case as far as it follows from the row; EXPECTED and LATE still depend on whose it is. */
static enum report_case judge_state(const struct result_row *row)
{
    bool is_late = false;

    switch (row->server_state) {
    case RESULT_INACTIVE:
    case RESULT_UNSENT:
        return REPORT_NEVER_SENT;
    case RESULT_IN_PROGRESS:
        break;
    case RESULT_OVER:
        if (row->outcome == OUTCOME_SUCCESS)
            return REPORT_ALREADY_SUCCESS;
        if (row->outcome != OUTCOME_NO_REPLY && row->outcome != OUTCOME_CLIENT_DETACHED)
            return REPORT_ALREADY_OVER;
        is_late = true;
        break;
    default: /* no state that we know: not ours to change */
        return REPORT_ALREADY_OVER;
    }
    if (row->received_time != 0)
        return REPORT_ALREADY_RECEIVED;
    return is_late ? REPORT_LATE : REPORT_EXPECTED;
}

bool report_needs_owner(const struct result_row *row, int64_t hostid)
{
    return row->hostid != hostid && report_verdicts[judge_state(row)].books;
}

enum report_case report_judge(const struct result_row *row, int64_t hostid, int64_t userid,
                              int64_t owner)
{
    enum report_case found;

    if (row == NULL)
        return REPORT_UNKNOWN;
    found = judge_state(row);
    if (!report_verdicts[found].books || row->hostid == hostid)
        return found;
    return owner == userid ? REPORT_MOVED : REPORT_OTHER_USER;
}

int64_t report_exit_status(const struct reported_result *reported)
{
    if (reported->has_exit_status)
        return bound_exit_status(reported->exit_status);
    return reported->state == CLIENT_FILES_UPLOADED ? 0 : EXIT_NONE;
}

void report_outcome(int64_t client_state, int64_t exit_status, int64_t stored_validate_state,
                    int64_t *ret_outcome, int64_t *ret_validate_state)
{
    if (client_state == CLIENT_FILES_UPLOADED && exit_status == 0) {
        *ret_outcome = OUTCOME_SUCCESS;
        *ret_validate_state = stored_validate_state;
    } else {
        *ret_outcome = OUTCOME_CLIENT_ERROR;
        *ret_validate_state = VALIDATE_INVALID;
    }
}

struct report_times report_repair_times(struct report_times reported, bool is_single_threaded,
                                        double turnaround, int64_t ncpus)
{
    struct report_times times = reported;
    double cpus = fmax((double)ncpus, 1);

    if (times.cpu_time < 0)
        times.cpu_time = 0;
    if (is_single_threaded && times.elapsed_time < times.cpu_time)
        times.elapsed_time = times.cpu_time;
    if (times.elapsed_time < 0)
        times.elapsed_time = 0;
    if (times.elapsed_time == 0) /* clients before 6.6.16 do not know it */
        times.elapsed_time = times.cpu_time;
    if (turnaround >= 0 && times.elapsed_time > turnaround)
        times.elapsed_time = turnaround;
    times.cpu_time = fmin(times.cpu_time, times.elapsed_time * cpus);
    return times;
}

struct text report_bound_stderr(struct text stderr_out)
{
    return bound_tail(stderr_out, BOUND_BLOB);
}

struct text report_bound_files(struct text xml_doc_out)
{
    const struct text end = TEXT("</file_info>");
    struct text kept = text_first(xml_doc_out, BOUND_BLOB);

    if (kept.length == xml_doc_out.length)
        return kept;
    while (kept.length > 0 && !text_ends(kept, end))
        kept.length--;
    return kept;
}

int64_t report_statistics_id(int64_t appid, int64_t app_version_id)
{
    if (app_version_id > 0)
        return app_version_id;
    if (app_version_id < -1) /* 0 and -1 are relics without statistics */
        return anonymous_factor * appid - app_version_id;
    return 0;
}

bool report_is_failure(int64_t outcome, int64_t exit_status)
{
    return outcome != OUTCOME_SUCCESS && exit_status != EXIT_ABORTED_BY_PROJECT &&
           exit_status != EXIT_UNSTARTED_LATE;
}

int64_t report_quota_after(int64_t max_jobs_per_day, int64_t daily_result_quota, int64_t outcome,
                           int64_t exit_status)
{
    int64_t quota = daily_result_quota;
    int64_t most = max_jobs_per_day;

    if (quota <= 0)
        return most;
    if (most <= 0)
        most = quota;
    if (outcome == OUTCOME_SUCCESS) {
        if (most >= quota) /* validated results may have raised it above */
            return most;
        return most > quota / 2 ? quota : 2 * most;
    }
    if (!report_is_failure(outcome, exit_status))
        return most;
    if (most > quota)
        most = quota;
    return most > 1 ? most - 1 : 1;
}
