/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts drawn at random among those that asked of late and of which it is kept what they said. */
#ifndef TOOLS_QMCTL_WHY_WHY_SAMPLE_H
#define TOOLS_QMCTL_WHY_WHY_SAMPLE_H

#include "tools/qmctl/session/project_session.h"

#include <stddef.h>
#include <stdint.h>

/* Distinct ids, `most` at most: all such hosts where there are no more, as long as their ids do not
 * lie far apart. */
MUST_CHECK enum status why_sample_hosts(struct session *session, int64_t since, size_t most,
                                        int64_t **ret_ids, size_t *ret_count);

#endif
