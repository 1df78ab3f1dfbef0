/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a batch that is in a hurry (policy(7) 13.9); pure.
 *
 * A batch is as late as its last job, which is usually with a host that was switched off or is
 * slow. When nearly all jobs of the batch are with hosts, those that will probably come back last
 * get one result more, a few jobs at a time. Only hosts that return results soon get what is not
 * sent yet, and are told a deadline that says so (checks.c). */
#ifndef SERVER_POLICY_RESULT_HURRY_H
#define SERVER_POLICY_RESULT_HURRY_H

#include "db/rows.h"
#include "server/base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;

#define HURRY_RATE_SPAN 21600 /* s: the answers of so long tell how fast a batch proceeds */

/* Of a batch at a moment. */
struct hurry_facts {
    int64_t now;
    const struct open_result_row *open; /* of all jobs without an answer, by job */
    size_t open_count;
    const struct batch_answer_row *answers; /* the latest, by rising turnaround */
    size_t answer_count;
};

struct hurry_plan {
    int64_t within; /* s: what is left is for hosts whose average turnaround is not above, and is
                     * due after it; 0: all */
    int64_t *jobs;  /* that are to have one more result, by rising id; in the arena */
    size_t job_count;
    int64_t *settled; /* likewise: that have what they were to have, and want no more than their
                       * quorum: a copy that is lost is not made again by itself */
    size_t settled_count;
};
/* STATUS_NO_MEMORY. */
MUST_CHECK enum status hurry_decide(const struct hurry_facts *facts, struct arena *arena,
                                    struct hurry_plan *ret_plan);

#endif
