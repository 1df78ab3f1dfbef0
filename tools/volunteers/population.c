/* SPDX-License-Identifier: Apache-2.0 */
/* Presence, absence and speed are those of the ComBoS simulator of BOINC projects (its
 * parameters.xml): presence Weibull with shape 0.393 and scale 2.964 h, absence log-normal with
 * mu -0.586 and sigma 2.844 of hours, speed exponential with a mean of 5.77 GFLOPS, cut to 0.07 and
 * 117.71. Absences are cut to 60 days: the law's tail is of hosts that never come back, which is
 * departure. Memory, disk and queues are round figures of today's machines, not measurements. */
#include "tools/volunteers/population.h"

#include "server/base/random.h"

#include <math.h>

#include "server/base/banned.h"

#define HOUR 3600.0
#define DAY  86400.0
#define GB   1e9

double population_weibull(struct random *random, double shape, double scale)
{
    return scale * pow(-log(1 - random_unit(random)), 1 / shape);
}

double population_log_normal(struct random *random, double mu, double sigma)
{
    return exp(mu + sigma * random_normal(random));
}

double population_exponential(struct random *random, double mean)
{
    return -mean * log(1 - random_unit(random));
}

struct population population_measured(void)
{
    return (struct population){
        .flops_mean = 5.77e9,
        .flops_min = 0.07e9,
        .flops_max = 117.71e9,
        .cpus_max = 16,
        .on_shape = 0.393,
        .on_scale = 2.964 * HOUR,
        .off_mu = -0.586,
        .off_sigma = 2.844,
        .off_max = 60 * DAY,
        .error_rate = 0.02,
        .abandon_rate = 0.01,
        .estimate_sigma = 0.3,
        .memory_per_cpu = 2 * GB,
        .disk_min = 10 * GB,
        .disk_max = 500 * GB,
        .buffer_min_days = 0.1,
        .buffer_max_days = 1.5,
    };
}

static double uniform(struct random *random, double least, double most)
{
    return least + (most - least) * random_unit(random);
}

struct machine population_draw_machine(const struct population *population, struct random *random)
{
    int64_t doublings = 0;
    struct machine machine;

    while (INT64_C(2) << doublings <= population->cpus_max)
        doublings++;
    machine.cpus = INT64_C(1) << (random_next(random) % (uint64_t)(doublings + 1));
    machine.flops =
        fmin(fmax(population_exponential(random, population->flops_mean), population->flops_min),
             population->flops_max);
    machine.memory = population->memory_per_cpu * (double)machine.cpus;
    machine.disk = uniform(random, population->disk_min, population->disk_max);
    machine.buffer =
        DAY * uniform(random, population->buffer_min_days, population->buffer_max_days);
    return machine;
}

double population_draw_presence(const struct population *population, struct random *random)
{
    return population_weibull(random, population->on_shape, population->on_scale);
}

double population_draw_absence(const struct population *population, struct random *random)
{
    double hours = population_log_normal(random, population->off_mu, population->off_sigma);

    return fmin(hours * HOUR, population->off_max);
}

double population_draw_error(const struct population *population, struct random *random)
{
    return population_log_normal(random, 0, population->estimate_sigma);
}
