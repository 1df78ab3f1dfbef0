/* SPDX-License-Identifier: Apache-2.0 */
/* Elements are told apart by where they stand: ROOT/batch/X, ROOT/batch/job_params/X,
 * ROOT/batch/job/X and ROOT/batch/job/input_file/X. A template within a job is written out again
 * from its elements and texts, which is all that its readers look at. */
#include "server/submission/rpc_batch.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/xml.h"
#include "server/submission/rpc_reply.h"
#include "server/submission/rpc_request.h"
#include "server/submission/spool.h"

#include <string.h>

#include "server/base/banned.h"

#define JOB_BYTES ((size_t)64 << 20)

enum batch_level { IN_ROOT = 1, IN_BATCH, IN_PART, IN_FILE };

enum value_kind { VALUE_TEXT, VALUE_INTEGER, VALUE_REAL, VALUE_FLAG, VALUE_TARGET };
struct batch_element {
    const char *name;
    enum value_kind kind;
    size_t offset;
    size_t presence; /* of a flag that says that it is there; 0: none */
};
#define OF_BATCH(name, kind)                                        \
    {                                                               \
#name, VALUE_##kind, offsetof(struct wanted_batch, name), 0 \
    }
#define OF_JOB(name, kind)                                        \
    {                                                             \
#name, VALUE_##kind, offsetof(struct wanted_job, name), 0 \
    }
#define OF_FILE(name)                                            \
    {                                                            \
#name, VALUE_TEXT, offsetof(struct wanted_file, name), 0 \
    }

static const struct batch_element batch_elements[] = {
    OF_BATCH(app_name, TEXT),
    OF_BATCH(app_version_num, INTEGER),
    {"batch_id", VALUE_INTEGER, offsetof(struct wanted_batch, batch.id), 0},
    {"batch_name", VALUE_TEXT, offsetof(struct wanted_batch, batch.name), 0},
    {"allocation_priority", VALUE_FLAG, offsetof(struct wanted_batch, has_share), 0},
    {"priority", VALUE_INTEGER, offsetof(struct wanted_batch, priority),
     offsetof(struct wanted_batch, has_priority)},
    {"input_template_filename", VALUE_TEXT, offsetof(struct wanted_batch, input_template), 0},
    {"workunit_template_file", VALUE_TEXT, offsetof(struct wanted_batch, input_template), 0},
    {"output_template_filename", VALUE_TEXT, offsetof(struct wanted_batch, output_template), 0},
    {NULL, VALUE_TEXT, 0, 0},
};
static const struct batch_element parameter_elements[] = {
    OF_BATCH(rsc_fpops_est, REAL),    OF_BATCH(rsc_fpops_bound, REAL),
    OF_BATCH(rsc_memory_bound, REAL), OF_BATCH(rsc_disk_bound, REAL),
    OF_BATCH(delay_bound, REAL),      {NULL, VALUE_TEXT, 0, 0},
};
static const struct batch_element job_elements[] = {
    OF_JOB(name, TEXT),
    OF_JOB(command_line, TEXT),
    OF_JOB(rsc_fpops_est, REAL),
    {"priority", VALUE_INTEGER, offsetof(struct wanted_job, priority),
     offsetof(struct wanted_job, has_priority)},
    {"target_team", VALUE_TARGET, offsetof(struct wanted_job, has_target), 0},
    {"target_user", VALUE_TARGET, offsetof(struct wanted_job, has_target), 0},
    {"target_host", VALUE_TARGET, offsetof(struct wanted_job, has_target), 0},
    {NULL, VALUE_TEXT, 0, 0},
};
static const struct batch_element file_elements[] = {
    OF_FILE(mode),   OF_FILE(source), OF_FILE(url),
    OF_FILE(nbytes), OF_FILE(md5),    {NULL, VALUE_TEXT, 0, 0},
};

struct batch_reading {
    struct arena *arena; /* of the batch, or of one job after the other */
    struct failure *failure;
    struct wanted_batch *batch; /* NULL: the jobs are read */
    wanted_job_call *call;
    void *context;
    size_t depth;
    bool is_in_batch, is_in_parameters, is_in_job, is_in_file;
    struct wanted_job job;
    struct wanted_file files[SUBMITTED_FILES_MAX];
    const struct batch_element *element; /* that is open; NULL: none that we know */
    size_t element_depth;
    struct text *template; /* that is open; NULL: none */
    bool is_empty;         /* of a template's element: nothing stood in it yet */
    struct buffer text;    /* of the element or the template */
    uint64_t jobs;
};

/* --- values ----------------------------------------------------------------------------------- */

