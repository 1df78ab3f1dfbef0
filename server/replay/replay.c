/* SPDX-License-Identifier: Apache-2.0 */
#include "server/replay/replay.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/random.h"
#include "server/policy/host/host_record.h"
#include "server/policy/limits/amounts.h"
#include "server/pool/pool.h"
#include "server/project/catalog.h"
#include "server/project/project.h"
#include "server/replay/recorded_world.h"
#include "server/reply/answer.h"
#include "server/request/authenticate.h"
#include "server/request/plan_conditions.h"
#include "server/rpc/request.h"
#include "server/rpc/request_delay.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "server/base/banned.h"

/* A recording tells of no more jobs, but for those that were sent. Their numbers begin behind those
 * of jobs that the host has already, which are its places in the record. */
enum { JOBS_MAX = 16384, FIRST_ID = 1 << 24 };

/* s: less is rounding. */
static const double same_delay = 1;

/* --- outcomes --------------------------------------------------------------------------------- */

static const struct {
    const char *type; /* in requests; NULL: any other */
    const char *word;
} processors[REPLAY_PROCESSORS] = {
    [REPLAY_CPU] = {"", "CPU"},
    [REPLAY_NVIDIA] = {"NVIDIA", "NVIDIA GPU"},
    [REPLAY_AMD] = {"ATI", "AMD GPU"},
    [REPLAY_INTEL] = {"intel_gpu", "Intel GPU"},
    [REPLAY_APPLE] = {"apple_gpu", "Apple GPU"},
    [REPLAY_OTHER] = {NULL, "other coprocessor"},
};

const char *replay_processor_word(enum replay_processor processor)
{
    return processors[processor].word;
}

static enum replay_processor processor_of(struct text type)
{
    for (int i = 0; i < REPLAY_OTHER; i++)
        if (text_is(type, processors[i].type))
            return (enum replay_processor)i;
    return REPLAY_OTHER;
}

/* In whatever order jobs are added. */
static void add_job(struct replay_outcome *outcome, int64_t appid, int64_t app_version_id,
                    struct text coproc_type)
{
    outcome->jobs[processor_of(coproc_type)]++;
    outcome->job_count++;
    outcome->versions += random_mix((uint64_t)appid, (uint64_t)app_version_id);
}

static void set_why(struct replay_outcome *outcome, struct text word)
{
    (void)snprintf(outcome->why, sizeof outcome->why, TEXT_FORMAT, TEXT_ARG(text_first(word, 31)));
}

/* What was said to somebody who got jobs decided nothing. */
static void forget_reasons(struct replay_outcome *outcome)
{
    if (outcome->job_count == 0)
        return;
    memset(outcome->is_said, 0, sizeof outcome->is_said);
    outcome->why[0] = '\0';
}

bool replay_reasons_equal(const struct replay_outcome *a, const struct replay_outcome *b)
{
    return memcmp(a->is_said, b->is_said, sizeof a->is_said) == 0 && strcmp(a->why, b->why) == 0;
}

bool replay_outcome_equal(const struct replay_outcome *a, const struct replay_outcome *b)
{
    return memcmp(a->jobs, b->jobs, sizeof a->jobs) == 0 && a->versions == b->versions &&
           replay_reasons_equal(a, b) && fabs(a->delay - b->delay) < same_delay;
}

struct replay_outcome replay_recorded(const struct recorded_request *record)
{
    struct replay_outcome outcome = {.delay = record->head.request_delay};

    for (size_t i = 0; i < record->job_count; i++) {
        const struct record_job *job = &record->jobs[i];

        if (!job->is_resent && !job->is_assigned)
            add_job(&outcome, job->appid, job->app_version_id, job->coproc_type);
    }
    for (size_t i = 0; i < record->reason_count; i++)
        for (int reason = 0; reason < REASON_COUNT; reason++)
            if (text_is(record->reasons[i], reason_word((enum reason)reason)))
                outcome.is_said[reason] = true;
    set_why(&outcome, record->reason_count > 0 ? record->reasons[0] : NO_TEXT);
    forget_reasons(&outcome);
    return outcome;
}

static struct replay_outcome outcome_of(const struct answer *answer)
{
    struct replay_outcome outcome = {.delay = answer->request_delay};

