/* SPDX-License-Identifier: Apache-2.0 */
/* How long a client has to wait (policy(7) 12.1, 12.2); pure. */
#ifndef SERVER_POLICY_REFUSAL_DELAY_H
#define SERVER_POLICY_REFUSAL_DELAY_H

#include <stdint.h>

/* What a delay is for; its base in seconds stands in one table in delay.c. */
enum delay_cause {
    DELAY_BAD_KEY,       /* account key missing or wrong */
    DELAY_NOT_ACCEPTED,  /* client too old, OS, CPU or platform not accepted, blacklisted */
    DELAY_BUSY,          /* another request of this host, or the database asks for later */
    DELAY_DOWN,          /* project down: maintenance_delay */
    DELAY_AWAY,          /* database away: see delay_of_outage */
    DELAY_TOO_RECENT,    /* min_sendwork_interval */
    DELAY_NO_WORK,       /* nothing for this host now: no_work_delay */
    DELAY_DEADLINE,      /* nothing in time: what the queue of the host says */
    DELAY_OTHERS_FASTER, /* what was chosen went to others in the same moment */
    DELAY_CAUSE_COUNT
};

/* What a server measures of itself, as one request finds it. Every request takes a place in an
 * imaginary queue that moves at the rate that the server can serve; its length in seconds is by how
 * much the requests of late were too many. */
struct load {
    double backlog; /* s, at the arrival of this request; 0: not busy, or nothing measured */
};

/* The requests per second that come without lengthened delays: those that `workers` serve, each in
 * `service_time` s, times `target` (0..1). 0: nothing is known, or no limit is wanted. */
double load_rate(double service_time, double workers, double target);
/* The requests per second at which hosts are to come back that were sent away while nothing could
 * be served: `target` of what was `served` per second while others waited; where that is not known
 * (0), half of `rate` (load_rate), since what is measured at ease takes longer in a crowd; where
 * that is not known either, what a small machine serves. 0: no limit is wanted (`target` 0). */
double load_return_rate(double served, double rate, double target);
/* The place of the next request: the queue moved for `elapsed` s since `backlog`, then grew by one.
 * Never above 14,400 s, the longest that clients wait by themselves when a server does not answer.
 */
double load_backlog(double backlog, double elapsed, double rate);

/* `base`, lengthened by the load, then by a part of up to `jitter` (0..1) chosen by `seed`; never
 * above 172,800 s. */
double delay_spread(double base, const struct load *load, double jitter, uint64_t seed);
/* The same for the cause's base, or for `configured` where the table says that the base comes from
 * config.xml or from the request. */
double delay_for(enum delay_cause cause, double configured, const struct load *load, double jitter,
                 uint64_t seed);

/* The base of DELAY_AWAY, s: as long as the database has been away, but at least a minute and at
 * most `most`. Then a blink costs a minute, no outage is more than doubled, and when the database
 * is back the hosts that were sent away come at no more than the rate at which they came first.
 * `away_for` below 0: not known, which gives `most`. */
double delay_of_outage(double away_for, double most);

/* The delay that goes into a reply: raised to what min_sendwork_interval demands (policy(7) 12.1)
 * and bounded; 0 stays 0 when no interval is set. */
double delay_in_reply(double request_delay, double min_sendwork_interval);

#endif
