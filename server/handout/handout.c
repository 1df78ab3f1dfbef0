/* SPDX-License-Identifier: Apache-2.0 */
/* What selecting and sending again have in common. Reports are worth more than jobs: a statement
 * that the database refuses costs the jobs; a transaction that is to be repeated, or a connection
 * that is gone, costs the attempt. */
#include "server/handout/handout.h"

#include "server/base/arena.h"
#include "server/base/log.h"
#include "server/policy/refusal/reason.h"
#include "server/reply/answer.h"

#include <string.h>

#include "server/base/banned.h"

enum next handout_failed(struct request *request, enum status status, const char *what,
                         bool has_savepoint)
{
    const struct refusal refusal = {.reason = REASON_SERVER};

    if (status != STATUS_DB_REFUSED && status != STATUS_DB_BUG)
        return request_failed(request, status, what);
    log_line_with(LOG_LEVEL_CRITICAL, "error", text_from(db_error(request->db)),
                  "event=jobs_not_booked host=%lld what=\"%s\"",
                  (long long)request->attempt.host.id, what);
    if (has_savepoint) {
        status = db_rollback_to_savepoint(request->db);
        if (status != STATUS_OK)
            return request_failed(request, status, what);
    }
    answer_refuse(request->arena, &request->attempt.answer, &refusal);
    return NEXT_STEP;
}

bool handout_add_jobs(struct request *request, const struct answer_job *jobs, size_t count)
{
    struct answer *answer = &request->attempt.answer;
    struct answer_job *all;

    if (count == 0)
        return true;
    all = ARENA_ARRAY(request->arena, answer->job_count + count, struct answer_job);
    if (all == NULL)
        return false;
    if (answer->job_count > 0)
        memcpy(all, answer->jobs, answer->job_count * sizeof(all[0]));
    memcpy(all + answer->job_count, jobs, count * sizeof(all[0]));
    answer->jobs = all;
    answer->job_count += count;
    return true;
}
