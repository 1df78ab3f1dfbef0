/* SPDX-License-Identifier: Apache-2.0 */
/* The file database, as files*.c reach it. */
#ifndef TOOLS_QMCTL_FILES_COMMAND_H
#define TOOLS_QMCTL_FILES_COMMAND_H

#include "db/files.h"
#include "tools/qmctl/project_session.h"

MUST_CHECK enum status files_open(struct session *session, struct db **ret_db);
/* The same status, with words for the session's failure. */
MUST_CHECK enum status files_failed(struct session *session, const struct db *db,
                                    enum status status);

#endif
