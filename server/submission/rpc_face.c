/* SPDX-License-Identifier: Apache-2.0 */
#include "server/submission/rpc_face.h"

#include "db/states.h"
#include "db/submitted.h"
#include "server/base/arena.h"
#include "server/submission/batch_desk.h"
#include "server/submission/desk.h"
#include "server/submission/rpc_batch.h"
#include "server/submission/rpc_request.h"
#include "server/submission/template_desk.h"

#include "server/base/banned.h"

enum { BATCHES_AT_ONCE = 100, GLANCES_MAX = 1000 /* batches, each looked for and counted */ };

struct rpc_call {
    struct desk *desk;
    struct spool *spool;
    struct rpc_request request;
    struct rpc_reply reply;
    struct submitter submitter;
};

/* --- what the request says -------------------------------------------------------------------- */

/* What is not there is 0. */
static enum status read_integer(struct rpc_call *call, const char *name, struct text value,
                                int64_t *ret_number)
{
    *ret_number = 0;
    return value.length == 0 || text_to_whole(value, ret_number)
               ? STATUS_OK
               : fail(call->desk->failure, STATUS_INVALID, "%s is not a whole number", name);
}

static enum status read_real(struct rpc_call *call, const char *name, struct text value,
                             double *ret_number)
{
    *ret_number = 0;
    return value.length == 0 || text_to_real(value, ret_number)
               ? STATUS_OK
               : fail(call->desk->failure, STATUS_INVALID, "%s is not a number", name);
}

/* The batch that is meant by batch_id or batch_name. */
static enum status read_batch(struct rpc_call *call, struct owned_batch_row *ret_batch)
{
    struct batch_named named = {.name = rpc_first(&call->request.batch_names)};
    enum status status = read_integer(call, "batch_id", call->request.batch_id, &named.id);

    return status == STATUS_OK ? desk_batch(call->desk, &call->submitter, &named, ret_batch)
                               : status;
}

/* --- commands on batches ---------------------------------------------------------------------- */

static void add_success(struct rpc_call *call)
{
    rpc_add_integer(&call->reply, "success", 1);
}

static enum status ping(struct rpc_call *call)
{
    if (call->desk->db == NULL)
        return fail(call->desk->failure, STATUS_DB_GONE, "the project's database is away");
    add_success(call);
    return STATUS_OK;
}

static enum status create_batch(struct rpc_call *call)
{
    struct app_row app;
    double expire_time = 0;
    int64_t id = 0;
    enum status status = desk_app(call->desk, &call->submitter, call->request.app_name, &app);

    if (status == STATUS_OK)
        status = read_real(call, "expire_time", call->request.expire_time, &expire_time);
    if (status == STATUS_OK)
        status = desk_create_batch(call->desk, &call->submitter, &app,
                                   rpc_first(&call->request.batch_names), expire_time, &id);
    if (status == STATUS_OK)
        rpc_add_integer(&call->reply, "batch_id", id);
    return status;
}

static enum status submit_batch(struct rpc_call *call)
{
    struct rpc_batch_jobs source = {.spool = call->spool, .failure = call->desk->failure};
    const struct wanted_jobs jobs = {.walk = rpc_batch_walk, .source = &source};
    struct wanted_batch wanted;
    int64_t id = 0;
    enum status status =
        rpc_batch_read(call->spool, call->desk->arena, &wanted, call->desk->failure);

    if (status == STATUS_OK)
        status = desk_submit(call->desk, &call->submitter, &wanted, &jobs, &id);
    if (status == STATUS_OK)
        rpc_add_integer(&call->reply, "batch_id", id);
    return status;
}

static enum status estimate_batch(struct rpc_call *call)
{
    struct rpc_batch_jobs source = {.spool = call->spool, .failure = call->desk->failure};
    const struct wanted_jobs jobs = {.walk = rpc_batch_walk, .source = &source};
    struct wanted_batch wanted;
    double half = 0, most = 0;
    enum status status =
        rpc_batch_read(call->spool, call->desk->arena, &wanted, call->desk->failure);

