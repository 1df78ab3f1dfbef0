/* SPDX-License-Identifier: Apache-2.0 */
/* The steps for one workunit. Between reading and writing others may have changed something: a
 * report came, another copy of the command was quicker, records of hosts were merged. Then nothing
 * is written and it is read again. What was committed when the connection is lost is not to be
 * validated any more, so that trying again grants nothing twice. */
#include "server/passes/validation_pass.h"

#include "config/config.h"
#include "db/validation.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/fates/fates.h"
#include "server/passes/command_run.h"
#include "server/passes/comparison.h"
#include "server/passes/complaints.h"
#include "server/passes/pass_lease.h"
#include "server/passes/pass_repeat.h"
#include "server/policy/result/report_verdict.h"
#include "server/policy/result/verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

enum { PART_JOBS = 16 /* taken together */, ENVIRONMENT_MAX = 4 };
#define PART_BYTES ((size_t)1 << 30)

/* One workunit under way. */
struct validation {
    struct pass_owner *owner;
    const struct pass_settings *settings;
    struct pass_counts *counts;
    struct complaints *complaints;
    const struct app_row *app;
    struct arena *arena; /* of this workunit */
    struct pass_lease *lease;
    int64_t id;   /* of the workunit that was begun last */
    int64_t left; /* workunits that may still be looked at */
    struct failure_row row;
    struct result_comparison comparison;
    const char *environment[ENVIRONMENT_MAX];
    struct validation_rows rows;
    struct quorum quorum;
    struct quorum_result results[QUORUM_RESULTS_MAX];
    struct compared_files files[QUORUM_RESULTS_MAX];
    unsigned char answers[QUORUM_RESULTS_MAX * QUORUM_RESULTS_MAX];
    struct quorum_result verdicts[QUORUM_RESULTS_MAX];
    struct quorum_decision decision;
};

/* --- comparing -------------------------------------------------------------------------------- */

static enum status read_documents(struct validation *validation,
                                  struct output_document_row **ret_documents)
{
    int64_t ids[QUORUM_RESULTS_MAX];
    size_t count;
    enum status status;

    for (size_t i = 0; i < validation->quorum.count; i++)
        ids[i] = validation->results[i].id;
    status = db_output_documents(validation->owner->db, validation->arena, ids,
                                 validation->quorum.count, ret_documents, &count);
    return status == STATUS_OK && count != validation->quorum.count ? STATUS_DB_RETRY : status;
}

static void set_environment(struct validation *validation)
{
    const struct judged_workunit_row *workunit = &validation->rows.workunit;

    validation->environment[0] = command_number(validation->arena, "QM_JOB_ID", workunit->id);
    validation->environment[1] = command_text(validation->arena, "QM_JOB", workunit->name);
    validation->environment[2] = command_text(validation->arena, "QM_APP", validation->app->name);
    validation->environment[3] = NULL;
    validation->comparison.environment = validation->environment;
}

/* False: not now; why is in `failure`. */
static bool open_results(struct validation *validation, const struct output_document_row *documents,
                         struct failure *failure)
{
    for (size_t i = 0; i < validation->quorum.count; i++) {
        enum comparison_answer answer =
            comparison_open(&validation->comparison, validation->arena, documents[i].xml_doc_in,
                            &validation->files[i], failure);

        if (answer == COMPARISON_LATER)
            return false;
        validation->results[i].is_unusable = answer == COMPARISON_UNUSABLE;
    }
    return true;
}

static bool compare_results(struct validation *validation, struct failure *failure)
{
    size_t count = validation->quorum.count;

    memset(validation->answers, QUORUM_UNKNOWN, sizeof(validation->answers));
    validation->quorum.answers = validation->answers;
    while (quorum_decide(&validation->quorum, validation->verdicts, &validation->decision) ==
           QUORUM_COMPARE) {
        size_t first = validation->decision.first, second = validation->decision.second;
        enum comparison_answer answer =
            comparison_make(&validation->comparison, &validation->files[first],
                            &validation->files[second], failure);

        if (answer == COMPARISON_LATER)
            return false;
        validation->answers[first * count + second] =
            answer == COMPARISON_SAME ? QUORUM_SAME : QUORUM_DIFFERENT;
        validation->answers[second * count + first] = validation->answers[first * count + second];
    }
    return true;
}

