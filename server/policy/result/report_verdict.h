/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a reported result (policy(7) 3.1 to 3.3); pure.
 *
 * This room decides about results that were sent before. server/request/report.c looks up the names
 * that a client reports and asks report_judge() for each row whether the report is booked; if it
 * is, the functions here say what is stored, and what it does to the host's quota and row of valid
 * results. Afterwards server/handout/ compares the jobs that the client lists with those that it
 * should have by the database, and asks reconcile.h which are sent again and which are given up. */
#ifndef SERVER_POLICY_RESULT_REPORT_VERDICT_H
#define SERVER_POLICY_RESULT_REPORT_VERDICT_H

#include "db/rows.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct reported_result;

/* --- may it be booked? ---------------------------------------------------------------------- */

/* Every case of a row that a report may meet:
 *   REPORT_CASE(NAME, books, acknowledges, says why) */
#define REPORT_CASES(REPORT_CASE)                                              \
    REPORT_CASE(UNKNOWN, false, true, "not in the database")                   \
    REPORT_CASE(ALREADY_SUCCESS, false, true, "already reported as a success") \
    REPORT_CASE(ALREADY_OVER, false, true, "already over")                     \
    REPORT_CASE(NEVER_SENT, false, true, "never sent")                         \
    REPORT_CASE(ALREADY_RECEIVED, false, true, "already received")             \
    REPORT_CASE(OTHER_USER, false, true, "of another user's host, or of none") \
    REPORT_CASE(LATE, true, true, "late")                                      \
    REPORT_CASE(MOVED, true, true, "from another host of the user")            \
    REPORT_CASE(EXPECTED, true, true, "expected")

enum report_case {
#define REPORT_ENUM(name, books, acknowledges, word) REPORT_##name,
    REPORT_CASES(REPORT_ENUM)
#undef REPORT_ENUM
        REPORT_CASE_COUNT
};
struct report_verdict {
    bool books;        /* write it, and acknowledge it once it is written */
    bool acknowledges; /* at once, if it is not to be written */
    const char *word;
};
extern const struct report_verdict report_verdicts[REPORT_CASE_COUNT];

/* Who is reporting, and whose the row is. `owner` is the user of the row's host: -1 when there is
 * no such host; needed only when report_needs_owner says so. */
bool report_needs_owner(const struct result_row *row, int64_t hostid);
enum report_case report_judge(const struct result_row *row, int64_t hostid, int64_t userid,
                              int64_t owner);

/* --- what is stored --------------------------------------------------------------------------- */

/* Exit status as stored. A missing one counts as an error unless the client uploaded everything,
 * which it does only after success. */
int64_t report_exit_status(const struct reported_result *reported);
/* outcome and validate_state */
void report_outcome(int64_t client_state, int64_t exit_status, int64_t stored_validate_state,
                    int64_t *ret_outcome, int64_t *ret_validate_state);

struct report_times {
    double cpu_time, elapsed_time; /* s */
};
/* `is_single_threaded`: the version is known and its plan class has no "mt". `turnaround` is
 * received - sent. */
struct report_times report_repair_times(struct report_times reported, bool is_single_threaded,
                                        double turnaround, int64_t ncpus);

/* Cut to the size of a column: stderr keeps its end, where the error stands; the documents of
 * output files stay whole ones. */
struct text report_bound_stderr(struct text stderr_out);
struct text report_bound_files(struct text xml_doc_out);

/* --- quota ------------------------------------------------------------------------------------ */

/* The id under which a host's statistics of a version are kept (protocol(7) 5.4); 0: none are. */
int64_t report_statistics_id(int64_t appid, int64_t app_version_id);

/* max_jobs_per_day after a report; 0 stands for "not yet set". Unchanged when there is no quota. */
int64_t report_quota_after(int64_t max_jobs_per_day, int64_t daily_result_quota, int64_t outcome,
                           int64_t exit_status);
/* Whether the job failed on the host: that ends the host's row of valid results of this version.
 * A job that the project aborted did not, nor one that was not begun by its deadline. */
bool report_is_failure(int64_t outcome, int64_t exit_status);

#endif
