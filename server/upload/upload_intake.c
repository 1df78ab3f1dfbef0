/* SPDX-License-Identifier: Apache-2.0 */
#include "server/upload/upload_intake.h"

#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/base/counters.h"
#include "server/base/log.h"
#include "server/upload/upload_project.h"
#include "server/upload/upload_scarcity.h"
#include "server/upload/upload_store.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { REPLY_BYTES_MAX = 4096 };

/* What the uploads under way in this process count for, of the bytes that they will still take. */
static _Atomic int64_t reserved_bytes;

static void reserve(struct upload_intake *intake, int64_t bytes)
{
    atomic_fetch_add(&reserved_bytes, bytes - intake->reserved);
    intake->reserved = bytes;
}

static void close_file(struct upload_intake *intake)
{
    reserve(intake, 0);
    if (intake->descriptor >= 0)
        close(intake->descriptor);
    intake->descriptor = -1;
}

static void free_head(struct upload_intake *intake)
{
    free(intake->head_bytes);
    intake->head_bytes = NULL;
    intake->head_length = 0;
    intake->head.signature = NO_TEXT; /* it lay there */
}

void upload_intake_begin(struct upload_intake *intake, struct upload_project *project,
                         struct text address)
{
    *intake = (struct upload_intake){
        .project = upload_project_hold(project), .descriptor = -1, .begun_ns = clock_ns()};
    for (size_t i = 0; i < address.length && i + 1 < sizeof(intake->address); i++)
        intake->address[i] =
            strchr("0123456789abcdefABCDEF.:", address.at[i]) == NULL ? '?' : address.at[i];
}

/* --- answers ---------------------------------------------------------------------------------- */

static enum counter counter_of(const struct upload_intake *intake)
{
    switch (intake->decision.status) {
    case UPLOAD_DONE:
        return intake->head.kind == UPLOAD_QUERY ? COUNTER_uploads_asked : COUNTER_uploads_done;
    case UPLOAD_LATER:
        return COUNTER_uploads_later;
    case UPLOAD_NEVER:
        break;
    }
    return COUNTER_uploads_refused;
}

static enum log_level level_of(const struct upload_intake *intake)
{
    if (intake->decision.is_our_fault)
        return LOG_LEVEL_WARNING;
    return intake->head.kind == UPLOAD_QUERY && intake->decision.status == UPLOAD_DONE
               ? LOG_LEVEL_DEBUG
               : LOG_LEVEL_NORMAL;
}

static double seconds_of(const struct upload_intake *intake)
{
    return (double)(clock_ns() - intake->begun_ns) * 1e-9;
}

static void answer(struct upload_intake *intake, struct upload_decision decision)
{
    const struct upload_head *head = &intake->head;

    close_file(intake);
    intake->decision = decision;
    intake->stage = UPLOAD_ANSWERED;
    counter_add(counter_of(intake), 1);
    log_line_with(
        level_of(intake), "name", text_from(head->name),
        "event=%s status=%d nbytes=%lld offset=%lld got=%lld seconds=%.3f address=%s%s%s%s",
        head->kind == UPLOAD_QUERY ? "upload_asked" : "upload", (int)decision.status,
        (long long)head->nbytes, (long long)head->offset, (long long)(intake->at - head->offset),
        seconds_of(intake), intake->address, decision.words == NULL ? "" : " why=\"",
        decision.words == NULL ? "" : decision.words, decision.words == NULL ? "" : "\"");
}

/* The disk's own word goes to the log alone. */
static struct upload_decision disk_trouble(const struct upload_intake *intake, int reason)
{
    log_line_with(LOG_LEVEL_CRITICAL, "name", text_from(intake->head.name),
                  "event=upload_disk why=\"%s\"", strerror(reason));
    return upload_not_possible(reason == ENOSPC || reason == EDQUOT
                                   ? "the project's disk is full"
                                   : "the project cannot write to its folder of uploads");
}

void upload_intake_response(const struct upload_intake *intake, struct buffer *ret_response)
{
    struct buffer reply = buffer_on_heap(REPLY_BYTES_MAX);

    upload_write_reply(&intake->decision, &reply);
    buffer_print(ret_response, "Content-Type: text/plain\r\nContent-Length: %zu\r\n\r\n",
                 reply.length);
    buffer_add(ret_response, buffer_text(&reply));
    buffer_free(&reply);
}

