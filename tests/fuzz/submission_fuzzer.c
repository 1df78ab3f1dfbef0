/* SPDX-License-Identifier: Apache-2.0 */
/* A posted form, and what it holds as a request to submit: read in any pieces it says the same, and
 * whatever is read of it can be written into a reply. The first byte says how it is cut, and its
 * encoding. */
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/xml.h"
#include "server/submission/form.h"
#include "server/submission/rpc_batch.h"
#include "server/submission/rpc_reply.h"
#include "server/submission/rpc_request.h"
#include "server/submission/spool.h"

#include "server/base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct spool spool;
static struct buffer sent;

static enum status begin_field(void *context, struct text name, bool is_file)
{
    (void)context;
    (void)is_file;
    must(name.length <= FORM_NAME_MAX);
    return STATUS_OK;
}

static enum status add_bytes(void *context, struct text bytes)
{
    buffer_add(context, bytes);
    return STATUS_OK;
}

static enum status end_field(void *context)
{
    (void)context;
    return STATUS_OK;
}

static enum status read_form(const char *type, struct text body, size_t piece, struct buffer *told)
{
    const struct form_taker taker = {
        .context = told, .begin = begin_field, .add = add_bytes, .end = end_field};
    struct failure failure = {.status = STATUS_OK};
    struct form form;
    enum status status = form_begin(&form, text_from(type), &taker, &failure);

    while (status == STATUS_OK && body.length > 0) {
        struct text part = text_first(body, piece);

        status = form_add(&form, part);
        body.at += part.length;
        body.length -= part.length;
    }
    return status == STATUS_OK ? form_end(&form) : status;
}

static void check_form(const char *type, struct text body, size_t piece)
{
    struct buffer whole = buffer_on_heap(0), cut = buffer_on_heap(0);
    enum status status = read_form(type, body, body.length + 1, &whole);

    must(read_form(type, body, piece, &cut) == status);
    must(status != STATUS_OK || text_equal(buffer_text(&whole), buffer_text(&cut)));
    buffer_free(&whole);
    buffer_free(&cut);
}

static void keep_sent(void *context, struct text bytes)
{
    (void)context;
    buffer_add(&sent, bytes);
}

static enum status write_job(void *context, const struct wanted_job *job)
{
    struct rpc_reply *reply = context;

    must(job->file_count <= SUBMITTED_FILES_MAX);
    rpc_add_open(reply, "job");
    rpc_add_text(reply, "name", job->name);
    rpc_add_text(reply, "command_line", job->command_line);
    buffer_add(&reply->text, job->input_template); /* well-formed by itself */
    buffer_add(&reply->text, job->output_template);
    for (size_t i = 0; i < job->file_count; i++)
        rpc_add_text(reply, "source", job->files[i].source);
    rpc_add_close(reply, "job");
    return STATUS_OK;
}

static void check_is_whole(void)
{
    const struct xml_limits limits = {
        .bytes_max = 1 << 26, .depth_max = 64, .elements_max = 10000000};
    const struct xml_handler handler = {.context = NULL};
    struct failure failure = {.status = STATUS_OK};

    must(xml_walk(buffer_text(&sent), &limits, &handler, &failure) == STATUS_OK);
}

static void check_request(struct text document)
{
    struct arena *arena = arena_create(64 << 20);
    struct failure failure = {.status = STATUS_OK};
    struct rpc_batch_jobs jobs = {.spool = &spool, .failure = &failure};
    struct rpc_request request;
    struct wanted_batch wanted;
    struct rpc_reply reply;
    struct xml_source source;
    enum status status;

    must(arena != NULL);
    sent = buffer_on_heap(0);
    spool_begin(&spool, 1 << 20);
    if (spool_add(&spool, document, &failure) == STATUS_OK && document.length > 0) {
        source = spool_source(&spool);
        status = rpc_request_read(&source, arena, &request, &failure);
        if (status == STATUS_OK)
            status = rpc_batch_read(&spool, arena, &wanted, &failure);
        rpc_reply_begin(&reply, TEXT("submit_batch"), keep_sent, NULL);
        if (status == STATUS_OK) {
            rpc_add_text(&reply, "app_name", wanted.app_name);
            status = rpc_batch_walk(&jobs, write_job, &reply);
        }
        rpc_reply_end(&reply, status == STATUS_OK ? 0 : -1, text_from(failure.text));
        check_is_whole();
    }
    spool_end(&spool);
    buffer_free(&sent);
    arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text body = {.at = (const char *)data + 1, .length = size - 1};

    if (size < 2)
        return 0;
    check_form("application/x-www-form-urlencoded", body, 1 + data[0] % 16);
    check_form("multipart/form-data; boundary=-x", body, 1 + data[0] % 16);
    check_request(body);
    return 0;
}
