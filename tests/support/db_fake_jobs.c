/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of the fake database: reports, what is in progress, candidates, locks and claims. */
#include "tests/support/db_fake_parts.h"

#include "server/base/arena.h"
#include "server/base/sorted.h"
#include "tests/support/test.h"

#include <stdlib.h>

const char db_fake_jobs = 1;

static struct fake_job *job_of(int64_t resultid)
{
    for (size_t i = 0; i < db_fake.job_count; i++) {
        if (db_fake.jobs[i].result.id == resultid)
            return &db_fake.jobs[i];
    }
    fail_msg("the fake database has no result %lld", (long long)resultid);
    return NULL;
}

/* In any case of letters, as a collation may. */
static bool is_named(const struct fake_job *job, const struct text *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (text_equal_nocase(names[i], job->result.name))
            return true;
    }
    return false;
}

/* --- reports ------------------------------------------------------------------------------------
 */

enum status db_results_by_name(struct db *db, struct arena *in, const struct text *names,
                               size_t count, struct result_row **ret_rows, size_t *ret_count)
{
    *ret_rows = ARENA_ARRAY(in, FAKE_JOBS, struct result_row);
    *ret_count = 0;
    if (*ret_rows == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < db_fake.job_count; i++) {
        if (is_named(&db_fake.jobs[i], names, count))
            (*ret_rows)[(*ret_count)++] = db_fake.jobs[i].result;
    }
    return CALL(0);
}

enum status db_reports_save(struct db *db, struct arena *in, const struct result_report *reports,
                            size_t count, int64_t now, bool *ret_booked)
{
    enum status status = CALL(0);

    if (status != STATUS_OK)
        return status;
    if (db_fake.before_reports != NULL)
        db_fake.before_reports();
    for (size_t i = 0; i < count; i++) {
        assert_true(db_fake.report_count < FAKE_JOBS);
        db_fake.reports[db_fake.report_count++] = reports[i];
        ret_booked[i] = !db_fake.books_nothing;
    }
    return STATUS_OK;
}

enum status db_host_detach_results(struct db *db, int64_t hostid, int64_t now)
{
    return CALL(hostid);
}

/* --- jobs that the host should have -------------------------------------------------------------
 */

/* `no_reply`: also those that were given up. */
static void read_jobs(struct arena *in, int64_t hostid, bool no_reply, struct host_job **ret_jobs,
                      size_t *ret_count)
{
    *ret_jobs = ARENA_ARRAY(in, FAKE_JOBS, struct host_job);
    *ret_count = 0;
    for (size_t i = 0; *ret_jobs != NULL && i < db_fake.job_count; i++) {
        const struct fake_job *job = &db_fake.jobs[i];
        bool is_out = job->result.server_state == RESULT_IN_PROGRESS ||
                      (no_reply && job->result.server_state == RESULT_OVER &&
                       job->result.outcome == OUTCOME_NO_REPLY);

        if (is_out && job->result.hostid == hostid)
            (*ret_jobs)[(*ret_count)++] =
                (struct host_job){.result = job->result, .workunit = job->workunit};
    }
}

enum status db_host_ask_ahead(struct db *db, int64_t hostid, bool with_workunits, size_t most)
{
    (void)with_workunits, (void)most;
    return CALL(hostid);
}

enum status db_hosts_read_rows(struct db *db, struct arena *in, struct host_rows *hosts,
                               size_t count, size_t results_most)
{
    (void)in, (void)count, (void)results_most;
    return CALL(hosts[0].hostid);
}

enum status db_results_in_progress(struct db *db, struct arena *in, int64_t hostid, size_t most,
                                   struct result_row **ret_rows, size_t *ret_count)
{
    struct host_job *jobs;

    db_fake.in_progress_most = most;
    read_jobs(in, hostid, false, &jobs, ret_count);
    *ret_rows = ARENA_ARRAY(in, FAKE_JOBS, struct result_row);
    if (jobs == NULL || *ret_rows == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < *ret_count; i++)
        (*ret_rows)[i] = jobs[i].result;
    return CALL(hostid);
}

