/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of one transaction: some workunits that are due are found, locked with their results,
 * decided on (server/policy/result/transition_rules.c), new results written and signed, all saved
 * and committed. A deadlock or a lost connection costs a repetition; what was committed before is
 * not due any more and is passed over then.
 *
 * What the database or the memory refuses is tried again in halves, so that one row that cannot be
 * written costs only itself: it is put off and named. */
#include "server/passes/transition_pass.h"
#include "config/config.h"
#include "db/admin.h"
#include "db/batches.h"
#include "db/states.h"
#include "server/base/arena.h"
#include "server/base/sorted.h"
#include "server/passes/pass_lease.h"
#include "server/passes/pass_repeat.h"
#include "server/passes/transition_parts.h"
#include "server/policy/result/report_verdict.h"
#include "server/submit/documents.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/base/banned.h"

enum { RESULTS_MAX = 4096 }; /* made in one transaction */
#define PART_BYTES     ((size_t)1 << 30)
#define TEMPLATE_BYTES ((size_t)256 << 20)

/* --- deciding -------------------------------------------------------------------------------- */

static enum status allocate_part(struct transition_pass *pass, struct transition_part *part)
{
    part->new = part->old;
    part->new.workunits =
        ARENA_ARRAY(pass->part, part->old.workunit_count, struct due_workunit_row);
    part->new.results = ARENA_ARRAY(pass->part, part->old.result_count, struct due_result_row);
    part->wanted = ARENA_ARRAY(pass->part, part->old.workunit_count, struct transition_wanted);
    return part->new.workunits == NULL || part->new.results == NULL || part->wanted == NULL
               ? STATUS_NO_MEMORY
               : STATUS_OK;
}

static void count_changes(struct transition_part *part, const struct due_workunit_row *before,
                          const struct due_workunit_row *after)
{
    struct pass_counts *counts = &part->counts;

    counts->jobs++;
    counts->to_validate += after->need_validate != 0 && before->need_validate == 0;
    counts->given_up += after->error_mask != 0 && before->error_mask == 0;
    counts->to_assimilate +=
        after->assimilate_state == ASSIMILATE_READY && before->assimilate_state != ASSIMILATE_READY;
}

/* The others in the next round. */
static void bound_wanted(const struct transition_pass *pass, struct transition_wanted *wanted,
                         struct due_workunit_row *workunit)
{
    if (wanted->count <= RESULTS_MAX)
        return;
    wanted->count = RESULTS_MAX;
    workunit->transition_time = pass->rules.now;
}

/* Of jobs whose files could be deleted. Whoever retires one of them meanwhile has the transition of
 * its jobs come again, after this. */
static enum status find_held(struct transition_pass *pass, struct transition_part *part)
{
    int64_t *batches = ARENA_ARRAY(pass->part, part->old.workunit_count, int64_t);
    size_t count = 0;

    if (batches == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < part->old.workunit_count; i++) {
        const struct due_workunit_row *workunit = &part->old.workunits[i];

        if (workunit->batch > 0 && workunit->assimilate_state == ASSIMILATE_DONE)
            batches[count++] = workunit->batch;
    }
    if (count == 0 || !db_has_batches(pass->owner->db))
        return STATUS_OK;
    return db_batches_held(pass->owner->db, pass->part, batches, count, &part->held_batches,
                           &part->held_count);
}

/* Both lists go by workunit. */
static void decide(struct transition_pass *pass, struct transition_part *part)
{
    struct transition_rules rules = pass->rules;
    size_t at = 0;

    for (size_t i = 0; i < part->old.workunit_count; i++) {
        const struct due_workunit_row *workunit = &part->old.workunits[i];
        size_t count = 0;

        rules.keeps_files = sorted_find_id(part->held_batches, part->held_count, workunit->batch) !=
                            part->held_count;

        while (at < part->old.result_count && part->old.results[at].workunitid < workunit->id)
            at++;
        while (at + count < part->old.result_count &&
               part->old.results[at + count].workunitid == workunit->id)
            count++;
        transition_decide(&rules, workunit, part->old.results + at, count, &part->new.workunits[i],
                          part->new.results + at, &part->wanted[i]);
        count_changes(part, workunit, &part->new.workunits[i]);
        bound_wanted(pass, &part->wanted[i], &part->new.workunits[i]);
        part->wanted_count += part->wanted[i].count;
        at += count;
    }
}

/* --- saving ---------------------------------------------------------------------------------- */

static int compare_time_outs(const void *a, const void *b)
{
    const struct time_outs *left = a, *right = b;

    if (left->hostid != right->hostid)
        return left->hostid > right->hostid ? 1 : -1;
    return (left->app_version_id > right->app_version_id) -
           (left->app_version_id < right->app_version_id);
}

