/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that running jobs send up, and messages that wait for the host. Both are passed on as
 * they are: their meaning is between the project's handlers and its applications. An
 * acknowledgement is for all trickles of a request, and a client without one sends all of them
 * again, for ever. So of more than a request may hold the first ones are stored, and all are
 * acknowledged: the others are lost, which the volunteer and the log are told. */
#include "server/rpc/request.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/budget.h"
#include "server/base/counters.h"
#include "server/base/log.h"
#include "server/policy/host/bounds.h"
#include "server/reply/answer.h"

#include "server/base/banned.h"

static void tell_what_is_lost(struct request *request)
{
    const struct message *message = &request->message;
    size_t lost = message->trickles_left;

    if (lost == 0)
        return;
    counter_add(COUNTER_trickles_refused, lost);
    log_line(LOG_LEVEL_WARNING, "event=trickles_lost count=%zu stored=%zu host=%lld", lost,
             message->trickle_count, (long long)request->attempt.host.id);
    answer_say(
        request->arena, &request->attempt.answer, MESSAGE_NOTICE,
        "Your client sent " COUNT_FORMAT
        " of tasks (trickles) at once; this project takes %zu in one request. Lost: the last %zu",
        COUNT_ARG(message->trickle_count + lost, "message"), message->trickle_count, lost);
}

static enum next store_trickles(struct request *request)
{
    const struct message *message = &request->message;
    size_t count = message->trickle_count;
    struct message_from_host *stored;
    enum status status;

    if (count == 0)
        return NEXT_STEP;
    (void)budget_spend(&request->attempt.budget, count * BUDGET_ROW); /* nowhere else to cut */
    stored = ARENA_ARRAY(request->arena, count, struct message_from_host);
    if (stored == NULL)
        return request_failed(request, STATUS_TOO_LARGE, "trickles");
    for (size_t i = 0; i < count; i++) {
        stored[i].variety = bound_head(message->trickles[i].variety, BOUND_STRING);
        stored[i].xml = bound_head(message->trickles[i].xml, BOUND_TRICKLE);
    }
    status = db_messages_from_host_save(request->db, request->attempt.host.id,
                                        (int64_t)request->now, stored, count);
    if (status != STATUS_OK)
        return request_failed(request, status, "trickles");
    request->attempt.answer.message_ack = true;
    tell_what_is_lost(request);
    return NEXT_STEP;
}

static enum next take_host_messages(struct request *request)
{
    struct text *messages = NULL;
    size_t count = 0;
    enum status status;

    if (!request->config->msg_to_host)
        return NEXT_STEP;
    status = db_messages_to_host_take(request->db, request->arena, request->attempt.host.id,
                                      &messages, &count);
    if (status != STATUS_OK)
        return request_failed(request, status, "messages to the host");
    for (size_t i = 0; i < count; i++)
        text_items_add(request->arena, &request->attempt.answer.host_messages, messages[i]);
    return NEXT_STEP;
}

enum next step_messages(struct request *request)
{
    enum next next = store_trickles(request);

    return next == NEXT_STEP ? take_host_messages(request) : next;
}
