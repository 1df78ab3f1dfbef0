/* SPDX-License-Identifier: Apache-2.0 */
/* Which candidates belong to workunits that this user, or this host, has had a result of already.
 */
#ifndef SERVER_SELECT_MET_H
#define SERVER_SELECT_MET_H

#include "server/base/status.h"
#include "server/policy/checks.h"

#include <stdbool.h>
#include <stddef.h>

struct request;

/* Sets met_user and met_host of the jobs where the configuration has a rule about them; ret_some
 * tells whether there was one. Without a rule nothing is asked. */
MUST_CHECK enum status met_mark(struct request *request, struct job *jobs, size_t count,
                                bool *ret_some);

#endif
