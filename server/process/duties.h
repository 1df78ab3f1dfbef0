/* SPDX-License-Identifier: Apache-2.0 */
/* Work on the database that one of the servers does for all of them. */
#ifndef SERVER_PROCESS_DUTIES_H
#define SERVER_PROCESS_DUTIES_H

#include "db/db.h"
#include "server/base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct catalog;

/* Writes app_version.pfc_scale and app.min_avg_pfc, if nobody has within `interval` seconds. One
 * transaction of its own, rolled back on failure: the duty is due then as before. */
MUST_CHECK enum status duty_credit_scales(struct db *db, const struct catalog *catalog,
                                          int64_t interval, bool *ret_done);

/* A round in which credit a day fades (policy(7) 13.2), of one server once an hour. */
struct fading {
    bool is_under_way;
    struct fading_place place;
    size_t looked_at; /* rows, in this round */
};
enum { FADING_PARTS = 10 /* of a step */ };
/* Begins a round, if it is this server's turn, or does the next step of the one that is under way:
 * a bounded number of short transactions. After a failure nothing is under way, and what is left is
 * done by the next round. *ret_ended: a round ended. */
MUST_CHECK enum status duty_fading_credit(struct db *db, struct fading *fading, int64_t now,
                                          bool *ret_ended);

#endif
