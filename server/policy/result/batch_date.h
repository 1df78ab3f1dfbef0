/* SPDX-License-Identifier: Apache-2.0 */
/* When the last job of a batch will be back (policy(7) 13.10); pure.
 *
 * Each unsent job goes out when what stands before it is handed out, at the rate of the last hours.
 * A result that is sent is answered, fails or stays silent as the latest results of its app did;
 * one that fails is made again, one that is silent when it is due as well. The batch is done when
 * the last of its jobs is. The answer is the distribution of that moment, at two points. */
#ifndef SERVER_POLICY_RESULT_BATCH_DATE_H
#define SERVER_POLICY_RESULT_BATCH_DATE_H

#include "db/rows.h"
#include "server/base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;

/* s: the hand-out of a day and a night tells how fast it goes on; if there was none, as at a
 * weekend, that of a week. */
#define BATCH_DATE_SPAN 86400
#define BATCH_DATE_WEEK (7 * BATCH_DATE_SPAN)

/* Results that were sent within `span` s. */
struct hand_out {
    int64_t sent, span;
};

struct batch_date_facts {
    int64_t now;
    const struct recent_result_row *recent; /* of its app, over or with hosts; the latest first */
    size_t recent_count, recent_most;       /* at most so many of each of the two */
    const struct lacking_result_row *open;  /* of jobs without an answer, by job; 0: none */
    size_t open_count;
    int64_t more_unsent, more_sent; /* results beyond these, each of a job of its own */
    int64_t ahead;                  /* unsent results of other jobs that go before */
    struct hand_out own, all;       /* of this batch; of the project */
    struct hand_out week;           /* of the project */
    int64_t delay_bound;            /* s */
    bool hurry;
};

/* Epoch; 0: not known. */
struct batch_date {
    int64_t half; /* half of such batches would be done by then, */
    int64_t most; /* and nine of ten */
};
/* STATUS_NO_MEMORY. */
MUST_CHECK enum status batch_date_decide(const struct batch_date_facts *facts, struct arena *arena,
                                         struct batch_date *ret_date);

#endif
