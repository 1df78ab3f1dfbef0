/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that are assigned to this host, its user or the user's team. */
#ifndef SERVER_HANDOUT_ASSIGNED_H
#define SERVER_HANDOUT_ASSIGNED_H

#include "server/base/status.h"
#include "server/policy/dispatch/checks.h"
#include "server/policy/dispatch/choose.h"

#include <stdbool.h>
#include <stddef.h>

struct request;

/* Locks the workunits of the jobs that this host may have and makes the results that lack; the jobs
 * are then claimed as any others. Adds what they use to the tally. */
MUST_CHECK enum status assigned_choose(struct request *request, const struct host_view *view,
                                       bool wants_work, struct tally *tally,
                                       struct choice_notes *notes, struct job ***ret_jobs,
                                       size_t *ret_count);

#endif
