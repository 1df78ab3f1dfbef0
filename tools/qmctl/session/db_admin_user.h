/* SPDX-License-Identifier: Apache-2.0 */
/* The administrator of a database (--db-admin and --db-admin-passwd-file), who may make databases,
 * tables and users there. Servers connect as the db_user of config.xml. */
#ifndef TOOLS_QMCTL_SESSION_DB_ADMIN_USER_H
#define TOOLS_QMCTL_SESSION_DB_ADMIN_USER_H

#include "tools/qmctl/session/project_session.h"

/* The first line of a file, in the session's arena. */
MUST_CHECK enum status password_read(struct session *session, const char *path,
                                     struct text *ret_password);
/* The project's configuration with that user, for the caller to release; without the options the
 * user who calls, whom the database knows by the Unix socket. */
MUST_CHECK enum status db_admin_user_config(struct session *session, struct config **ret_config);
/* Lets the session itself use the database as that user, if --db-admin is given. */
MUST_CHECK enum status db_admin_user_take(struct session *session);

#endif
