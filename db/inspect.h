/* SPDX-License-Identifier: Apache-2.0 */
/* What a new connection finds out before it is used: tables, columns, settings of the server. */
#ifndef DB_INSPECT_H
#define DB_INSPECT_H

#include "db/columns.h"
#include "server/base/status.h"

#include <stdbool.h>

struct db;

struct database_facts {
    struct actual_columns columns;
    char *names;                  /* what the columns' texts point into */
    char character_set[33];       /* of the tables' text columns */
    unsigned bytes_per_character; /* see value_text */
    bool is_cluster;              /* wsrep_on, or the server does not say */
    bool is_read_only;            /* for whoever has no right to write all the same */
};

/* STATUS_DB_REFUSED with a failure that says what to change: not a project's database, too old a
 * one, our own tables missing, statement-format binary log. Of the file database (not `is_project`)
 * no tables are demanded. */
MUST_CHECK enum status database_inspect(struct db *db, bool is_project,
                                        struct database_facts *ret_facts, struct failure *failure);
void database_facts_free(struct database_facts *facts);

#endif
