/* SPDX-License-Identifier: Apache-2.0 */
/* A version that comes again brings new figures for all its jobs. Versions are never dropped:
 * clients drop those that newer ones replaced, but servers look only at versions that jobs refer
 * to. */
#include "tools/lab/volunteers/host/versions.h"

#include "tools/lab/volunteers/host/rpc_messages.h"

#include <stdbool.h>
#include <stdlib.h>

#include "server/base/banned.h"

static void free_version(struct host_version *version)
{
    free(version->app);
    free(version->platform);
    free(version->plan_class);
}

static bool is_of(const struct host_version *version, const struct incoming_job *job)
{
    return version->number == job->version && text_is(job->app, version->app) &&
           text_is(job->platform, version->platform) &&
           text_is(job->plan_class, version->plan_class);
}

/* False: no memory. */
static bool add(struct host_versions *versions, const struct incoming_job *job)
{
    struct host_version made = {.app = text_keep(job->app),
                                .platform = text_keep(job->platform),
                                .plan_class = text_keep(job->plan_class),
                                .number = job->version};
    struct host_version *grown = realloc(versions->at, (versions->count + 1) * sizeof(*grown));

    if (grown != NULL)
        versions->at = grown;
    if (grown == NULL || made.app == NULL || made.platform == NULL || made.plan_class == NULL) {
        free_version(&made);
        return false;
    }
    versions->at[versions->count++] = made;
    return true;
}

size_t versions_note(struct host_versions *versions, const struct incoming_job *job)
{
    size_t which = 0;

    if (job->app.length == 0)
        return VERSIONS_NONE;
    while (which < versions->count && !is_of(&versions->at[which], job))
        which++;
    if (which == VERSIONS_MAX || (which == versions->count && !add(versions, job)))
        return VERSIONS_NONE;
    versions->at[which].cpus = job->version_use.cpus;
    versions->at[which].flops = job->version_use.flops;
    versions->at[which].coproc = job->version_use.coproc;
    versions->at[which].coprocs = job->version_use.coprocs;
    return which;
}

void versions_free(struct host_versions *versions)
{
    for (size_t i = 0; i < versions->count; i++)
        free_version(&versions->at[i]);
    free(versions->at);
    *versions = (struct host_versions){.at = NULL};
}
