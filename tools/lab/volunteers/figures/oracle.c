/* SPDX-License-Identifier: Apache-2.0 */
/* A job runs on one processor of the host's and whenever the host is on, so a processor goes
 * through the host's times of presence by itself. */
#include "tools/lab/volunteers/figures/oracle.h"

#include "server/base/buffer.h"
#include "server/base/random.h"
#include "tools/lab/volunteers/crowd/scenario.h"
#include "tools/lab/volunteers/host/life.h"
#include "tools/lab/volunteers/host/volunteer.h"

#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

enum { OFFERS = 100 /* from which a processor takes a job */ };
#define HOUR 3600.0
#define DAY  86400.0

struct presence {
    struct presence_period {
        double begin, end;
    } * periods;
    size_t count, capacity;
};

/* A processor on its way through time. */
struct cpu_time {
    size_t period;
    double now;
};

static bool grow(void **list, size_t count, size_t *capacity, size_t size)
{
    size_t wanted = *capacity == 0 ? 64 : *capacity * 2;
    void *grown;

    if (count < *capacity)
        return true;
    grown = realloc(*list, wanted * size);
    if (grown == NULL)
        return false;
    *list = grown;
    *capacity = wanted;
    return true;
}

/* The host lives without jobs, so that it is there when it would be in a run. */
static bool foresee(struct volunteer *volunteer, double until, struct presence *presence)
{
    void *periods = NULL;

    while (!volunteer->has_left && volunteer->now < until) {
        double next = fmin(fmin(volunteer->next_change, volunteer->departure), until);

        if (volunteer->is_on) {
            if (!grow(&periods, presence->count, &presence->capacity, sizeof(*presence->periods)))
                break;
            presence->periods = periods;
            presence->periods[presence->count++] =
                (struct presence_period){.begin = volunteer->now, .end = next};
        }
        volunteer_live(volunteer, next);
    }
    return volunteer->has_left || volunteer->now >= until;
}

/* Goes on for so many s of presence. Ends behind the last period where there are fewer. */
static struct cpu_time go_on(const struct presence *presence, struct cpu_time walk, double seconds)
{
    while (walk.period < presence->count) {
        const struct presence_period *period = &presence->periods[walk.period];

        walk.now = fmax(walk.now, period->begin);
        if (walk.now + seconds <= period->end) {
            walk.now += seconds;
            return walk;
        }
        seconds -= period->end - walk.now;
        walk.period++;
    }
    walk.now = INFINITY;
    return walk;
}

/* At the first moment from `begin` on at which the host is there. */
static struct cpu_time start(const struct presence *presence, double begin)
{
    struct cpu_time walk = {.now = begin};

    while (walk.period < presence->count && presence->periods[walk.period].end <= begin)
        walk.period++;
    return go_on(presence, walk, 0);
}

static double draw_duration(const struct scenario *scenario, const struct volunteer *volunteer,
                            struct random *random)
{
    const struct population *population = &scenario->population;

    return scenario->oracle_operations / volunteer->machine.flops * volunteer->machine.slowness *
           population_draw_error(population, random) *
           population_log_normal(random, 0, population->workunit_sigma);
}

/* How long the first offer takes that will be in time; 0: none of them will. */
static double choose(const struct scenario *scenario, const struct volunteer *volunteer,
                     const struct presence *presence, struct random *random, struct cpu_time walk)
{
    must(scenario->oracle_bound_count > 0);
    for (size_t offer = 0; offer < OFFERS; offer++) {
        size_t kind = random_next(random) % scenario->oracle_bound_count;
        double duration = draw_duration(scenario, volunteer, random);

        if (go_on(presence, walk, duration).now <= walk.now + scenario->oracle_bounds[kind])
            return duration;
    }
    return 0;
}

/* From when on jobs count. */
static double oracle_begin(const struct scenario *scenario)
{
    return scenario->begin + scenario->oracle_batch_days * DAY;
}

static bool keep_latency(struct oracle *oracle, double latency)
{
    void *latencies = oracle->latencies;
    bool good = grow(&latencies, oracle->count, &oracle->capacity, sizeof(*oracle->latencies));

    oracle->latencies = latencies;
    if (good)
        oracle->latencies[oracle->count++] = latency;
    return good;
}

static bool run_processor(const struct scenario *scenario, const struct volunteer *volunteer,
                          const struct presence *presence, struct random *random,
                          struct oracle *oracle)
{
    double end = scenario->begin + scenario->days * DAY, begin = oracle_begin(scenario);
    bool is_batch = scenario->oracle_batch_jobs > 0;
    struct cpu_time walk = start(presence, begin);

