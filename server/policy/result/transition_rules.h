/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a workunit whose transition_time has come (policy(7) 13.1); pure. */
#ifndef SERVER_POLICY_RESULT_TRANSITION_RULES_H
#define SERVER_POLICY_RESULT_TRANSITION_RULES_H

#include "db/rows.h"
#include "db/states.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct transition_rules {
    int64_t now;
    int64_t delete_delay; /* s between the last report and the deletion of files */
    int64_t priority_on_over, priority_on_over_except_error; /* added for a job's later results */
    bool hr_class_static; /* a workunit whose results failed stays committed */
    bool keeps_files;     /* of this one: its batch is not retired */
};

/* Results that are to be made. */
struct transition_wanted {
    int64_t count;
    int64_t first_number; /* in the first one's name, behind the last underscore */
    int64_t priority;
};

/* The workunit and its results (by rising id) as they are to be; the arrays are equally long. */
void transition_decide(const struct transition_rules *rules,
                       const struct due_workunit_row *workunit,
                       const struct due_result_row *results, size_t count,
                       struct due_workunit_row *ret_workunit, struct due_result_row *ret_results,
                       struct transition_wanted *ret_wanted);

/* The next transition_time of a job that lacks an answer while none of its results is with a host.
 */
int64_t transition_time_open(int64_t now, int64_t delay_bound);

#endif
