/* SPDX-License-Identifier: Apache-2.0 */
/* How long jobs take on a host, as its client estimates it, and the units of a work request of
 * 2005 to 2008. Pure; times in s. */
#ifndef TOOLS_LAB_VOLUNTEERS_CLIENT_DURATION_H
#define TOOLS_LAB_VOLUNTEERS_CLIENT_DURATION_H

struct duration_availability {
    double on_fraction;     /* of the time that the client runs */
    double active_fraction; /* of that, of the time that it may compute */
    double cpu_efficiency;  /* CPU time in a second of running; 1 from 6.4 on */
};

/* The wall time that so much CPU time takes. INFINITY: never. */
double duration_normalize(const struct duration_availability *availability, double cpu_time);
/* The same with the share that a project has among those that could run. */
double duration_project_normalize(const struct duration_availability *availability,
                                  double share_fraction, double cpu_time);
/* Floating-point operations in a request for so many project-normalized seconds. */
double duration_operations(const struct duration_availability *availability, double share_fraction,
                           double flops, double request);

/* A job not begun: its operations by the speed of its version, corrected. */
double duration_of_unstarted(double operations, double flops, double correction);
/* The whole duration of a job that runs since `elapsed` and is done by `fraction`: from the
 * estimate before it began and from what it showed, the latter counting as much as is done. */
double duration_of_running(double estimate_before, double elapsed, double fraction_done);
/* What of it is left: the part not done. */
double duration_left(double estimate_before, double elapsed, double fraction_done);

/* The correction factor after a job took `elapsed` that was estimated, uncorrected, `estimate`. */
double duration_correct(double correction, double estimate, double elapsed);

#endif
