/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks of a reply that are about the host and its user rather than about jobs: messages,
 * identity, preferences, acknowledgements, keys, what resources there is work for. */
#include "config/config.h"
#include "db/rows.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/crypto.h"
#include "server/base/log.h"
#include "server/base/marked.h"
#include "server/parse/client_age.h"
#include "server/policy/refusal/delay.h"
#include "server/project/blob.h"
#include "server/reply/answer.h"
#include "server/reply/reply.h"
#include "server/reply/reply_parts.h"

#include <string.h>

#include "server/base/banned.h"

/* Told that there is nothing for one of its resources, a host asks again after this time (s): it
 * may have a new driver by then. */
#define UNSUPPORTED_RECHECK 86400.0

/* A coprocessor's name may be of a user's choice; longer ones are not worth an element. */
enum { RESOURCE_NAME_MAX = 64 };

static void log_left_out(const struct reply *reply, const char *what)
{
    log_line(LOG_LEVEL_WARNING, "event=reply_left_out what=%s host=%lld user=%lld", what,
             (long long)reply->sources->host->id, (long long)reply->sources->user->id);
}

/* --- messages ----------------------------------------------------------------------------- */

static const char *priority_word(int64_t version, enum message_priority priority)
{
    if (priority == MESSAGE_LOW)
        return "low";
    return version < CLIENT_READS_MESSAGES || version >= CLIENT_READS_NOTICES ? "notice" : "high";
}

static size_t message_room(void)
{
    return REPLY_LINE_MAX - strlen("<message priority=\"notice\"></message>");
}

static void write_message(struct reply *reply, enum message_priority priority, struct text text)
{
    buffer_print(reply->out, "<message priority=\"%s\">", priority_word(reply->version, priority));
    if (reply->version >= CLIENT_READS_MARKS)
        marked_write(text, reply->out);
    else
        buffer_add_xml(reply->out, text); /* which drops the marks */
    buffer_add_string(reply->out, "</message>\n");
}

/* A long message goes out as several, cut at blanks. */
static void write_message_in_lines(struct reply *reply, const struct answer_message *message)
{
    struct text rest = message->text;

    while (rest.length > 0) {
        struct text piece = escaped_fit(rest, message_room());
        if (piece.length == 0)
            return;
        if (piece.length < rest.length) {
            size_t blank = piece.length;
            while (blank > 0 && piece.at[blank - 1] != ' ')
                blank--;
            if (blank > piece.length / 2)
                piece = text_first(piece, blank);
        }
        rest = (struct text){.at = rest.at + piece.length, .length = rest.length - piece.length};
        piece = text_trim(piece);
        if (piece.length > 0)
            write_message(reply, message->priority, piece);
    }
}

static void add_messages(struct buffer *joined, const struct answer *answer,
                         enum message_priority priority)
{
    for (size_t i = 0; i < answer->message_count; i++) {
        if (answer->messages[i].priority != priority)
            continue;
        if (joined->length > 0) /* messages end without a stop */
            buffer_add_string(joined, ". ");
        buffer_add(joined, answer->messages[i].text);
    }
}

/* Notices first: if something must be cut off, then what matters less. */
static void write_one_message(struct reply *reply)
{
    struct buffer joined = buffer_in(reply->sources->arena);
    enum message_priority priority = MESSAGE_LOW;

    add_messages(&joined, reply->answer, MESSAGE_NOTICE);
    if (joined.length > 0)
        priority = MESSAGE_NOTICE;
    add_messages(&joined, reply->answer, MESSAGE_LOW);
    struct text text = escaped_fit(buffer_text(&joined), message_room());
    if (text.length > 0)
        write_message(reply, priority, text);
}

void reply_messages(struct reply *reply, const char *element)
{
    (void)element;
    if (reply->version < CLIENT_READS_MESSAGES) {
        write_one_message(reply);
        return;
    }
    for (size_t i = 0; i < reply->answer->message_count; i++)
        write_message_in_lines(reply, &reply->answer->messages[i]);
}

