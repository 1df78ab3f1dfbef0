/* SPDX-License-Identifier: Apache-2.0 */
/* Presence, absence and speed are those of the ComBoS simulator of BOINC projects (its
 * parameters.xml): presence Weibull with shape 0.393 and scale 2.964 h, absence log-normal with
 * mu -0.586 and sigma 2.844 of hours, speed exponential with a mean of 5.77 GFLOPS, cut to 0.07 and
 * 117.71. Absences are cut to 60 days: the law's tail comes from hosts that never come back, and
 * here those have left (population_draw_life). Memory, disk and queues are round figures of today's
 * machines, not measurements. */
#include "tools/lab/volunteers/host/population.h"

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
        .cpus_min = 1,
        .cpus_max = 16,
        .cpus_percent = 100,
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
        .buffer_extra_days = 0.5, /* as clients come */
        .gpu_count_max = 1,
        .gpu_speed_min = 20,
        .gpu_speed_max = 200,
        .gpu_efficiency = 0.2,
        .projects = 1,
        .projects_min = 1,
        .projects_max = CLIENT_PROJECTS_MAX,
        .share_min = 100,
        .share_max = 100,
        .period = HOUR,
        .checkpoint = 300,
    };
}

static double uniform(struct random *random, double least, double most)
{
    return least + (most - least) * random_unit(random);
}

double machine_usable_cpus(const struct machine *machine)
{
    return fmax(1, floor((double)machine->cpus * machine->cpus_percent / 100));
}

struct machine population_draw_machine(const struct population *population, struct random *random)
{
    int64_t doublings = 0;
    struct machine machine = {.cpus_percent = population->cpus_percent};

    while (INT64_C(2) << doublings <= population->cpus_max)
        doublings++;
    machine.cpus = INT64_C(1) << (random_next(random) % (uint64_t)(doublings + 1));
    if (machine.cpus < population->cpus_min)
        machine.cpus = population->cpus_min;
    machine.flops =
        fmin(fmax(population_exponential(random, population->flops_mean), population->flops_min),
             population->flops_max);
    machine.memory = population->memory_per_cpu * (double)machine.cpus;
    machine.disk = uniform(random, population->disk_min, population->disk_max);
    machine.buffer =
        DAY * uniform(random, population->buffer_min_days, population->buffer_max_days);
    machine.extra = DAY * population->buffer_extra_days;
    return machine;
}

static double log_uniform(struct random *random, double least, double most)
{
    return least * pow(fmax(most / least, 1), random_unit(random));
}

static int64_t uniform_integer(struct random *random, int64_t least, int64_t most)
{
    return most <= least ? least
                         : least + (int64_t)(random_next(random) % (uint64_t)(most - least + 1));
}

/* Every machine takes the same number of draws, so that with another coprocessor it is the same
 * machine otherwise. */
void population_draw_gpus(const struct population *population, struct random *random,
                          struct machine *machine)
{
    for (size_t kind = 0; kind < CLIENT_COPROCS; kind++) {
        bool has_one = random_unit(random) < population->gpu_parts[kind];
        struct machine_gpu gpu = {
            .count = uniform_integer(random, 1, (int64_t)population->gpu_count_max),
            .flops = machine->flops *
                     log_uniform(random, population->gpu_speed_min, population->gpu_speed_max),
        };

        machine->gpus[kind] = has_one ? gpu : (struct machine_gpu){.count = 0};
    }
}

void population_draw_network(const struct population *population, struct random *random,
                             struct machine *machine)
{
    if (population->network_min > 0)
        machine->network = log_uniform(random, population->network_min, population->network_max);
}

/* As many draws for each machine, as above. */
void population_draw_system(const struct population *population, struct random *random,
                            struct machine *machine)
{
    machine->is_windows = random_unit(random) < population->windows_part;
    machine->has_containers = random_unit(random) < population->containers_part;
    machine->containers_see_gpus =
        random_unit(random) < population->wsl_gpu_part || !machine->is_windows;
}

static double of_project(const double *list, size_t count, size_t which, double otherwise)
{
    return which < count ? list[which] : otherwise;
}

static void insert(struct attachment *attachments, size_t count, struct attachment attachment)
{
    for (; count > 0 && attachments[count - 1].delay > attachment.delay; count--)
        attachments[count] = attachments[count - 1];
    attachments[count] = attachment;
}

