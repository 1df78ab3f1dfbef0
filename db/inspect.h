/* SPDX-License-Identifier: Apache-2.0 */
/* What a new connection finds out before it is used: tables, columns, settings of the server. */
#ifndef DB_INSPECT_H
#define DB_INSPECT_H

#include "db/columns.h"
#include "server/base/status.h"

#include <stdbool.h>

struct arena;
struct db;
struct db_texts;

struct database_traits {
    struct actual_columns columns;
    char *names;                  /* what the columns' texts point into */
    char character_set[33];       /* of the tables' text columns */
    unsigned bytes_per_character; /* see value_text */
    bool is_cluster;              /* wsrep_on, or the server does not say */
    bool is_read_only;            /* for whoever has no right to write all the same */
    size_t packet_bytes;          /* that the server takes at once */
};

/* STATUS_DB_REFUSED with a failure that says what to change: not a project's database, too old a
 * one, our own tables missing, statement-format binary log, packets too small. Of the file database
 * (not `is_project`) no tables are demanded. */
MUST_CHECK enum status database_inspect(struct db *db, bool is_project,
                                        struct database_traits *ret_traits,
                                        struct failure *failure);
/* Whether the tables are such as we need: those of the project, and with `wants_ours` our own. */
MUST_CHECK enum status inspect_columns(const struct actual_columns *columns, bool wants_ours,
                                       struct failure *failure);
/* The names of the tables that we read or write, some of them more than once. */
struct db_texts inspect_tables(struct arena *arena);
void database_traits_free(struct database_traits *traits);

#endif
