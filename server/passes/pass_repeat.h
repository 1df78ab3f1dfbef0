/* SPDX-License-Identifier: Apache-2.0 */
/* What passes over many jobs do alike. */
#ifndef SERVER_PASSES_PASS_REPEAT_H
#define SERVER_PASSES_PASS_REPEAT_H

#include "server/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct app_row;
struct db;
struct pass_owner;

/* One transaction: begins, commits or fails. */
typedef enum status transaction_call(void *subject);
/* Calls it until it succeeds, or fails in a way that would not change: what the database asks to
 * repeat is repeated some times, with pauses in which others go on, and on a new connection where
 * the old one is lost. What was committed without our hearing of it is called again too. Whatever
 * fails is rolled back. */
MUST_CHECK enum status repeat_transaction(struct db *db, transaction_call *call, void *subject);

/* A command that fails for one job after another is likely to fail for all, and may take its time
 * for each. Zeroed at first, and again when the command did its work. */
struct failure_row {
    int failures;
    double seconds; /* that they took */
};
/* The others can wait: it failed a few times in a row, and that took long. */
bool failure_row_ends_pass(const struct failure_row *row);

/* How many jobs a pass takes together whose command may take its time for each: `least` first
 * (`*part` 0), twice as many where the last took less than a second, half as many where it took
 * more than five; at most `most`, and never more than are left. */
size_t pass_part_jobs(size_t *part, double seconds, size_t least, size_t most, int64_t left);
/* When answers of a command are written next, where that took from `begun` to `ended`: 20 times a
 * second, or so rarely that it takes a twentieth of the time; once a second at least. */
double pass_next_write(double begun, double ended);

/* Seconds between two rounds of a loop that are to begin `pace` apart, of which the last took
 * `seconds`: none, if it took longer, as there is much to do; all of the pace behind one that
 * failed. */
double pass_pause(double pace, double seconds, bool has_failed);

/* For what nobody waits for, between two pieces of the work, of which the last took `seconds`:
 * where hosts wait for a scheduler (db_servers_hosts_wait) it rests pass_rest of that, or until the
 * owner is to end. Nothing is open. */
MUST_CHECK enum status pass_give_way(const struct pass_owner *owner, double seconds);
/* So that it takes a quarter of the time; some seconds at most. */
double pass_rest(double seconds);

typedef enum status app_call(void *subject, const struct app_row *app);
/* Calls it for each application of the project, until it fails. */
MUST_CHECK enum status for_each_app(struct db *db, app_call *call, void *subject);

#endif
