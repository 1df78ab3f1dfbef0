/* SPDX-License-Identifier: Apache-2.0 */
/* From rows that were read to jobs of the pool: for each of the ways in which rows are read. */
#include "server/pool/fill_parts.h"

#include "config/config.h"
#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/log.h"
#include "server/pool/pool.h"

#include "server/base/banned.h"

struct config *fill_hold_config(struct filler *filler)
{
    struct config *config;

    pthread_mutex_lock(&filler->lock);
    config = config_hold(filler->config);
    pthread_mutex_unlock(&filler->lock);
    return config;
}

enum status fill_take_rows(struct filler *filler, struct db *db, const struct unsent_job *rows,
                           size_t count)
{
    struct pool_job *jobs = ARENA_ARRAY(filler->arena, count, struct pool_job);
    int64_t *gone = ARENA_ARRAY(filler->arena, count, int64_t);
    size_t job_count = 0, gone_count = 0;
    struct config *config;
    enum status status;

    if (jobs == NULL || gone == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].is_free)
            jobs[job_count++] = (struct pool_job){.resultid = rows[i].resultid,
                                                  .priority = rows[i].priority,
                                                  .workunit = rows[i].workunit};
        else
            gone[gone_count++] = rows[i].resultid;
    }
    config = fill_hold_config(filler);
    status = fill_mark_streams(db, filler->arena, config, jobs, job_count);
    config_release(config);
    if (status != STATUS_OK)
        return status;
    pool_drop(filler->pool, gone, gone_count);
    if (pool_put(filler->pool, jobs, job_count) != STATUS_OK)
        log_line(LOG_LEVEL_WARNING, "event=pool_no_memory");
    return STATUS_OK;
}