size_t population_draw_attachments(const struct population *population, struct random *random,
                                   struct attachment *ret_attachments)
{
    size_t all = population->projects, count, kept = 0;
    int64_t most = (int64_t)fmin(population->projects_max, (double)all);
    int64_t least = (int64_t)fmin(population->projects_min, (double)most);

    count = (size_t)uniform_integer(random, least, most);
    /* Each project that is left is taken with equal probability. */
    for (size_t p = 0; p < all && kept < count; p++) {
        double share = log_uniform(random, population->share_min, population->share_max);
        struct attachment attachment = {.which = p};

        if (random_unit(random) * (double)(all - p) >= (double)(count - kept))
            continue;
        attachment.share = of_project(population->shares, population->share_count, p, share);
        attachment.later_share = of_project(population->later_shares, population->later_share_count,
                                            p, attachment.share);
        attachment.delay =
            DAY * of_project(population->attach_days, population->attach_count, p, 0);
        attachment.file_scale =
            of_project(population->file_scales, population->file_scale_count, p, 1);
        insert(ret_attachments, kept++, attachment);
    }
    for (size_t i = kept; i-- > 0;) /* the host arrives with its first project */
        ret_attachments[i].delay -= ret_attachments[0].delay;
    return kept;
}

double population_draw_life(const struct population *population, struct random *random)
{
    return population->leave_days > 0 ? population_exponential(random, population->leave_days * DAY)
                                      : INFINITY;
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

/* --- when a host is there ------------------------------------------------------------------- */

#define OPENS_MIN  (7 * HOUR)
#define OPENS_MAX  (10 * HOUR)
#define OPEN_MIN   (8 * HOUR) /* at least so long a day */
#define OPEN_MAX   (10 * HOUR)
#define PUNCTUAL   (HOUR / 2) /* it comes and goes so much earlier or later */
#define STAY_LEAST 60.0

struct attendance population_draw_attendance(const struct population *population,
                                             struct random *random)
{
    struct attendance attendance = {
        .longer = population_log_normal(random, 0, population->presence_sigma),
        .keeps_hours = random_unit(random) < population->office_part,
        .opens = uniform(random, OPENS_MIN, OPENS_MAX),
    };

    attendance.closes = attendance.opens + uniform(random, OPEN_MIN, OPEN_MAX);
    return attendance;
}

/* 1970 began with a Thursday. */
static bool is_working_day(double day)
{
    enum { THURSDAY = 4, SATURDAY = 6, WEEK = 7 };
    int weekday = (int)fmod(day + THURSDAY, WEEK);

    return weekday != 0 && weekday != SATURDAY;
}

static double next_opening(const struct attendance *attendance, double now)
{
    double day = floor(now / DAY);

    while (!is_working_day(day) || day * DAY + attendance->opens <= now)
        day++;
    return day * DAY + attendance->opens;
}

bool population_is_on(const struct population *population, const struct attendance *attendance,
                      double now)
{
    double day = floor(now / DAY), time = now - day * DAY;

    return population->always_on || !attendance->keeps_hours ||
           (is_working_day(day) && time >= attendance->opens && time < attendance->closes);
}

double population_draw_stay(const struct population *population,
                            const struct attendance *attendance, struct random *random, bool is_on,
                            double now)
{
    double until;

    if (!attendance->keeps_hours)
        return is_on ? population_draw_presence(population, random) * attendance->longer
                     : fmin(population_draw_absence(population, random) / attendance->longer,
                            population->off_max);
    until = is_on ? floor(now / DAY) * DAY + attendance->closes : next_opening(attendance, now);
    return fmax(until + uniform(random, -PUNCTUAL, PUNCTUAL) - now, STAY_LEAST);
}

/* --- how long jobs take --------------------------------------------------------------------- */

double population_draw_slowness(const struct population *population, struct random *random)
{
    return population_log_normal(random, 0, population->host_sigma);
}

double population_workunit_error(const struct population *population, uint64_t seed,
                                 struct text workunit)
{
    struct random random = {.state = random_mix(seed, text_hash(workunit))};

    return population_log_normal(&random, 0, population->workunit_sigma);
}

double population_draw_error(const struct population *population, struct random *random)
{
    return population_log_normal(random, 0, population->estimate_sigma);
}
