/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of figures that outlive a process (server/status/), and counts of what the project has.
 * Conventions as in db.h. */
#ifndef DB_FIGURE_ROWS_H
#define DB_FIGURE_ROWS_H

#include "db/db.h"
#include "db/rows.h"

/* KIND(NAME, word, kept): kinds of rows, and for how many seconds a row is kept; 0: there is one,
 * of begin 0, which is written over. */
#define FIGURE_KINDS(KIND)           \
    KIND(MINUTE, "minute", 4200)     \
    KIND(SLOT, "slot", 90000)        \
    KIND(PROJECT, "project", 691200) \
    KIND(NOW, "now", 0)              \
    KIND(STUCK, "stuck", 0)          \
    KIND(FILES, "files", 0)          \
    KIND(CHECKS, "checks", 0)        \
    KIND(WEB, "web", 0)
enum figure_kind {
#define FIGURE_KIND_ENUM(name, word, kept) FIGURES_##name,
    FIGURE_KINDS(FIGURE_KIND_ENUM)
#undef FIGURE_KIND_ENUM
        FIGURE_KIND_COUNT
};
enum { FIGURES_BYTES_MOST = 65000 }; /* of a row; what is longer is cut */

/* Writes a row, or writes it over. `begin`: epoch; `process`: a number that no other has, 0: it is
 * of all. */
MUST_CHECK enum status db_figures_write(struct db *db, enum figure_kind kind, int64_t begin,
                                        int64_t process, struct text figures);
/* Rows that begin at `since` or later, by begin and process. */
MUST_CHECK enum status db_figures_read(struct db *db, struct arena *arena, enum figure_kind kind,
                                       int64_t since, struct figures_row **ret_rows,
                                       size_t *ret_count);
/* Deletes some of the rows that are kept no longer; others go with a later call. */
MUST_CHECK enum status db_figures_prune(struct db *db, int64_t now);

/* The servers of this database that have said that they live within a day: how long ago they began,
 * and said so last, by the database's clock. By name. */
MUST_CHECK enum status db_servers_known(struct db *db, struct arena *arena, int64_t most,
                                        struct server_known_row **ret_rows, size_t *ret_count);

/* --- counts, each along an index alone ------------------------------------------------------- */

/* Results of an application in a state. */
MUST_CHECK enum status db_count_results(struct db *db, int64_t appid, int64_t server_state,
                                        int64_t *ret_count);
/* Workunits and results that wait for somebody, and when the first transition is due (epoch, 0:
 * none is). */
MUST_CHECK enum status db_count_waiting(struct db *db, struct waiting_counts_row *ret_counts);
/* Bytes in outputs of batches that are not retired, as far as they are counted (batch_outputs.h).
 */
MUST_CHECK enum status db_count_outputs(struct db *db, struct outputs_waiting_row *ret_outputs);
/* Volunteers and hosts by their credit, and who came since. */
MUST_CHECK enum status db_count_people(struct db *db, int64_t since,
                                       struct people_counts_row *ret_counts);
/* Runtimes (s) of valid results of an application that came since; of those that are over the
 * newest `most` are looked at. */
MUST_CHECK enum status db_runtimes(struct db *db, int64_t appid, int64_t since, int64_t most,
                                   struct runtimes_row *ret_runtimes);
/* Whether the next three go by an index; a project of former years has none, and they would read
 * all jobs. */
MUST_CHECK enum status db_batches_are_indexed(struct db *db, bool *ret_are);
/* The largest number of a batch below `before` that has jobs; 0: there is none. */
MUST_CHECK enum status db_batch_before(struct db *db, int64_t before, int64_t *ret_batch);
/* How many jobs it has, with which numbers, its name and what is noted of it; texts live in the
 * arena. */
MUST_CHECK enum status db_batch_span(struct db *db, struct arena *arena, int64_t batch,
                                     struct batch_span_row *ret_span);
/* How `most` jobs of it fare, by rising number from `first` on. */
MUST_CHECK enum status db_batch_part(struct db *db, int64_t batch, int64_t first, int64_t most,
                                     struct batch_part_row *ret_part);
/* Results, unsent or with hosts, that its jobs have beyond what they lack: of the first
 * HURRY_JOBS_MOST without an answer. Reads all jobs of the batch. */
MUST_CHECK enum status db_batch_copies(struct db *db, int64_t batch, int64_t *ret_copies);

#endif
