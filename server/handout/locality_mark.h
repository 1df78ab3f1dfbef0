/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the jobs at hand have files on the host. */
#ifndef SERVER_HANDOUT_LOCALITY_MARK_H
#define SERVER_HANDOUT_LOCALITY_MARK_H

#include "server/base/status.h"
#include "server/policy/dispatch/checks.h"

#include <stddef.h>

struct request;

/* Sets has_file of the jobs. Asks the database only for jobs of apps with locality scheduling, and
 * only for a host that says it has files. */
MUST_CHECK enum status locality_mark(struct request *request, struct job *jobs, size_t count);

#endif