static enum status fail_element(struct batch_reading *reading, const char *why)
{
    const char *name = reading->element->name;

    return reading->is_in_job ? fail(reading->failure, STATUS_INVALID, "job %" PRIu64 ": %s %s",
                                     reading->jobs, name, why)
                              : fail(reading->failure, STATUS_INVALID, "%s %s", name, why);
}

/* What is empty leaves 0. */
static enum status read_whole(struct batch_reading *reading, struct text text, int64_t *ret_number)
{
    return text_trim(text).length == 0 || text_to_whole(text, ret_number)
               ? STATUS_OK
               : fail_element(reading, "is not a whole number");
}

/* What is empty is 0. */
static enum status keep_value(struct batch_reading *reading, void *of, struct text text)
{
    const struct batch_element *element = reading->element;
    void *to = (char *)of + element->offset;
    int64_t target = 0;
    enum status status;

    if (element->presence != 0)
        *(bool *)((char *)of + element->presence) = true;
    switch (element->kind) {
    case VALUE_TEXT:
        if (((struct text *)to)->at == NULL)
            *(struct text *)to = text_copy(reading->arena, text);
        return STATUS_OK;
    case VALUE_INTEGER:
        return read_whole(reading, text, to);
    case VALUE_REAL:
        if (text_trim(text).length > 0 && !text_to_real(text, to))
            return fail_element(reading, "is not a number");
        return STATUS_OK;
    case VALUE_FLAG:
        *(bool *)to = true;
        return STATUS_OK;
    case VALUE_TARGET:
        status = read_whole(reading, text, &target);
        *(bool *)to |= target != 0;
        return status;
    }
    return STATUS_OK;
}

static const struct batch_element *find_element(const struct batch_element *elements,
                                                struct text name)
{
    for (; elements->name != NULL; elements++)
        if (text_is(name, elements->name))
            return elements;
    return NULL;
}

/* --- templates -------------------------------------------------------------------------------- */

static void open_in_template(struct batch_reading *reading, struct text name)
{
    if (reading->is_empty)
        buffer_add_char(&reading->text, '>');
    buffer_print(&reading->text, "<" TEXT_FORMAT, TEXT_ARG(name));
    reading->is_empty = true;
}

static void close_in_template(struct batch_reading *reading, struct text name)
{
    if (reading->is_empty)
        buffer_add_string(&reading->text, "/>");
    else
        buffer_print(&reading->text, "</" TEXT_FORMAT ">", TEXT_ARG(name));
    reading->is_empty = false;
}

static void add_in_template(struct batch_reading *reading, struct text piece)
{
    if (reading->is_empty)
        buffer_add_char(&reading->text, '>');
    reading->is_empty = false;
    rpc_escape(&reading->text, piece);
}

/* --- the walk --------------------------------------------------------------------------------- */

static enum status open_file(struct batch_reading *reading)
{
    if (reading->job.file_count == SUBMITTED_FILES_MAX)
        return fail(reading->failure, STATUS_TOO_LARGE,
                    "job %" PRIu64 " has more than %d input files", reading->jobs,
                    SUBMITTED_FILES_MAX);
    reading->is_in_file = true;
    reading->files[reading->job.file_count] = (struct wanted_file){.mode = NO_TEXT};
    return STATUS_OK;
}

static enum status open_in_job(struct batch_reading *reading, struct text name)
{
    if (text_is(name, "input_file"))
        return open_file(reading);
    if (text_is(name, "input_template"))
        reading->template = &reading->job.input_template;
    else if (text_is(name, "output_template"))
        reading->template = &reading->job.output_template;
    else
        reading->element = find_element(job_elements, name);
    if (reading->template != NULL)
        open_in_template(reading, name);
    return STATUS_OK;
}

static enum status open_in_batch(struct batch_reading *reading, struct text name)
{
    if (text_is(name, "job")) {
        if (reading->jobs++ == SUBMITTED_JOBS_MAX)
            return fail(reading->failure, STATUS_TOO_LARGE, "more than %d jobs",
                        SUBMITTED_JOBS_MAX);
        reading->is_in_job = reading->batch == NULL;
        reading->job = (struct wanted_job){.files = reading->files};
    } else if (reading->batch != NULL) {
        reading->is_in_parameters = text_is(name, "job_params");
        reading->element = find_element(batch_elements, name);
    }
    return STATUS_OK;
}

static enum status on_start(void *context, struct text name, int line)
{
    struct batch_reading *reading = context;