/* --- writing ---------------------------------------------------------------------------------- */

static const struct judged_result_row *find_result(const struct validation *validation, int64_t id)
{
    for (size_t i = 0; i < validation->rows.result_count; i++)
        if (validation->rows.results[i].id == id)
            return &validation->rows.results[i];
    return NULL;
}

/* The hosts and versions of the results that get a new verdict. */
static size_t list_hosts(const struct validation *validation, int64_t *ret_hostids,
                         int64_t *ret_versions)
{
    size_t count = 0;

    for (size_t i = 0; i < validation->quorum.count; i++) {
        const struct judged_result_row *result = find_result(validation, validation->results[i].id);

        if (result == NULL || result->hostid == 0 ||
            validation->verdicts[i].validate_state == validation->results[i].validate_state)
            continue;
        ret_hostids[count] = result->hostid;
        ret_versions[count++] =
            report_statistics_id(validation->rows.workunit.appid, result->app_version_id);
    }
    return count;
}

static enum status copy_rows(struct arena *arena, const struct validation_rows *rows,
                             struct validation_rows *ret_copy)
{
    *ret_copy = *rows;
#define COPY_ROWS(list, count)                                                   \
    ret_copy->list = arena_alloc_array(arena, rows->count, sizeof(*rows->list)); \
    if (ret_copy->list == NULL)                                                  \
        return STATUS_TOO_LARGE;                                                 \
    if (rows->count > 0)                                                         \
        memcpy(ret_copy->list, rows->list, rows->count * sizeof(*rows->list));
    COPY_ROWS(results, result_count)
    COPY_ROWS(users, user_count)
    COPY_ROWS(teams, team_count)
    COPY_ROWS(hosts, host_count)
    COPY_ROWS(host_versions, host_version_count)
    COPY_ROWS(versions, version_count)
#undef COPY_ROWS
    return STATUS_OK;
}

static void count_verdicts(struct pass_counts *counts, const struct verdict_counts *verdicts,
                           const struct validation_rows *before,
                           const struct validation_rows *after)
{
    counts->valid += verdicts->valid;
    counts->invalid += verdicts->invalid;
    counts->undecided += verdicts->undecided;
    counts->accepted += verdicts->accepted;
    counts->given_up += after->workunit.error_mask != 0 && before->workunit.error_mask == 0;
    counts->to_assimilate += after->workunit.assimilate_state == ASSIMILATE_READY &&
                             before->workunit.assimilate_state != ASSIMILATE_READY;
    for (size_t i = 0; i < after->result_count; i++)
        counts->not_needed += after->results[i].outcome == OUTCOME_DIDNT_NEED &&
                              before->results[i].outcome != OUTCOME_DIDNT_NEED;
}

/* SENT: nothing new. */
static enum result_fate fate_of(const struct judged_result_row *before,
                                const struct judged_result_row *after)
{
    if (after->outcome == OUTCOME_VALIDATE_ERROR && before->outcome != OUTCOME_VALIDATE_ERROR)
        return FATE_VALIDATE_ERROR;
    if (after->validate_state == before->validate_state)
        return FATE_SENT;
    if (after->validate_state == VALIDATE_VALID)
        return FATE_VALID;
    return after->validate_state == VALIDATE_INVALID ? FATE_INVALID : FATE_SENT;
}

