/* SPDX-License-Identifier: Apache-2.0 */
/* A host as questions to the job pool see it: which groups it takes, and how large. */
#ifndef TESTS_SUPPORT_POOL_HOST_H
#define TESTS_SUPPORT_POOL_HOST_H

#include "server/pool/pool.h"

#include <stdbool.h>
#include <stdint.h>

struct pool_host {
    uint64_t apps; /* bits */
    int64_t hr_class;
    int64_t unwanted_batch; /* 0: none */
    struct pool_terms terms;
};

bool pool_host_judge(void *context, const struct pool_group *group, struct pool_terms *ret_terms);
bool pool_host_suits(void *context, const struct pool_job *common);

#endif