    if (status == STATUS_OK)
        status = desk_estimate(call->desk, &call->submitter, &wanted, &jobs, &half, &most);
    if (status == STATUS_OK)
        rpc_add_real(&call->reply, "seconds", half);
    if (status == STATUS_OK && most > 0)
        rpc_add_real(&call->reply, "seconds_most", most); /* BOINC has no such element */
    return status;
}

typedef enum status batch_call(struct desk *desk, const struct owned_batch_row *batch);

static enum status on_batch(struct rpc_call *call, batch_call *operation)
{
    struct owned_batch_row batch;
    enum status status = read_batch(call, &batch);

    if (status == STATUS_OK)
        status = operation(call->desk, &batch);
    if (status == STATUS_OK)
        add_success(call);
    return status;
}

static enum status abort_batch(struct rpc_call *call)
{
    return on_batch(call, desk_abort_batch);
}

static enum status retire_batch(struct rpc_call *call)
{
    return on_batch(call, desk_retire_batch);
}

static enum status set_expire_time(struct rpc_call *call)
{
    struct owned_batch_row batch;
    double expire_time = 0;
    enum status status = read_batch(call, &batch);

    if (status == STATUS_OK)
        status = read_real(call, "expire_time", call->request.expire_time, &expire_time);
    if (status == STATUS_OK)
        status = desk_expire_batch(call->desk, &batch, expire_time);
    if (status == STATUS_OK)
        add_success(call);
    return status;
}

static enum status abort_jobs(struct rpc_call *call)
{
    const struct rpc_list *names = &call->request.job_names;
    enum status status = desk_abort_jobs(call->desk, &call->submitter, names->items, names->count);

    if (status == STATUS_OK)
        add_success(call);
    return status;
}

/* --- what is known of batches ----------------------------------------------------------------- */

static enum status add_batch(struct rpc_call *call, struct owned_batch_row *batch)
{
    struct rpc_reply *reply = &call->reply;
    int64_t with_cpu_time;
    double cpu_time = 0;
    enum status status = desk_refresh(call->desk, &call->submitter, batch);

    if (status == STATUS_OK)
        status = read_integer(call, "get_cpu_time", call->request.get_cpu_time, &with_cpu_time);
    if (status == STATUS_OK && with_cpu_time != 0)
        status = desk_failed(call->desk, db_batch_cpu_time(call->desk->db, batch->id, &cpu_time),
                             "results");
    if (status != STATUS_OK)
        return status;
    rpc_add_integer(reply, "id", batch->id);
    rpc_add_integer(reply, "create_time", batch->create_time);
    rpc_add_real(reply, "expire_time", batch->expire_time);
    rpc_add_real(reply, "est_completion_time", batch->est_completion_time);
    rpc_add_integer(reply, "njobs", batch->njobs);
    rpc_add_real(reply, "fraction_done", batch->fraction_done);
    rpc_add_integer(reply, "nerror_jobs", batch->nerror_jobs);
    rpc_add_integer(reply, "state", batch->state);
    rpc_add_real(reply, "completion_time", batch->completion_time);
    rpc_add_real(reply, "credit_estimate", batch->credit_estimate);
    rpc_add_real(reply, "credit_canonical", batch->credit_canonical);
    rpc_add_text(reply, "name", batch->name);
    rpc_add_text(reply, "app_name", batch->app_name);
    if (with_cpu_time != 0)
        rpc_add_real(reply, "total_cpu_time", cpu_time);
    return STATUS_OK;
}

static enum status query_batches(struct rpc_call *call)
{
    int64_t after = 0;
    size_t count = BATCHES_AT_ONCE;
    enum status status = STATUS_OK;

