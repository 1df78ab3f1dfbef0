/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/qmctl/why/why_keep.h"

#include "db/db.h"
#include "db/figure_rows.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/status/stuck_words.h"

#include <time.h>

#include "server/base/banned.h"

enum { HOSTS_ASKED = 500, CLASSES_JUDGED = 200, JOBS_LOOKED_AT = 10000 };

static enum status write_words(struct session *session, struct text words)
{
    struct db *db = NULL;
    enum status status = db_open(session->config, &db, &session->failure);

    if (status != STATUS_OK)
        return status;
    status = db_figures_write(db, FIGURES_STUCK, 0, 0, words);
    if (status == STATUS_OK)
        status = db_commit(db);
    status = db_failed(db, status, "qm_figures", &session->failure);
    db_close(db);
    return status;
}

enum status why_jobs_keep(struct session *session, const struct job_chances *chances)
{
    struct stuck_class *classes =
        ARENA_ARRAY(session->arena, STUCK_CLASSES_MOST, struct stuck_class);
    struct stuck_jobs stuck = {.at = (int64_t)time(NULL),
                               .kinds = (int64_t)chances->count,
                               .hosts = (int64_t)chances->hosts,
                               .is_limited = chances->is_limited,
                               .classes = classes};
    struct buffer words = buffer_in(session->arena);
    enum reason reason;

    if (classes == NULL)
        return fail(&session->failure, STATUS_NO_MEMORY, "no memory");
    for (size_t i = 0; i < chances->count; i++) {
        const struct job_chance *chance = &chances->items[i];

        if (!job_chance_is_none(chances, chance))
            continue;
        stuck.jobs += chance->class.count;
        if (stuck.count < STUCK_CLASSES_MOST)
            classes[stuck.count++] =
                (struct stuck_class){.app = chance->app_name,
                                     .job = chance->class.job.workunit.name,
                                     .words = job_chance_words(session->arena, chance, &reason),
                                     .jobs = chance->class.count};
    }
    stuck_words_write(&stuck, &words);
    if (arena_overflowed(session->arena))
        return fail(&session->failure, STATUS_NO_MEMORY, "no memory");
    return write_words(session, buffer_text(&words));
}

enum status why_jobs_look(struct session *session)
{
    const struct job_chances_bounds bounds = {.hosts = HOSTS_ASKED,
                                              .until_known = true,
                                              .classes = CLASSES_JUDGED,
                                              .jobs_looked_at = JOBS_LOOKED_AT};
    struct job_chances chances;
    enum status status = why_jobs(session, &bounds, &chances);

    return status == STATUS_OK ? why_jobs_keep(session, &chances) : status;
}
