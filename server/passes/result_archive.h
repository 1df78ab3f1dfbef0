/* SPDX-License-Identifier: Apache-2.0 */
/* What `qmctl purge` wrote of results (archive.h), read again, one at a time. */
#ifndef SERVER_PASSES_RESULT_ARCHIVE_H
#define SERVER_PASSES_RESULT_ARCHIVE_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdint.h>

struct archived_result {
    int64_t id;
    struct text name, xml_doc_in; /* live until the visitor returns */
};

/* Anything but STATUS_OK ends the reading with that. */
typedef enum status result_archive_visitor(void *context, const struct archived_result *result);

/* STATUS_INVALID: it is not whole, or another program's, whose texts are not escaped: what a client
 * wrote into one could pass for a result. Then nothing that was visited counts. */
MUST_CHECK enum status result_archive_read(const char *path, result_archive_visitor *visit,
                                           void *context, struct failure *failure);

#endif
