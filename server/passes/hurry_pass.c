/* SPDX-License-Identifier: Apache-2.0 */
#include "server/passes/hurry_pass.h"

#include "config/config.h"
#include "db/hurries.h"
#include "server/base/arena.h"
#include "server/passes/pass_repeat.h"
#include "server/policy/result/hurry.h"

#include "server/base/banned.h"

enum { RESULTS_MOST = 2 * HURRY_JOBS_MOST, ANSWERS_MOST = 1000 };

struct hurries {
    const struct hurry_row *rows;
    size_t count;
};

struct hurry_work {
    struct pass_owner *owner;
    int64_t batch, now;
    struct hurry_plan plan;
};

static enum status forget(void *subject)
{
    struct pass_owner *owner = subject;
    enum status status = db_hurry_forget(owner->db);

    return status == STATUS_OK ? db_commit(owner->db) : status;
}

enum status hurry_begin(struct pass_owner *owner, struct hurries **ret_hurries)
{
    struct hurries *hurries = ARENA_NEW(owner->arena, struct hurries);
    struct hurry_row *rows = NULL;
    enum status status = hurries == NULL
                             ? STATUS_NO_MEMORY
                             : db_hurries(owner->db, owner->arena, &rows, &hurries->count);

    if (status == STATUS_OK && hurries->count > 0)
        status = repeat_transaction(owner->db, forget, owner);
    if (status == STATUS_OK)
        hurries->rows = rows;
    *ret_hurries = hurries;
    return pass_failed(owner, status, "batches in a hurry");
}

static const struct hurry_row *find(const struct hurries *hurries, int64_t batch)
{
    for (size_t i = 0; i < hurries->count; i++)
        if (hurries->rows[i].id == batch)
            return &hurries->rows[i];
    return NULL;
}

static enum status decide(struct hurry_work *work)
{
    struct pass_owner *owner = work->owner;
    struct open_result_row *open = NULL;
    struct batch_answer_row *answers = NULL;
    struct hurry_facts facts = {.now = work->now};
    enum status status =
        db_hurry_open(owner->db, owner->arena, work->batch, RESULTS_MOST, &open, &facts.open_count);

    if (status == STATUS_OK)
        status = db_hurry_answers(owner->db, owner->arena, work->batch, ANSWERS_MOST, &answers,
                                  &facts.answer_count);
    if (status == STATUS_OK)
        status = db_end(owner->db);
    facts.open = open;
    facts.answers = answers;
    return status == STATUS_OK ? hurry_decide(&facts, owner->arena, &work->plan) : status;
}

static enum status write_plan(void *subject)
{
    struct hurry_work *work = subject;
    struct db *db = work->owner->db;
    enum status status = STATUS_OK;

    if (work->plan.settled_count > 0)
        status = db_hurry_settle(db, work->plan.settled, work->plan.settled_count);
    if (status == STATUS_OK && work->plan.job_count > 0)
        status = db_hurry_copy(db, work->plan.jobs, work->plan.job_count, work->now);
    if (status == STATUS_OK)
        status = db_hurry_limit(db, work->batch, work->plan.within);
    return status == STATUS_OK ? db_commit(db) : status;
}

bool hurry_is_wanted(const struct pass_owner *owner, const struct hurries *hurries, int64_t batch)
{
    const struct hurry_row *known = find(hurries, batch);

    return config_hurries(owner->config, known != NULL && known->wanted != 0);
}

enum status hurry_batch(struct pass_owner *owner, const struct hurries *hurries, int64_t batch,
                        int64_t unfinished, int64_t now)
{
    const struct hurry_row *known = find(hurries, batch);
    struct hurry_work work = {.owner = owner, .batch = batch, .now = now};
    struct arena_mark mark = arena_mark(owner->arena);
    enum status status = STATUS_OK;

    /* If not, no limit of former times may stay. */
    if (unfinished > 0 && unfinished <= HURRY_JOBS_MOST && hurry_is_wanted(owner, hurries, batch))
        status = decide(&work);
    if (status == STATUS_OK && (work.plan.job_count > 0 || work.plan.settled_count > 0 ||
                                work.plan.within != (known != NULL ? known->within : 0)))
        status = repeat_transaction(owner->db, write_plan, &work);
    pass_progress(owner, "jobs given to one host more", (int64_t)work.plan.job_count);
    arena_rewind(owner->arena, mark);
    return pass_failed(owner, status, "the end of a batch");
}
