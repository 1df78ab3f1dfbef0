/* SPDX-License-Identifier: Apache-2.0 */
/* A reply is a flat row of elements below scheduler_reply, some with fields. A job is put together
 * from three of them: its result, its workunit, and the version that both name. */
#include "tools/lab/volunteers/wire/wire.h"

#include "server/base/arena.h"
#include "server/base/xml.h"
#include "tools/lab/volunteers/host/rpc_messages.h"
#include "tools/lab/volunteers/wire/processor_kind.h"

#include <math.h>
#include <string.h>

#include "server/base/banned.h"

enum { DEPTH_MAX = 50, VALUE_MAX = 1024, FIELDS_MAX = 32, ELEMENTS_MAX = 2000 };

struct reply_field {
    struct text name, value;
};
/* An element below scheduler_reply with its fields. */
struct reply_element {
    struct text name;
    struct reply_field fields[FIELDS_MAX];
    size_t field_count;
};
/* Workunits and versions, kept until the end. */
struct reply_elements {
    struct reply_element **at;
    size_t count;
};

struct reading {
    struct arena *arena;
    struct incoming *incoming;
    int depth;
    bool is_reply, is_whole;
    struct reply_element element;
    char value[VALUE_MAX];
    size_t value_length;
    struct reply_elements workunits, versions, files;
};

static enum status on_start(void *context, struct text name, int line)
{
    struct reading *reading = context;

    (void)line;
    if (reading->depth == 0)
        reading->is_reply = text_is(name, "scheduler_reply");
    if (reading->depth == 1)
        reading->element = (struct reply_element){.name = text_copy(reading->arena, name)};
    reading->value_length = 0;
    reading->depth++;
    return STATUS_OK;
}

static enum status on_text(void *context, struct text piece, int line)
{
    struct reading *reading = context;
    struct text kept = text_first(piece, VALUE_MAX - reading->value_length);

    (void)line;
    if (kept.length > 0)
        memcpy(reading->value + reading->value_length, kept.at, kept.length);
    reading->value_length += kept.length;
    return STATUS_OK;
}

static struct text value_of(const struct reply_element *element, const char *name)
{
    for (size_t i = 0; i < element->field_count; i++)
        if (text_is(element->fields[i].name, name))
            return element->fields[i].value;
    return NO_TEXT;
}

static double real_of(struct text value)
{
    double number = 0;

    return text_to_real(value, &number) ? number : 0;
}

static int64_t integer_of(struct text value)
{
    int64_t number = 0;

    return text_to_i64(value, &number) ? number : 0;
}

static void keep_element(struct reading *reading, struct reply_elements *elements)
{
    struct reply_element *copy = ARENA_NEW(reading->arena, struct reply_element);

    if (copy == NULL || elements->count == ELEMENTS_MAX)
        return;
    *copy = reading->element;
    elements->at[elements->count++] = copy;
}

/* What the server says of a resource: "cpu sent". Only replies of Quartermaster have this
 * element. */
static void read_resource(struct incoming *incoming, struct text value)
{
    struct text state = value;
    size_t kind = processor_kind_find(text_split(&state, ' '));

    if (kind == CLIENT_RESOURCES)
        return;
    if (text_is(state, "sent"))
        incoming->answers[kind] = FETCH_SENT;
    else
        incoming->answers[kind] =
            text_is(state, "unsupported") ? FETCH_UNSUPPORTED : FETCH_NONE_NOW;
}

static void add_job(struct incoming *incoming, const struct reply_element *element)
{
    if (incoming->job_count == INCOMING_JOBS_MAX)
        return;
    incoming->jobs[incoming->job_count++] = (struct incoming_job){
        .name = value_of(element, "name"),
        .workunit = value_of(element, "wu_name"),
        .platform = value_of(element, "platform"),
        .plan_class = value_of(element, "plan_class"),
        .version = integer_of(value_of(element, "version_num")),
        .deadline = real_of(value_of(element, "report_deadline")),
        .output.name = value_of(element, "file_name"),
        .use.cpus = 1,
    };
}

static void add_abort(struct incoming *incoming, const struct reply_element *element,
                      bool if_not_started)
{
    if (incoming->abort_count < INCOMING_ABORTS_MAX)
        incoming->aborts[incoming->abort_count++] = (struct incoming_abort){
            .name = value_of(element, "name"), .if_not_started = if_not_started};
}

