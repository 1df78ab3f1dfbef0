/* SPDX-License-Identifier: Apache-2.0 */
/* The simplest judge: what the server asks of a host besides is in source_pool.c. */
#include "tests/support/pool_host.h"

#include "server/base/banned.h"

bool pool_host_judge(void *context, const struct pool_group *group, struct pool_terms *ret_terms)
{
    const struct pool_host *host = context;

    *ret_terms = host->terms;
    return (host->apps >> group->appid & 1) != 0 &&
           (group->hr_class == 0 || group->hr_class == host->hr_class);
}

bool pool_host_suits(void *context, const struct pool_job *common)
{
    const struct pool_host *host = context;

    return host->unwanted_batch == 0 || common->workunit.batch != host->unwanted_batch;
}
