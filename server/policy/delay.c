/* SPDX-License-Identifier: Apache-2.0 */
/* Delays. A cause has a base; hosts that met the same cause at the same time must not come back
 * together, so the base is lengthened (never shortened) by a random part. A delay also holds back
 * reports and other resources of the client, so none is longer than two days. */
#include "server/policy/delay.h"

#include "server/base/random.h"

#include <stdbool.h>
#include <stddef.h>

#include "server/base/banned.h"

#define DELAY_MAX 172800.0 /* s, protocol 7.8 */

/* Clients that wait exactly the interval come a little early by our clock, so they are told a
 * little more. */
#define INTERVAL_STRETCH 1.01
#define INTERVAL_EXTRA   1.0 /* s */

static const struct {
    double base;         /* s; where `configured` is set, only for a nonsensical option */
    bool configured;     /* an option gives the base */
    bool is_an_interval; /* stretched as above */
} causes[DELAY_CAUSE_COUNT] = {
    [DELAY_BAD_KEY] = {.base = 3600},
    [DELAY_NOT_ACCEPTED] = {.base = 86400},
    [DELAY_BUSY] = {.base = 60},
    [DELAY_DOWN] = {.base = 3600, .configured = true},
    [DELAY_TOO_RECENT] = {.base = 0, .configured = true, .is_an_interval = true},
};

static double bounded(double delay)
{
    if (!(delay > 0))
        return 0; /* NaN too */
    return delay > DELAY_MAX ? DELAY_MAX : delay;
}

static double stretched(double interval)
{
    double a = interval * INTERVAL_STRETCH;
    double b = interval + INTERVAL_EXTRA;

    return a > b ? a : b;
}

double delay_for(enum delay_cause cause, double configured, double jitter, uint64_t seed)
{
    if ((size_t)cause >= DELAY_CAUSE_COUNT)
        return 0;

    double delay = causes[cause].base;
    if (causes[cause].configured && configured > 0)
        delay = causes[cause].is_an_interval ? stretched(configured) : configured;
    if (jitter > 0) {
        struct random random = {.state = random_mix(seed, (uint64_t)cause)};
        delay += delay * (jitter < 1 ? jitter : 1) * random_unit(&random);
    }
    return bounded(delay);
}

double delay_in_reply(double request_delay, double min_sendwork_interval)
{
    double delay = bounded(request_delay);

    if (min_sendwork_interval > 0 && stretched(min_sendwork_interval) > delay)
        delay = stretched(min_sendwork_interval);
    return bounded(delay);
}
