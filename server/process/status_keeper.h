/* SPDX-License-Identifier: Apache-2.0 */
/* The past on the page "Server": the last hour and day, sampled by the watcher, and recent
 * reloads. status_gather.h has the current figures.
 *
 * Each minute a process writes what it counted in this minute and in the current five minutes into
 * its own rows of qm_figures. It reads the rows of other processes, on any machine, and its own
 * from before a restart. Pages therefore show all processes together, and the past survives
 * restarts. */
#ifndef SERVER_PROCESS_STATUS_KEEPER_H
#define SERVER_PROCESS_STATUS_KEEPER_H

#include "server/base/status.h"
#include "server/base/text.h"
#include "server/status/status_page.h"

#include <stdbool.h>
#include <stdint.h>

struct buffer;
struct db;
struct status_keeper;

/* `process`: a number that no other has, in its rows. NULL: no memory. */
struct status_keeper *status_keeper_create(int64_t process);
void status_keeper_destroy(struct status_keeper *keeper);

/* Any thread. `what` was read again, by its name, and taken or refused; `words`: one line for each
 * change, or why. */
void status_keeper_note(struct status_keeper *keeper, const char *what, bool is_refused,
                        struct text words);
/* Every second or so: what the counters rose by goes into the day, and how high these stood. */
void status_keeper_add(struct status_keeper *keeper, const double levels[SLOT_LEVELS]);
/* Each minute. Writes this process's rows, without ending the transaction. */
MUST_CHECK enum status status_keeper_save(struct status_keeper *keeper, struct db *db);
/* Reads the others' and which processes there are. What was read before stays where that fails. */
MUST_CHECK enum status status_keeper_load(struct status_keeper *keeper, struct db *db);
/* What the upload handler has left of itself in `upload_dir`, by a file; nothing where it is not
 * there.
 */
void status_keeper_look_at_uploads(struct status_keeper *keeper, struct text upload_dir);
struct status_uploads status_keeper_uploads(struct status_keeper *keeper);
/* The page: `figures`, with the past put in for as long as it is written. */
void status_keeper_write(struct status_keeper *keeper, struct status_figures *figures,
                         struct buffer *ret_page);

#endif
