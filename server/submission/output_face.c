/* SPDX-License-Identifier: Apache-2.0 */
#include "server/submission/output_face.h"

#include "config/config.h"
#include "db/admin.h"
#include "server/base/arena.h"
#include "server/base/crypto.h"
#include "server/submission/form.h"
#include "server/submission/output_desk.h"
#include "server/submission/zip_stream.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { PIECE = 64 * 1024, HEAD_MAX = 1024, VALUE_MAX = 512 };

/* --- what is asked ---------------------------------------------------------------------------- */

#define OUTPUT_PARAMETERS(PARAMETER) \
    PARAMETER(cmd)                   \
    PARAMETER(authenticator)         \
    PARAMETER(auth_str)              \
    PARAMETER(result_name)           \
    PARAMETER(wu_name)               \
    PARAMETER(wu_id)                 \
    PARAMETER(batch_id)              \
    PARAMETER(file_num)

struct output_parameters {
#define PARAMETER_FIELD(name) struct text name;
    OUTPUT_PARAMETERS(PARAMETER_FIELD)
#undef PARAMETER_FIELD
};
static const struct {
    const char *name;
    size_t offset;
} parameter_fields[] = {
#define PARAMETER_ROW(name) {#name, offsetof(struct output_parameters, name)},
    OUTPUT_PARAMETERS(PARAMETER_ROW)
#undef PARAMETER_ROW
};

struct parameter_reading {
    struct arena *arena;
    struct output_parameters *to;
    struct text *value; /* that is open; NULL: none that we know */
    struct buffer text;
};

static enum status begin_field(void *context, struct text name, bool is_file)
{
    struct parameter_reading *reading = context;

    (void)is_file;
    reading->value = NULL;
    reading->text.length = 0;
    for (size_t i = 0; i < sizeof(parameter_fields) / sizeof(parameter_fields[0]); i++)
        if (text_is(name, parameter_fields[i].name))
            reading->value = (struct text *)((char *)reading->to + parameter_fields[i].offset);
    return STATUS_OK;
}

static enum status add_bytes(void *context, struct text bytes)
{
    struct parameter_reading *reading = context;

    if (reading->value != NULL)
        buffer_add(&reading->text, bytes);
    return reading->text.overflowed ? STATUS_TOO_LARGE : STATUS_OK;
}

static enum status end_field(void *context)
{
    struct parameter_reading *reading = context;

    if (reading->value != NULL)
        *reading->value = text_copy(reading->arena, buffer_text(&reading->text));
    return STATUS_OK;
}

static enum status read_parameters(struct output_exchange *exchange,
                                   struct output_parameters *ret_parameters)
{
    struct parameter_reading reading = {
        .arena = exchange->desk->arena, .to = ret_parameters, .text = buffer_on_heap(VALUE_MAX)};
    const struct form_taker taker = {
        .context = &reading, .begin = begin_field, .add = add_bytes, .end = end_field};
    struct form form;
    enum status status = form_begin(&form, TEXT("application/x-www-form-urlencoded"), &taker,
                                    exchange->desk->failure);

    *ret_parameters = (struct output_parameters){.cmd = NO_TEXT};
    if (status == STATUS_OK)
        status = form_add(&form, exchange->parameters);
    if (status == STATUS_OK)
        status = form_end(&form);
    buffer_free(&reading.text);
    return status == STATUS_OK
               ? status
               : fail(exchange->desk->failure, STATUS_INVALID, "the parameters cannot be read");
}

/* The proof in an address is made of `proven` and the owner's key. */
struct output_request {
    struct wanted_output wanted;
    struct text proven;
    bool is_key; /* it is the key itself */
    const char *archive;
};

static bool read_number(struct text text, int64_t *ret_number)
{
    return text_to_i64(text, ret_number) && *ret_number >= 0;
}

static bool read_command(const struct output_parameters *parameters,
                         struct output_request *ret_request)
{
    struct wanted_output *wanted = &ret_request->wanted;

