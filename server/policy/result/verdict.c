/* SPDX-License-Identifier: Apache-2.0 */
#include "server/policy/result/verdict.h"

#include "db/states.h"
#include "server/base/sorted.h"
#include "server/policy/result/credit.h"
#include "server/policy/result/report_verdict.h"
#include "server/policy/result/run_statistics.h"

#include <stdlib.h>

#include "server/base/banned.h"

#define FIND_BY_ID(array, count, wanted) \
    ((count) == 0 ? NULL                 \
                  : bsearch(&(wanted), (array), (count), sizeof(*(array)), sorted_compare_ids))

void verdict_jobs(const struct validation_rows *rows, struct judged_job *ret_jobs)
{
    size_t at = 0;

    for (size_t i = 0; i < rows->workunit_count; i++) {
        struct judged_job *job = &ret_jobs[i];

        *job = (struct judged_job){.workunit = &rows->workunits[i]};
        while (at < rows->result_count && rows->results[at].workunitid < job->workunit->id)
            at++;
        job->results = rows->results + at;
        while (at < rows->result_count && rows->results[at].workunitid == job->workunit->id) {
            job->result_count++;
            at++;
        }
    }
}

/* --- selecting ------------------------------------------------------------------------------- */

static bool is_candidate(const struct judged_workunit_row *workunit,
                         const struct judged_result_row *result)
{
    if (workunit->canonical_resultid != 0 && result->id == workunit->canonical_resultid)
        return true;
    if (result->server_state != RESULT_OVER || result->outcome != OUTCOME_SUCCESS)
        return false;
    if (workunit->canonical_resultid == 0)
        return result->validate_state != VALIDATE_INVALID;
    return result->validate_state == VALIDATE_INIT ||
           result->validate_state == VALIDATE_INCONCLUSIVE;
}

void verdict_select(const struct judged_job *job, struct quorum_result *ret_results,
                    struct quorum *ret_quorum)
{
    const struct judged_workunit_row *workunit = job->workunit;

    *ret_quorum = (struct quorum){.min_quorum = workunit->min_quorum,
                                  .target_nresults = workunit->target_nresults,
                                  .max_success_results = workunit->max_success_results,
                                  .error_mask = workunit->error_mask,
                                  .canonical_resultid = workunit->canonical_resultid,
                                  .results = ret_results};
    for (size_t i = 0; i < job->result_count && workunit->error_mask == 0; i++) {
        const struct judged_result_row *result = &job->results[i];
        /* One place is the canonical result's, wherever it stands. */
        bool has_room = ret_quorum->count < QUORUM_RESULTS_MAX - 1 ||
                        result->id == workunit->canonical_resultid;

        if (!is_candidate(workunit, result))
            continue;
        if (!has_room) {
            ret_quorum->others++;
            continue;
        }
        ret_results[ret_quorum->count++] = (struct quorum_result){
            .id = result->id, .outcome = result->outcome, .validate_state = result->validate_state};
    }
}

static bool are_the_same_results(const struct quorum *left, const struct quorum *right)
{
    if (left->count != right->count || left->others != right->others)
        return false;
    for (size_t i = 0; i < left->count; i++)
        if (left->results[i].id != right->results[i].id ||
            left->results[i].validate_state != right->results[i].validate_state)
            return false;
    return true;
}

/* Credit goes to the host that has a result now: the records of one computer may be merged. */
static bool has_the_same_host(const struct judged_job *left, const struct judged_job *right,
                              int64_t id)
{
    const struct judged_result_row *was = FIND_BY_ID(left->results, left->result_count, id);
    const struct judged_result_row *now = FIND_BY_ID(right->results, right->result_count, id);

    return was != NULL && now != NULL && was->hostid == now->hostid &&
           was->app_version_id == now->app_version_id;
}