    while (status == STATUS_OK && count == BATCHES_AT_ONCE) {
        struct arena_mark mark = arena_mark(call->desk->arena);
        struct owned_batch_row *rows;

        status =
            desk_failed(call->desk,
                        db_owned_batches(call->desk->db, call->desk->arena, call->submitter.userid,
                                         after, BATCHES_AT_ONCE, &rows, &count),
                        "batches");
        for (size_t i = 0; status == STATUS_OK && i < count; i++) {
            after = rows[i].id;
            rpc_add_open(&call->reply, "batch");
            status = add_batch(call, &rows[i]);
            rpc_add_close(&call->reply, "batch");
        }
        arena_rewind(call->desk->arena, mark);
    }
    return status;
}

/* An element <error> with words, one for each bit; a failure's has a number. */
static void add_job_errors(struct rpc_reply *reply, int64_t error_mask)
{
    static const struct {
        int64_t bit;
        const char *word;
    } bits[] = {{WU_ERROR_COULDNT_SEND_RESULT, "couldnt_send_result"},
                {WU_ERROR_TOO_MANY_ERROR_RESULTS, "too_many_error_results"},
                {WU_ERROR_TOO_MANY_SUCCESS_RESULTS, "too_many_success_results"},
                {WU_ERROR_TOO_MANY_TOTAL_RESULTS, "too_many_total_results"},
                {WU_ERROR_CANCELLED, "cancelled"},
                {WU_ERROR_NO_CANONICAL_RESULT, "no_canonical_result"}};

    for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
        if ((error_mask & bits[i].bit) != 0)
            rpc_add_text(reply, "error", text_from(bits[i].word));
}

static const char *job_status(const struct desk_job *job)
{
    if (job->row->error_mask != 0)
        return "error";
    if (job->row->canonical_resultid != 0)
        return "done";
    for (size_t i = 0; i < job->instance_count; i++)
        if (job->instances[i].server_state == RESULT_IN_PROGRESS)
            return "in_progress";
    return "queued";
}

static void add_job_details(struct rpc_reply *reply, const struct desk_job *job)
{
    add_job_errors(reply, job->row->error_mask);
    for (size_t i = 0; i < job->instance_count; i++) {
        const struct owned_instance_row *instance = &job->instances[i];

        if (job->row->error_mask != 0 && instance->outcome == OUTCOME_CLIENT_ERROR)
            rpc_add_integer(reply, "exit_status", instance->exit_status);
        if (instance->id == job->row->canonical_resultid)
            rpc_add_real(reply, "cpu_time", instance->cpu_time);
    }
    rpc_add_text(reply, "status", text_from(job_status(job)));
}

static void add_job(struct rpc_reply *reply, const struct desk_job *job, bool with_details)
{
    rpc_add_open(reply, "job");
    if (with_details)
        add_job_details(reply, job);
    rpc_add_integer(reply, "id", job->row->id);
    rpc_add_text(reply, "name", job->row->name);
    rpc_add_integer(reply, "canonical_instance_id", job->row->canonical_resultid);
    rpc_add_close(reply, "job");
}

static void add_plain_job(void *context, const struct desk_job *job)
{
    add_job(context, job, false);
}

static void add_detailed_job(void *context, const struct desk_job *job)
{
    add_job(context, job, true);
}

static enum status query_batch(struct rpc_call *call)
{
    struct owned_batch_row batch;
    int64_t with_details = 0;
    enum status status = read_batch(call, &batch);

    if (status == STATUS_OK)
        status =
            read_integer(call, "get_job_details", call->request.get_job_details, &with_details);
    if (status == STATUS_OK)
        status = add_batch(call, &batch);
    return status == STATUS_OK
               ? desk_each_job(call->desk, batch.id, 0,
                               with_details != 0 ? add_detailed_job : add_plain_job, &call->reply)
               : status;
}

/* --- many batches at a glance ------------------------------------------------------------------
 */

static const char *job_word(const struct desk_job *job)
{
    if (job->row->canonical_resultid != 0)
        return "DONE";
    if (job->row->error_mask != 0)
        return "ERROR";
    for (size_t i = 0; i < job->instance_count; i++)
        if (job->instances[i].sent_time > 0)
            return "IN_PROGRESS";
    return "UNSENT";
}

