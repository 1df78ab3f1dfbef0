/* SPDX-License-Identifier: Apache-2.0 */
/* Assigned jobs. What a host must be fit for (version, memory, disk, kind of computer) counts; what
 * says how much or how soon (amounts, limits, deadline) does not: the project wants the job there.
 *
 * A result is made at the moment when it is asked for, from the workunit's result template, under
 * the lock of the workunit and after its results were counted under that lock: so of two hosts that
 * ask at once only one makes it. Results that are there already, unsent, are taken first. */

#include "server/handout/handout.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/counters.h"
#include "server/base/crypto.h"
#include "server/base/file.h"
#include "server/base/log.h"
#include "server/base/random.h"
#include "server/policy/dispatch/choose.h"
#include "server/project/catalog.h"
#include "server/project/keys.h"
#include "server/project/project.h"
#include "server/rpc/request.h"
#include "server/submit/template_output.h"

#include <limits.h>
#include <stdlib.h>

#include "server/base/banned.h"

enum {
    ASSIGNMENTS_MAX = 1000, /* read in one request */
    NAME_MAX_BYTES = 190,
    SEED_RESULTS = 0x6173
};

/* --- a result that is not there yet ---------------------------------------------------------- */

static enum status write_document(const struct request *request, struct text template_path,
                                  struct text name, uint32_t number, struct text *ret_document,
                                  struct failure *failure)
{
    const struct config *config = request->config;
    const struct output_options options = output_options_from(config);
    struct output_template output;
    struct rsa_signer *signer = NULL;
    struct buffer buffer = buffer_in(request->arena);
    struct text document = NO_TEXT, key = NO_TEXT;
    const char *file = text_string(request->arena, template_path);
    char path[PATH_MAX];
    enum status status;

    project_path(config, file, path, sizeof(path));
    status = file_read(request->arena, path, TEMPLATE_BYTES_MAX, &document, failure);
    if (status == STATUS_OK)
        status = output_template_read(request->arena, file, document, &options, &output, failure);
    if (status == STATUS_OK && options.certificates && output.file_count > 0) {
        status = key_read(request->arena, config, "upload_private", &key, failure);
        if (status == STATUS_OK)
            status = rsa_signer_create(key, &signer, failure);
    }
    if (status == STATUS_OK)
        status =
            output_template_write(&output, request->arena, name, number, signer, &buffer, failure);
    rsa_signer_destroy(signer);
    if (status == STATUS_OK)
        *ret_document = buffer_text(&buffer);
    return status;
}

/* Nothing that is wrong with a template costs more than its job: *ret_id is 0 then. */
static enum status make_result(struct request *request, const struct workunit_row *workunit,
                               struct text template_path, int64_t *ret_id)
{
    struct random random = {.state =
                                random_mix(request->seed, SEED_RESULTS + (uint64_t)workunit->id)};
    uint64_t number = random_next(&random);
    /* One result per host and workunit, so the name is new. */
    struct assigned_result result = {
        .workunit = workunit,
        .name = text_print(request->arena, TEXT_FORMAT "_%lld_%lld", TEXT_ARG(workunit->name),
                           (long long)request->attempt.host.id, (long long)request->now),
        .create_time = (int64_t)request->now,
        .random = (int64_t)(number >> 33),
    };
    struct failure failure = {0};

    *ret_id = 0;
    if (result.name.length > NAME_MAX_BYTES)
        fail(&failure, STATUS_TOO_LARGE, "the name of the result would be too long");
    else
        (void)write_document(request, template_path, result.name, (uint32_t)number,
                             &result.xml_doc_in, &failure);
    if (failure.status != STATUS_OK) {
        counter_add(COUNTER_jobs_faulty, 1);
        log_line_with(LOG_LEVEL_WARNING, "why", text_from(failure.text),
                      "event=result_not_made workunit=%lld host=%lld", (long long)workunit->id,
                      (long long)request->attempt.host.id);
        return STATUS_OK;
    }
    return db_assigned_insert(request->db, &result, ret_id);
}

/* --- which ----------------------------------------------------------------------------------- */

struct assigning {
    struct request *request;
    const struct host_view *view;
    bool wants_work;
    struct tally *tally;
    struct choice_notes *notes;
    const struct assignment *assignments;
    size_t count;
    struct job *jobs; /* of those that the host is fit for, in their order */
    const struct assignment **of;
    size_t job_count;
};

static enum status read_assignments(struct assigning *assigning)
{
    struct request *request = assigning->request;
    const struct assignment_filter filter = {
        .hostid = request->attempt.host.id,
        .userid = request->attempt.user.id,
        .teamid = request->attempt.user.teamid > 0 ? request->attempt.user.teamid : -1,
        .targeted = request->config->enable_assignment && assigning->wants_work,
        .broadcast = request->config->enable_assignment_multi,
        .most = ASSIGNMENTS_MAX,
    };
    struct assignment *rows = NULL;
    size_t gone_count = 0;
    enum status status =
        db_assignments(request->db, request->arena, &filter, &rows, &assigning->count);
    int64_t *gone;

