/* SPDX-License-Identifier: Apache-2.0 */
/* Lost jobs: whether one is sent again, and until when (policy(7) 11.1); pure. */
#ifndef SERVER_POLICY_RESULT_RESEND_DEADLINE_H
#define SERVER_POLICY_RESULT_RESEND_DEADLINE_H

#include "db/rows.h"

#include <stdint.h>

/* The deadline that the client is told for a lost job when it is sent again at `now`: half of the
 * time that it had at first, never earlier than before, never more than the delay bound. `grace` is
 * what the stored deadline has above the client's. 0: the stored deadline has passed; the job
 * belongs to the timeout now. */
int64_t resend_deadline(const struct result_row *result, const struct workunit_row *workunit,
                        int64_t grace, int64_t now);

#endif