static void add_fates(const struct validation *validation, const struct validation_rows *before,
                      const struct validation_rows *after)
{
    for (size_t i = 0; i < after->result_count; i++) {
        const struct fate_entry entry = {.hostid = after->results[i].hostid,
                                         .appid = after->workunit.appid,
                                         .app_version_id = after->results[i].app_version_id,
                                         .batch = after->workunit.batch,
                                         .fate = fate_of(&before->results[i], &after->results[i])};

        if (entry.fate != FATE_SENT)
            fates_add(validation->owner->fates, validation->settings->now, &entry, 1);
    }
}

/* STATUS_DB_RETRY: something has changed since it was read. */
static enum status try_to_write(struct validation *validation)
{
    const struct verdict_rules rules = {.now = validation->settings->now,
                                        .daily_result_quota =
                                            validation->owner->config->daily_result_quota,
                                        .app_target_nresults = validation->app->target_nresults};
    struct db *db = validation->owner->db;
    struct validation_rows before, after;
    struct verdict_counts verdicts = {.valid = 0};
    int64_t hostids[QUORUM_RESULTS_MAX], versions[QUORUM_RESULTS_MAX];
    size_t count = list_hosts(validation, hostids, versions);
    enum status status = pass_lease_check(validation->lease);

    if (status == STATUS_OK)
        status = db_validation_lock(db, validation->arena, validation->rows.workunit.id, hostids,
                                    versions, count, &before);
    if (status == STATUS_OK && !verdict_is_current(&validation->rows, &before))
        status = STATUS_DB_RETRY;
    if (status == STATUS_OK)
        status = copy_rows(validation->arena, &before, &after);
    if (status != STATUS_OK)
        return status;
    verdict_apply(&rules, &validation->decision, validation->verdicts, validation->quorum.count,
                  &after, &verdicts);
    status = db_validation_save(db, validation->arena, &before, &after);
    if (status == STATUS_OK)
        status = db_commit(db);
    if (status == STATUS_OK) {
        count_verdicts(validation->counts, &verdicts, &before, &after);
        add_fates(validation, &before, &after);
    }
    pass_progress(validation->owner, "results validated",
                  validation->counts->valid + validation->counts->invalid);
    return status;
}

static enum status postpone(struct validation *validation, const char *why)
{
    struct db *db = validation->owner->db;
    const struct judged_workunit_row *workunit = &validation->rows.workunit;
    enum status status = pass_lease_check(validation->lease);

    if (status != STATUS_OK)
        return status;
    complain(validation->complaints, validation->owner, "validation of job", workunit->name, why,
             PASS_PUT_OFF);
    status = db_validation_postpone(db, workunit->id, validation->settings->now + PASS_PUT_OFF);
    if (status == STATUS_OK)
        status = db_commit(db);
    validation->counts->put_off += status == STATUS_OK;
    return status;
}

/* --- one workunit ----------------------------------------------------------------------------- */

/* NOT_FOUND: nothing is to be done with it any more. */
static enum status try_one(void *subject)
{
    struct validation *validation = subject;
    struct failure why = {.status = STATUS_OK};
    struct db *db = validation->owner->db;
    struct output_document_row *documents;
    double begun;
    enum status status;

    arena_reset(validation->arena);
    status = db_validation_read(db, validation->arena, validation->id, &validation->rows);
    if (status != STATUS_OK)
        return status;
    verdict_select(&validation->rows, validation->results, &validation->quorum);
    status = read_documents(validation, &documents);
    if (status == STATUS_OK)
        status = db_end(db);
    if (status != STATUS_OK)
        return status;
    set_environment(validation);
    if (arena_overflowed(validation->arena))
        return STATUS_NO_MEMORY;
    begun = clock_seconds();
    if (!open_results(validation, documents, &why) || !compare_results(validation, &why)) {
        if (pass_is_to_end(validation->owner))
            return STATUS_NOT_FOUND; /* it was not the command that failed */
        validation->row.failures++;
        validation->row.seconds += clock_seconds() - begun;
        return postpone(validation, why.text);
    }
    validation->row = (struct failure_row){0};
    return try_to_write(validation);
}

