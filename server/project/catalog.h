/* SPDX-License-Identifier: Apache-2.0 */
/* Apps, app versions and platforms as one immutable picture in memory, read again every
 * catalog_refresh seconds or when reread_db appears (policy(7) 4.1). */
#ifndef SERVER_PROJECT_CATALOG_H
#define SERVER_PROJECT_CATALOG_H

#include "db/db.h"
#include "db/rows.h"
#include "server/base/status.h"
#include "server/policy/version/estimate.h"

#include <stdbool.h>

struct arena;

struct catalog {
    struct catalog_rows rows;
    struct benchmarks benchmarks;
    struct presence_shares crowd; /* of hosts; 0: not known, or not wanted */
    const bool *versions_current; /* by place in rows.versions; NULL: worked out when asked */
    const struct app_row *const *apps_by_name; /* sorted; NULL: looked through when asked */
    struct arena *arena;                       /* owns the rows */
    uint64_t serial; /* of all that this process has made, another for each */
    int references;  /* atomic; see catalog_hold */
};

/* One database read; the caller owns one reference. Old core version numbers below 10000 are
 * multiplied by 100 here, versions whose document cannot be sent are left out, superseded and
 * deprecated ones are marked (catalog_version_is_current). Benchmarks are read where a version has
 * a plan class, which alone asks for them (policy(7) 5.4). */
MUST_CHECK enum status catalog_load(struct db *db, struct catalog **ret_catalog);
/* The same for a program that serves one request, with the benchmarks of fewer hosts and without
 * batches in a hurry. */
MUST_CHECK enum status catalog_load_for_one(struct db *db, struct catalog **ret_catalog);
/* Before anybody else has it: reads these as well. */
MUST_CHECK enum status catalog_load_hurries(struct db *db, struct catalog *catalog);
/* Before anybody else has it: also reads what is learned of the presence of so many of the newest
 * hosts. */
enum { CROWD_MOST = 4000, CROWD_FOR_ONE = 400 };
MUST_CHECK enum status catalog_load_crowd(struct db *db, int64_t hosts_most,
                                          struct catalog *catalog);
/* One from elsewhere than a database: an empty one, whose rows (by rising id) and benchmarks the
 * caller fills in, in its arena, before catalog_finish, which works out the rest. */
MUST_CHECK enum status catalog_begin(struct catalog **ret_catalog);
MUST_CHECK enum status catalog_finish(struct catalog *catalog);
struct catalog *catalog_hold(struct catalog *catalog);
void catalog_release(struct catalog *catalog); /* NULL is fine */

/* NULL: not there. */
const struct app_row *catalog_app(const struct catalog *catalog, int64_t id);
const struct app_row *catalog_app_by_name(const struct catalog *catalog, struct text name);
const struct app_version_row *catalog_version(const struct catalog *catalog, int64_t id);
const struct platform_row *catalog_platform_by_name(const struct catalog *catalog,
                                                    struct text name);
/* Whether new jobs may use this version without being told so by number: the newest per platform
 * and plan class, not below app.min_version. */
bool catalog_version_is_current(const struct catalog *catalog,
                                const struct app_version_row *version);

#endif
