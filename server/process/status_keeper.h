/* SPDX-License-Identifier: Apache-2.0 */
/* What the status page shows of the past: the last day, by the watcher's turns, and what was read
 * again of late. status_gather.h has the figures of the moment. */
#ifndef SERVER_PROCESS_STATUS_KEEPER_H
#define SERVER_PROCESS_STATUS_KEEPER_H

#include "server/base/text.h"
#include "server/status/status_page.h"

#include <stdbool.h>

struct buffer;
struct status_keeper;

struct status_keeper *status_keeper_create(void); /* NULL: no memory */
void status_keeper_destroy(struct status_keeper *keeper);

/* Any thread. `what` was read again, by its name, and taken or refused; `words`: one line for each
 * change, or why. */
void status_keeper_note(struct status_keeper *keeper, const char *what, bool is_refused,
                        struct text words);
/* Every second or so: what the counters rose by goes into the day, and how high these stood. */
void status_keeper_add(struct status_keeper *keeper, const double levels[DAY_LEVELS]);
/* The page: `figures`, with the past put in for as long as it is written. */
void status_keeper_write(struct status_keeper *keeper, struct status_figures *figures,
                         struct buffer *ret_page);

#endif