static void take_element(struct reading *reading, struct text value)
{
    struct incoming *incoming = reading->incoming;
    const struct reply_element *element = &reading->element;

    if (text_is(element->name, "userid")) {
        incoming->is_full = true;
    } else if (text_is(element->name, "message")) {
        if (incoming->message.length == 0)
            incoming->message = text_copy(reading->arena, value);
    } else if (text_is(element->name, "hostid")) {
        incoming->hostid = integer_of(value);
    } else if (text_is(element->name, "request_delay")) {
        incoming->request_delay = real_of(value);
    } else if (text_is(element->name, "next_rpc_delay")) {
        incoming->next_rpc_delay = real_of(value);
    } else if (text_is(element->name, "project_is_down")) {
        incoming->is_down = true;
    } else if (text_is(element->name, "no_work_deadlines")) {
        incoming->no_work_deadlines = true;
    } else if (text_is(element->name, "send_full_workload")) {
        incoming->send_full_workload = true;
    } else if (text_is(element->name, "rsc_status")) {
        read_resource(incoming, value);
    } else if (text_is(element->name, "workunit")) {
        keep_element(reading, &reading->workunits);
    } else if (text_is(element->name, "app_version")) {
        keep_element(reading, &reading->versions);
    } else if (text_is(element->name, "result_ack") && incoming->ack_count < INCOMING_ACKS_MAX) {
        incoming->acks[incoming->ack_count++] = value_of(element, "name");
    } else if (text_is(element->name, "file_info")) {
        keep_element(reading, &reading->files);
    } else if (text_is(element->name, "deletion_policy_priority")) {
        incoming->deletes_by_priority = true;
    } else if (text_is(element->name, "deletion_policy_expire")) {
        incoming->deletes_by_expiry = true;
    } else if (text_is(element->name, "delete_file_info")) {
        if (incoming->deletion_count < INCOMING_DELETIONS_MAX)
            incoming->deletions[incoming->deletion_count++] = text_copy(reading->arena, value);
    } else if (text_is(element->name, "result_abort")) {
        add_abort(incoming, element, false);
    } else if (text_is(element->name, "result_abort_if_not_started")) {
        add_abort(incoming, element, true);
    } else if (text_is(element->name, "result")) {
        add_job(incoming, element);
    }
}

/* Of what is nested deeper a version's coprocessor and the names of files are of interest. */
static bool is_kept(int depth, struct text name)
{
    return depth == 2 || (depth == 3 && (text_is(name, "type") || text_is(name, "count") ||
                                         text_is(name, "file_name")));
}

static enum status on_end(void *context, struct text name, int line)
{
    struct reading *reading = context;
    struct text value = text_trim((struct text){reading->value, reading->value_length});
    struct reply_element *element = &reading->element;

    (void)line;
    reading->depth--;
    if (reading->depth == 0)
        reading->is_whole = reading->is_reply;
    if (reading->depth == 1)
        take_element(reading, value);
    if (reading->depth == 2 && text_is(name, "sticky"))
        value = TEXT("1");
    if (is_kept(reading->depth, name) && value.length > 0 && element->field_count < FIELDS_MAX)
        element->fields[element->field_count++] =
            (struct reply_field){text_copy(reading->arena, name), text_copy(reading->arena, value)};
    reading->value_length = 0;
    return arena_overflowed(reading->arena) ? STATUS_NO_MEMORY : STATUS_OK;
}

/* Of a version, or of a workunit of a science app. */
static struct incoming_use read_use(const struct reply_element *element)
{
    double cpus = real_of(value_of(element, "avg_ncpus"));
    size_t kind = processor_kind_find(value_of(element, "type"));
    struct incoming_use use = {.flops = real_of(value_of(element, "flops")), .cpus = 1};

    if (value_of(element, "avg_ncpus").length > 0 && cpus >= 0)
        use.cpus = cpus;
    if (kind != CLIENT_RESOURCES && kind != CLIENT_CPU) {
        use.coproc = kind;
        use.coprocs = real_of(value_of(element, "count"));
    }
    return use;
}

/* Whether clients take what it uses from there, since 8.2.0. */
static bool has_use(const struct reply_element *workunit)
{
    return real_of(value_of(workunit, "avg_ncpus")) > 0 || value_of(workunit, "type").length > 0;
}

static const struct reply_element *find_file(const struct reading *reading, struct text name)
{
    for (size_t i = 0; i < reading->files.count; i++)
        if (text_equal(value_of(reading->files.at[i], "name"), name))
            return reading->files.at[i];
    return NULL;
}

