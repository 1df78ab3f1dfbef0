/* SPDX-License-Identifier: Apache-2.0 */
/* A record holds what decided about the request and is nowhere else: the figures of recorded_rows.h
 * of the host's rows, and which jobs there were. Of these it tells the ones that the request was
 * sent, and what was left in the pool after it: together that is what it found, unless somebody
 * else came between. Results and workunits have no numbers here, by which a project's web pages
 * would tell whose they are; only their order is told. */
#include "server/recording/recorded_request.h"

#include "config/config.h"
#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/policy/refusal/reason.h"
#include "server/pool/pool.h"
#include "server/recording/anonymous.h"
#include "server/recording/circumstances.h"
#include "server/recording/recorded_rows.h"
#include "server/reply/answer.h"
#include "server/rpc/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

/* --- who -------------------------------------------------------------------------------------- */

/* Numbers get pseudonyms of their own: host 5 and user 5 are two. */
static void add_number(struct buffer *text, const struct digest_secret *secret, const char *name,
                       int64_t number)
{
    char plain[64];
    struct pseudonym pseudonym;

    if (number == 0)
        return;
    (void)snprintf(plain, sizeof plain, "%s %" PRId64, name, number);
    pseudonym = pseudonym_of(secret, text_from(plain));
    buffer_add_element(text, 0, name, text_from(pseudonym.text));
}

static void add_integer(struct buffer *text, const char *name, int64_t value)
{
    buffer_print(text, "<%s>%" PRId64 "</%s>\n", name, value, name);
}

/* The same as in the request beside it. */
static void add_pseudonym(struct buffer *text, const struct digest_secret *secret, const char *name,
                          struct text plain)
{
    struct pseudonym pseudonym = pseudonym_of(secret, plain);

    buffer_add_element(text, 0, name, text_from(pseudonym.text));
}

/* --- what was known of the host --------------------------------------------------------------- */

static void add_in_progress(struct buffer *text, const struct digest_secret *secret,
                            const struct attempt *attempt)
{
    for (size_t i = 0; attempt->in_progress_is_read && i < attempt->in_progress_count; i++) {
        struct host_job job = {.result = attempt->in_progress[i]};
        struct pseudonym name = {.text = ""};

        if (attempt
                ->in_progress_has_jobs) { /* only then names are compared with those of the client
                                           */
            name = pseudonym_of(secret, job.result.name);
            job.workunit = attempt->in_progress_jobs[i].workunit;
        }
        job.workunit.id = job.workunit.id != 0; /* whether it is still there */
        job.result.name = text_from(name.text);
        record_row_write(text, &record_in_progress, &job);
    }
}

static void add_known(struct buffer *text, const struct digest_secret *secret,
                      const struct attempt *attempt)
{
    const struct project_preferences *project = &attempt->project_prefs;

    record_row_write(text, &record_hosts, &attempt->stored);
    for (size_t i = 0; i < attempt->version_count; i++)
        record_row_write(text, &record_host_versions, &attempt->versions[i]);
    for (size_t i = 0; i < attempt->version_change_count; i++)
        record_row_write(text, &record_version_changes, &attempt->version_changes[i]);
    record_row_write(text, &record_globals, &attempt->prefs);
    record_row_write(text, &record_projects, project);
    for (size_t i = 0; i < project->app_id_count; i++)
        add_integer(text, "selected_appid", project->app_ids[i]);
    for (size_t i = 0; i < project->no_resource_count; i++)
        buffer_add_element(text, 0, "no_resource",
                           text_from(anonymous_type(secret, project->no_resources[i]).text));
    add_in_progress(text, secret, attempt);
    for (size_t i = 0; i < attempt->memory_peak_count; i++)
        record_row_write(text, &record_memory_peaks, &attempt->memory_peaks[i]);
    for (const struct text_item *item = attempt->answer.aborts.first; item != NULL;
         item = item->next)
        add_pseudonym(text, secret, "abort", item->text);
}

/* --- which jobs there were -------------------------------------------------------------------- */

/* Where a job stands in the pool's order. */
struct order_key {
    bool is_of_others;
    int64_t resultid;
    struct record_unsent *unsent;
};

static int compare_orders(const void *a, const void *b)
{
    const struct order_key *left = a, *right = b;

    if (left->is_of_others != right->is_of_others)
        return left->is_of_others ? 1 : -1;
    return (left->resultid > right->resultid) - (left->resultid < right->resultid);
}

/* Where only the owner of a batch may have its jobs, its number is that of an account. */
static int64_t anonymous_batch(const struct request *request, int64_t batch)
{
    if (!request->config->user_filter || batch == 0)
        return batch;
    return batch == request->attempt.user.id ? RECORDED_ACCOUNT : RECORDED_OTHER_ACCOUNT;
}

