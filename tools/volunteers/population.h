/* SPDX-License-Identifier: Apache-2.0 */
/* What machines volunteers have, drawn from distributions that were measured. Pure; the same
 * random state gives the same machines. */
#ifndef TOOLS_VOLUNTEERS_POPULATION_H
#define TOOLS_VOLUNTEERS_POPULATION_H

#include <stdbool.h>
#include <stdint.h>

struct random;

double population_weibull(struct random *random, double shape, double scale);
double population_log_normal(struct random *random, double mu, double sigma);
double population_exponential(struct random *random, double mean);

/* Of a whole crowd. */
struct population {
    double flops_mean, flops_min, flops_max; /* of one CPU: exponential, cut */
    int64_t cpus_max;                        /* 1, 2, 4, ... up to it, each as often */
    double on_shape, on_scale;               /* Weibull, of times of presence, s */
    double off_mu, off_sigma;                /* log-normal, of times of absence, logarithm of h */
    double off_max;                          /* s: none longer */
    bool always_on;
    double error_rate, abandon_rate; /* of jobs */
    double estimate_sigma;           /* true duration by estimated one: log-normal, median 1 */
    double memory_per_cpu, disk_min, disk_max; /* bytes; disk uniform */
    double buffer_min_days, buffer_max_days;   /* what a host keeps queued: uniform */
};

/* As measured by the projects named in population.c. */
struct population population_measured(void);

struct machine {
    int64_t cpus;
    double flops;        /* of one CPU */
    double memory, disk; /* bytes */
    double buffer;       /* s of work to keep queued */
};
struct machine population_draw_machine(const struct population *population, struct random *random);
/* How long a time of presence or absence lasts, s. */
double population_draw_presence(const struct population *population, struct random *random);
double population_draw_absence(const struct population *population, struct random *random);
/* How much longer than estimated a job takes: a factor. */
double population_draw_error(const struct population *population, struct random *random);

#endif