static void count_job(void *context, const struct desk_job *job)
{
    int64_t *count = context;

    (void)job;
    ++*count;
}

/* Jobs that a list begins with have to be as many as its head says, whatever changes meanwhile. */
struct glance {
    struct rpc_reply *reply;
    int64_t left;
};

static void add_glance(void *context, const struct desk_job *job)
{
    struct glance *glance = context;

    if (glance->left-- <= 0)
        return;
    rpc_add_open(glance->reply, "job");
    rpc_add_text(glance->reply, "job_name", job->row->name);
    rpc_add_text(glance->reply, "status", text_from(job_word(job)));
    rpc_add_close(glance->reply, "job");
}

static enum status add_batch_glance(struct rpc_call *call, int64_t batch, int64_t since)
{
    struct glance glance = {.reply = &call->reply};
    enum status status = desk_each_job(call->desk, batch, since, count_job, &glance.left);

    if (status != STATUS_OK)
        return status;
    rpc_add_integer(&call->reply, "batch_size", glance.left);
    return desk_each_job(call->desk, batch, since, add_glance, &glance);
}

/* All are found before anything is said of one. */
static enum status find_batches(struct rpc_call *call, int64_t *ret_ids)
{
    const struct rpc_list *names = &call->request.batch_names;
    enum status status = STATUS_OK;

    for (size_t i = 0; i < names->count && status == STATUS_OK; i++) {
        struct arena_mark mark = arena_mark(call->desk->arena);
        struct batch_named named = {.name = names->items[i]};
        struct owned_batch_row batch;

        status = desk_batch(call->desk, &call->submitter, &named, &batch);
        ret_ids[i] = status == STATUS_OK ? batch.id : 0;
        arena_rewind(call->desk->arena, mark);
    }
    return status;
}

/* Changes are known to the second: whoever asks next with the time that is told here hears of those
 * in this second too, some of them twice. */
static enum status query_batch2(struct rpc_call *call)
{
    const struct rpc_list *names = &call->request.batch_names;
    int64_t *ids = ARENA_ARRAY(call->desk->arena, names->count, int64_t);
    double since = 0;
    int64_t now = 0;
    enum status status = read_real(call, "min_mod_time", call->request.min_mod_time, &since);

    if (ids == NULL || names->count > GLANCES_MAX)
        return fail(call->desk->failure, STATUS_TOO_LARGE, "more than %d batches", GLANCES_MAX);
    if (status == STATUS_OK && (since < 0 || since > (double)INT32_MAX))
        status = fail(call->desk->failure, STATUS_INVALID, "min_mod_time is no time");
    if (status == STATUS_OK)
        status = find_batches(call, ids);
    if (status == STATUS_OK)
        status = desk_failed(call->desk, db_database_now(call->desk->db, &now), "time");
    if (status != STATUS_OK)
        return status;
    rpc_add_integer(&call->reply, "server_time", now - 1);
    for (size_t i = 0; i < names->count && status == STATUS_OK; i++)
        status = add_batch_glance(call, ids[i], since > 0 ? (int64_t)since + 1 : 0);
    return status;
}

/* --- what is known of jobs ---------------------------------------------------------------------
 */

static const char *instance_words(const struct owned_instance_row *instance)
{
    switch (instance->server_state) {
    case RESULT_INACTIVE:
        return "Inactive";
    case RESULT_UNSENT:
        return "Unsent";
    case RESULT_IN_PROGRESS:
        return "In progress";
    default:
        break;
    }
    if (instance->outcome != OUTCOME_SUCCESS)
        return "Over";
    if (instance->validate_state == VALIDATE_VALID)
        return "Completed and validated";
    return instance->validate_state == VALIDATE_INIT ? "Completed, waiting for validation"
                                                     : "Completed, marked as invalid";
}

static enum status query_job(struct rpc_call *call)
{
    struct owned_job_row job;
    struct owned_instance_row *instances = NULL;
    size_t count = 0;
    int64_t id = 0;
    enum status status = read_integer(call, "job_id", call->request.job_id, &id);

