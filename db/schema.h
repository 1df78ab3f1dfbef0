/* SPDX-License-Identifier: Apache-2.0 */
/* Making and upgrading a project's tables. */
#ifndef DB_SCHEMA_H
#define DB_SCHEMA_H

#include "server/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;

/* The SQL files, as they were when the program was built. */
struct schema_upgrade {
    const char *name; /* "0001-side-tables" */
    const char *sql;
};
extern const char *const schema_sql;
extern const struct schema_upgrade schema_upgrades[]; /* in order of number */
extern const size_t schema_upgrade_count;
int64_t schema_upgrade_number(const struct schema_upgrade *upgrade);

struct schema_report {
    bool created_database, created_tables;
    int64_t version_before, version_now; /* number of the last upgrade; 0: none */
};
/* Brings the database that the options name to the newest state: makes it if it is not there, the
 * project's tables if it is empty, ours if it is a BOINC project's. Safe to repeat, also after it
 * was interrupted. STATUS_DB_REFUSED: something else is in there, or it was upgraded by a newer
 * program; the failure says which. `ret_report` may be NULL. */
MUST_CHECK enum status db_schema_upgrade(const struct config *config,
                                         struct schema_report *ret_report, struct failure *failure);
/* Adds an index that a project of BOINC's lost, where none of that name is there; columns: "a, b".
 * Online: whoever reads or writes the table goes on meanwhile. */
MUST_CHECK enum status db_schema_add_index(const struct config *config, const char *table,
                                           const char *name, const char *columns,
                                           struct failure *failure);

#endif