    for (size_t i = 0; i < answer->job_count; i++) {
        const struct answer_job *job = &answer->jobs[i];

        if (!job->is_resent && !job->is_assigned)
            add_job(&outcome, job->appid, job->version != NULL ? job->version->id : 0,
                    job->usage.coproc_type);
    }
    for (size_t i = 0; i < answer->reason_count; i++)
        outcome.is_said[answer->reasons[i]] = true;
    if (answer->reason_count > 0)
        set_why(&outcome, text_from(answer_first_reason(answer)));
    forget_reasons(&outcome);
    return outcome;
}

/* --- the jobs of then ------------------------------------------------------------------------- */

/* As many jobs as there were, of as many workunits, in the order of then. */
static enum status put_jobs(struct pool *pool, const struct record_unsent *unsent, int64_t *last_id)
{
    enum status status = STATUS_OK;
    int64_t begun = *last_id;

    for (int64_t i = 0; i < unsent->jobs && *last_id < FIRST_ID + JOBS_MAX && status == STATUS_OK;
         i++) {
        struct pool_job job = {
            .resultid = ++*last_id, .priority = unsent->priority, .workunit = unsent->workunit};
        double place = floor((double)i * (double)unsent->workunits / (double)unsent->jobs);

        job.workunit.id = begun + 1 + (int64_t)place;
        status = pool_put(pool, &job, 1);
    }
    return status;
}

static enum status fill_pool(struct pool *pool, const struct recorded_request *record)
{
    int64_t last_id = FIRST_ID;
    enum status status = STATUS_OK;

    pool_sweep_begin(pool);
    for (size_t i = 0; i < record->unsent_count && status == STATUS_OK; i++)
        status = put_jobs(pool, &record->unsent[i], &last_id);
    while (pool_sweep_end(pool)) { /* from here on the pool knows that it has all */
    }
    return status;
}

/* --- the host of then ------------------------------------------------------------------------- */

static bool set_in_progress(struct request *request, const struct recorded_request *record)
{
    struct attempt *attempt = &request->attempt;

    attempt->in_progress =
        ARENA_ARRAY(request->arena, record->in_progress_count, struct result_row);
    if (attempt->in_progress == NULL)
        return false;
    for (size_t i = 0; i < record->in_progress_count; i++)
        attempt->in_progress[i] = record->in_progress[i].result;
    attempt->in_progress_count = record->in_progress_count;
    attempt->in_progress_jobs = record->in_progress;
    attempt->in_progress_is_read = attempt->in_progress_has_jobs = true;
    return true;
}

/* Jobs that were sent again or assigned are as they were. */
static bool set_answer(struct request *request, const struct recorded_request *record)
{
    struct answer *answer = &request->attempt.answer;

    answer->jobs = ARENA_ARRAY(request->arena, record->job_count, struct answer_job);
    if (answer->jobs == NULL)
        return false;
    for (size_t i = 0; i < record->job_count; i++) {
        const struct record_job *job = &record->jobs[i];
        const struct app_row *app = catalog_app(request->catalog, job->appid);

        if ((!job->is_resent && !job->is_assigned) || app == NULL)
            continue;
        answer->jobs[answer->job_count++] = (struct answer_job){
            .resultid = job->place > 0 ? job->place : -(int64_t)i - 1,
            .appid = job->appid,
            .app = app,
            .version = catalog_version(request->catalog, job->app_version_id),
            .is_resent = job->is_resent,
            .is_assigned = job->is_assigned,
            .report_deadline = job->report_deadline,
            .usage = {.avg_ncpus = job->avg_ncpus,
                      .coproc_type = job->coproc_type,
                      .coproc_count = job->coproc_count},
            .wall_time = job->wall_time,
            .rsc_memory_bound = job->rsc_memory_bound,
            .rsc_disk_bound = job->rsc_disk_bound,
        };
        request->attempt.resent += job->is_resent;
    }
    for (size_t i = 0; i < record->abort_count; i++)
        text_items_add(request->arena, &answer->aborts, record->aborts[i]);
    return true;
}