    if (status == STATUS_OK)
        status = desk_find_job(call->desk, &call->submitter, id,
                               rpc_first(&call->request.job_names), &job);
    if (status == STATUS_OK)
        status = desk_failed(
            call->desk,
            db_owned_instances(call->desk->db, call->desk->arena, &job, 1, &instances, &count),
            "results");
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        rpc_add_open(&call->reply, "instance");
        rpc_add_text(&call->reply, "name", instances[i].name);
        rpc_add_integer(&call->reply, "id", instances[i].id);
        rpc_add_text(&call->reply, "state", text_from(instance_words(&instances[i])));
        rpc_add_close(&call->reply, "instance");
    }
    return status;
}

/* Readers unescape what stands in the section once more. */
static void add_stderr(struct rpc_reply *reply, struct text stderr_out)
{
    buffer_add_string(&reply->text, "    <stderr_out><![CDATA[");
    rpc_escape(&reply->text, stderr_out);
    buffer_add_string(&reply->text, "]]></stderr_out>\n");
}

static void add_completed(struct rpc_call *call, const struct owned_job_row *job,
                          const struct ended_instance_row *instance)
{
    struct rpc_reply *reply = &call->reply;

    rpc_add_open(reply, "completed_job");
    rpc_add_integer(reply, "error_mask", job->error_mask);
    if (instance != NULL) {
        rpc_add_integer(reply,
                        job->canonical_resultid != 0 ? "canonical_resultid" : "error_resultid",
                        instance->id);
        rpc_add_integer(reply, "exit_status", instance->exit_status);
        rpc_add_real(reply, "elapsed_time", instance->elapsed_time);
        rpc_add_real(reply, "cpu_time", instance->cpu_time);
        add_stderr(reply, instance->stderr_out);
    }
    rpc_add_close(reply, "completed_job");
}

/* Of a job that is not at its end only that it has no error. */
static enum status query_completed_job(struct rpc_call *call)
{
    struct owned_job_row job;
    struct ended_instance_row instance;
    bool has_ended, is_found = false;
    enum status status =
        desk_find_job(call->desk, &call->submitter, 0, rpc_first(&call->request.job_names), &job);

    if (status != STATUS_OK)
        return status;
    has_ended = job.canonical_resultid != 0 || job.error_mask != 0;
    if (has_ended) {
        status = db_ended_instance(call->desk->db, call->desk->arena, &job, &instance);
        is_found = status == STATUS_OK;
    }
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return desk_failed(call->desk, status, "result");
    add_completed(call, &job, is_found ? &instance : NULL);
    return STATUS_OK;
}

/* Of the application that is named, or that of the job. */
static enum status get_templates(struct rpc_call *call)
{
    struct app_row app;
    struct desk_templates templates;
    struct owned_job_row job;
    struct batch_named named = {.id = 0};
    struct owned_batch_row batch;
    struct text app_name = call->request.app_name;
    enum status status = STATUS_OK;

    if (app_name.length == 0 && call->request.job_names.count > 0) {
        status = desk_find_job(call->desk, &call->submitter, 0, rpc_first(&call->request.job_names),
                               &job);
        named.id = status == STATUS_OK ? job.batch : 0;
        if (status == STATUS_OK)
            status = desk_batch(call->desk, &call->submitter, &named, &batch);
        if (status == STATUS_OK)
            app_name = batch.app_name;
    }
    if (status == STATUS_OK)
        status = desk_app(call->desk, &call->submitter, app_name, &app);
    if (status == STATUS_OK)
        status = desk_app_templates(call->desk, app.name, &templates);
    if (status != STATUS_OK)
        return status;
    rpc_add_open(&call->reply, "templates");
    buffer_add(&call->reply.text, templates.input);
    buffer_add_string(&call->reply.text, "\n");
    buffer_add(&call->reply.text, templates.output);
    buffer_add_string(&call->reply.text, "\n");
    rpc_add_close(&call->reply, "templates");
    return STATUS_OK;
}