    (void)line;
    reading->depth++;
    if (reading->template != NULL) {
        open_in_template(reading, name);
        return STATUS_OK;
    }
    if (reading->element != NULL)
        return fail_element(reading, "has elements in it: write &lt; for <");
    reading->text.length = 0;
    reading->element_depth = reading->depth;
    switch (reading->depth) {
    case IN_BATCH:
        reading->is_in_batch = text_is(name, "batch");
        return STATUS_OK;
    case IN_PART:
        return reading->is_in_batch ? open_in_batch(reading, name) : STATUS_OK;
    case IN_FILE:
        if (reading->is_in_parameters)
            reading->element = find_element(parameter_elements, name);
        return reading->is_in_job ? open_in_job(reading, name) : STATUS_OK;
    case IN_FILE + 1:
        if (reading->is_in_file)
            reading->element = find_element(file_elements, name);
        return STATUS_OK;
    default:
        return STATUS_OK;
    }
}

static enum status on_text(void *context, struct text piece, int line)
{
    struct batch_reading *reading = context;

    (void)line;
    if (reading->template != NULL)
        add_in_template(reading, piece);
    else if (reading->element != NULL)
        buffer_add(&reading->text, piece);
    return reading->text.overflowed ? fail(reading->failure, STATUS_TOO_LARGE,
                                           "job %" PRIu64 " has a text above %d bytes",
                                           reading->jobs, SUBMITTED_CONTENT_MAX)
                                    : STATUS_OK;
}

static enum status close_element(struct batch_reading *reading)
{
    void *of = reading->is_in_file  ? (void *)&reading->files[reading->job.file_count]
               : reading->is_in_job ? (void *)&reading->job
                                    : (void *)reading->batch;
    enum status status = keep_value(reading, of, buffer_text(&reading->text));

    reading->element = NULL;
    return status;
}

static enum status close_job(struct batch_reading *reading)
{
    enum status status = arena_overflowed(reading->arena)
                             ? fail(reading->failure, STATUS_TOO_LARGE,
                                    "job %" PRIu64 " is too large", reading->jobs)
                             : reading->call(reading->context, &reading->job);

    reading->is_in_job = false;
    arena_reset(reading->arena);
    return status;
}

static enum status on_end(void *context, struct text name, int line)
{
    struct batch_reading *reading = context;
    size_t depth = reading->depth--;

    (void)line;
    if (reading->template != NULL) {
        close_in_template(reading, name);
        if (depth == IN_FILE) {
            *reading->template = text_copy(reading->arena, buffer_text(&reading->text));
            reading->template = NULL;
        }
        return STATUS_OK;
    }
    if (reading->element != NULL)
        return depth == reading->element_depth ? close_element(reading) : STATUS_OK;
    if (depth == IN_FILE && reading->is_in_file) {
        reading->is_in_file = false;
        reading->job.file_count++;
    } else if (depth == IN_PART) {
        reading->is_in_parameters = false;
        return reading->is_in_job ? close_job(reading) : STATUS_OK;
    } else if (depth == IN_BATCH) {
        reading->is_in_batch = false;
    }
    return STATUS_OK;
}

static enum status walk_batch(struct spool *spool, struct batch_reading *reading)
{
    const struct xml_source source = spool_source(spool);
    const struct xml_handler handler = {
        .context = reading, .start = on_start, .text = on_text, .end = on_end};
    const struct xml_limits limits = rpc_limits();
    enum status status;

    reading->text = buffer_on_heap(SUBMITTED_CONTENT_MAX);
    status = xml_walk_pieces(&source, &limits, &handler, reading->failure);
    buffer_free(&reading->text);
    return status;
}

enum status rpc_batch_read(struct spool *spool, struct arena *arena,
                           struct wanted_batch *ret_wanted, struct failure *failure)
{
    struct batch_reading reading = {.arena = arena, .failure = failure, .batch = ret_wanted};
    enum status status;

    *ret_wanted = (struct wanted_batch){.app_name = NO_TEXT};
    status = walk_batch(spool, &reading);
    return status == STATUS_OK && arena_overflowed(arena)
               ? fail(failure, STATUS_TOO_LARGE, "the batch is too large")
               : status;
}

enum status rpc_batch_walk(void *source, wanted_job_call *call, void *context)
{
    struct rpc_batch_jobs *jobs = source;
    struct batch_reading reading = {.failure = jobs->failure, .call = call, .context = context};
    enum status status;

    reading.arena = arena_create(JOB_BYTES);
    if (reading.arena == NULL)
        return fail(jobs->failure, STATUS_NO_MEMORY, "no memory");
    status = walk_batch(jobs->spool, &reading);
    arena_destroy(reading.arena);
    return status;
}
