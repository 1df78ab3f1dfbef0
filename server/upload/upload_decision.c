/* SPDX-License-Identifier: Apache-2.0 */
#include "server/upload/upload_decision.h"

#include "server/base/buffer.h"
#include "server/base/crypto.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/base/banned.h"

static struct upload_decision answer(enum upload_status status, const char *words)
{
    return (struct upload_decision){
        .step = UPLOAD_ANSWER, .status = status, .words = words, .file_size = -1};
}

struct upload_decision upload_later(const char *words)
{
    return answer(UPLOAD_LATER, words);
}

struct upload_decision upload_not_possible(const char *words)
{
    struct upload_decision decision = upload_later(words);

    decision.is_our_fault = true;
    return decision;
}

static struct upload_decision never(const char *words)
{
    return answer(UPLOAD_NEVER, words);
}

static struct upload_decision receive(void)
{
    return (struct upload_decision){.step = UPLOAD_RECEIVE, .file_size = -1};
}

/* The certificate signs exactly this text, the number as a whole one, whatever stood in the
 * request. */
static bool certificate_is_valid(const struct upload_head *head, struct text public_key)
{
    char md5[MD5_HEX_SIZE], claim[UPLOAD_NAME_BYTES_MAX + 400];
    int length = snprintf(claim, sizeof(claim), "<name>%s</name><max_nbytes>%.0f</max_nbytes>",
                          head->name, head->max_nbytes);

    if (length < 0 || (size_t)length >= sizeof(claim))
        return false;
    md5_hex((struct text){claim, (size_t)length}, NO_TEXT, md5);
    return rsa_verify_md5(public_key, md5, head->signature, NULL) == STATUS_OK;
}

/* Without a sound key nobody's certificate can be told from a forged one. */
static struct upload_decision refuse_certificate(const struct upload_limits *limits,
                                                 const char *words)
{
    return rsa_check_public_key(limits->public_key, NULL) == STATUS_OK
               ? never(words)
               : upload_not_possible("the project cannot check certificates at the moment");
}

static struct upload_decision screen_certificate(const struct upload_head *head,
                                                 const struct upload_limits *limits)
{
    if (!head->has_max_nbytes || head->signature.length == 0)
        return refuse_certificate(limits, "no upload certificate");
    if (!certificate_is_valid(head, limits->public_key))
        return refuse_certificate(limits, "the upload certificate is not by this project");
    if ((double)head->nbytes > head->max_nbytes)
        return never("the file is larger than the project allows");
    return receive();
}

struct upload_decision upload_screen(const struct upload_head *head,
                                     const struct upload_limits *limits, bool is_stopped)
{
    if (is_stopped)
        return upload_later("the project takes no uploads at the moment");
    if (head->kind == UPLOAD_UNKNOWN)
        return upload_later("no request of an upload, or not all of it");
    if (head->fault != NULL)
        return never(head->fault);
    if (head->kind == UPLOAD_QUERY)
        return receive();
    if (!limits->ignores_certificates)
        return screen_certificate(head, limits);
    if (head->nbytes > limits->bytes_max)
        return never("the file is larger than the project allows");
    return receive();
}

/* A client that hears of as many bytes as its file has takes it for uploaded and sends nothing
 * more. So of an unfinished file one byte less is told than is there: the client sends the last one
 * again, and by that the file is finished, even if the process died just before it had done so. */
static int64_t told_of_partial(int64_t bytes)
{
    return bytes > 0 ? bytes - 1 : 0;
}

static struct upload_decision decide_query(const struct upload_on_disk *on_disk)
{
    struct upload_decision decision = answer(UPLOAD_DONE, NULL);

    if (on_disk->finished >= 0) {
        decision.step = UPLOAD_CONFIRM;
        decision.file_size = on_disk->finished;
    } else {
        decision.file_size = told_of_partial(on_disk->partial);
    }
    return decision;
}

static bool has_space(const struct upload_head *head, const struct upload_limits *limits,
                      const struct upload_on_disk *on_disk)
{
    return on_disk->free_bytes - limits->free_least >= head->nbytes - head->offset;
}

/* A finished file stays as it is, whatever comes under its name: it may have been compared with
 * others already. Clients themselves take a file for uploaded when the server has as many bytes.
 * A shorter one that is older than we are may be what BOINC's handler left unfinished when ours
 * took its place: it is continued at its end, where clients go on that were told of it, and nowhere
 * else, since it may as well be finished. Else its client is not told to give up. */
static struct upload_decision decide_finished(const struct upload_head *head,
                                              const struct upload_limits *limits,
                                              const struct upload_on_disk *on_disk)
{
    struct upload_decision decision = answer(UPLOAD_DONE, NULL);

    if (on_disk->finished >= head->nbytes) {
        decision.step = UPLOAD_CONFIRM;
        return decision;
    }
    if (!on_disk->is_older || head->offset != on_disk->finished)
        return upload_later("a shorter file of this name is there already");
    if (!has_space(head, limits, on_disk))
        return upload_not_possible("the project's disk is full");
    decision = receive();
    decision.adopts = true;
    return decision;
}

struct upload_decision upload_decide(const struct upload_head *head,
                                     const struct upload_limits *limits,
                                     const struct upload_on_disk *on_disk)
{
    if (on_disk->trouble != NULL)
        return upload_not_possible(on_disk->trouble);
    if (head->kind == UPLOAD_FILE && on_disk->finished >= 0)
        return decide_finished(head, limits, on_disk);
    if (on_disk->finished < 0 && on_disk->is_under_way)
        return upload_later("this file is being uploaded by another connection");
    if (on_disk->finished < 0 && !has_space(head, limits, on_disk))
        return upload_not_possible("the project's disk is full");
    if (head->kind == UPLOAD_QUERY)
        return decide_query(on_disk);
    if (head->offset > 0 && on_disk->partial < head->offset)
        return upload_later("less of the file is there than was said");
    return receive();
}

void upload_write_reply(const struct upload_decision *decision, struct buffer *ret_reply)
{
    buffer_print(ret_reply, "<data_server_reply>\n    <status>%d</status>\n",
                 (int)decision->status);
    if (decision->words != NULL)
        buffer_add_element(ret_reply, 4, "message", text_from(decision->words));
    if (decision->file_size >= 0)
        buffer_print(ret_reply, "    <file_size>%" PRId64 "</file_size>\n", decision->file_size);
    buffer_add_string(ret_reply, "</data_server_reply>\n");
}
