/* SPDX-License-Identifier: Apache-2.0 */
/* The imaginary queue is kept as the moment at which it will be empty, so that one atomic number is
 * enough: requests move it ahead, time catches up.
 *
 * Each process measures itself. Several of them on one machine or behind one balancer share the
 * hosts among them, and each spreads its own part. A CGI program lives too short to measure
 * anything: there the web server's limit of processes has to do. */
#include "server/process/load_meter.h"

#include "server/base/banned.h"

/* A new measure counts for this part of the mean: enough to follow a minute's change, too little
 * for one slow request to matter. */
#define SMOOTHING 32

/* How long requests wait without a pause for the process to be known to serve what it can, and the
 * part for which such a time counts of what is known. */
#define WINDOW_NS    UINT64_C(5000000000)
#define WINDOW_COUNT 4

double load_meter_rate(const struct load_meter *meter, double target)
{
    uint64_t service_ns = atomic_load_explicit(&meter->service_ns, memory_order_relaxed);

    return load_rate((double)service_ns * 1e-9,
                     atomic_load_explicit(&meter->workers, memory_order_relaxed), target);
}

/* The queue moves at the rate at which the hosts that come now are to come back. */
static double rate_of_return(const struct load_meter *meter, double target)
{
    double rate = load_meter_rate(meter, target);

    if (!atomic_load_explicit(&meter->is_away, memory_order_relaxed))
        return rate;
    return load_return_rate(atomic_load_explicit(&meter->served, memory_order_relaxed), rate,
                            target);
}

struct load load_meter_arrival(struct load_meter *meter, double target, uint64_t now_ns)
{
    double rate = rate_of_return(meter, target);
    uint64_t until_ns = atomic_load_explicit(&meter->until_ns, memory_order_relaxed);
    double backlog;
    uint64_t next_ns;

    do {
        double before = until_ns > now_ns ? (double)(until_ns - now_ns) * 1e-9 : 0;
        backlog = load_backlog(before, 0, rate);
        next_ns = now_ns + (uint64_t)(backlog * 1e9);
    } while (!atomic_compare_exchange_weak_explicit(&meter->until_ns, &until_ns, next_ns,
                                                    memory_order_relaxed, memory_order_relaxed));
    return (struct load){.backlog = backlog};
}

void load_meter_served(struct load_meter *meter, uint64_t service_ns)
{
    uint64_t mean = atomic_load_explicit(&meter->service_ns, memory_order_relaxed);

    atomic_fetch_add_explicit(&meter->count, 1, memory_order_relaxed);
    if (service_ns == 0)
        service_ns = 1;
    if (mean != 0)
        service_ns = mean - mean / SMOOTHING + service_ns / SMOOTHING;
    /* Of two threads at the same moment one measure may be lost: it is one of many. */
    atomic_store_explicit(&meter->service_ns, service_ns, memory_order_relaxed);
}

static void note_served(struct load_meter *meter, double served)
{
    double known = atomic_load_explicit(&meter->served, memory_order_relaxed);

    if (known > 0)
        served = known + (served - known) / WINDOW_COUNT;
    atomic_store_explicit(&meter->served, served, memory_order_relaxed);
}

void load_meter_look(struct load_meter *meter, uint64_t now_ns, bool requests_wait)
{
    uint64_t count = atomic_load_explicit(&meter->count, memory_order_relaxed);
    uint64_t age_ns = now_ns - meter->window_ns;

    meter->waited = meter->waited && requests_wait &&
                    !atomic_load_explicit(&meter->is_away, memory_order_relaxed);
    if (meter->waited && age_ns < WINDOW_NS)
        return;
    if (meter->waited)
        note_served(meter, (double)(count - meter->window_count) / ((double)age_ns * 1e-9));
    meter->window_ns = now_ns;
    meter->window_count = count;
    meter->waited = requests_wait;
}