static struct incoming_file describe_file(const struct reply_element *file, struct text name)
{
    return (struct incoming_file){.name = name,
                                  .bytes = real_of(value_of(file, "nbytes")),
                                  .priority =
                                      (int)fmin(fmax(real_of(value_of(file, "priority")), 0), 5),
                                  .life = fmax(real_of(value_of(file, "exp_days")) * 86400,
                                               real_of(value_of(file, "sticky_lifetime"))),
                                  .sticky = value_of(file, "sticky").length > 0};
}

static void add_files(const struct reading *reading, const struct reply_element *workunit,
                      struct incoming_job *job)
{
    struct incoming_file *files = ARENA_ARRAY(reading->arena, FIELDS_MAX, struct incoming_file);

    for (size_t i = 0; files != NULL && i < workunit->field_count; i++) {
        const struct reply_element *file;

        if (!text_is(workunit->fields[i].name, "file_name"))
            continue;
        file = find_file(reading, workunit->fields[i].value);
        if (file != NULL)
            files[job->file_count++] = describe_file(file, workunit->fields[i].value);
    }
    job->files = files;
}

static void complete_job(const struct reading *reading, struct incoming_job *job)
{
    const struct reply_element *own = NULL;
    const struct reply_element *output =
        job->output.name.length > 0 ? find_file(reading, job->output.name) : NULL;

    if (output != NULL)
        job->output = describe_file(output, job->output.name);
    for (size_t i = 0; i < reading->workunits.count; i++) {
        const struct reply_element *workunit = reading->workunits.at[i];

        if (!text_equal(value_of(workunit, "name"), job->workunit))
            continue;
        job->app = value_of(workunit, "app_name");
        job->operations = real_of(value_of(workunit, "rsc_fpops_est"));
        job->file_count = 0;
        add_files(reading, workunit, job);
        own = has_use(workunit) ? workunit : NULL;
    }
    for (size_t i = 0; i < reading->versions.count; i++) {
        const struct reply_element *version = reading->versions.at[i];

        if (text_equal(value_of(version, "app_name"), job->app) &&
            integer_of(value_of(version, "version_num")) == job->version &&
            text_equal(value_of(version, "platform"), job->platform) &&
            text_equal(value_of(version, "plan_class"), job->plan_class))
            job->use = job->version_use = read_use(version);
    }
    if (own != NULL)
        job->use = read_use(own);
}

enum status incoming_read(struct text reply, struct arena *arena, struct incoming *ret_incoming,
                          struct failure *failure)
{
    /* Servers copy preferences and messages into replies as they are, so a reply may be no good
     * XML. */
    const struct xml_limits limits = {
        .bytes_max = 64 << 20, .depth_max = DEPTH_MAX, .elements_max = 1000000, .recover = true};
    struct incoming incoming = {.is_down = false};
    struct reading reading = {.arena = arena, .incoming = &incoming};
    const struct xml_handler handler = {&reading, on_start, on_text, on_end};
    enum status status;

    incoming.jobs = ARENA_ARRAY(arena, INCOMING_JOBS_MAX, struct incoming_job);
    incoming.acks = ARENA_ARRAY(arena, INCOMING_ACKS_MAX, struct text);
    incoming.aborts = ARENA_ARRAY(arena, INCOMING_ABORTS_MAX, struct incoming_abort);
    incoming.deletions = ARENA_ARRAY(arena, INCOMING_DELETIONS_MAX, struct text);
    reading.files.at = ARENA_ARRAY(arena, ELEMENTS_MAX, struct reply_element *);
    reading.workunits.at = ARENA_ARRAY(arena, ELEMENTS_MAX, struct reply_element *);
    reading.versions.at = ARENA_ARRAY(arena, ELEMENTS_MAX, struct reply_element *);
    if (arena_overflowed(arena))
        return fail(failure, STATUS_NO_MEMORY, "no memory to read a reply");
    /* The recovering parser would invent a missing end. */
    if (!text_contains(reply, TEXT("</scheduler_reply>")))
        return fail(failure, STATUS_INVALID, "not a whole reply");
    status = xml_walk(reply, &limits, &handler, failure);
    if (status != STATUS_OK)
        return status;
    if (!reading.is_whole)
        return fail(failure, STATUS_INVALID, "not a whole reply");
    for (size_t i = 0; i < incoming.job_count; i++)
        complete_job(&reading, &incoming.jobs[i]);
    *ret_incoming = incoming;
    return STATUS_OK;
}
