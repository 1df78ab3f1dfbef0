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

/* The results that are to be looked at together; `ret_results` has room for QUORUM_RESULTS_MAX, and
 * ret_quorum points at it. A workunit with an error has none. */
void verdict_select(const struct validation_rows *rows, struct quorum_result *ret_results,
                    struct quorum *ret_quorum);
/* Whether what was selected from `before` would be selected from `after` too: nothing arrived, and
 * nobody else has judged. */
bool verdict_is_current(const struct validation_rows *before, const struct validation_rows *after);

struct verdict_counts {
    int64_t valid, invalid, undecided; /* results */
    int64_t accepted;                  /* workunits that have a canonical result now */
};
/* `results`: as quorum_decide left them. *rows: locked, all lists by id; becomes what is to be
 * written. Adds to *counts. */
void verdict_apply(const struct verdict_rules *rules, const struct quorum_decision *decision,
                   const struct quorum_result *results, size_t count, struct validation_rows *rows,
                   struct verdict_counts *counts);

#endif