static void add_supply(struct buffer *text, const struct request *request,
                       const struct pool_survey *survey)
{
    const struct answer *answer = &request->attempt.answer;
    size_t most = survey->count + answer->job_count, count = 0;
    struct record_unsent *unsent = ARENA_ARRAY(request->arena, most, struct record_unsent);
    struct order_key *keys = ARENA_ARRAY(request->arena, most, struct order_key);

    if (unsent == NULL || keys == NULL) {
        text->overflowed = true;
        return;
    }
    for (size_t i = 0; i < answer->job_count; i++) {
        const struct answer_job *job = &answer->jobs[i];

        if (job->is_resent || job->is_assigned)
            continue;
        unsent[count] = (struct record_unsent){
            .jobs = 1, .workunits = 1, .priority = job->priority, .workunit = *job->workunit};
        keys[count] = (struct order_key){.resultid = job->resultid, .unsent = &unsent[count]};
        count++;
    }
    for (size_t i = 0; i < survey->count; i++) {
        const struct pool_survey_class *class = &survey->classes[i];

        unsent[count] = (struct record_unsent){.jobs = class->jobs,
                                               .workunits = class->workunits,
                                               .priority = class->job.priority,
                                               .workunit = class->job.workunit};
        keys[count] = (struct order_key){.is_of_others = class->is_of_others,
                                         .resultid = class->job.resultid,
                                         .unsent = &unsent[count]};
        count++;
    }
    if (count > 0)
        qsort(keys, count, sizeof(keys[0]), compare_orders);
    for (size_t i = 0; i < count; i++) {
        keys[i].unsent->order = (int64_t)i + 1;
        keys[i].unsent->workunit.batch = anonymous_batch(request, keys[i].unsent->workunit.batch);
        record_row_write(text, &record_unsent_jobs, keys[i].unsent);
    }
}

/* Only for who asked for work. */
static void survey_pool(const struct request *request, struct record_head *head,
                        struct pool_survey *ret_survey)
{
    const struct attempt *attempt = &request->attempt;
    const struct pool_survey_question question = {
        .subjects = {[POOL_USER] =
                         request->config->one_result_per_user_per_wu ? attempt->user.id : 0,
                     [POOL_HOST] =
                         request->config->one_result_per_host_per_wu ? attempt->host.id : 0},
        .classes_max = RECORDED_CLASSES_MAX,
        .jobs_max = RECORDED_JOBS_MAX};

    *ret_survey = (struct pool_survey){0};
    if (request->pool == NULL || !attempt->plan.wants_work)
        return;
    head->has_supply = pool_survey(request->pool, request->arena, &question, ret_survey);
    head->supply_is_cut = ret_survey->is_cut;
}

/* --- what became of it ------------------------------------------------------------------------ */

static int64_t place_of(const struct attempt *attempt, int64_t resultid)
{
    for (size_t i = 0; attempt->in_progress_is_read && i < attempt->in_progress_count; i++)
        if (attempt->in_progress[i].id == resultid)
            return (int64_t)i + 1;
    return 0;
}

static void add_job(struct buffer *text, const struct digest_secret *secret,
                    const struct attempt *attempt, const struct answer_job *job)
{
    struct pseudonym type = anonymous_type(secret, job->usage.coproc_type);
    const struct record_job row = {
        .appid = job->appid,
        .app_version_id = job->version != NULL ? job->version->id : 0,
        .is_resent = job->is_resent,
        .is_assigned = job->is_assigned,
        .place = job->is_resent ? place_of(attempt, job->resultid) : 0,
        .coproc_type = text_from(type.text),
        .avg_ncpus = job->usage.avg_ncpus,
        .coproc_count = job->usage.coproc_count,
        .wall_time = job->wall_time,
        .rsc_memory_bound = job->rsc_memory_bound,
        .rsc_disk_bound = job->rsc_disk_bound,
        .report_deadline = job->report_deadline,
    };

    record_row_write(text, &record_jobs, &row);
}

static void add_outcome(struct buffer *text, const struct digest_secret *secret,
                        const struct attempt *attempt)
{
    const struct answer *answer = &attempt->answer;

    for (size_t i = 0; i < answer->reason_count; i++)
        buffer_add_element(text, 0, "reason", text_from(reason_word(answer->reasons[i])));
    for (size_t i = 0; i < answer->job_count; i++)
        add_job(text, secret, attempt, &answer->jobs[i]);
}

static struct record_head head_of(const struct request *request)
{
    const struct attempt *attempt = &request->attempt;

    return (struct record_head){
        .now = request->now,
        .seed_high = (int64_t)(request->seed >> 32),
        .seed_low = (int64_t)(request->seed & UINT32_MAX),
        .backlog = request->load.backlog,
        .stop_work = request->stop_work,
        .host_is_new = attempt->host_is_new,
        .is_new_day = attempt->is_new_day,
        .only_assigned = attempt->user.seti_id != 0,
        .reads_in_progress = attempt->in_progress_is_read,
        .reads_workunits = attempt->in_progress_has_jobs,
        .kind = (int64_t)attempt->answer.kind,
        .request_delay = attempt->answer.request_delay,
        .reports_booked = (int64_t)attempt->booked,
        .presence_cpu = attempt->presence_shares.cpu,
        .presence_gpu = attempt->presence_shares.gpu,
    };
}

void record_write(const struct request *request, const struct digest_secret *secret,
                  const struct circumstances_key *key, struct buffer *ret_text)
{
    const struct attempt *attempt = &request->attempt;
    struct record_head head = head_of(request);
    struct pool_survey survey;

    survey_pool(request, &head, &survey);
    buffer_print(ret_text, "<recorded>\n<format>%d</format>\n", (int)RECORD_FORMAT);
    buffer_add_element(ret_text, 0, "under", text_from(key->text));
    add_number(ret_text, secret, "host", attempt->host.id);
    add_number(ret_text, secret, "user", attempt->user.id);
    record_row_write(ret_text, &record_heads, &head);
    if (attempt->answer.kind == ANSWER_FULL) {
        add_known(ret_text, secret, attempt);
        add_supply(ret_text, request, &survey);
    }
    add_outcome(ret_text, secret, attempt);
    anonymous_request(&request->message, secret, ret_text);
    buffer_add_string(ret_text, "</recorded>\n");
}
