/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the jobs that a client lists with those that it should have by the database: a listed
 * one may have to be given up (policy(7) 11.2), and one that it does not list was lost with a
 * reply and may be sent again (policy(7) 11.1); pure. */
#ifndef SERVER_POLICY_RESULT_RECONCILE_H
#define SERVER_POLICY_RESULT_RECONCILE_H

#include "db/rows.h"

#include <stdint.h>

/* The latest deadline that a client can be told. The stored one is later by `grace`, columns of
 * time end with TRANSITION_NEVER, and at never nobody would look for the result any more. */
int64_t deadline_latest(int64_t grace);

/* The deadline that the client is told for a lost job when it is sent again at `now`: half of the
 * time that it had at first, never earlier than before, never more than the delay bound nor than
 * deadline_latest. `grace` is what the stored deadline has above the client's. 0: the stored
 * deadline has passed; the job belongs to the timeout now. */
int64_t resend_deadline(const struct result_row *result, const struct workunit_row *workunit,
                        int64_t grace, int64_t now);

enum abort_kind { ABORT_NOT, ABORT_NOW, ABORT_IF_NOT_STARTED };

/* What becomes of a job that the host lists. `result` is the row of that name, NULL when there is
 * none; `workunit` is NULL when the result is not one of this host's that is IN_PROGRESS or
 * OVER/NO_REPLY. A job in progress on another host of the same user is left alone: the volunteer
 * copied a data folder, and whichever copy reports first is taken. */
enum abort_kind abort_decide(const struct result_row *result, const struct workunit_row *workunit,
                             int64_t userid);

#endif
