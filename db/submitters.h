/* SPDX-License-Identifier: Apache-2.0 */
/* The users who may submit jobs over the web: a row of user_submit with the rights and the share
 * of each, and a row of user_submit_app for each application unless all are allowed. BOINC's web
 * pages go by the same rows. Conventions as in db.h. */
#ifndef DB_SUBMITTERS_H
#define DB_SUBMITTERS_H

#include "db/db.h"

/* By number of the account. Counts the unfinished jobs of everybody's batches in progress. */
MUST_CHECK enum status db_submitter_list(struct db *db, struct arena *arena,
                                         struct submitter_row **ret_rows, size_t *ret_count);
/* Locks the row. STATUS_NOT_FOUND: the user submits no jobs. */
MUST_CHECK enum status db_submitter_lock(struct db *db, int64_t userid,
                                         struct submitter_rights_row *ret_rights);
MUST_CHECK enum status db_submitter_save(struct db *db, int64_t userid,
                                         const struct submitter_rights_row *rights);
/* Of one application; twice is once. */
MUST_CHECK enum status db_submitter_allow(struct db *db, int64_t userid, int64_t appid);
MUST_CHECK enum status db_submitter_forbid(struct db *db, int64_t userid, int64_t appid);
/* With all applications; batches stay the user's. *ret_was: whether there was a row. */
MUST_CHECK enum status db_submitter_remove(struct db *db, int64_t userid, bool *ret_was);

#endif
