/* SPDX-License-Identifier: Apache-2.0 */
/* Where all CPU jobs take the same and nothing is kept away from them, a host is a number of slots,
 * and each job takes the slot that is free first. Only slots that were ever taken are written down:
 * the times until which they are, the earliest on top of a heap; pure. */
#ifndef SERVER_POLICY_EDF_EDF_SLOTS_H
#define SERVER_POLICY_EDF_EDF_SLOTS_H

#include <stddef.h>
#include <stdint.h>

struct edf_slots {
    double *until; /* us; room for as many as there are jobs or slots, whichever is less */
    size_t count, most;
};

/* A job takes the first slot; returns when it is done. Adds to *work what it cost, in units of the
 * budget. */
double edf_slots_take(struct edf_slots *slots, double wall_time, uint64_t *work);

#endif