/* --- delays ------------------------------------------------------------------------------- */

double reply_delay(const struct reply *reply)
{
    return delay_in_reply(reply->answer->request_delay,
                          reply->sources->config->min_sendwork_interval);
}

static bool says_no_apps(const struct reply *reply, const struct answer_resource *resource);

/* 0 stands for never. */
static double sooner(double delay, double other)
{
    return delay > 0 && (other <= 0 || delay < other) ? delay : other;
}

double reply_next_rpc(const struct reply *reply)
{
    double delay = reply->sources->config->next_rpc_delay;

    delay = sooner(delay, reply->answer->next_contact);
    for (size_t i = 0; i < reply->answer->resource_count; i++)
        if (says_no_apps(reply, &reply->answer->resources[i]))
            delay = sooner(delay, UNSUPPORTED_RECHECK);
    return delay;
}

/* --- who you are -------------------------------------------------------------------------- */

void reply_email_hash(struct reply *reply, const char *element)
{
    char hex[MD5_HEX_SIZE];

    md5_hex(reply->sources->user->email_addr, NO_TEXT, hex);
    line_text(reply, element, text_from(hex));
}

void reply_external_cpid(struct reply *reply, const char *element)
{
    const struct user_row *user = reply->sources->user;
    char hex[MD5_HEX_SIZE];

    md5_hex(user->cross_project_id, user->email_addr, hex);
    line_text(reply, element, text_from(hex));
}

/* A row's block without what somebody added behind its end, which clients pass over. A text that
 * does not begin with the block's tag stays as it is. */
static struct text without_rest(struct arena *arena, struct text text, const char *element)
{
    struct text close = text_print(arena, "</%s>", element);
    size_t end = text_find(text, close);

    if (close.length == 0 || end == text.length ||
        !text_starts(text_trim(text), text_print(arena, "<%s>", element)))
        return text;
    return text_first(text, end + close.length);
}

void reply_blob(struct reply *reply, const char *element, struct text text)
{
    struct arena *arena = reply->sources->arena;
    struct text content;

    if (!blob_content(arena, text, element, &content) &&
        !blob_content(arena, without_rest(arena, text, element), element, &content)) {
        log_left_out(reply, element);
        return;
    }
    line_begin(reply, element);
    lines_verbatim(reply, content);
    line_end(reply, element);
}

void reply_global_preferences(struct reply *reply, const char *element)
{
    if (text_trim(reply->answer->global_preferences).length > 0)
        reply_blob(reply, element, reply->answer->global_preferences);
}

/* Always sent: a client without them goes on with those it had. */
void reply_project_preferences(struct reply *reply, const char *element)
{
    struct text stored = reply->sources->user->project_prefs;

    if (text_trim(stored).length == 0)
        stored = TEXT("<resource_share>100</resource_share>");
    reply_blob(reply, element, stored);
}

/* --- what became of your jobs ------------------------------------------------------------- */

static void write_named(struct reply *reply, const char *element, const struct text_items *items)
{
    for (const struct text_item *item = items->first; item != NULL; item = item->next) {
        /* A client of lines cannot have been given such a name. */
        if (!line_holds(reply->version, "name", item->text)) {
            log_left_out(reply, element);
            continue;
        }
        line_begin(reply, element);
        line_name(reply, "name", item->text);
        line_end(reply, element);
    }
}

void reply_acks(struct reply *reply, const char *element)
{
    write_named(reply, element, &reply->answer->acks);
}

void reply_aborts(struct reply *reply, const char *element)
{
    write_named(reply, element, &reply->answer->aborts);
}

void reply_aborts_if_not_started(struct reply *reply, const char *element)
{
    write_named(reply, element, &reply->answer->aborts_if_not_started);
}

void reply_delete_files(struct reply *reply, const char *element)
{
    const struct text_items *files = &reply->answer->delete_files;

    for (const struct text_item *item = files->first; item != NULL; item = item->next)
        if (line_holds(reply->version, element, item->text))
            line_name(reply, element, item->text);
}

