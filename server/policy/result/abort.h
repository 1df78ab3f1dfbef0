/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that a client lists and should give up (policy(7) 11.2); pure. */
#ifndef SERVER_POLICY_RESULT_ABORT_H
#define SERVER_POLICY_RESULT_ABORT_H

#include "db/rows.h"

#include <stdint.h>

enum abort_kind { ABORT_NOT, ABORT_NOW, ABORT_IF_NOT_STARTED };

/* What becomes of a job that the host lists. `result` is the row of that name, NULL when there is
 * none; `workunit` is NULL when the result is not one of this host's that is IN_PROGRESS or
 * OVER/NO_REPLY. A job in progress on another host of the same user is left alone: the volunteer
 * copied a data folder, and whichever copy reports first is taken. */
enum abort_kind abort_decide(const struct result_row *result, const struct workunit_row *workunit,
                             int64_t userid);

#endif