bool verdict_is_current(const struct judged_job *before, const struct judged_job *after)
{
    struct quorum_result was_results[QUORUM_RESULTS_MAX], now_results[QUORUM_RESULTS_MAX];
    struct quorum was, now;

    verdict_select(before, was_results, &was);
    verdict_select(after, now_results, &now);
    for (size_t i = 0; i < was.count; i++)
        if (!has_the_same_host(before, after, was_results[i].id))
            return false;
    return was.min_quorum == now.min_quorum && was.target_nresults == now.target_nresults &&
           was.max_success_results == now.max_success_results && was.error_mask == now.error_mask &&
           was.canonical_resultid == now.canonical_resultid && are_the_same_results(&was, &now);
}

/* --- credit and statistics -------------------------------------------------------------------- */

struct sentence { /* what is said of one result */
    const struct verdict_rules *rules;
    struct validation_rows *rows;
    const struct judged_workunit_row *workunit;
    struct judged_result_row *result;
    double credit; /* of a valid one */
};

static void add_credit(const struct sentence *sentence, double *total, double *average,
                       double *average_time)
{
    struct credit_average of_all = {.credit = *average, .time = *average_time};

    credit_average_add(&of_all, (double)sentence->rules->now, (double)sentence->result->sent_time,
                       sentence->credit);
    *total += sentence->credit;
    *average = of_all.credit;
    *average_time = of_all.time;
}

static void credit_accounts(const struct sentence *sentence, int64_t userid)
{
    struct credited_user_row *user =
        FIND_BY_ID(sentence->rows->users, sentence->rows->user_count, userid);
    struct credited_team_row *team;

    if (user == NULL)
        return;
    add_credit(sentence, &user->total_credit, &user->expavg_credit, &user->expavg_time);
    team = FIND_BY_ID(sentence->rows->teams, sentence->rows->team_count, user->teamid);
    if (team != NULL)
        add_credit(sentence, &team->total_credit, &team->expavg_credit, &team->expavg_time);
}

static double turnaround_of(const struct judged_result_row *result)
{
    return (double)(result->received_time - result->sent_time);
}

static void credit_host(const struct sentence *sentence)
{
    struct credited_host_row *host =
        FIND_BY_ID(sentence->rows->hosts, sentence->rows->host_count, sentence->result->hostid);

    if (host == NULL)
        return;
    host->avg_turnaround =
        run_statistics_turnaround(host->avg_turnaround, turnaround_of(sentence->result));
    if (!(sentence->credit > 0))
        return;
    add_credit(sentence, &host->total_credit, &host->expavg_credit, &host->expavg_time);
    credit_accounts(sentence, host->userid);
}

static int compare_host_versions(const void *a, const void *b)
{
    const struct judged_version_row *left = a, *right = b;

    if (left->host_id != right->host_id)
        return left->host_id > right->host_id ? 1 : -1;
    return (left->app_version_id > right->app_version_id) -
           (left->app_version_id < right->app_version_id);
}

static struct judged_version_row *find_host_version(const struct sentence *sentence)
{
    struct validation_rows *rows = sentence->rows;
    const struct judged_version_row wanted = {
        .host_id = sentence->result->hostid,
        .app_version_id =
            report_statistics_id(sentence->workunit->appid, sentence->result->app_version_id)};

    return rows->host_version_count == 0
               ? NULL
               : bsearch(&wanted, rows->host_versions, rows->host_version_count,
                         sizeof(rows->host_versions[0]), compare_host_versions);
}

static void note_valid(const struct sentence *sentence)
{
    const struct judged_result_row *result = sentence->result;
    const struct judged_workunit_row *workunit = sentence->workunit;
    struct valid_run run = {.elapsed_time = result->elapsed_time,
                            .cpu_time = result->cpu_time,
                            .flops_estimate = result->flops_estimate,
                            .rsc_fpops_est = workunit->rsc_fpops_est,
                            .turnaround = turnaround_of(result),
                            .is_outlier = result->runtime_outlier != 0,
                            .is_unreplicated = workunit->target_nresults == 1 &&
                                               sentence->rules->app_target_nresults > 1};
    struct judged_version_row *host_version = find_host_version(sentence);
    /* Without a host it says nothing of any version, whatever rows are here for other results. */
    struct sampled_version_row *version =
        result->hostid == 0 ? NULL
                            : FIND_BY_ID(sentence->rows->versions, sentence->rows->version_count,
                                         result->app_version_id);

    if (host_version != NULL)
        run_statistics_add_valid(host_version, &run, sentence->rules->daily_result_quota);
    if (version != NULL)
        run_statistics_add_version(&version->pfc_n, &version->pfc_avg, &run);
}

