/* SPDX-License-Identifier: Apache-2.0 */
#include "db/lease.h"
#include "db/mariadb.h"

#include "server/base/banned.h"

enum status db_lease_turn(struct db *db, const struct lease_key *key)
{
    enum status status = DB_RUN(db, lease_turn, NULL, .pass = key->pass, .appid = key->appid);

    return status == STATUS_OK ? db_lease_release(db, key) : status;
}

enum status db_lease_add(struct db *db, const struct lease_key *key, int64_t first_id,
                         int64_t last_id)
{
    return DB_RUN(db, lease_add, NULL, .pass = key->pass, .appid = key->appid, .token = key->token,
                  .first_id = first_id, .last_id = last_id);
}

enum status db_lease_renew(struct db *db, const struct lease_key *key, bool *ret_is_valid)
{
    uint64_t affected = 0;
    enum status status = DB_RUN(db, lease_renew, &affected, .pass = key->pass, .appid = key->appid,
                                .token = key->token);

    if (status == STATUS_OK)
        *ret_is_valid = affected == 1;
    return status;
}

enum status db_lease_release(struct db *db, const struct lease_key *key)
{
    return DB_RUN(db, lease_release, NULL, .pass = key->pass, .appid = key->appid,
                  .token = key->token);
}

enum status db_lease_exists(struct db *db, const struct lease_key *key, bool *ret_does)
{
    struct lease_count_row row;
    enum status status =
        DB_ONE(db, lease_count, NULL, &row, .pass = key->pass, .appid = key->appid);

    if (status == STATUS_OK)
        *ret_does = row.leases > 0;
    return status;
}