static enum status save_time_outs(struct transition_pass *pass, struct time_outs *items,
                                  size_t count)
{
    size_t kept = 0;

    qsort(items, count, sizeof(items[0]), compare_time_outs);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && compare_time_outs(&items[kept - 1], &items[i]) == 0)
            items[kept - 1].count++;
        else
            items[kept++] = items[i];
    }
    return db_admin_time_outs_save(pass->owner->db, pass->part, items, kept,
                                   pass->owner->config->daily_result_quota);
}

/* NULL: it is not of this part. */
static const struct due_workunit_row *workunit_of(const struct transition_part *part, int64_t id)
{
    for (size_t i = 0; i < part->old.workunit_count; i++)
        if (part->old.workunits[i].id == id)
            return &part->old.workunits[i];
    return NULL;
}

/* A result that timed out: what it does to its host's statistics and to the figures. */
static void note_time_out(struct transition_part *part, const struct due_result_row *result,
                          struct time_outs *time_outs, size_t *count)
{
    const struct due_workunit_row *workunit = workunit_of(part, result->workunitid);
    int64_t appid = workunit == NULL ? 0 : workunit->appid;
    int64_t version = report_statistics_id(appid, result->app_version_id);

    part->counts.timed_out++;
    part->fates[part->fate_count++] =
        (struct fate_entry){.hostid = result->hostid,
                            .appid = appid,
                            .app_version_id = result->app_version_id,
                            .batch = workunit == NULL ? 0 : workunit->batch,
                            .fate = FATE_NO_REPLY};
    if (version != 0)
        time_outs[(*count)++] =
            (struct time_outs){.hostid = result->hostid, .app_version_id = version, .count = 1};
}

static enum status save(struct transition_pass *pass, struct transition_part *part)
{
    struct due_rows changed = {.workunits = part->new.workunits,
                               .workunit_count = part->new.workunit_count};
    struct time_outs *time_outs = ARENA_ARRAY(pass->part, part->old.result_count, struct time_outs);
    size_t time_out_count = 0;
    enum status status;

    changed.results = ARENA_ARRAY(pass->part, part->old.result_count, struct due_result_row);
    part->fates = ARENA_ARRAY(pass->part, part->old.result_count, struct fate_entry);
    if (changed.results == NULL || time_outs == NULL || part->fates == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < part->old.result_count; i++) {
        const struct due_result_row *before = &part->old.results[i];
        const struct due_result_row *after = &part->new.results[i];

        if (before->server_state != after->server_state ||
            before->validate_state != after->validate_state ||
            before->file_delete_state != after->file_delete_state)
            changed.results[changed.result_count++] = *after;
        if (after->outcome == OUTCOME_NO_REPLY && before->outcome != OUTCOME_NO_REPLY)
            note_time_out(part, before, time_outs, &time_out_count);
        part->counts.not_needed +=
            after->outcome == OUTCOME_DIDNT_NEED && before->outcome != OUTCOME_DIDNT_NEED;
    }
    status = db_admin_due_save(pass->owner->db, pass->part, &changed);
    return status == STATUS_OK ? save_time_outs(pass, time_outs, time_out_count) : status;
}

/* --- transactions ---------------------------------------------------------------------------- */

static void add_counts(struct pass_counts *sum, const struct pass_counts *counts)
{
#define COUNT_ADD(name) sum->name += counts->name;
    PASS_COUNTS(COUNT_ADD)
#undef COUNT_ADD
}

struct some_jobs {
    struct transition_pass *pass;
    const int64_t *ids;
    size_t count;
};

static enum status try_some(void *subject)
{
    const struct some_jobs *jobs = subject;
    struct transition_pass *pass = jobs->pass;
    struct db *db = pass->owner->db;
    struct transition_part part = {.wanted_count = 0};
    enum status status;

    arena_reset(pass->part);
    transition_tidy_results(pass);
    status = pass_lease_check(pass->lease);
    if (status == STATUS_OK)
        status =
            db_admin_due_lock(db, pass->part, jobs->ids, jobs->count, pass->rules.now, &part.old);
    if (status == STATUS_OK)
        status = allocate_part(pass, &part);
    if (status == STATUS_OK)
        status = find_held(pass, &part);
    if (status != STATUS_OK)
        return status;
    decide(pass, &part);
    if (part.wanted_count > RESULTS_MAX && part.old.workunit_count > 1)
        return STATUS_TOO_LARGE;
    if (part.wanted_count > 0)
        status = transition_make_results(pass, &part);
    if (status == STATUS_OK)
        status = save(pass, &part);
    if (status == STATUS_OK)
        status = db_commit(db);
    if (status == STATUS_OK) {
        add_counts(&pass->counts, &part.counts);
        fates_add(pass->owner->fates, pass->rules.now, part.fates, part.fate_count);
    }
    return status;
}

