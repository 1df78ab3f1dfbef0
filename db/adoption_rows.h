/* SPDX-License-Identifier: Apache-2.0 */
/* A project's database before it is ours: what it has and lacks of what we need, whichever year's
 * tables it has. Reading changes nothing; the connection refuses to. */
#ifndef DB_ADOPTION_ROWS_H
#define DB_ADOPTION_ROWS_H

#include "db/db.h"

#include <stdbool.h>

/* As db_admin_open, with whatever tables there are, and for reading alone. */
MUST_CHECK enum status db_adoption_open(const struct config *config, struct db **ret_db,
                                        struct failure *failure);

/* Whether the project's tables, and with `wants_ours` those of this server, have what no server can
 * do without: STATUS_DB_REFUSED, and the failure says what is missing. */
MUST_CHECK enum status db_adoption_tables(struct db *db, bool wants_ours, struct failure *failure);

/* --- columns that came with the years -------------------------------------------------------- */

struct adoption_era {
    int revision; /* of BOINC's sources */
    const char *since, *what;
};
extern const struct adoption_era adoption_eras[]; /* in order of revision */
extern const size_t adoption_era_count;
/* The era's columns that the database lacks, as "host.misc, result.size_class"; empty: none. */
struct text db_adoption_lacks(struct db *db, struct arena *arena, const struct adoption_era *era);

/* --- indexes ------------------------------------------------------------------------------- */

enum index_need { INDEX_BY_NAME, INDEX_BY_COLUMNS, INDEX_UNIQUE };
struct needed_index {
    const char *table, *name, *columns; /* "a,b" */
    enum index_need how;
    const char *why;
};
extern const struct needed_index needed_indexes[];
extern const size_t needed_index_count;

/* ROWS adoption_index, as information_schema has them. */
MUST_CHECK enum status db_adoption_indexes(struct db *db, struct arena *arena,
                                           struct adoption_index_row **ret_rows, size_t *ret_count);
enum index_state {
    INDEX_THERE,
    INDEX_MISSING,
    INDEX_OTHERWISE /* the name is taken by an index of other columns */
};
enum index_state needed_index_state(const struct needed_index *needed,
                                    const struct adoption_index_row *rows, size_t count);

/* --- the rest ------------------------------------------------------------------------------ */

/* Tables that we use and that take no row locks, hence no transactions; with their engines. */
MUST_CHECK enum status db_adoption_engines(struct db *db, struct arena *arena,
                                           struct adoption_table_row **ret_rows, size_t *ret_count);
/* Whether a server writes to that table; `qmctl` may write to others. */
bool db_adoption_writes(struct text table);
/* Triggers of tables that we use, with the user's right TRIGGER; "BEFORE UPDATE" and its like. */
MUST_CHECK enum status db_adoption_triggers(struct db *db, struct arena *arena,
                                            struct adoption_trigger_row **ret_rows,
                                            size_t *ret_count);
/* The last upgrade of ours that was done; 0: none. */
MUST_CHECK enum status db_adoption_version(struct db *db, int64_t *ret_version);
/* Whether there were ever messages of jobs, messages to hosts, assigned jobs: 0 or 1. */
MUST_CHECK enum status db_adoption_counts(struct db *db, struct adoption_counts_row *ret_counts);

#endif
