/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts drawn at random among those that asked of late and of which it is kept what they said. */
#ifndef TOOLS_QMCTL_WHY_WHY_SAMPLE_H
#define TOOLS_QMCTL_WHY_WHY_SAMPLE_H

#include "tools/qmctl/session/project_session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hosts_sample {
    int64_t *ids; /* each once */
    size_t count;
    bool is_all; /* there are no other such hosts */
};
/* `most` at most: all of them where there are no more, as long as not many more stay away. */
MUST_CHECK enum status why_sample_hosts(struct session *session, int64_t since, size_t most,
                                        struct hosts_sample *ret_sample);

#endif
