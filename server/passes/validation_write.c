/* SPDX-License-Identifier: Apache-2.0 */
/* One transaction writes what was decided of many workunits: credit and statistics are added up in
 * memory, one workunit after the other by id on the same rows, as if each were written by itself.
 * What the database or the memory refuses is tried again in halves, so that one row that cannot be
 * written costs only itself. */
#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/fates/fates.h"
#include "server/passes/pass_lease.h"
#include "server/passes/validation_parts.h"
#include "server/policy/result/report_verdict.h"

#include "server/base/banned.h"

/* s for which the rows of a transaction are locked, before COMMIT: hosts that report meanwhile wait
 * for it. COMMIT takes as long for one workunit as for many. */
#define LOCKED_MOST 0.020

size_t validation_write_most(size_t most, size_t count, double seconds)
{
    if (seconds > LOCKED_MOST)
        return count > 1 ? count / 2 : 1;
    if (count == most && seconds < LOCKED_MOST / 2)
        most *= 2;
    return most < VALIDATION_WRITE_MOST ? most : VALIDATION_WRITE_MOST;
}

/* --- one transaction ------------------------------------------------------------------------- */

struct write {
    struct validation_pass *pass;
    struct validation *const *validations;
    size_t count;
    struct validation_rows before, after;
    struct verdict_counts verdicts;
    double seconds; /* that it took, up to COMMIT */
};

static const struct judged_result_row *find_result(const struct judged_job *job, int64_t id)
{
    for (size_t i = 0; i < job->result_count; i++)
        if (job->results[i].id == id)
            return &job->results[i];
    return NULL;
}

/* The hosts and versions of the results that get a new verdict; there is room. */
static size_t list_pairs(const struct validation *validation, struct credited_pair *ret_pairs)
{
    size_t count = 0;

    for (size_t i = 0; i < validation->quorum.count; i++) {
        const struct judged_result_row *result =
            find_result(&validation->job, validation->results[i].id);

        if (result == NULL || result->hostid == 0 ||
            validation->verdicts[i].validate_state == validation->results[i].validate_state)
            continue;
        ret_pairs[count++] = (struct credited_pair){
            result->hostid,
            report_statistics_id(validation->job.workunit->appid, result->app_version_id)};
    }
    return count;
}

static enum status lock_rows(struct write *write)
{
    struct validation_pass *pass = write->pass;
    int64_t *ids = ARENA_ARRAY(pass->write_arena, write->count, int64_t);
    struct credited_pair *pairs;
    size_t room = 0, pair_count = 0;

    for (size_t i = 0; i < write->count; i++)
        room += write->validations[i]->quorum.count;
    pairs = ARENA_ARRAY(pass->write_arena, room, struct credited_pair);
    if (ids == NULL || pairs == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < write->count; i++) {
        ids[i] = write->validations[i]->job.workunit->id;
        pair_count += list_pairs(write->validations[i], pairs + pair_count);
    }
    return db_validation_lock(pass->owner->db, pass->write_arena, ids, write->count, pairs,
                              pair_count, &write->before);
}

/* Both lists go by workunit. A workunit that is not among the rows is not to be validated any
 * more. */
static enum status apply_all(struct write *write)
{
    struct validation_pass *pass = write->pass;
    const struct verdict_rules rules = {.now = pass->settings->now,
                                        .daily_result_quota =
                                            pass->owner->config->daily_result_quota,
                                        .app_target_nresults = pass->app->target_nresults};
    size_t job_count = write->before.workunit_count, at = 0;
    struct judged_job *before = ARENA_ARRAY(pass->write_arena, job_count, struct judged_job);
    struct judged_job *after = ARENA_ARRAY(pass->write_arena, job_count, struct judged_job);

    if (before == NULL || after == NULL)
        return STATUS_TOO_LARGE;
    verdict_jobs(&write->before, before);
    verdict_jobs(&write->after, after);
    for (size_t i = 0; i < write->count; i++) {
        struct validation *validation = write->validations[i];
        int64_t id = validation->job.workunit->id;

        while (at < job_count && before[at].workunit->id < id)
            at++;
        validation->is_changed = at < job_count && before[at].workunit->id == id &&
                                 !verdict_is_current(&validation->job, &before[at]);
        if (at < job_count && before[at].workunit->id == id && !validation->is_changed)
            verdict_apply(&rules, &validation->decision, validation->verdicts,
                          validation->quorum.count, &after[at], &write->after, &write->verdicts);
    }
    return STATUS_OK;
}

