/* SPDX-License-Identifier: Apache-2.0 */
/* Reports are worth more than new jobs. A statement that the database refuses costs the jobs; a
 * transaction that is to be repeated, or a connection that is gone, costs the attempt. */
#include "server/handout/guard.h"

#include "server/base/log.h"
#include "server/policy/refusal/reason.h"
#include "server/reply/answer.h"

#include "server/base/banned.h"

enum status guard_begin(struct request *request)
{
    return db_savepoint(request->db);
}

enum next guard_failed(struct request *request, enum status status, const char *what,
                       bool has_begun)
{
    const struct refusal refusal = {.reason = REASON_SERVER};
    struct answer *answer = &request->visit.answer;

    if (status != STATUS_DB_REFUSED && status != STATUS_DB_BUG)
        return request_failed(request, status, what);
    log_line(LOG_LEVEL_CRITICAL, "event=jobs_not_booked host=%lld what=\"%s\" error=\"%s\"",
             (long long)request->visit.host.id, what, db_error(request->db));
    if (has_begun) {
        status = db_rollback_to_savepoint(request->db);
        if (status != STATUS_OK)
            return request_failed(request, status, what);
    }
    if (answer->first_reason == NULL)
        answer->first_reason = reason_word(REASON_SERVER);
    answer_say(request->arena, answer, MESSAGE_LOW, TEXT_FORMAT,
               TEXT_ARG(reason_explain(request->arena, &refusal)));
    return NEXT_STEP;
}