/* --- the walk ----------------------------------------------------------------------------------
 */

static const struct rpc_command {
    const char *name;
    enum status (*run)(struct rpc_call *call);
    bool is_for_all; /* without an authenticator */
} commands[] = {
    {"ping", ping, true},
    {"create_batch", create_batch, false},
    {"submit_batch", submit_batch, false},
    {"estimate_batch", estimate_batch, false},
    {"query_batches", query_batches, false},
    {"query_batch", query_batch, false},
    {"query_batch2", query_batch2, false},
    {"query_job", query_job, false},
    {"query_completed_job", query_completed_job, false},
    {"abort_batch", abort_batch, false},
    {"abort_jobs", abort_jobs, false},
    {"retire_batch", retire_batch, false},
    {"set_expire_time", set_expire_time, false},
    {"get_templates", get_templates, false},
};

static const struct rpc_command *find_command(struct text name)
{
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (text_is(name, commands[i].name))
            return &commands[i];
    return NULL;
}

static int error_of(enum status status)
{
    switch (status) {
    case STATUS_OK:
        return 0;
    case STATUS_DB_GONE:
    case STATUS_DB_RETRY:
    case STATUS_DB_UNKNOWN:
        return RPC_DATABASE_AWAY;
    case STATUS_NOT_FOUND:
    case STATUS_INVALID:
    case STATUS_TOO_LARGE:
    case STATUS_NO_MEMORY:
    case STATUS_IO:
    case STATUS_DB_REFUSED:
    case STATUS_DB_BUG:
    case STATUS_COUNT:
        break;
    }
    return RPC_ERROR;
}

enum status rpc_read_request(struct rpc_exchange *exchange, struct rpc_request *ret_request)
{
    struct xml_source source = spool_source(exchange->spool);
    struct failure why = {.status = STATUS_OK};
    enum status status;

    if (exchange->spool->length == 0)
        return fail(exchange->desk->failure, STATUS_INVALID,
                    "the form has no field request with something in it");
    status = rpc_request_read(&source, exchange->desk->arena, ret_request, &why);
    return status == STATUS_OK
               ? status
               : fail(exchange->desk->failure, status, "the request cannot be read: %s", why.text);
}

static enum status run(struct rpc_call *call, const struct rpc_command *command)
{
    enum status status = STATUS_OK;

    if (!command->is_for_all)
        status = desk_submitter(call->desk, call->request.authenticator, &call->submitter);
    return status == STATUS_OK ? command->run(call) : status;
}

void rpc_reply_status(struct rpc_exchange *exchange, struct rpc_reply *reply, enum status status)
{
    bool is_stopped = exchange->is_stopped && exchange->command.length > 0;

    exchange->error = is_stopped ? RPC_STOPPED : error_of(status);
    rpc_reply_end(reply, exchange->error,
                  is_stopped ? TEXT("the project takes no requests at the moment")
                             : text_from(exchange->desk->failure->text));
}

void rpc_answer(struct rpc_exchange *exchange, enum status status)
{
    struct desk *desk = exchange->desk;
    struct rpc_call call = {.desk = desk, .spool = exchange->spool};
    const struct rpc_command *command = NULL;

    if (status == STATUS_OK)
        status = rpc_read_request(exchange, &call.request);
    if (status == STATUS_OK) {
        command = find_command(call.request.command);
        if (command == NULL)
            status = fail(desk->failure, STATUS_INVALID, "there is no command " TEXT_FORMAT,
                          TEXT_ARG(text_first(call.request.command, 100)));
    }
    if (command != NULL)
        exchange->command = text_from(command->name);
    rpc_reply_begin(&call.reply, exchange->command, exchange->send, exchange->context);
    if (status == STATUS_OK && !exchange->is_stopped)
        status = run(&call, command);
    exchange->userid = call.submitter.userid;
    rpc_reply_status(exchange, &call.reply, status);
}
