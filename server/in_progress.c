/* SPDX-License-Identifier: Apache-2.0 */
/* The rows are kept in the visit, so another attempt at the transaction reads them again. */
#include "server/in_progress.h"

#include "server/request.h"

#include "server/base/banned.h"

enum status jobs_in_progress(struct request *request, const struct host_job **ret_jobs,
                             size_t *ret_count)
{
    struct visit *visit = &request->visit;

    if (!visit->in_progress_is_read && !visit->host_is_new) {
        enum status status =
            db_jobs_in_progress(request->db, request->arena, visit->host.id,
                                request->message.other_result_count + IN_PROGRESS_SPARE,
                                &visit->in_progress, &visit->in_progress_count);

        if (status != STATUS_OK)
            return status;
    }
    visit->in_progress_is_read = true;
    *ret_jobs = visit->in_progress;
    *ret_count = visit->in_progress_count;
    return STATUS_OK;
}

void jobs_in_progress_forget(struct request *request)
{
    request->visit.in_progress_is_read = false;
}
