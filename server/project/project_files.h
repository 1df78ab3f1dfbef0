/* SPDX-License-Identifier: Apache-2.0 */
/* What project_files.xml says of the files that clients show in their windows: pictures, and which
 * is which. Pure. */
#ifndef SERVER_PROJECT_PROJECT_FILES_H
#define SERVER_PROJECT_PROJECT_FILES_H

#include "server/base/status.h"
#include "server/base/text.h"

struct arena;

/* For replies, each tag on a line of its own; empty: none. */
struct project_files {
    struct text infos; /* file_info elements, which clients read only outside of the block */
    struct text block; /* what stands inside of project_files: file_ref elements */
};

/* As BOINC documents it: file_info elements, then one project_files with file_refs. It may also be
 * the inside of project_files alone, and a file_info may stand in there: it is moved out.
 * STATUS_INVALID: file, line and element in `failure`. */
MUST_CHECK enum status project_files_parse(struct arena *arena, struct text document,
                                           struct project_files *ret_files,
                                           struct failure *failure);

#endif