    *ret_request = (struct output_request){.archive = NULL};
    if (text_is(parameters->cmd, "result_file")) {
        *wanted = (struct wanted_output){OUTPUT_OF_RESULT, .name = parameters->result_name};
        ret_request->proven = parameters->result_name;
        return wanted->name.length > 0 && read_number(parameters->file_num, &wanted->number);
    }
    if (text_is(parameters->cmd, "workunit_file")) {
        *wanted = (struct wanted_output){OUTPUT_OF_JOB, .name = parameters->wu_name};
        ret_request->is_key = true;
        return wanted->name.length > 0 && read_number(parameters->file_num, &wanted->number);
    }
    if (text_is(parameters->cmd, "workunit_files")) {
        *wanted = (struct wanted_output){.kind = OUTPUTS_OF_JOB};
        ret_request->proven = parameters->wu_id;
        ret_request->archive = "job";
        return read_number(parameters->wu_id, &wanted->id) && wanted->id > 0;
    }
    *wanted = (struct wanted_output){.kind = OUTPUTS_OF_BATCH};
    ret_request->proven = parameters->batch_id;
    ret_request->archive = "batch";
    return text_is(parameters->cmd, "batch_files") &&
           read_number(parameters->batch_id, &wanted->id) && wanted->id > 0;
}

/* --- who asks --------------------------------------------------------------------------------- */

static bool proves(const struct output_request *request, struct text key, struct text proof)
{
    char md5[MD5_HEX_SIZE];

    if (request->is_key)
        return secret_equal(proof, key);
    md5_hex(key, request->proven, md5);
    return secret_equal(proof, text_from(md5));
}

static enum status check_proof(struct output_exchange *exchange,
                               const struct output_request *request, struct text proof,
                               int64_t owner)
{
    struct desk *desk = exchange->desk;
    struct user_row user;
    enum status status;

    if (owner == 0 || proof.length == 0)
        return STATUS_NOT_FOUND;
    status = db_admin_user_find(desk->db, desk->arena, NO_TEXT, owner, &user);
    if (status != STATUS_OK)
        return status;
    exchange->userid = owner;
    return proves(request, user.authenticator, proof) ? STATUS_OK : STATUS_NOT_FOUND;
}

/* Of a form the submitter himself, before anything is looked up, so that others cannot ask what
 * there is. */
static enum status check_right(struct output_exchange *exchange,
                               const struct output_parameters *parameters,
                               const struct output_request *request)
{
    bool is_form = exchange->is_posted && parameters->authenticator.length > 0;
    struct submitter submitter = {.userid = 0};
    int64_t owner = 0;
    enum status status =
        is_form ? desk_submitter(exchange->desk, parameters->authenticator, &submitter) : STATUS_OK;

    exchange->userid = status == STATUS_OK ? submitter.userid : 0;
    if (status == STATUS_OK)
        status = desk_output_owner(exchange->desk, &request->wanted, &owner);
    if (status != STATUS_OK)
        return status;
    if (is_form)
        return submitter.userid == owner ? STATUS_OK : STATUS_NOT_FOUND;
    return check_proof(exchange, request, parameters->auth_str, owner);
}

/* --- the answer ------------------------------------------------------------------------------- */

static void send_text(struct output_exchange *exchange, struct text text)
{
    exchange->send(exchange->context, text);
}

static void say(struct output_exchange *exchange, int status, const char *phrase, const char *words)
{
    struct buffer page = buffer_on_heap(0);

    exchange->status = status;
    buffer_print(&page, "Status: %d %s\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n%s\n",
                 status, phrase, words);
    send_text(exchange, buffer_text(&page));
    buffer_free(&page);
}

/* Names of output files are usually made by us; one that a template has may hold anything. */
static bool needs_no_escape(struct text name)
{
    for (size_t i = 0; i < name.length; i++)
        if ((unsigned char)name.at[i] < ' ' || name.at[i] == 127 || name.at[i] == '"' ||
            name.at[i] == '\\')
            return false;
    return true;
}