    if (status != STATUS_OK)
        return status;
    assigning->assignments = rows;
    gone = ARENA_ARRAY(request->arena, assigning->count, int64_t);
    assigning->jobs = ARENA_ARRAY(request->arena, assigning->count, struct job);
    assigning->of = ARENA_ARRAY(request->arena, assigning->count, const struct assignment *);
    if (gone == NULL || assigning->jobs == NULL || assigning->of == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < assigning->count; i++)
        if (rows[i].workunit.id == 0)
            gone[gone_count++] = rows[i].id;
    return gone_count == 0 ? STATUS_OK : db_assignments_delete(request->db, gone, gone_count);
}

/* The host is asked for its coprocessors first, as for other jobs. */
static bool is_fit(struct assigning *assigning, struct job *job)
{
    struct refusal refusal = {.reason = REASON_COUNT};

    for (size_t resource = assigning->view->asked.resource_count; resource-- > 0;)
        if (job_check(assigning->view, assigning->tally, CHECK_ASSIGNED, resource, job, &refusal))
            return true;
    refusals_add(&assigning->notes->refusals, &refusal);
    return false;
}

static void find_fit(struct assigning *assigning)
{
    for (size_t i = 0; i < assigning->count; i++) {
        const struct assignment *assignment = &assigning->assignments[i];
        struct job job = {
            .priority = assignment->workunit.priority,
            .workunit = &assignment->workunit,
            .app = catalog_app(assigning->request->catalog, assignment->workunit.appid),
            .assignment = assignment->is_broadcast ? JOB_BROADCAST : JOB_TARGETED,
        };

        if (assignment->workunit.id == 0 || !is_fit(assigning, &job))
            continue;
        assigning->jobs[assigning->job_count] = job;
        assigning->of[assigning->job_count++] = assignment;
    }
}

static const struct assigned_workunit_row *find_locked(const struct assigned_workunit_row *rows,
                                                       size_t count, int64_t id)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].id == id)
            return &rows[i];
    return NULL;
}

/* A targeted job must fit into what the request asks for; one workunit may be assigned in several
 * ways. */
static bool has_place(const struct assigning *assigning, const struct job *job,
                      struct job *const *chosen, size_t count)
{
    const struct tally *tally = assigning->tally;
    bool is_wanted = job->assignment == JOB_BROADCAST;

    for (size_t i = 0; i < count; i++)
        if (chosen[i]->workunit->id == job->workunit->id)
            return false;
    for (size_t i = 0; i < tally->left.resource_count; i++)
        is_wanted = is_wanted || amounts_wants(&tally->left, i);
    return is_wanted && tally->jobs < assigning->view->limits.reply;
}

static enum status take(struct assigning *assigning, const struct assigned_workunit_row *locked,
                        struct job *job)
{
    const struct assignment_question question = {
        .is_broadcast = job->assignment == JOB_BROADCAST,
        .error_mask = locked->error_mask,
        .canonical_resultid = locked->canonical_resultid,
        .need_validate = locked->need_validate,
        .transition_time = locked->transition_time,
        .wanted_results = locked->wanted_results,
        .results_of_host = locked->results_of_host,
        .unsent = locked->unsent,
        .in_progress = locked->in_progress,
        .success = locked->success,
        .has_unsent = locked->unsent_resultid != 0,
        .now = (int64_t)assigning->request->now,
    };

    switch (assignment_decide(&question)) {
    case ASSIGNMENT_UNSENT:
        job->resultid = locked->unsent_resultid;
        return STATUS_OK;
    case ASSIGNMENT_NEW:
        return make_result(assigning->request, job->workunit, locked->result_template_file,
                           &job->resultid);
    case ASSIGNMENT_NOT:
        break;
    }
    return STATUS_OK;
}

static enum status choose(struct assigning *assigning, struct job ***ret_jobs, size_t *ret_count)
{
    struct request *request = assigning->request;
    struct job **chosen = ARENA_ARRAY(request->arena, assigning->job_count, struct job *);
    int64_t *ids = ARENA_ARRAY(request->arena, assigning->job_count, int64_t);
    struct assigned_workunit_row *rows = NULL;
    size_t row_count = 0, count = 0;
    enum status status;

    if (chosen == NULL || ids == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < assigning->job_count; i++)
        ids[i] = assigning->jobs[i].workunit->id;
    status = db_assigned_lock(request->db, request->arena, ids, assigning->job_count,
                              request->attempt.host.id, &rows, &row_count);
    for (size_t i = 0; status == STATUS_OK && i < assigning->job_count; i++) {
        struct job *job = &assigning->jobs[i];
        const struct assigned_workunit_row *locked =
            find_locked(rows, row_count, job->workunit->id);

        if (locked == NULL || !has_place(assigning, job, chosen, count))
            continue;
        status = take(assigning, locked, job);
        if (status != STATUS_OK || job->resultid == 0)
            continue;
        tally_take(assigning->tally, assigning->view, job);
        chosen[count++] = job;
    }
    *ret_jobs = chosen;
    *ret_count = count;
    return status;
}

enum status assigned_choose(struct request *request, const struct host_view *view, bool wants_work,
                            struct tally *tally, struct choice_notes *notes, struct job ***ret_jobs,
                            size_t *ret_count)
{
    struct assigning assigning = {
        .request = request, .view = view, .wants_work = wants_work, .tally = tally, .notes = notes};
    enum status status = read_assignments(&assigning);

    *ret_jobs = NULL;
    *ret_count = 0;
    if (status != STATUS_OK)
        return status;
    find_fit(&assigning);
    return assigning.job_count == 0 ? STATUS_OK : choose(&assigning, ret_jobs, ret_count);
}