enum status db_host_memory_peaks(struct db *db, struct arena *in, int64_t hostid, size_t most,
                                 struct memory_peak **ret_peaks, size_t *ret_count)
{
    (void)in, (void)most;
    *ret_peaks = db_fake.memory_peaks;
    *ret_count = db_fake.memory_peak_count;
    return CALL(hostid);
}

/* No job of it is a science app's. */
enum status db_host_variants(struct db *db, struct arena *in, int64_t hostid,
                             struct host_variant_row **ret_rows, size_t *ret_count)
{
    (void)in;
    *ret_rows = NULL;
    *ret_count = 0;
    return CALL(hostid);
}

enum status db_host_variants_save(struct db *db, struct arena *in, int64_t hostid,
                                  const struct host_variant_row *rows, size_t count)
{
    (void)in, (void)rows, (void)count;
    return CALL(hostid);
}

enum status db_workunit_estimates(struct db *db, struct arena *in, const int64_t *ids, size_t count,
                                  struct workunit_estimate_row **ret_rows, size_t *ret_count)
{
    (void)in, (void)count;
    *ret_rows = NULL;
    *ret_count = 0;
    return CALL(ids[0]);
}

enum status db_jobs_in_progress(struct db *db, struct arena *in, int64_t hostid, size_t most,
                                struct host_job **ret_jobs, size_t *ret_count)
{
    db_fake.in_progress_most = most;
    read_jobs(in, hostid, false, ret_jobs, ret_count);
    return *ret_jobs == NULL ? STATUS_NO_MEMORY : CALL(hostid);
}

int db_compare_jobs_by_age(const void *job, const void *other)
{
    int64_t id = ((const struct host_job *)job)->result.id;
    int64_t other_id = ((const struct host_job *)other)->result.id;

    return (id > other_id) - (id < other_id);
}

enum status db_jobs_by_name(struct db *db, struct arena *in, int64_t hostid,
                            const struct text *names, size_t count, struct host_job **ret_jobs,
                            size_t *ret_count)
{
    size_t all = 0;

    read_jobs(in, hostid, true, ret_jobs, &all);
    *ret_count = 0;
    for (size_t i = 0; i < all; i++) {
        const struct host_job job = (*ret_jobs)[i];

        if (is_named(job_of(job.result.id), names, count))
            (*ret_jobs)[(*ret_count)++] = job;
    }
    return *ret_jobs == NULL ? STATUS_NO_MEMORY : CALL(hostid);
}

enum status db_jobs_resend(struct db *db, struct arena *in, const struct resent_job *jobs,
                           size_t count)
{
    (void)in;
    for (size_t i = 0; i < count; i++) {
        struct fake_job *job = job_of(jobs[i].resultid);

        job->result.report_deadline = jobs[i].report_deadline;
        job->result.sent_time = jobs[i].sent_time;
    }
    return CALL(0);
}

enum status db_results_extend(struct db *db, struct arena *in,
                              const struct extended_result *results, size_t count)
{
    (void)in;
    for (size_t i = 0; i < count; i++)
        job_of(results[i].id)->result.report_deadline = results[i].deadline;
    return CALL(count > 0 ? results[0].id : 0);
}

enum status db_jobs_give_up(struct db *db, const struct host_job *jobs, size_t count,
                            int64_t deadline)
{
    for (size_t i = 0; i < count; i++) {
        struct fake_job *job = job_of(jobs[i].result.id);

        job->given_up = true;
        job->result.report_deadline = deadline;
    }
    return CALL(0);
}

/* --- hand-out -----------------------------------------------------------------------------------
 */

enum status db_candidates(struct db *db, struct arena *in, const struct candidate_filter *filter,
                          struct candidate **ret_candidates, size_t *ret_count)
{
    struct candidate *rows = ARENA_ARRAY(in, FAKE_JOBS, struct candidate);
    size_t count = 0;

