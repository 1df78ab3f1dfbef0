/* SPDX-License-Identifier: Apache-2.0 */
#include "server/submission/file_face.h"

#include "server/base/xml.h"
#include "server/submission/rpc_reply.h"

#include "server/base/banned.h"

void file_face_begin(struct file_face *face, struct rpc_exchange *exchange)
{
    *face = (struct file_face){.exchange = exchange, .upload = {.descriptor = -1}};
}

/* --- the form --------------------------------------------------------------------------------- */

static enum status read_numbers(struct file_face *face)
{
    struct failure *failure = face->exchange->desk->failure;

    if (face->request.batch_id.length > 0 &&
        !text_to_whole(face->request.batch_id, &face->named.batch))
        return fail(failure, STATUS_INVALID, "batch_id is not a whole number");
    if (face->request.delete_time.length > 0 &&
        !text_to_real(face->request.delete_time, &face->named.delete_time))
        return fail(failure, STATUS_INVALID, "delete_time is not a number");
    return STATUS_OK;
}

/* Before the first byte of a file is taken. */
static enum status prepare(struct file_face *face)
{
    struct desk *desk = face->exchange->desk;
    enum status status = rpc_read_request(face->exchange, &face->request);

    if (status != STATUS_OK)
        return status;
    face->is_upload = text_is(face->request.command, "upload_files");
    if (!face->is_upload && !text_is(face->request.command, "query_files"))
        return fail(desk->failure, STATUS_INVALID, "there is no command " TEXT_FORMAT " for files",
                    TEXT_ARG(text_first(face->request.command, 100)));
    face->exchange->command = face->is_upload ? TEXT("upload_files") : TEXT("query_files");
    if (face->exchange->is_stopped)
        return STATUS_INVALID; /* the reply says so */
    face->named.names = face->request.phys_names.items;
    face->named.count = face->request.phys_names.count;
    status = desk_submitter(desk, face->request.authenticator, &face->submitter);
    if (status == STATUS_OK)
        status = read_numbers(face);
    if (status == STATUS_OK)
        status = desk_check_files(desk, &face->submitter, &face->named);
    if (status == STATUS_OK && face->is_upload)
        status = files_upload_begin(&face->upload, desk, &face->submitter, &face->named);
    face->exchange->userid = face->submitter.userid;
    face->is_ready = status == STATUS_OK;
    return status;
}

static enum status begin_field(void *context, struct text name, bool is_file)
{
    struct file_face *face = context;

    face->is_in_request = !is_file && !face->is_ready && text_is(name, "request");
    face->is_in_file = is_file && face->is_upload && face->is_ready;
    if (is_file && !face->is_ready)
        return fail(face->exchange->desk->failure, STATUS_INVALID,
                    "a file came before the field request");
    return face->is_in_file ? files_upload_open(&face->upload) : STATUS_OK;
}

static enum status add_bytes(void *context, struct text bytes)
{
    struct file_face *face = context;

    if (face->is_in_request)
        return spool_add(face->exchange->spool, bytes, face->exchange->desk->failure);
    return face->is_in_file ? files_upload_add(&face->upload, bytes) : STATUS_OK;
}

static enum status end_field(void *context)
{
    struct file_face *face = context;

    if (face->is_in_request)
        return prepare(face);
    return face->is_in_file ? files_upload_close(&face->upload) : STATUS_OK;
}

struct form_taker file_face_taker(struct file_face *face)
{
    return (struct form_taker){
        .context = face, .begin = begin_field, .add = add_bytes, .end = end_field};
}

/* --- the answer ------------------------------------------------------------------------------- */

static void add_absent(void *context, size_t index)
{
    rpc_add_integer(context, "file", (int64_t)index);
}

/* Some clients fail where nothing at all stands between the tags. */
static enum status answer_query(struct file_face *face, struct rpc_reply *reply)
{
    enum status status;

    rpc_add_open(reply, "absent_files");
    status =
        desk_query_files(face->exchange->desk, &face->submitter, &face->named, add_absent, reply);
    rpc_add_close(reply, "absent_files");
    return status;
}

static enum status answer_upload(struct file_face *face, struct rpc_reply *reply)
{
    enum status status = files_upload_finish(&face->upload);

    if (status == STATUS_OK)
        buffer_add_string(&reply->text, "    <success>1</success>\n");
    return status;
}

void file_face_answer(struct file_face *face, enum status status)
{
    struct rpc_exchange *exchange = face->exchange;
    struct rpc_reply reply;

    if (status == STATUS_OK && !face->is_ready)
        status = fail(exchange->desk->failure, STATUS_INVALID,
                      "the form has no field request with something in it");
    rpc_reply_begin(&reply, exchange->command, exchange->send, exchange->context);
    if (status == STATUS_OK)
        status = face->is_upload ? answer_upload(face, &reply) : answer_query(face, &reply);
    files_upload_drop(&face->upload);
    rpc_reply_status(exchange, &reply, status);
}