/* What fails for one workunit need not fail for the next; it stays to be validated. */
static enum status pass_over(struct validation *validation, enum status status)
{
    struct pass_owner *owner = validation->owner;

    if (status == STATUS_OK || status == STATUS_DB_GONE || status == STATUS_DB_UNKNOWN ||
        status == STATUS_DB_BUG)
        return status;
    (void)pass_failed(owner, status, "validation");
    complain(validation->complaints, validation->owner, "validation of job",
             validation->rows.workunit.name,
             status == STATUS_DB_RETRY ? "others change it all the time" : owner->failure->text, 0);
    *owner->failure = (struct failure){.status = STATUS_OK};
    validation->counts->put_off++;
    return STATUS_OK;
}

static enum status validate(struct validation *validation, int64_t id)
{
    enum status status;

    validation->id = id;
    status = repeat_transaction(validation->owner->db, try_one, validation);
    return status == STATUS_NOT_FOUND ? STATUS_OK : pass_over(validation, status);
}

static enum status find_due(void *subject, int64_t *ret_ids, size_t most, size_t *ret_count)
{
    struct validation *validation = subject;

    return db_validation_due(validation->owner->db, validation->app->id, validation->id, ret_ids,
                             most, ret_count);
}

/* What a command fails for is put off; when too many are, the others come in the next round. */
static enum status validate_all(struct validation *validation)
{
    int64_t ids[PART_JOBS];
    size_t count;
    enum status status;

    do {
        size_t most = validation->left < PART_JOBS ? (size_t)validation->left : PART_JOBS;

        status = pass_lease_take(validation->lease, find_due, validation, ids, most, &count);
        for (size_t i = 0;
             status == STATUS_OK && i < count && validation->left > 0 &&
             !failure_row_ends_pass(&validation->row) && pass_lease_is_held(validation->lease);
             i++) {
            status = validate(validation, ids[i]);
            validation->left--;
        }
    } while (status == STATUS_OK && count > 0 && validation->left > 0 &&
             !failure_row_ends_pass(&validation->row));
    return status;
}

static enum status validate_app(void *subject, const struct app_row *app)
{
    struct validation *validation = subject;
    enum status status = STATUS_NO_MEMORY;

    validation->app = app;
    validation->id = 0;
    validation->row = (struct failure_row){0};
    validation->lease = pass_lease_create(validation->owner, "validation", app->id);
    if (validation->lease != NULL)
        status = validate_all(validation);
    pass_lease_destroy(validation->lease);
    return status;
}

enum status validation_pass(struct pass_owner *owner, const struct pass_settings *settings,
                            struct pass_counts *counts)
{
    struct complaints complaints = {.count = 0};
    struct validation *validation;
    enum status status = STATUS_NO_MEMORY;

    if (settings->validate == NULL && !settings->trusts)
        return STATUS_OK;
    validation = calloc(1, sizeof(*validation));
    if (validation == NULL)
        return fail(owner->failure, STATUS_NO_MEMORY, "no memory");
    validation->owner = owner;
    validation->settings = settings;
    validation->counts = counts;
    validation->complaints = &complaints;
    validation->left = settings->jobs_max > 0 ? settings->jobs_max : INT64_MAX;
    validation->comparison = (struct result_comparison){
        .config = owner->config,
        .kind = settings->trusts                             ? COMPARISON_TRUST
                : strcmp(settings->validate, "bitwise") == 0 ? COMPARISON_BITWISE
                                                             : COMPARISON_COMMAND,
        .command = settings->validate,
        .seconds_max = settings->command_seconds};
    validation->arena = arena_create(PART_BYTES);
    if (validation->arena != NULL)
        status = for_each_app(owner->db, validate_app, validation);
    arena_destroy(validation->arena);
    free(validation);
    return pass_failed(owner, status, "validation");
}
