/* SPDX-License-Identifier: Apache-2.0 */
/* What one job of an app version uses of a host (policy(7) 4.2, 5.2; protocol(7) 3.3). */
#ifndef SERVER_POLICY_PLAN_CLASS_USAGE_H
#define SERVER_POLICY_PLAN_CLASS_USAGE_H

#include "server/base/text.h"

struct usage {
    double avg_ncpus;
    struct text coproc_type; /* empty: CPU only */
    double coproc_count;
    double gpu_ram;         /* bytes; 0: unknown */
    double projected_flops; /* sent to the client, basis of run time */
    double peak_flops;      /* result.flops_estimate, basis of credit */
    struct text cmdline;
};

#endif
