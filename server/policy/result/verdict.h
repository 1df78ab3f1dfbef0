/* SPDX-License-Identifier: Apache-2.0 */
/* What the verdicts on a workunit's results change in all the rows concerned (policy(7) 13.3,
 * 13.4); pure. */
#ifndef SERVER_POLICY_RESULT_VERDICT_H
#define SERVER_POLICY_RESULT_VERDICT_H

#include "db/validation_rows.h"
#include "server/policy/result/quorum.h"

struct verdict_rules {
    int64_t now;
    int64_t daily_result_quota;  /* 0: none */
    int64_t app_target_nresults; /* app.target_nresults: above 1, some workunits go to one host */
};

/* A workunit with all its results, in the lists of validation_rows. */
struct judged_job {
    struct judged_workunit_row *workunit;
    struct judged_result_row *results; /* by id */
    size_t result_count;
};
/* One for each workunit of the rows, in their order. */
void verdict_jobs(const struct validation_rows *rows, struct judged_job *ret_jobs);

/* The results that are to be looked at together; `ret_results` has room for QUORUM_RESULTS_MAX, and
 * ret_quorum points at it. A workunit with an error has none. */
void verdict_select(const struct judged_job *job, struct quorum_result *ret_results,
                    struct quorum *ret_quorum);
/* Whether what was selected from `before` would be selected from `after` too: nothing arrived, and
 * nobody else has judged. */
bool verdict_is_current(const struct judged_job *before, const struct judged_job *after);

struct verdict_counts {
    int64_t valid, invalid, undecided; /* results */
    int64_t accepted;                  /* workunits that have a canonical result now */
};
/* `results`: as quorum_decide left them. *rows: locked, all lists by id; becomes what is to be
 * written. `job` is one of them. Adds to *counts. So jobs that share a host, one applied after the
 * other, leave the same rows as jobs of which each is read, applied and written by itself. */
void verdict_apply(const struct verdict_rules *rules, const struct quorum_decision *decision,
                   const struct quorum_result *results, size_t count, const struct judged_job *job,
                   struct validation_rows *rows, struct verdict_counts *counts);

#endif
