/* SPDX-License-Identifier: Apache-2.0 */
/* Which of a workunit's results are valid, once somebody can say which two of them are the same
 * (policy(7) 13.3); pure.
 *
 * Comparing is slow, so it is asked for one pair at a time: quorum_decide answers QUORUM_COMPARE
 * with a pair until the answers that it has are enough, and then QUORUM_DECIDED with every state
 * as it is to be. Each call starts from nothing; the caller keeps the answers. */
#ifndef SERVER_POLICY_RESULT_QUORUM_H
#define SERVER_POLICY_RESULT_QUORUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Results of one workunit that are looked at together; of more the first ones by id. */
#define QUORUM_RESULTS_MAX 100

/* A success that is not INVALID; once there is a canonical result, only that one and the successes
 * without a verdict. */
struct quorum_result {
    int64_t id;
    int64_t outcome, validate_state;
    bool is_unusable; /* its files are missing, or the comparison refuses them by themselves */
};

enum quorum_answer { QUORUM_UNKNOWN, QUORUM_SAME, QUORUM_DIFFERENT };

struct quorum {
    int64_t min_quorum, target_nresults, max_success_results, error_mask;
    int64_t canonical_resultid; /* 0: none yet */
    int64_t others;             /* successes that are not INVALID and not in the list */
    size_t count;
    const struct quorum_result *results; /* by rising id, QUORUM_RESULTS_MAX at most */
    /* Of each pair: answers[i * count + j], the same as [j * count + i]. */
    const unsigned char *answers;
};

struct quorum_decision {
    size_t first, second; /* QUORUM_COMPARE: this pair */
    int64_t canonical_resultid, target_nresults, error_mask;
    bool is_due; /* the workunit's transition_time becomes now */
};

enum quorum_step { QUORUM_COMPARE, QUORUM_DECIDED };

/* ret_results: as long as the list; outcome and validate_state as they are to be. */
enum quorum_step quorum_decide(const struct quorum *quorum, struct quorum_result *ret_results,
                               struct quorum_decision *ret_decision);

#endif
