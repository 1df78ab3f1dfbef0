/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the bytes that wait in the output files of batches which are not retired
 * (db/batch_outputs.h), so that an administrator sees whose files fill the disk. */
#ifndef SERVER_PASSES_OUTPUT_COUNT_H
#define SERVER_PASSES_OUTPUT_COUNT_H

#include "server/passes/pass.h"

/* Kept from round to round; zeroed at first. */
struct output_schedule {
    double count_at; /* clock_seconds(); not before */
    int64_t after;   /* the batch that was counted last */
};

/* Looks at the files of OUTPUTS_AT_ONCE ended jobs at most, so rarely that it takes a hundredth of
 * the time. What cannot be looked at now, as the folder is not there, is looked at another time. */
enum { OUTPUTS_AT_ONCE = 1000 };
MUST_CHECK enum status output_count_pass(struct pass_owner *owner,
                                         struct output_schedule *schedule);

#endif