    if (rows == NULL)
        return STATUS_NO_MEMORY;
    if (filter->below != NULL) /* the first query has given all */
        filter->below->is_end = true;
    for (size_t i = 0; filter->below == NULL && i < db_fake.job_count && count < filter->rows_max;
         i++) {
        const struct fake_job *job = &db_fake.jobs[i];
        bool is_asked_for = false;

        for (size_t j = 0; j < filter->appid_count; j++)
            is_asked_for = is_asked_for || filter->appids[j] == job->result.appid;
        if (is_asked_for && job->result.server_state == RESULT_UNSENT &&
            job->workunit.rsc_memory_bound <= filter->memory_max &&
            job->workunit.rsc_disk_bound <= filter->disk_max)
            rows[count++] = (struct candidate){.resultid = job->result.id,
                                               .workunitid = job->workunit.id,
                                               .appid = job->result.appid,
                                               .priority = job->workunit.priority,
                                               .workunit = job->workunit};
    }
    *ret_candidates = rows;
    *ret_count = count;
    return CALL(0);
}

static struct job_documents documents_of(const struct fake_job *job)
{
    return (struct job_documents){.result_name = job->result.name,
                                  .result_xml = TEXT("<result>\n</result>\n"),
                                  .workunit_name = TEXT("workunit"),
                                  .workunit_xml =
                                      job->has_file    ? TEXT("<workunit>\n<file_ref>\n<file_name>"
                                                                 "sky</file_name>\n</file_ref>\n"
                                                                 "</workunit>\n")
                                      : job->is_faulty ? TEXT("<workunit></workunit>\n")
                                                       : TEXT("<workunit>\n</workunit>\n")};
}

enum status db_jobs_lock(struct db *db, struct arena *in, const struct job_key *keys, size_t count,
                         const struct counted_results *counts, struct locked_job *ret_jobs)
{
    struct locked_workunit *locked = ARENA_ARRAY(in, count, struct locked_workunit);

    if (locked == NULL)
        return STATUS_NO_MEMORY;
    if (counts != NULL)
        db_fake.counted = *counts;
    for (size_t i = 0; i < count; i++) {
        struct fake_job *job = job_of(keys[i].resultid);

        assert_i64(job->workunit.id, keys[i].workunitid);
        job->was_locked = true;
        if (job->others_take)
            job->result.server_state = RESULT_IN_PROGRESS;
        locked[i] = (struct locked_workunit){
            .id = job->workunit.id,
            .hr_class = job->workunit.hr_class,
            .app_version_id = job->others_commit ? 99 : job->workunit.app_version_id,
            .error_mask = job->workunit.error_mask,
            .results_of_user = counts == NULL ? 0 : job->results_of_user,
            .results_of_host = counts == NULL ? 0 : job->results_of_host};
        ret_jobs[i] = (struct locked_job){.row = &locked[i],
                                          .is_unsent = job->result.server_state == RESULT_UNSENT,
                                          .documents = documents_of(job)};
        for (size_t j = 0; j < i; j++) /* results of one workunit share its row */
            if (keys[j].workunitid == keys[i].workunitid)
                ret_jobs[i].row = ret_jobs[j].row;
    }
    return CALL(0);
}

static struct unsent_job unsent_job_of(const struct fake_job *job)
{
    return (struct unsent_job){.resultid = job->result.id,
                               .priority = job->workunit.priority,
                               .is_free = job->result.server_state == RESULT_UNSENT &&
                                          job->workunit.error_mask == 0,
                               .workunit = job->workunit};
}

/* Where a case has written nothing else down, by its jobs. On record with how many were asked
 * about. */
enum status db_unsent_by_id(struct db *db, struct arena *in, const int64_t *ids, size_t count,
                            struct unsent_job **ret_jobs, size_t *ret_count)
{
    *ret_jobs = ARENA_ARRAY(in, count, struct unsent_job);
    *ret_count = 0;
    if (*ret_jobs == NULL)
        return STATUS_NO_MEMORY;
    for (size_t j = 0; j < count; j++) {
        for (size_t i = 0; i < db_fake.unsent_count; i++)
            if (ids[j] == db_fake.unsent[i].resultid)
                (*ret_jobs)[(*ret_count)++] = db_fake.unsent[i];
        for (size_t i = 0; i < db_fake.job_count; i++)
            if (ids[j] == db_fake.jobs[i].result.id)
                (*ret_jobs)[(*ret_count)++] = unsent_job_of(&db_fake.jobs[i]);
    }
    return CALL((int64_t)count);
}

