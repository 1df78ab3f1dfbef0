/* SPDX-License-Identifier: Apache-2.0 */
/* What jobs of each version took of memory on the host. Few requests ask: those of hosts whose
 * memory may not hold all jobs that could run at a time. */
#ifndef SERVER_RPC_MEMORY_PEAKS_H
#define SERVER_RPC_MEMORY_PEAKS_H

#include "db/db.h"
#include "server/base/status.h"

#include <stddef.h>

struct request;

/* Of the host's newest results, as many as the request lists or reports and MEMORY_RESULTS more;
 * read at the first call of an attempt. They belong to it. */
enum { MEMORY_RESULTS = 100 };
MUST_CHECK enum status memory_peaks(struct request *request, const struct memory_peak **ret_peaks,
                                    size_t *ret_count);

#endif
