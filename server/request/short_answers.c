/* SPDX-License-Identifier: Apache-2.0 */
/* Short answers, for when there is no answer to what was asked: the database is away, the server is
 * busy, the request cannot be read or is too large. They acknowledge nothing and hand out nothing.
 */
#include "server/request/walk.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/counters.h"
#include "server/rpc/request_delay.h"

#include <string.h>

#include "server/base/banned.h"

static void answer_short(struct request *request, enum answer_kind kind, double delay,
                         const struct refusal *refusal)
{
    struct attempt *attempt = &request->attempt;
    struct answer *answer = &attempt->answer;
    int64_t hostid = attempt->host.id, userid = attempt->user.id; /* for the log line */

    if (kind == ANSWER_DOWN)
        counter_add(COUNTER_replies_down, 1);
    memset(attempt, 0, sizeof(*attempt));
    attempt->host.id = hostid;
    attempt->user.id = userid;
    answer->kind = kind;
    answer_refuse(request->arena, answer, refusal);
    answer_delay(answer, delay);
}

static double delay_of(const struct request *request, enum delay_cause cause)
{
    return delay_of_request(request, cause,
                            cause == DELAY_DOWN ? request->config->maintenance_delay : 0);
}

void request_answer_down(struct request *request)
{
    answer_short(request, ANSWER_DOWN, delay_of(request, DELAY_DOWN),
                 &(struct refusal){.reason = REASON_STOP_SCHED});
}

static double delay_of_away(const struct request *request)
{
    return delay_of_request(
        request, DELAY_AWAY,
        delay_of_outage(request->database_away_for, request->config->maintenance_delay));
}

void request_answer_away(struct request *request)
{
    request->database_was_away = true;
    if (request->failure.status == STATUS_OK)
        fail(&request->failure, STATUS_DB_GONE, "no connection to the database");
    answer_short(request, ANSWER_DOWN, delay_of_away(request),
                 &(struct refusal){.reason = REASON_DATABASE});
}

void request_answer_later(struct request *request)
{
    counter_add(COUNTER_replies_later, 1);
    answer_short(request, ANSWER_NUCLEUS, delay_of(request, DELAY_BUSY),
                 &(struct refusal){.reason = REASON_LATER});
}

void request_answer_too_large(struct request *request)
{
    counter_add(COUNTER_requests_too_large, 1);
    answer_short(request, ANSWER_NUCLEUS, delay_of(request, DELAY_DOWN),
                 &(struct refusal){.reason = REASON_REQUEST_TOO_LARGE});
}

void request_answer_unreadable(struct request *request)
{
    counter_add(COUNTER_requests_unreadable, 1);
    answer_short(request, ANSWER_NUCLEUS, delay_of(request, DELAY_BUSY),
                 &(struct refusal){.reason = REASON_REQUEST_UNREADABLE,
                                   .why = text_from(request->failure.text)});
}
