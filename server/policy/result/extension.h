/* SPDX-License-Identifier: Apache-2.0 */
/* When a job that will be late gets more time instead of timing out, and when its host is to be
 * heard of next (policy(7) 11.3); pure.
 *
 * Only the stored deadline moves: the client keeps the one that it got, and therefore runs the job
 * first. */
#ifndef SERVER_POLICY_RESULT_EXTENSION_H
#define SERVER_POLICY_RESULT_EXTENSION_H

#include <stdbool.h>
#include <stdint.h>

/* The longest time from one contact of a host with jobs to the next, and half an hour. */
#define EXTENSION_SPAN 23400.0 /* s */

/* A job that the client lists. */
struct extension_facts {
    double now;          /* epoch */
    int64_t sent_time;   /* epoch */
    int64_t delay_bound; /* s */
    int64_t stored;      /* deadline in the database, epoch, grace period included */
    int64_t grace;       /* s */
    bool is_computed;    /* its output files are being uploaded */
    double told;         /* deadline that the client lists, epoch; unused if is_computed */
    double left;         /* s that it still has to run; unused if is_computed */
    double availability; /* the part of wall time in which it runs, above 0 */
};

/* Whether a job with this deadline of the client may get more time at a contact at `now`. */
bool extension_concerns(double told, double now);
/* The deadline to store: facts->stored, or a later one. */
int64_t extension_deadline(const struct extension_facts *facts);

/* Within how many s a host should be heard of again that has jobs in progress: before the first
 * deadline that lies ahead (epoch; INFINITY: none is known), but not before `least` s. */
double extension_contact(double now, double first_deadline, double least);

#endif