/* --- the head --------------------------------------------------------------------------------- */

/* UPLOAD_RECEIVE: the partial file is open. */
static struct upload_decision begin_file(struct upload_intake *intake, int64_t at)
{
    const struct upload_head *head = &intake->head;

    switch (upload_store_begin(intake->project->store, head->name, at, &intake->descriptor)) {
    case BEGUN:
        intake->at = at;
        reserve(intake, upload_reserved(at, head->nbytes));
        return (struct upload_decision){.step = UPLOAD_RECEIVE, .file_size = -1};
    case BEGUN_BY_ANOTHER:
        return upload_later("this file is being uploaded by another connection");
    case BEGUN_TOO_SHORT:
        return upload_later("less of the file is there than was said");
    case BEGUN_NOT:
        break;
    }
    return disk_trouble(intake, errno);
}

static struct upload_decision decide(struct upload_intake *intake)
{
    const struct upload_project *project = intake->project;
    struct upload_on_disk on_disk;
    struct upload_decision decision =
        upload_screen(&intake->head, &project->limits, upload_project_is_stopped(project));

    if (decision.step != UPLOAD_RECEIVE)
        return decision;
    upload_store_look(project->store, intake->head.name, &on_disk);
    on_disk.free_bytes -= atomic_load(&reserved_bytes);
    decision = upload_decide(&intake->head, &project->limits, &on_disk);
    if (decision.adopts && !upload_store_adopt(project->store, intake->head.name))
        return disk_trouble(intake, errno);
    return decision.step == UPLOAD_RECEIVE ? begin_file(intake, intake->head.offset) : decision;
}

/* The head is read: what follows is decided. */
static void hear(struct upload_intake *intake)
{
    struct upload_decision decision = decide(intake);

    intake->at = intake->head.offset;
    switch (decision.step) {
    case UPLOAD_ANSWER:
        answer(intake, decision);
        break;
    case UPLOAD_CONFIRM:
        intake->decision = decision;
        intake->stage = UPLOAD_TO_FINISH;
        break;
    case UPLOAD_RECEIVE:
        intake->stage = UPLOAD_TAKING;
        break;
    }
}

/* Adds to the head what there is room for. Returns how much that was. */
static size_t keep_head(struct upload_intake *intake, struct text body)
{
    size_t kept;

    if (intake->head_bytes == NULL)
        intake->head_bytes = malloc(UPLOAD_HEAD_BYTES_MAX);
    if (intake->head_bytes == NULL) {
        answer(intake, upload_not_possible("the project has no memory"));
        return body.length;
    }
    kept = text_first(body, UPLOAD_HEAD_BYTES_MAX - intake->head_length).length;
    memcpy(intake->head_bytes + intake->head_length, body.at, kept);
    intake->head_length += kept;
    return kept;
}

/* --- the file --------------------------------------------------------------------------------- */

void upload_intake_rest(struct upload_intake *intake)
{
    if (intake->stage == UPLOAD_TAKING)
        close_file(intake);
}

void upload_intake_yield_disk(struct upload_intake *intake)
{
    answer(intake, upload_not_possible("the project's disk is full"));
}

int64_t upload_intake_unreserved(const struct upload_project *project)
{
    int64_t free_bytes = upload_store_free(project->store);

    if (free_bytes < 0)
        return INT64_MAX; /* whoever writes will see */
    return free_bytes - project->limits.free_least - atomic_load(&reserved_bytes);
}

/* False: the file is another's by now, and the request answered. */
static bool wake(struct upload_intake *intake)
{
    struct upload_decision decision = begin_file(intake, intake->at);

    if (decision.step == UPLOAD_RECEIVE)
        return true;
    answer(intake, decision);
    return false;
}

