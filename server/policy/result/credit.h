/* SPDX-License-Identifier: Apache-2.0 */
/* What a valid result is worth, and what it adds to the averages that hosts, users and teams are
 * listed by (policy(7) 13.4); pure. */
#ifndef SERVER_POLICY_RESULT_CREDIT_H
#define SERVER_POLICY_RESULT_CREDIT_H

/* A credit is the 200th part of what 1 GFLOPS computes in a day. */
#define CREDIT_FLOP 4.32e11
/* No result is granted more: 200 a day for a thousand GFLOPS and a year. */
#define CREDIT_MOST 73e6

/* The same for every valid result of a workunit: what was set when the job was made, else its
 * declared size (FLOP). Never negative. */
double credit_of_job(double preset, double rsc_fpops_est);

/* Credit a day, as a running average with a half-life of a week: the columns expavg_credit and
 * expavg_time. */
struct credit_average {
    double credit; /* a day */
    double time;   /* when it was so (epoch); 0: never */
};
/* Credit that is granted now (epoch, s); 0 only lets the average fall. `sent_time` matters to an
 * average that has none yet. */
void credit_average_add(struct credit_average *average, double now, double sent_time,
                        double credit);

#endif