static void count_changes(const struct write *write)
{
    struct pass_counts *counts = write->pass->counts;

    counts->valid += write->verdicts.valid;
    counts->invalid += write->verdicts.invalid;
    counts->undecided += write->verdicts.undecided;
    counts->accepted += write->verdicts.accepted;
    for (size_t i = 0; i < write->after.workunit_count; i++) {
        const struct judged_workunit_row *before = &write->before.workunits[i];
        const struct judged_workunit_row *after = &write->after.workunits[i];

        counts->given_up += after->error_mask != 0 && before->error_mask == 0;
        counts->to_assimilate += after->assimilate_state == ASSIMILATE_READY &&
                                 before->assimilate_state != ASSIMILATE_READY;
    }
    for (size_t i = 0; i < write->after.result_count; i++)
        counts->not_needed += write->after.results[i].outcome == OUTCOME_DIDNT_NEED &&
                              write->before.results[i].outcome != OUTCOME_DIDNT_NEED;
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

/* Both lists go by workunit; of one that is not to be validated any more only results are here. */
static void add_fates(const struct write *write)
{
    const struct validation_rows *after = &write->after;
    size_t at = 0;

    for (size_t i = 0; i < after->result_count; i++) {
        struct fate_entry entry = {.hostid = after->results[i].hostid,
                                   .app_version_id = after->results[i].app_version_id,
                                   .fate = fate_of(&write->before.results[i], &after->results[i])};

        if (entry.fate == FATE_SENT)
            continue;
        while (after->workunits[at].id < after->results[i].workunitid)
            at++;
        entry.appid = after->workunits[at].appid;
        entry.batch = after->workunits[at].batch;
        fates_add(write->pass->owner->fates, write->pass->settings->now, &entry, 1);
    }
}

static enum status try_to_write(void *subject)
{
    struct write *write = subject;
    struct validation_pass *pass = write->pass;
    struct db *db = pass->owner->db;
    double begun;
    enum status status = pass_lease_check(pass->lease);

    arena_reset(pass->write_arena);
    write->verdicts = (struct verdict_counts){.valid = 0};
    begun = clock_seconds();
    if (status == STATUS_OK)
        status = lock_rows(write);
    if (status == STATUS_OK)
        status = db_validation_copy(pass->write_arena, &write->before, &write->after);
    if (status == STATUS_OK)
        status = apply_all(write);
    if (status == STATUS_OK)
        status = db_validation_save(db, pass->write_arena, &write->before, &write->after);
    write->seconds = clock_seconds() - begun;
    if (status == STATUS_OK)
        status = db_commit(db);
    if (status != STATUS_OK)
        return status;
    pass->has_judged = true;
    count_changes(write);
    add_fates(write);
    pass_progress(pass->owner, "results validated", pass->counts->valid + pass->counts->invalid);
    return STATUS_OK;
}

/* --- all -------------------------------------------------------------------------------------- */

enum status validation_pass_over(struct validation_pass *pass, struct text name, enum status status)
{
    struct pass_owner *owner = pass->owner;

    if (status == STATUS_OK || status == STATUS_NOT_FOUND || status == STATUS_DB_GONE ||
        status == STATUS_DB_UNKNOWN || status == STATUS_DB_BUG)
        return status;
    (void)pass_failed(owner, status, "validation");
    complain(pass->complaints, owner, "validation of job", name,
             status == STATUS_DB_RETRY ? "others change it all the time" : owner->failure->text, 0);
    *owner->failure = (struct failure){.status = STATUS_OK};
    pass->counts->put_off++;
    return STATUS_OK;
}

static bool ends_pass(enum status status)
{
    return status == STATUS_NOT_FOUND || status == STATUS_DB_GONE || status == STATUS_DB_UNKNOWN ||
           status == STATUS_DB_BUG;
}

enum status validation_write(struct validation_pass *pass, struct validation *const *validations,
                             size_t count)
{
    struct write write = {.pass = pass, .validations = validations, .count = count};
    enum status status = repeat_transaction(pass->owner->db, try_to_write, &write);

    if (status == STATUS_OK)
        pass->write_most = validation_write_most(pass->write_most, count, write.seconds);
    if (status == STATUS_OK || ends_pass(status))
        return status;
    if (count == 1)
        return validation_pass_over(pass, validations[0]->job.workunit->name, status);
    *pass->owner->failure = (struct failure){.status = STATUS_OK};
    status = validation_write(pass, validations, count / 2);
    return status == STATUS_OK ? validation_write(pass, validations + count / 2, count - count / 2)
                               : status;
}