static bool set_host(struct request *request, const struct recorded_request *record)
{
    struct attempt *attempt = &request->attempt;

    attempt->user.id = RECORDED_ACCOUNT;
    attempt->user.seti_id = record->head.only_assigned;
    attempt->stored = record->stored;
    attempt->stored.id = RECORDED_ACCOUNT;
    attempt->host = attempt->stored;
    host_record_copy(&request->message, NO_TEXT, request->arena, &attempt->host);
    attempt->host.rpc_time = (int64_t)request->now;
    attempt->host_is_new = record->head.host_is_new;
    attempt->is_new_day = record->head.is_new_day;
    if (request->config->learn_availability)
        attempt->presence_shares = (struct presence_shares){.cpu = record->head.presence_cpu,
                                                            .gpu = record->head.presence_gpu};
    attempt->prefs = record->prefs;
    attempt->project_prefs = record->project_prefs;
    attempt->versions = record->versions;
    attempt->version_count = record->version_count;
    attempt->memory_peaks = record->memory_peaks;
    attempt->memory_peak_count = record->memory_peak_count;
    attempt->memory_peaks_are_read = true;
    attempt->variants_are_read = true;
    attempt->version_changes = record->changes;
    attempt->version_change_count = attempt->version_change_capacity = record->change_count;
    return set_in_progress(request, record) && set_answer(request, record);
}

/* --- the walk --------------------------------------------------------------------------------- */

/* Whether the client's key of the project was right is not recorded, but what was said of it. */
static void judge(struct request *request, const struct recorded_request *record)
{
    size_t place = 0;

    while (place < record->reason_count &&
           !text_is(record->reasons[place], reason_word(REASON_CODE_SIGN_KEY)))
        place++;
    if (place == 0 && record->reason_count > 0) /* it was the decisive one */
        answer_reason(&request->attempt.answer, REASON_CODE_SIGN_KEY);
    authenticate_judge(request);
    if (place == record->reason_count)
        return;
    answer_reason(&request->attempt.answer, REASON_CODE_SIGN_KEY);
    request->attempt.work_refused = true;
    request->attempt.plan = request_plan_make(request);
}

static enum next walk(struct request *request, const struct recorded_request *record)
{
    struct request_plan *plan = &request->attempt.plan;
    enum next next = step_parse(request);

    if (next == NEXT_STEP)
        next = step_screen(request);
    if (next != NEXT_STEP)
        return next;
    request->attempt.answer = request->early;
    request->attempt.budget = request->budget;
    if (!set_host(request, record))
        return request_failed(request, STATUS_NO_MEMORY, "replay");
    judge(request, record);
    plan->serves_assigned = false;
    plan->serves_any = plan->wants_work || plan->serves_always_on;
    next = step_select(request);
    delay_by_load(request);
    return next;
}

enum status replay_request(const struct recorded_request *record, const struct replay_world *world,
                           struct arena *arena, struct replay_outcome *ret_outcome, bool *ret_asks,
                           struct failure *failure)
{
    static const struct project_keys no_keys = {.code_sign_public = {0}};
    struct request *request = ARENA_NEW(arena, struct request);
    enum status status;

    if (record->head.kind != ANSWER_FULL)
        return fail(failure, STATUS_INVALID, "not of a full reply");
    if (request == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory for a request");
    *request = (struct request){
        .config = world->config,
        .catalog = world->catalog,
        .keys = &no_keys,
        .plan_classes = world->plan_classes,
        .world = &recorded_world,
        .pool = pool_create(JOBS_MAX, world->config->user_filter),
        .arena = arena,
        .now = record->head.now,
        .seed = (uint64_t)record->head.seed_high << 32 | (uint64_t)record->head.seed_low,
        .load = {.backlog = record->head.backlog},
        .transport = {.body = record->request},
        .is_read_only = true,
        .stop_work = record->head.stop_work,
    };
    if (request->pool == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory for jobs");
    status = fill_pool(request->pool, record);
    if (status == STATUS_OK && walk(request, record) == NEXT_FAILED)
        status = fail(failure, STATUS_INVALID, "%s", request->failure.text);
    if (status == STATUS_OK) {
        *ret_outcome = outcome_of(&request->attempt.answer);
        *ret_asks = message_wants_work(&request->message);
    }
    pool_destroy(request->pool);
    return status;
}
