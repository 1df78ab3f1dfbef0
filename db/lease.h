/* SPDX-License-Identifier: Apache-2.0 */
/* Ids that one worker of a pass has for itself for a while. The queries that find what is due (of
 * validation, assimilation, ...) leave out what lies between the ids of a valid lease of their
 * pass. Whether one is valid is decided by the database's clock alone. Conventions as in db.h. */
#ifndef DB_LEASE_H
#define DB_LEASE_H

#include "db/db.h"

/* s, from when it was taken or renewed ({lease_seconds} of admin.def); from the next seconds on it
 * is nobody's. One that is valid for more than another DB_LEASE_SECONDS is of a clock that was set
 * back, and nobody's either: the clocks of a cluster's nodes may differ by less. */
#define DB_LEASE_SECONDS 60

struct lease_key {
    struct text pass;
    int64_t appid; /* 0: of a pass that goes by no app */
    int64_t token; /* of the holder; not 0 */
};

/* Begins to take: until the end of the transaction nobody else takes any of this pass and app.
 * Deletes the holder's former lease, if there is one, and those that are not valid any more. */
MUST_CHECK enum status db_lease_turn(struct db *db, const struct lease_key *key);
MUST_CHECK enum status db_lease_add(struct db *db, const struct lease_key *key, int64_t first_id,
                                    int64_t last_id);
/* For another DB_LEASE_SECONDS. False: it is not valid, or not there; it stays so. The row is
 * changed by this, so a transaction that also writes something else is committed only if nobody
 * took the lease away meanwhile, on another machine of a cluster either. */
MUST_CHECK enum status db_lease_renew(struct db *db, const struct lease_key *key,
                                      bool *ret_is_valid);
/* Deletes it, and those that are not valid any more. */
MUST_CHECK enum status db_lease_release(struct db *db, const struct lease_key *key);
/* Whether anybody has one of this pass and app; the token does not matter. */
MUST_CHECK enum status db_lease_exists(struct db *db, const struct lease_key *key, bool *ret_does);

#endif
