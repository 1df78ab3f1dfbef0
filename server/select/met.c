/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of one result per user or host are decided under the workunit's lock. To lock all that are
 * not to be had would cost others their time, and by itself lead to deadlocks among the hosts of
 * one user, who are offered the same instances. So one look without locks sorts out what was met
 * long ago; what happened since is found under the lock. */
#include "server/select/met.h"

#include "config/config.h"
#include "db/db.h"
#include "server/base/arena.h"
#include "server/request.h"

#include <stdlib.h>

#include "server/base/banned.h"

static int compare(const void *key, const void *row)
{
    int64_t id = *(const int64_t *)key, other = ((const struct met_workunit *)row)->id;
    return (id > other) - (id < other);
}

enum status met_mark(struct request *request, struct job *jobs, size_t count, bool *ret_some)
{
    const struct config *config = request->config;
    int64_t *ids = ARENA_ARRAY(request->arena, count, int64_t);
    struct met_workunit *rows = NULL;
    size_t row_count = 0;
    enum status status;

    *ret_some = false;
    if (!config->one_result_per_user_per_wu && !config->one_result_per_host_per_wu)
        return STATUS_OK;
    if (ids == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        ids[i] = jobs[i].workunit->id;
    status = db_workunits_met(request->db, request->arena, ids, count, request->visit.user.id,
                              request->visit.host.id, &rows, &row_count);
    if (status != STATUS_OK || row_count == 0)
        return status;
    for (size_t i = 0; i < count; i++) {
        const struct met_workunit *row =
            bsearch(&jobs[i].workunit->id, rows, row_count, sizeof(rows[0]), compare);

        if (row == NULL)
            continue;
        jobs[i].met_user = config->one_result_per_user_per_wu && row->by_user;
        jobs[i].met_host = config->one_result_per_host_per_wu && row->by_host;
        *ret_some = *ret_some || jobs[i].met_user || jobs[i].met_host;
    }
    return STATUS_OK;
}