static void note_invalid(const struct sentence *sentence)
{
    struct judged_version_row *host_version = find_host_version(sentence);

    if (host_version != NULL)
        run_statistics_add_invalid(host_version, sentence->rules->daily_result_quota);
}

/* --- applying --------------------------------------------------------------------------------- */

static void sentence_result(const struct sentence *sentence, const struct quorum_result *verdict,
                            struct verdict_counts *counts)
{
    struct judged_result_row *result = sentence->result;
    bool is_new = result->validate_state != verdict->validate_state;

    result->outcome = verdict->outcome;
    result->validate_state = verdict->validate_state;
    if (!is_new)
        return;
    if (result->validate_state == VALIDATE_VALID) {
        counts->valid++;
        result->granted_credit = sentence->credit;
        credit_host(sentence);
        note_valid(sentence);
    } else if (result->validate_state == VALIDATE_INVALID) {
        counts->invalid++;
        result->granted_credit = 0;
        note_invalid(sentence);
    } else {
        counts->undecided += result->validate_state == VALIDATE_INCONCLUSIVE;
    }
}

/* What every valid result of the workunit gets. */
static double find_credit(const struct judged_job *job)
{
    const struct judged_workunit_row *workunit = job->workunit;
    const struct judged_result_row *canonical;

    if (workunit->canonical_resultid == 0)
        return credit_of_job(workunit->canonical_credit, workunit->rsc_fpops_est);
    canonical = FIND_BY_ID(job->results, job->result_count, workunit->canonical_resultid);
    return canonical != NULL ? canonical->granted_credit : 0;
}

static void accept_result(const struct judged_job *job, int64_t canonical, double credit)
{
    job->workunit->canonical_resultid = canonical;
    job->workunit->canonical_credit = credit;
    if (job->workunit->assimilate_state == ASSIMILATE_INIT)
        job->workunit->assimilate_state = ASSIMILATE_READY;
    for (size_t i = 0; i < job->result_count; i++) {
        struct judged_result_row *result = &job->results[i];

        if (result->server_state != RESULT_INACTIVE && result->server_state != RESULT_UNSENT)
            continue;
        result->server_state = RESULT_OVER;
        result->outcome = OUTCOME_DIDNT_NEED;
    }
}

/* After a canonical result nothing is left to be done but to wait for what hosts still have. */
static int64_t next_time(const struct judged_job *job)
{
    int64_t next = TRANSITION_NEVER;

    for (size_t i = 0; i < job->result_count; i++)
        if (job->results[i].server_state == RESULT_IN_PROGRESS &&
            job->results[i].report_deadline < next)
            next = job->results[i].report_deadline;
    return next;
}

void verdict_apply(const struct verdict_rules *rules, const struct quorum_decision *decision,
                   const struct quorum_result *results, size_t count, const struct judged_job *job,
                   struct validation_rows *rows, struct verdict_counts *counts)
{
    struct judged_workunit_row *workunit = job->workunit;
    struct sentence sentence = {
        .rules = rules, .rows = rows, .workunit = workunit, .credit = find_credit(job)};
    bool is_new = decision->canonical_resultid != workunit->canonical_resultid;

    for (size_t i = 0; i < count; i++) {
        sentence.result = FIND_BY_ID(job->results, job->result_count, results[i].id);
        if (sentence.result != NULL)
            sentence_result(&sentence, &results[i], counts);
    }
    if (is_new) {
        accept_result(job, decision->canonical_resultid, sentence.credit);
        workunit->transition_time = next_time(job);
        counts->accepted++;
    }
    workunit->need_validate = 0;
    workunit->error_mask = decision->error_mask;
    workunit->target_nresults = decision->target_nresults;
    if (decision->is_due)
        workunit->transition_time = rules->now;
}
