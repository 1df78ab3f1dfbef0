/* SPDX-License-Identifier: Apache-2.0 */
/* How busy this process is: the rate at which it serves requests, and how far it is behind. */
#ifndef SERVER_PROCESS_LOAD_METER_H
#define SERVER_PROCESS_LOAD_METER_H

#include "server/policy/refusal/delay.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Of one process; zero it, with what it does not measure filled in. Any thread may use it. */
struct load_meter {
    _Atomic double workers;      /* threads that work at a time */
    _Atomic uint64_t service_ns; /* of one worker for one request, smoothed; 0: not measured */
    _Atomic uint64_t until_ns;   /* monotonic: when the imaginary queue will be empty */
    _Atomic uint64_t count;      /* that were served */
    _Atomic double served;       /* a second, while others waited all the time; 0: never */
    _Atomic bool is_away;        /* nothing can be served: the database is away */

    /* Of the one thread that looks (load_meter_look). */
    uint64_t window_ns, window_count; /* when it was begun, and the count then */
    bool waited;                      /* all the time since */
};

/* A request came at `now_ns` (monotonic). `target` is config.load_target. */
struct load load_meter_arrival(struct load_meter *meter, double target, uint64_t now_ns);
/* One was served, with all that belongs to it. Cheap refusals are not to be counted: they would
 * make the server look faster than it is when the herd comes back for work. */
void load_meter_served(struct load_meter *meter, uint64_t service_ns);
/* From one thread, some times a second: whether requests wait for a worker at this moment. */
void load_meter_look(struct load_meter *meter, uint64_t now_ns, bool requests_wait);
double load_meter_rate(const struct load_meter *meter, double target); /* see load_rate */

#endif