/* --- keys and messages of the project ------------------------------------------------------ */

/* With exactly one newline at the end: what older clients check the signature over. */
static void write_key(struct reply *reply, const char *element, struct text text)
{
    text = text_trim(text);
    if (text.length == 0)
        return;
    line_begin(reply, element);
    lines_verbatim(reply, text);
    line_end(reply, element);
}

void reply_code_sign_key(struct reply *reply, const char *element)
{
    write_key(reply, element, reply->answer->code_sign_key);
}

void reply_code_sign_key_signature(struct reply *reply, const char *element)
{
    write_key(reply, element, reply->answer->code_sign_key_signature);
}

void reply_host_messages(struct reply *reply, const char *element)
{
    const struct text_items *messages = &reply->answer->host_messages;

    for (const struct text_item *item = messages->first; item != NULL; item = item->next) {
        struct text message = text_trim(item->text);
        if (text_starts(message, TEXT("<")) && text_ends(message, TEXT(">")) &&
            blob_is_sound(reply->sources->arena, message))
            lines_verbatim(reply, message);
        else
            log_left_out(reply, element);
    }
}

/* --- what there is for your resources ------------------------------------------------------ */

static bool is_plain_name(struct text name)
{
    for (size_t i = 0; i < name.length; i++) {
        char c = name.at[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_'))
            return false;
    }
    return name.length > 0 && name.length <= RESOURCE_NAME_MAX;
}

/* A client that is told "nothing" for all it has, or may use, may never come back. */
static bool all_unsupported(const struct answer *answer)
{
    for (size_t i = 0; i < answer->resource_count; i++)
        if (answer->resources[i].state != RESOURCE_UNSUPPORTED)
            return false;
    return true;
}

static bool has_numeric_flag(struct text type)
{
    return text_is(type, "CPU") || text_is(type, "NVIDIA") || text_is(type, "ATI");
}

static bool says_no_apps(const struct reply *reply, const struct answer_resource *resource)
{
    if (resource->state != RESOURCE_UNSUPPORTED || !is_plain_name(resource->type) ||
        resource->is_only_allowed || all_unsupported(reply->answer))
        return false;
    /* What cannot be taken back is not said. */
    return reply->version >= CLIENT_FORGETS_NO_APPS || has_numeric_flag(resource->type);
}

bool reply_no_apps(const struct reply *reply, const char *type)
{
    for (size_t i = 0; i < reply->answer->resource_count; i++)
        if (text_is(reply->answer->resources[i].type, type) &&
            says_no_apps(reply, &reply->answer->resources[i]))
            return true;
    return false;
}

void reply_no_rsc_apps(struct reply *reply, const char *element)
{
    for (size_t i = 0; i < reply->answer->resource_count; i++) {
        const struct answer_resource *resource = &reply->answer->resources[i];
        if (!says_no_apps(reply, resource))
            continue;
        if (text_is(resource->type, "NVIDIA") && reply->version < CLIENT_SAYS_NVIDIA)
            line_text(reply, element, TEXT("CUDA"));
        else
            line_text(reply, element, resource->type);
    }
}

static const char *const resource_words[] = {
    [RESOURCE_NONE] = "none",
    [RESOURCE_SENT] = "sent",
    [RESOURCE_DEADLINE] = "deadline",
    [RESOURCE_UNSUPPORTED] = "unsupported",
};

/* Ours; clients pass over it. They do not skip what is inside an unknown element, so the text has
 * always two words, never one that could be taken for a tag. */
void reply_rsc_status(struct reply *reply, const char *element)
{
    for (size_t i = 0; i < reply->answer->resource_count; i++) {
        const struct answer_resource *resource = &reply->answer->resources[i];
        if (is_plain_name(resource->type))
            buffer_print(reply->out, "<%s>" TEXT_FORMAT " %s</%s>\n", element,
                         TEXT_ARG(resource->type), resource_words[resource->state], element);
    }
}
