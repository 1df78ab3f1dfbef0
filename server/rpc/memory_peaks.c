/* SPDX-License-Identifier: Apache-2.0 */
/* They stand in the rows of results as long as these are kept; so nothing more has to be written,
 * and no request reads them that can do without. */
#include "server/rpc/memory_peaks.h"

#include "server/rpc/in_progress.h"
#include "server/rpc/request.h"

#include "server/base/banned.h"

static enum status read_peaks(struct request *request)
{
    if (request->attempt.host_is_new)
        return STATUS_OK;
    return db_host_memory_peaks(request->db, request->arena, request->attempt.host.id,
                                in_progress_named(request) + MEMORY_RESULTS,
                                &request->attempt.memory_peaks,
                                &request->attempt.memory_peak_count);
}

enum status memory_peaks(struct request *request, const struct memory_peak **ret_peaks,
                         size_t *ret_count)
{
    struct attempt *attempt = &request->attempt;
    enum status status = attempt->memory_peaks_are_read ? STATUS_OK : read_peaks(request);

    if (status != STATUS_OK)
        return status;
    attempt->memory_peaks_are_read = true;
    *ret_peaks = attempt->memory_peaks;
    *ret_count = attempt->memory_peak_count;
    return STATUS_OK;
}
