/* SPDX-License-Identifier: Apache-2.0 */
#include "server/policy/result/credit.h"

#include <math.h>

#include "server/base/banned.h"

#define DAY        86400.0
#define HALF_LIFE  604800.0
#define LOG_2      0.69314718055994530942
#define SPAN_LEAST 1e-6 /* of 1 - weight: below, the limit for a span of 0 is taken */

double credit_of_job(double preset, double rsc_fpops_est)
{
    double credit = preset > 0 ? preset : rsc_fpops_est / CREDIT_FLOP;

    if (!(credit > 0)) /* NaN too */
        return 0;
    return credit < CREDIT_MOST ? credit : CREDIT_MOST;
}

void credit_average_add(struct credit_average *average, double now, double sent_time, double credit)
{
    double span, kept;

    if (average->time <= 0) {
        span = now - sent_time;
        average->credit = credit / ((span > 1 ? span : 1) / DAY);
        average->time = now;
        return;
    }
    span = now > average->time ? now - average->time : 0;
    kept = exp(-span * LOG_2 / HALF_LIFE);
    average->credit *= kept;
    if (1 - kept > SPAN_LEAST)
        average->credit += (1 - kept) * credit / (span / DAY);
    else
        average->credit += LOG_2 * credit * DAY / HALF_LIFE;
    average->time = now;
}