static void send_head(struct output_exchange *exchange, struct text name, int64_t bytes)
{
    struct buffer head = buffer_on_heap(HEAD_MAX);

    exchange->status = 200;
    buffer_add_string(&head, "Content-Type: application/octet-stream\r\n");
    if (needs_no_escape(name))
        buffer_print(&head, "Content-Disposition: attachment; filename=\"" TEXT_FORMAT "\"\r\n",
                     TEXT_ARG(name));
    if (bytes >= 0)
        buffer_print(&head, "Content-Length: %" PRId64 "\r\n", bytes);
    buffer_add_string(&head, "\r\n");
    send_text(exchange, buffer_text(&head));
    buffer_free(&head);
}

static enum status send_file(void *context, struct text name, int descriptor)
{
    struct output_exchange *exchange = context;
    struct stat found;
    char piece[PIECE];
    int64_t left;

    if (exchange->status != 0 || fstat(descriptor, &found) != 0)
        return STATUS_OK;
    send_head(exchange, name, found.st_size);
    for (left = found.st_size; left > 0;) {
        ssize_t got = read(descriptor, piece, sizeof(piece));

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return STATUS_IO;
        send_text(exchange, text_first((struct text){piece, (size_t)got}, (size_t)left));
        left -= got;
    }
    return STATUS_OK;
}

struct output_archive {
    struct output_exchange *exchange;
    struct zip_stream zip;
};

static enum status add_to_archive(void *context, struct text name, int descriptor)
{
    struct output_archive *archive = context;

    return zip_stream_add(&archive->zip, name, descriptor, archive->exchange->desk->failure);
}

static enum status send_archive(struct output_exchange *exchange,
                                const struct output_request *request)
{
    struct output_archive archive = {.exchange = exchange};
    enum status status;

    send_head(exchange,
              text_print(exchange->desk->arena, "%s_%" PRId64 ".zip", request->archive,
                         request->wanted.id),
              -1);
    zip_stream_begin(&archive.zip, exchange->spool, exchange->send, exchange->context);
    status = desk_each_output(exchange->desk, &request->wanted, add_to_archive, &archive);
    if (status == STATUS_OK)
        status = zip_stream_end(&archive.zip, exchange->desk->failure);
    spool_end(exchange->spool);
    return status;
}

static void send_output(struct output_exchange *exchange, const struct output_request *request)
{
    enum status status =
        request->archive != NULL
            ? send_archive(exchange, request)
            : desk_each_output(exchange->desk, &request->wanted, send_file, exchange);

    if (exchange->status == 0 && status == STATUS_OK)
        say(exchange, 404, "Not Found", "ERROR: there is no such file");
    else if (exchange->status == 0)
        say(exchange, 503, "Service Unavailable", "ERROR: the file cannot be read at the moment");
    exchange->is_broken = exchange->status == 200 && status != STATUS_OK;
}

void output_answer(struct output_exchange *exchange)
{
    struct output_parameters parameters;
    struct output_request request;
    enum status status = read_parameters(exchange, &parameters);

    if (status != STATUS_OK || !read_command(&parameters, &request)) {
        say(exchange, 400, "Bad Request", "ERROR: the request cannot be read, or is none");
        return;
    }
    if (parameters.auth_str.length > 0 && !exchange->desk->config->submission_url_keys) {
        say(exchange, 403, "Forbidden",
            "ERROR: this project takes no keys in addresses: its option submission_url_keys is "
            "off");
        return;
    }
    if (exchange->desk->db == NULL) {
        say(exchange, 503, "Service Unavailable", "ERROR: the project's database is away");
        return;
    }
    status = check_right(exchange, &parameters, &request);
    if (status == STATUS_OK)
        send_output(exchange, &request);
    else if (status == STATUS_NOT_FOUND)
        say(exchange, 404, "Not Found", "ERROR: there is no such output for you");
    else if (status == STATUS_INVALID)
        say(exchange, 403, "Forbidden",
            text_string(exchange->desk->arena, text_print(exchange->desk->arena, "ERROR: %s",
                                                          exchange->desk->failure->text)));
    else
        say(exchange, 503, "Service Unavailable", "ERROR: the project cannot answer at the moment");
}
