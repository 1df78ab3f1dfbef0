/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows of a job say to more than one part of the choice. */
#include "server/policy/dispatch/job.h"

#include "server/base/sorted.h"

#include "server/base/banned.h"

bool job_is_accelerated(const struct config *config, const struct job *job)
{
    return config->batch_accel && job->app->n_size_classes > 0 && job->workunit->priority > 0;
}

size_t keywords_among(struct text keywords, const int64_t *ids, size_t count)
{
    size_t found = 0;

    while (keywords.length > 0) {
        int64_t id;

        if (text_to_i64(text_split(&keywords, ' '), &id))
            found += sorted_find_id(ids, count, id) < count;
    }
    return found;
}
