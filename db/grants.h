/* SPDX-License-Identifier: Apache-2.0 */
/* What an administrator of the database says so that a server can work with it: a user, with the
 * least rights that servers and qmctl need. Tables are made and changed by others (db/schema.h). */
#ifndef DB_GRANTS_H
#define DB_GRANTS_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stddef.h>

struct arena;
struct config;

struct db_grant {
    struct text sql;   /* one statement, without its semicolon; a password may stand in it */
    struct text words; /* the same in words, without one */
};

/* Who comes from where. */
struct db_grantee {
    struct text user, password; /* no password: whom the system knows by that name */
    struct text host;           /* as the database sees it: "localhost" by the Unix socket */
};

/* What quartermaster --submit writes with a user of its own; it reads all. */
#define SUBMISSION_RIGHTS(RIGHT)                        \
    RIGHT("workunit", "INSERT, UPDATE, DELETE")         \
    RIGHT("result", "UPDATE")                           \
    RIGHT("batch", "INSERT, UPDATE, DELETE")            \
    RIGHT("user_submit", "UPDATE (logical_start_time)") \
    RIGHT("job_file", "INSERT, UPDATE")                 \
    RIGHT("batch_file_assoc", "INSERT")

enum { DB_GRANTS_MAX = 10 };

/* The statements for one database, in the arena. How many there are. */
size_t db_grants_make(struct arena *arena, const struct db_grantee *grantee, struct text database,
                      struct db_grant ret_grants[DB_GRANTS_MAX]);
/* Likewise with the rights of SUBMISSION_RIGHTS. */
size_t db_grants_make_submission(struct arena *arena, const struct db_grantee *grantee,
                                 struct text database, struct db_grant ret_grants[DB_GRANTS_MAX]);
/* Runs them as the user that `config` names, who needs no database to be there. */
MUST_CHECK enum status db_grants_apply(const struct config *config, const struct db_grant *grants,
                                       size_t count, struct failure *failure);

#endif
