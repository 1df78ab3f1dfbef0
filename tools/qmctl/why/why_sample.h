/* SPDX-License-Identifier: Apache-2.0 */
/* A random sample of the hosts that asked recently and whose descriptions are stored
 * (qm_host_said). */
#ifndef TOOLS_QMCTL_WHY_WHY_SAMPLE_H
#define TOOLS_QMCTL_WHY_WHY_SAMPLE_H

#include "server/base/random.h"
#include "tools/qmctl/session/project_session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hosts_sample {
    struct session *session;
    struct random random;
    int64_t since;
    size_t most;
    int64_t last;  /* the largest id */
    bool is_drawn; /* each as it is asked for; else all were read at the beginning */
    size_t draws;  /* so far */
    int64_t *ids;  /* known so far */
    size_t count;
    size_t given;
    bool is_all; /* there are no other such hosts */
};
/* For `most` at most: all of them where there are no more, as long as not many more stay away. */
MUST_CHECK enum status why_sample_begin(struct session *session, int64_t since, size_t most,
                                        struct hosts_sample *ret_sample);
/* Each host once; 0: there is no other. */
MUST_CHECK enum status why_sample_next(struct hosts_sample *sample, int64_t *ret_id);

#endif
