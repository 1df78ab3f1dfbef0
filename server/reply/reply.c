/* SPDX-License-Identifier: Apache-2.0 */
/* The reply: one walk over reply_elements.def, which says what is written, in which order, for
 * which clients. Nothing is decided here but form: what the reply says stands in the answer, which
 * is committed by now, and no text in it can break the document.
 *
 * Should the buffer be too small for it all, the jobs are left out: a client that lists its jobs
 * gets them again with its next request, while acknowledgements that got lost would cost it a
 * second report of everything. */
#include "server/reply/reply.h"

#include "config/config.h"
#include "db/rows.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/log.h"
#include "server/parse/client_age.h"
#include "server/reply/answer.h"
#include "server/reply/reply_parts.h"

#include "server/base/banned.h"

/* 100*major + minor of the server that the client takes us for. From 507 on clients let a host's
 * own preferences stand against newer ones in a reply; 8.03 is the generation of the replies that
 * we write. */
enum { SCHEDULER_VERSION = 803 };

#define FIRST 0
#define LAST  INT64_MAX

enum scope { SCOPE_EVERY, SCOPE_FULL };

static bool is_for(const struct reply *reply, enum scope scope, int64_t since, int64_t before)
{
    if (scope == SCOPE_FULL && reply->answer->kind != ANSWER_FULL)
        return false;
    return reply->version >= since && reply->version < before;
}

#define WRITE_FLAG(name, value)    line_flag(reply, name)
#define WRITE_INTEGER(name, value) line_integer(reply, name, value)
#define WRITE_REAL(name, value)    line_real(reply, name, value)
#define WRITE_TEXT(name, value)    line_text(reply, name, value)
#define WRITE_BLOCK(name, value)   value(reply, name)

static void write_elements(struct reply *reply)
{
    const struct reply_sources *sources = reply->sources;
    const struct answer *answer = reply->answer;
    const struct config *config = sources->config;
    const struct user_row *user = sources->user;
    const struct host_row *host = sources->host;

#define ELEMENT(name, scope, since, before, kind, condition, value) \
    if (is_for(reply, SCOPE_##scope, since, before) && (condition)) \
        WRITE_##kind(#name, value);
#include "server/reply/reply_elements.def"
#undef ELEMENT
}

static void write_document(const struct reply_sources *sources, bool with_jobs, struct buffer *out)
{
    struct reply reply = {.sources = sources,
                          .answer = sources->answer,
                          .out = out,
                          .version = sources->client_version,
                          .apps = {.arena = sources->arena},
                          .app_versions = {.arena = sources->arena},
                          .workunits = {.arena = sources->arena},
                          .files = {.arena = sources->arena}};

    if (with_jobs && reply.answer->kind == ANSWER_FULL && reply.answer->job_count > 0)
        reply.job_is_written = reply_check_jobs(&reply);
    buffer_add_string(out, "<scheduler_reply>\n");
    write_elements(&reply);
    buffer_add_string(out, "</scheduler_reply>\n");
}

void reply_write(const struct reply_sources *sources, struct buffer *ret_reply)
{
    size_t start = ret_reply->length;

    write_document(sources, true, ret_reply);
    if (ret_reply->overflowed && sources->answer->job_count > 0) {
        log_line(LOG_LEVEL_WARNING, "event=reply_too_large host=%lld jobs=%zu",
                 (long long)sources->host->id, sources->answer->job_count);
        ret_reply->overflowed = false;
        ret_reply->length = start;
        write_document(sources, false, ret_reply);
    }
}
