/* SPDX-License-Identifier: Apache-2.0 */
/* How versions of an app compare in efficiency, for the credit that validators grant
 * (policy(7) 13.2); pure. */
#ifndef SERVER_POLICY_VERSION_CREDIT_SCALE_H
#define SERVER_POLICY_VERSION_CREDIT_SCALE_H

#include <stdbool.h>
#include <stddef.h>

struct version_efficiency {
    bool is_gpu;
    double pfc_n, pfc_avg; /* samples, and mean peak FLOP count per estimated FLOP */
};

/* The efficiency that the app's versions are measured by, for app.min_avg_pfc. 0: there are not
 * enough samples, and nothing is to be changed. */
double credit_scale_base(const struct version_efficiency *versions, size_t count);
/* app_version.pfc_scale by this base. 0: the version's own samples are too few. */
double credit_scale_of(const struct version_efficiency *version, double base);

#endif
