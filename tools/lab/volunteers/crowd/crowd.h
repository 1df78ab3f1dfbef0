/* SPDX-License-Identifier: Apache-2.0 */
/* A crowd in virtual time. This room gives emulated hosts (host/) time and a network, which they
 * do not know themselves.
 *
 * A run goes from scenario.h (what hosts and how long) and command_line.h (which servers) through
 * one loop: agenda.h says which host's event is the next; the host lives until then; if it then
 * has a question, accounts.h adds the key of its account, wire/ makes bytes of it, http_lines.h
 * carries them to a real scheduler, and the answer goes back the same way before the host's next
 * event is entered into the agenda. The events of one host therefore never change places, however
 * many requests of others are under way. Between events, what is due by time is done: samples of
 * the figures, and the commands that stand in for a project's other programs (command.h).
 * Observers (observer.h) hear of everything, and effort.h reports the cost at the end. */
#ifndef TOOLS_LAB_VOLUNTEERS_CROWD_CROWD_H
#define TOOLS_LAB_VOLUNTEERS_CROWD_CROWD_H

#include "server/base/status.h"
#include "tools/lab/volunteers/crowd/effort.h"
#include "tools/lab/volunteers/crowd/observer.h"

#include <stdbool.h>
#include <stddef.h>

struct command_line;
struct crowd;
struct scenario;
struct volunteer;

/* Options and scenario stay the caller's and must outlive it unchanged. STATUS_IO, STATUS_INVALID:
 * a master page cannot be read, or names no scheduler. */
MUST_CHECK enum status crowd_create(const struct command_line *options,
                                    const struct scenario *scenario, struct crowd **ret_crowd,
                                    struct failure *failure);
void crowd_destroy(struct crowd *crowd); /* NULL is fine */
/* False: there are too many already. */
MUST_CHECK bool crowd_observe(struct crowd *crowd, struct observer observer);

/* Until the end of the scenario, or until crowd_stop, whose run is a good one too. STATUS_IO: a
 * server stayed away, or a command failed; observers got their last sample. STATUS_INVALID: a
 * project did nothing that it was asked for, or goes by another clock. */
MUST_CHECK enum status crowd_run(struct crowd *crowd, struct failure *failure);
/* From a signal handler too: no new requests, those under way are waited for, for some seconds. */
void crowd_stop(void);
bool crowd_is_stopped(void);

const struct crowd_effort *crowd_effort(const struct crowd *crowd);

#endif
