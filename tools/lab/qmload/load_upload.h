/* SPDX-License-Identifier: Apache-2.0 */
/* The output of an emulated host's jobs: what it holds follows from the job's workunit, so that
 * instances agree. As clients do, a host asks first how much of the file is there, unless the file
 * is small, and then sends the rest. */
#ifndef TOOLS_LAB_QMLOAD_LOAD_UPLOAD_H
#define TOOLS_LAB_QMLOAD_LOAD_UPLOAD_H

#include "server/base/buffer.h"
#include "server/base/text.h"
#include "tools/lab/qmload/load_host.h"

#include <stdbool.h>

/* The next request for a job that host_next_upload returned; its address is part of the job. */
struct text upload_write(const struct load_job *job, int64_t bytes, struct buffer *ret_request);

/* False: the handler refused it, and the same request is to come again. */
bool upload_read_reply(struct load_job *job, int64_t bytes, struct text reply);

#endif