/* Also of none, since nothing may be missing. Bytes behind the last one are ignored. */
static void take_bytes(struct upload_intake *intake, struct text body)
{
    int64_t left = intake->head.nbytes - intake->at;
    struct text part = (uint64_t)left < body.length ? text_first(body, (size_t)left) : body;
    size_t written;
    bool is_written;

    if (intake->descriptor < 0 && !wake(intake))
        return;
    is_written = upload_store_write(intake->descriptor, intake->at, part, &written);
    intake->at += (int64_t)written;
    counter_add(COUNTER_uploads_bytes, written);
    if (!is_written) {
        answer(intake, disk_trouble(intake, errno));
        return;
    }
    reserve(intake, upload_reserved(intake->at, intake->head.nbytes));
    if (intake->at == intake->head.nbytes)
        intake->stage = UPLOAD_TO_FINISH;
}

/* Tries to read the head. What came behind it is of the file. Each try begins at the first byte, so
 * the next one waits until there are twice as many: all tries cost little more than the last. */
static void try_head(struct upload_intake *intake, bool is_end)
{
    struct text head = {intake->head_bytes, intake->head_length};
    size_t length;

    intake->next_reading = 2 * intake->head_length;
    if (!upload_head_read(head, is_end, &intake->head, &length))
        return;
    hear(intake);
    if (intake->stage == UPLOAD_TAKING)
        take_bytes(intake, (struct text){head.at + length, head.length - length});
    free_head(intake);
}

/* Returns what of the body there was no room for. */
static struct text add_to_head(struct upload_intake *intake, struct text body)
{
    size_t kept = keep_head(intake, body);

    if (intake->stage == UPLOAD_HEARING && (intake->head_length >= intake->next_reading ||
                                            intake->head_length == UPLOAD_HEAD_BYTES_MAX))
        try_head(intake, false);
    return (struct text){body.at + kept, body.length - kept};
}

void upload_intake_add(struct upload_intake *intake, struct text body)
{
    if (intake->stage == UPLOAD_HEARING && body.length > 0)
        body = add_to_head(intake, body);
    if (intake->stage == UPLOAD_TAKING)
        take_bytes(intake, body);
}

void upload_intake_end(struct upload_intake *intake)
{
    if (intake->stage == UPLOAD_HEARING)
        try_head(intake, true);
    if (intake->stage == UPLOAD_TAKING && intake->at < intake->head.nbytes)
        answer(intake, upload_later("the upload ended early"));
}

static struct upload_decision finish_file(struct upload_intake *intake)
{
    const struct upload_head *head = &intake->head;
    struct upload_on_disk on_disk;

    switch (upload_store_finish(intake->project->store, head->name, intake->descriptor,
                                head->nbytes, head->md5)) {
    case FINISHED:
        return (struct upload_decision){.status = UPLOAD_DONE, .file_size = -1};
    case FINISHED_BEFORE:
        upload_store_look(intake->project->store, head->name, &on_disk);
        return upload_decide(head, &intake->project->limits, &on_disk);
    case FINISHED_DAMAGED:
        return upload_later("the file came with other content than its checksum says");
    case FINISHED_NOT:
        break;
    }
    return disk_trouble(intake, errno);
}

void upload_intake_finish(struct upload_intake *intake)
{
    struct upload_decision decision = intake->decision;

    if (intake->descriptor >= 0)
        decision = finish_file(intake);
    if (decision.step == UPLOAD_CONFIRM &&
        !upload_store_confirm(intake->project->store, intake->head.name))
        decision = disk_trouble(intake, errno);
    if (decision.step == UPLOAD_RECEIVE) /* what stood in the way is gone again */
        decision = upload_not_possible("the project's folder of uploads changed meanwhile");
    answer(intake, decision);
}

void upload_intake_drop(struct upload_intake *intake)
{
    if (intake->stage == UPLOAD_TAKING) {
        counter_add(COUNTER_uploads_cut, 1);
        log_line_with(LOG_LEVEL_NORMAL, "name", text_from(intake->head.name),
                      "event=upload_cut nbytes=%lld offset=%lld got=%lld seconds=%.3f address=%s",
                      (long long)intake->head.nbytes, (long long)intake->head.offset,
                      (long long)(intake->at - intake->head.offset), seconds_of(intake),
                      intake->address);
    }
    close_file(intake);
    free_head(intake);
    upload_project_release(intake->project);
    intake->project = NULL;
}