    while (walk.now < end) {
        double taken = walk.now, duration = choose(scenario, volunteer, presence, random, walk);
        bool fails = random_unit(random) < scenario->population.error_rate;

        if (fails) /* somewhere on the way */
            duration *= random_unit(random);
        walk = go_on(presence, walk, duration > 0 ? duration : HOUR);
        if (duration <= 0 || walk.now > end)
            continue;
        *(fails ? &oracle->flops_wasted : &oracle->flops_useful) +=
            duration * volunteer->machine.flops;
        if (!fails && !keep_latency(oracle, walk.now - (is_batch ? begin : taken)))
            return false;
    }
    return true;
}

static bool run_host(const struct scenario *scenario, struct volunteer *volunteer, size_t number,
                     struct oracle *oracle)
{
    struct random random = {.state = random_mix(random_mix((uint64_t)scenario->seed, number), 6)};
    double end = scenario->begin + scenario->days * DAY, longest = 0, cpus;
    struct presence presence = {.periods = NULL};
    bool good;

    for (size_t i = 0; i < scenario->oracle_bound_count; i++)
        longest = fmax(longest, scenario->oracle_bounds[i]);
    cpus = volunteer->fetch.resources[CLIENT_CPU].count;
    good = foresee(volunteer, end + longest, &presence);
    for (size_t i = 0; i < presence.count; i++)
        oracle->flops_total +=
            cpus * volunteer->machine.flops *
            fmax(fmin(presence.periods[i].end, end) - presence.periods[i].begin, 0);
    for (double cpu = 0; cpu < cpus && good; cpu++)
        good = run_processor(scenario, volunteer, &presence, &random, oracle);
    free(presence.periods);
    return good;
}

static int compare(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;

    return (one > other) - (one < other);
}

bool oracle_run(const struct scenario *scenario, struct oracle *ret_oracle)
{
    struct oracle *oracle = ret_oracle;
    bool good = true;

    *oracle = (struct oracle){.latencies = NULL};
    for (size_t host = 0; host < (size_t)scenario->hosts && good; host++) {
        struct volunteer volunteer;

        good = volunteer_init(&volunteer, &scenario->population, (uint64_t)scenario->seed, host,
                              scenario_arrival(scenario, host));
        if (!good)
            break;
        good = run_host(scenario, &volunteer, host, oracle);
        volunteer_free(&volunteer);
    }
    if (oracle->count > 0)
        qsort(oracle->latencies, oracle->count, sizeof(*oracle->latencies), compare);
    if (!good)
        oracle_free(oracle);
    return good;
}

void oracle_free(struct oracle *oracle)
{
    free(oracle->latencies);
    *oracle = (struct oracle){.latencies = NULL};
}

double oracle_latency(const struct oracle *oracle, double part)
{
    size_t place = (size_t)(part * (double)oracle->count);

    return oracle->count == 0
               ? 0
               : oracle->latencies[place < oracle->count ? place : oracle->count - 1];
}

double oracle_batch_back(const struct oracle *oracle, const struct scenario *scenario, double part)
{
    size_t jobs = (size_t)ceil(part * scenario->oracle_batch_jobs);

    return jobs == 0 || jobs > oracle->count
               ? scenario->begin + scenario->days * DAY - oracle_begin(scenario)
               : oracle->latencies[jobs - 1];
}

void oracle_write_json(const struct oracle *oracle, const struct scenario *scenario,
                       struct buffer *buffer)
{
    double total = fmax(oracle->flops_total, 1), useful = oracle->flops_useful / total;
    double wasted = oracle->flops_wasted / total;

    buffer_print(buffer, "\"flops_total\": %.6e, \"idle_fraction\": %.6f, ", oracle->flops_total,
                 1 - useful - wasted);
    buffer_print(buffer,
                 "\"wasted_fraction\": %.6f, \"counted_fraction\": %.6f,\n"
                 " \"in_time_fraction\": %d, \"copies\": %d, \"finished\": %.3f,\n",
                 wasted, useful, 1, 1, (double)oracle->count / scenario->days);
    buffer_print(buffer, " \"latency_p50\": %.3f, \"latency_p95\": %.3f, \"latency_p99\": %.3f",
                 oracle_latency(oracle, 0.5) / HOUR, oracle_latency(oracle, 0.95) / HOUR,
                 oracle_latency(oracle, 0.99) / HOUR);
    if (scenario->oracle_batch_jobs > 0)
        buffer_print(buffer, ",\n \"back_90\": %.3f, \"back_99\": %.3f, \"back_100\": %.3f",
                     oracle_batch_back(oracle, scenario, 0.9) / HOUR,
                     oracle_batch_back(oracle, scenario, 0.99) / HOUR,
                     oracle_batch_back(oracle, scenario, 1) / HOUR);
}
