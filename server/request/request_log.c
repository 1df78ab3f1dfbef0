/* SPDX-License-Identifier: Apache-2.0 */
/* The one line that the log keeps of a request: who, what was asked and given, why not, and where
 * the time went. A warning when the world failed us, else of the normal level. */
#include "server/rpc/request.h"

#include "server/base/buffer.h"
#include "server/base/log.h"
#include "server/request/walk.h"

#include <inttypes.h>

#include "server/base/banned.h"

static const char *const kind_words[] = {
    [ANSWER_FULL] = "full", [ANSWER_NUCLEUS] = "short", [ANSWER_DOWN] = "down"};

static uint64_t microseconds(uint64_t ns)
{
    return ns / 1000;
}

/* What a client sent is no cause for a warning; a database that fails us is. */
static enum log_level level_of(enum status status)
{
    bool is_ours = status != STATUS_OK && status != STATUS_INVALID && status != STATUS_TOO_LARGE;

    return is_ours ? LOG_LEVEL_WARNING : LOG_LEVEL_NORMAL;
}

void request_log(const struct request *request, size_t reply_bytes)
{
    enum log_level level = level_of(request->failure.status);
    const struct attempt *attempt = &request->attempt;
    const struct db_count *count = &request->counted;
    struct buffer line;

    if (!log_wants(level))
        return;
    line = buffer_on_heap(4000);
    buffer_print(&line, "event=request host=%" PRId64 " user=%" PRId64 " reply=%s",
                 attempt->host.id != 0 ? attempt->host.id : request->message.hostid,
                 attempt->user.id, kind_words[attempt->answer.kind]);
    buffer_print(&line, " reported=%zu acked=%zu sent=%zu resent=%zu",
                 request->message.result_count, attempt->answer.acks.count, attempt->jobs_sent,
                 attempt->resent);
    if (attempt->disk_pass > 1)
        buffer_print(&line, " disk_pass=%d", attempt->disk_pass);
    if (attempt->answer.delete_files.count > 0)
        buffer_print(&line, " deletions=%zu", attempt->answer.delete_files.count);
    if (attempt->answer.reason_count > 0)
        log_add_pair(&line, "reason", text_from(answer_first_reason(&attempt->answer)));
    buffer_print(&line, " delay=%.0f", attempt->answer.request_delay);
    for (int step = 0; step < STEP_COUNT; step++)
        buffer_print(&line, " %s_us=%" PRIu64, request_step_word((enum step)step),
                     microseconds(request->step_ns[step]));
    buffer_print(&line, " commit_us=%" PRIu64 " total_us=%" PRIu64,
                 microseconds(request->commit_ns), microseconds(request->total_ns));
    buffer_print(&line, " statements=%" PRIu64 " trips=%" PRIu64 " attempts=%d", count->statements,
                 count->round_trips, request->attempts);
    if (request->group_size > 1)
        buffer_print(&line, " together=%zu", request->group_size);
    buffer_print(&line, " in=%zu out=%zu client=%" PRId64, request->transport.body.length,
                 reply_bytes, request->client_version);
    if (request->failure.status != STATUS_OK)
        log_add_pair(&line, "failure", text_from(request->failure.text));
    log_line(level, TEXT_FORMAT, TEXT_ARG(buffer_text(&line)));
    buffer_free(&line);
}
