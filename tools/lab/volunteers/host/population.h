/* SPDX-License-Identifier: Apache-2.0 */
/* What machines volunteers have, drawn from distributions that were measured. Pure; the same
 * random state gives the same machines. */
#ifndef TOOLS_LAB_VOLUNTEERS_HOST_POPULATION_H
#define TOOLS_LAB_VOLUNTEERS_HOST_POPULATION_H

#include "server/base/text.h"
#include "tools/lab/volunteers/client/client.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct random;

double population_weibull(struct random *random, double shape, double scale);
double population_log_normal(struct random *random, double mu, double sigma);
double population_exponential(struct random *random, double mean);

/* What the clients of a crowd do: indices of the tables in policy.h. */
struct habits {
    size_t run, fetch, estimate, request, disk;
};

/* Of a whole crowd. */
struct population {
    double flops_mean, flops_min, flops_max; /* of one CPU: exponential, cut */
    int64_t cpus_min, cpus_max;              /* 1, 2, 4, ... up to it, each as often */
    double cpus_percent;                     /* of them that volunteers let clients use */
    double on_shape, on_scale;               /* Weibull, of times of presence, s */
    double off_mu, off_sigma;                /* log-normal, of times of absence, logarithm of h */
    double off_max;                          /* s: none longer */
    bool always_on;
    double presence_sigma;           /* of the factor by which a host is there longer than others */
    double office_part;              /* of the hosts, which are on in office hours only */
    double history_days;             /* that hosts came and went before they attached */
    double error_rate, abandon_rate; /* of jobs */
    /* True duration by estimated one, log-normal with median 1: what differs from receipt to
     * receipt, what all copies of a workunit have in common, and all jobs of a host. */
    double estimate_sigma, workunit_sigma, host_sigma;
    double memory_per_cpu, disk_min, disk_max; /* bytes; disk uniform */
    double buffer_min_days, buffer_max_days;   /* what a host keeps queued: uniform */
    double buffer_extra_days;                  /* and fills it up by, where it has two marks */
    double gpu_parts[CLIENT_COPROCS];          /* of the hosts that have one, by kind */
    double gpu_count_max;                      /* 1 to it, each as often */
    double gpu_speed_min, gpu_speed_max;       /* of one, by that of a CPU: log-uniform */
    size_t projects;                           /* of the crowd: whoever runs it says how many */
    bool reads_masters;                        /* and whether schedulers are on master pages */
    double projects_min, projects_max;         /* that a host is attached to, uniform */
    double shares[CLIENT_PROJECTS_MAX];        /* of the crowd's projects, by their order */
    size_t share_count;                        /* those beyond: log-uniform within */
    double share_min, share_max;
    /* In the same order: when a host is attached; shares from some day on; size of jobs' own files.
     * Those beyond: at once, as before, 1. */
    double attach_days[CLIENT_PROJECTS_MAX], later_shares[CLIENT_PROJECTS_MAX];
    double file_scales[CLIENT_PROJECTS_MAX];
    size_t attach_count, later_share_count, file_scale_count;
    double later_shares_days;            /* after a host's arrival; 0: never */
    double gpu_efficiency;               /* what GPU jobs reach of the peak */
    double windows_part;                 /* of the hosts; the others have Linux */
    double containers_part;              /* of the hosts, which can run containers */
    double wsl_gpu_part;                 /* of these with Windows, whose containers see GPUs */
    double job_bytes_min, job_bytes_max; /* of a job's own file: uniform */
    double job_sticky;                   /* the part of these that stays */
    double disk_swing;                   /* up to this part of the disk others use at times */
    double network_min, network_max;     /* bytes/s: log-uniform; 0: files come at once */
    double leave_days;                   /* mean life of a host: exponential; 0: all stay */
    double period;                       /* s, of scheduling */
    double checkpoint;                   /* s of run time from one to the next */
    double restart;                      /* s that a job needs to start again from one */
    bool leave_in_memory;                /* jobs that make way for others */
    bool sleeps;                         /* a host that is away: its jobs stay in memory */
    bool drops_unstarted; /* jobs that were not begun by their deadline are aborted */
    struct habits habits;
};

/* As measured by the projects named in population.c. */
struct population population_measured(void);

struct machine_gpu {
    int64_t count;
    double flops; /* of one */
};
/* When a host is there. */
struct attendance {
    double longer;        /* its times of presence, by those of the law; absences are shorter */
    bool keeps_hours;     /* on working days from `opens` to `closes`, half an hour more or less */
    double opens, closes; /* s of the day, UTC */
};
struct machine {
    int64_t cpus;
    double cpus_percent; /* of them, that may be used */
    double flops;        /* of one CPU */
    double memory, disk; /* bytes */
    double buffer;       /* s of work to keep queued */
    double network;      /* bytes/s; 0: files come at once */
    double extra;        /* s above it up to which a client with two marks fills it */
    double slowness;     /* what its jobs take longer than estimated, all of them */
    bool is_windows, has_containers;
    bool containers_see_gpus; /* on Linux always */
    struct machine_gpu gpus[CLIENT_COPROCS];
};
/* Whole ones, at least one. */
double machine_usable_cpus(const struct machine *machine);
struct machine population_draw_machine(const struct population *population, struct random *random);
void population_draw_gpus(const struct population *population, struct random *random,
                          struct machine *machine);
void population_draw_network(const struct population *population, struct random *random,
                             struct machine *machine);

void population_draw_system(const struct population *population, struct random *random,
                            struct machine *machine);

/* One of the crowd's projects that a host is attached to. */
struct attachment {
    size_t which;
    double share, later_share;
    double delay;      /* s after the host's first one */
    double file_scale; /* of its jobs' own files */
};
/* Returns how many, by delay; `attachments` holds CLIENT_PROJECTS_MAX. */
size_t population_draw_attachments(const struct population *population, struct random *random,
                                   struct attachment *ret_attachments);
/* How long a host stays, s; INFINITY: for good. */
double population_draw_life(const struct population *population, struct random *random);
struct attendance population_draw_attendance(const struct population *population,
                                             struct random *random);
/* Whether the host is on at its first moment, unless it came and went before. */
bool population_is_on(const struct population *population, const struct attendance *attendance,
                      double now);
/* How long a host that comes and goes stays as it is, s. */
double population_draw_stay(const struct population *population,
                            const struct attendance *attendance, struct random *random, bool is_on,
                            double now);
/* Times of presence and absence by the measured laws, s. */
double population_draw_presence(const struct population *population, struct random *random);
double population_draw_absence(const struct population *population, struct random *random);
/* How much longer than estimated a job takes: a factor of a receipt, of all jobs of a host, of all
 * copies of a workunit. */
double population_draw_error(const struct population *population, struct random *random);
double population_draw_slowness(const struct population *population, struct random *random);
double population_workunit_error(const struct population *population, uint64_t seed,
                                 struct text workunit);

#endif
