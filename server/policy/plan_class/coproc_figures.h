/* SPDX-License-Identifier: Apache-2.0 */
/* The speed and the memory of a coprocessor, from what its client says of it; pure. Whatever is
 * said is bounded here, so that no driver's mistake becomes an estimate of no time at all. */
#ifndef SERVER_POLICY_PLAN_CLASS_COPROC_FIGURES_H
#define SERVER_POLICY_PLAN_CLASS_COPROC_FIGURES_H

#include <stdbool.h>

struct coproc;

/* FLOPS of one instance, worked out from the properties where the client did not say; 0: unknown.
 */
double coproc_peak_flops(const struct coproc *coproc);

/* Bytes; the vendor's own figure where there is one, OpenCL's for jobs that use OpenCL. */
double coproc_memory(const struct coproc *coproc, bool opencl);

#endif
