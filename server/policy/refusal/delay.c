/* SPDX-License-Identifier: Apache-2.0 */
/* Delays. A cause has a base, from one table. Two things lengthen it, nothing shortens it.
 *
 * Load: each host that comes while the server is oversold is told to stay away for as much longer
 * as the server is oversold. Let hosts come at the rate a while r can be served: the backlog grows
 * by a / r - 1 for each second, so two hosts that come a moment t apart come back t * a / r apart:
 * at the rate r, however many they are and whatever the base. (A factor on the base would leave the
 * rate between a and r, and a base of a day would grow by days.)
 *
 * In an outage it is the rate at which they come back that must be known beforehand: that of the
 * days before, see load_return_rate.
 *
 * Chance: hosts that were refused for the same cause at the same moment must not come back
 * together, and the client's own back-off does not always scatter them.
 *
 * A delay also holds back reports and other resources of the client, so none is longer than two
 * days, and "no work" asks for little: see no_work_delay in options.def. */
#include "server/policy/refusal/delay.h"

#include "server/base/random.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "server/base/banned.h"

#define DELAY_MAX   172800.0 /* s */
#define BACKLOG_MAX 14400.0  /* s */

#define OUTAGE_LEAST 60.0 /* s */

#define RETURN_RATE_UNKNOWN 100.0 /* requests/s */

/* A crowd that is worked off in this many seconds is none. */
#define BACKLOG_IGNORED 5.0

/* Clients that wait exactly the interval come a little early by our clock, so they are told a
 * little more. */
#define INTERVAL_STRETCH 1.01
#define INTERVAL_EXTRA   1.0 /* s */

static const struct {
    double base;         /* s; where `configured` is set, only for a nonsensical option */
    bool configured;     /* an option or the request gives the base */
    bool is_an_interval; /* stretched as above */
} causes[DELAY_CAUSE_COUNT] = {
    [DELAY_BAD_KEY] = {.base = 3600},
    [DELAY_NOT_ACCEPTED] = {.base = 86400},
    [DELAY_BUSY] = {.base = 60},
    [DELAY_DOWN] = {.base = 3600, .configured = true},
    [DELAY_AWAY] = {.base = 3600, .configured = true},
    [DELAY_TOO_RECENT] = {.base = 0, .configured = true, .is_an_interval = true},
    [DELAY_NO_WORK] = {.base = 0, .configured = true},
    [DELAY_DEADLINE] = {.base = 0, .configured = true},
    [DELAY_OTHERS_FASTER] = {.base = 60},
};

static double bounded(double delay)
{
    if (!(delay > 0))
        return 0; /* NaN too */
    return fmin(delay, DELAY_MAX);
}

static double stretched(double interval)
{
    return fmax(interval * INTERVAL_STRETCH, interval + INTERVAL_EXTRA);
}

double load_rate(double service_time, double workers, double target)
{
    if (!(service_time > 0) || !(workers > 0) || !(target > 0))
        return 0;
    return target * workers / service_time;
}

double load_return_rate(double served, double rate, double target)
{
    if (!(target > 0))
        return 0;
    if (served > 0)
        return served * target;
    return rate > 0 ? rate / 2 : RETURN_RATE_UNKNOWN;
}

double load_backlog(double backlog, double elapsed, double rate)
{
    if (!(rate > 0))
        return 0;
    if (elapsed > 0)
        backlog -= elapsed;
    if (!(backlog > 0))
        backlog = 0;
    backlog += 1 / rate;
    return fmin(backlog, BACKLOG_MAX);
}

double delay_spread(double base, const struct load *load, double jitter, uint64_t seed)
{
    double delay = bounded(base);

    if (load->backlog > BACKLOG_IGNORED)
        delay += fmin(load->backlog, BACKLOG_MAX) - BACKLOG_IGNORED;
    if (jitter > 0) {
        struct random random = {.state = seed};
        delay += delay * fmin(jitter, 1) * random_unit(&random);
    }
    return bounded(delay);
}

double delay_for(enum delay_cause cause, double configured, const struct load *load, double jitter,
                 uint64_t seed)
{
    double base = causes[cause].base;

    if (causes[cause].configured && configured > 0)
        base = causes[cause].is_an_interval ? stretched(configured) : configured;
    return delay_spread(base, load, jitter, random_mix(seed, (uint64_t)cause));
}

double delay_of_outage(double away_for, double most)
{
    double delay = away_for > OUTAGE_LEAST ? away_for : OUTAGE_LEAST;

    return away_for >= 0 && delay < most ? delay : most;
}

double delay_in_reply(double request_delay, double min_sendwork_interval)
{
    double delay = bounded(request_delay);

    if (min_sendwork_interval > 0 && stretched(min_sendwork_interval) > delay)
        delay = stretched(min_sendwork_interval);
    return bounded(delay);
}