/* On record with the id that it is to begin behind. */
enum status db_unsent_page(struct db *db, struct arena *in, int64_t priority, int64_t id,
                           size_t most, struct unsent_job **ret_jobs, size_t *ret_count)
{
    *ret_jobs = ARENA_ARRAY(in, most, struct unsent_job);
    *ret_count = 0;
    if (*ret_jobs == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < db_fake.unsent_count && *ret_count < most; i++)
        if (db_fake.unsent[i].priority == priority && db_fake.unsent[i].resultid > id)
            (*ret_jobs)[(*ret_count)++] = db_fake.unsent[i];
    return CALL(id);
}

enum status db_workunits_had(struct db *db, struct arena *in, const int64_t *ids, size_t count,
                             int64_t userid, int64_t hostid, struct had_workunit **ret_rows,
                             size_t *ret_count)
{
    struct had_workunit *met = ARENA_ARRAY(in, count, struct had_workunit);
    size_t found = 0;

    if (met == NULL)
        return STATUS_NO_MEMORY;
    db_fake.counted = (struct counted_results){.userid = userid, .hostid = hostid};
    for (size_t j = 0; j < db_fake.job_count; j++) {
        const struct fake_job *job = &db_fake.jobs[j];

        for (size_t i = 0; i < count && (job->user_had_one || job->host_had_one); i++)
            if (job->workunit.id == ids[i])
                met[found++] = (struct had_workunit){
                    .id = ids[i], .by_user = job->user_had_one, .by_host = job->host_had_one};
    }
    if (found > 0)
        qsort(met, found, sizeof(met[0]), sorted_compare_ids);
    *ret_rows = met;
    *ret_count = found;
    return CALL(0);
}

enum status db_results_claim(struct db *db, struct arena *in, int64_t hostid, int64_t userid,
                             const struct claim *claims, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct fake_job *job = job_of(claims[i].resultid);

        assert_i64(job->result.server_state, RESULT_UNSENT);
        job->result.server_state = RESULT_IN_PROGRESS;
        job->result.hostid = hostid;
        job->claim = claims[i];
    }
    return CALL(hostid);
}

enum status db_results_reject(struct db *db, struct arena *in, const int64_t *resultids,
                              const int64_t *workunitids, size_t count, int64_t now)
{
    for (size_t i = 0; i < count; i++) {
        struct fake_job *job = job_of(resultids[i]);

        assert_i64(job->workunit.id, workunitids[i]);
        job->result.server_state = RESULT_OVER;
        job->result.outcome = OUTCOME_COULDNT_SEND;
        job->result.received_time = now;
    }
    return CALL(0);
}

enum status db_job_documents(struct db *db, struct arena *in, const int64_t *resultids,
                             size_t count, struct job_documents *ret_documents)
{
    for (size_t i = 0; i < count; i++)
        ret_documents[i] = documents_of(job_of(resultids[i]));
    return CALL(0);
}

/* Batch 10 n belongs to user n. */
enum status db_batch_owners(struct db *db, struct arena *in, const int64_t *batches, size_t count,
                            struct batch_owner_row *ret_owners)
{
    for (size_t i = 0; i < count; i++)
        ret_owners[i] =
            (struct batch_owner_row){.id = batches[i], .user_id = batches[i] / 10, .quota = -1};
    return CALL(0);
}

bool db_has_batches(const struct db *db)
{
    return true;
}

/* Of the workunits none is there when it is to be locked; tests/database looks at the rest. */
enum status db_assignments(struct db *db, struct arena *in, const struct assignment_filter *filter,
                           struct assignment **ret_assignments, size_t *ret_count)
{
    *ret_assignments = db_fake.assignments;
    *ret_count = db_fake.assignment_count;
    return CALL(0);
}

enum status db_assigned_lock(struct db *db, struct arena *in, const int64_t *ids, size_t count,
                             int64_t hostid, struct assigned_workunit_row **ret_rows,
                             size_t *ret_count)
{
    *ret_rows = NULL;
    *ret_count = 0;
    return CALL(hostid);
}
