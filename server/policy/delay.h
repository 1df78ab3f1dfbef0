/* SPDX-License-Identifier: Apache-2.0 */
/* How long a client is told to wait (protocol 7.8; database-and-policy 12); pure. */
#ifndef SERVER_POLICY_DELAY_H
#define SERVER_POLICY_DELAY_H

#include <stdint.h>

/* What a delay is for; its base in seconds stands in one table in delay.c. */
enum delay_cause {
    DELAY_BAD_KEY,      /* account key missing or wrong */
    DELAY_NOT_ACCEPTED, /* client too old, OS, CPU or platform not accepted, blacklisted */
    DELAY_BUSY,         /* another request of this host, or the database asks for later */
    DELAY_DOWN,         /* project down: maintenance_delay */
    DELAY_TOO_RECENT,   /* min_sendwork_interval */
    DELAY_CAUSE_COUNT
};

/* The cause's base, `configured` where the table says that it comes from config.xml, lengthened by
 * a part of up to `jitter` (0..1) chosen by `seed`, never above 172,800 s. */
double delay_for(enum delay_cause cause, double configured, double jitter, uint64_t seed);

/* The delay that goes into a reply: raised to what min_sendwork_interval demands (protocol 4.8)
 * and bounded; 0 stays 0 when no interval is set. */
double delay_in_reply(double request_delay, double min_sendwork_interval);

#endif