/* STATUS_OK: another workunit may do better. */
static enum status set_aside(struct transition_pass *pass, int64_t id, enum status why)
{
    struct pass_owner *owner = pass->owner;
    char words[24];
    enum status status;

    (void)snprintf(words, sizeof(words), "%" PRId64, id);
    (void)pass_failed(owner, why, "job");
    complain(&pass->complaints, pass->owner, "job", text_from(words), owner->failure->text,
             PASS_PUT_OFF);
    *owner->failure = (struct failure){.status = STATUS_OK};
    status = pass_lease_check(pass->lease);
    if (status == STATUS_OK)
        status =
            db_admin_due_postpone(owner->db, id, pass->rules.now, pass->rules.now + PASS_PUT_OFF);
    if (status == STATUS_OK)
        status = db_commit(owner->db);
    if (status == STATUS_OK)
        pass->counts.put_off++;
    else
        (void)db_rollback(owner->db);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status do_some(struct transition_pass *pass, const int64_t *ids, size_t count)
{
    enum status status =
        repeat_transaction(pass->owner->db, try_some, &(struct some_jobs){pass, ids, count});

    if (status == STATUS_NOT_FOUND)
        return STATUS_OK; /* others have them */
    if (status == STATUS_OK || pass->is_over || status == STATUS_DB_RETRY ||
        status == STATUS_DB_GONE || status == STATUS_DB_UNKNOWN || status == STATUS_DB_BUG)
        return status;
    if (count == 1)
        return set_aside(pass, ids[0], status);
    *pass->owner->failure = (struct failure){.status = STATUS_OK};
    status = do_some(pass, ids, count / 2);
    return status == STATUS_OK ? do_some(pass, ids + count / 2, count - count / 2) : status;
}

static enum status find_due(void *subject, int64_t *ret_ids, size_t most, size_t *ret_count)
{
    struct transition_pass *pass = subject;

    pass->next_place = pass->place;
    return db_admin_due(pass->owner->db, pass->rules.now, &pass->next_place, ret_ids, most,
                        ret_count);
}

static size_t part_jobs(const struct transition_pass *pass)
{
    int64_t left = pass->settings->jobs_max - pass->counts.jobs;

    if (pass->settings->jobs_max == 0 || left > DB_DUE_MOST)
        return DB_DUE_MOST;
    return left > 0 ? (size_t)left : 0;
}

static enum status run(struct transition_pass *pass)
{
    struct pass_owner *owner = pass->owner;
    int64_t ids[DB_DUE_MOST];
    size_t count = 0, most;
    enum status status;

    int64_t jobs = pass->counts.jobs;

    pass->place = (struct due_place){.transition_time = INT32_MIN};
    while ((most = part_jobs(pass)) > 0) {
        status = pass_lease_take(pass->lease, find_due, pass, ids, most, &count);
        pass->place = pass->next_place;
        if (status == STATUS_OK && count > 0)
            status = do_some(pass, ids, count);
        if (status != STATUS_OK)
            return pass_failed(owner, status, "transition");
        pass_progress(owner, "jobs done", pass->counts.jobs);
        if (count < most)
            break; /* what is due again by now comes in the next pass */
    }
    status = complaints_keep(&pass->complaints, owner,
                             &(struct pass_turn){.pass = "transition",
                                                 .now = pass->settings->now,
                                                 .failures = pass->complaints.count,
                                                 .has_done = pass->counts.jobs > jobs});
    return pass_failed(owner, status, "transition");
}

enum status transition_pass(struct pass_owner *owner, const struct pass_settings *settings,
                            struct pass_counts *counts)
{
    const struct config *config = owner->config;
    struct transition_pass *pass = calloc(1, sizeof(*pass));
    enum status status = STATUS_NO_MEMORY;

    if (pass == NULL)
        return fail(owner->failure, STATUS_NO_MEMORY, "no memory");
    pass->owner = owner;
    pass->settings = settings;
    pass->rules = (struct transition_rules){
        .now = settings->now,
        .delete_delay = (int64_t)(config->delete_delay_hours * 3600),
        .priority_on_over = config->reliable_priority_on_over,
        .priority_on_over_except_error = config->reliable_priority_on_over_except_error,
        .hr_class_static = config->hr_class_static};
    pass->part = arena_create(PART_BYTES);
    pass->template_arena = arena_create(TEMPLATE_BYTES);
    pass->lease = pass_lease_create(owner, "transition", 0);
    if (pass->part != NULL && pass->template_arena != NULL && pass->lease != NULL)
        status = run(pass);
    else
        (void)fail(owner->failure, status, "no memory");
    pass_lease_destroy(pass->lease);
    add_counts(counts, &pass->counts);
    documents_destroy(pass->documents);
    arena_destroy(pass->template_arena);
    arena_destroy(pass->part);
    free(pass);
    return status;
}
