/* SPDX-License-Identifier: Apache-2.0 */
/* Clients report other figures for each vendor, and some drivers report wrong ones. */
#include "server/policy/plan_class/coproc_figures.h"

#include "server/parse/message.h"

#include <math.h>

#include "server/base/banned.h"

#define MEGABYTE            1048576.0
#define COPROC_FLOPS_MAX    1e15 /* ten times what one can do today */
#define COPROC_FLOPS_MODEST 1e11

double coproc_memory(const struct coproc *coproc, bool opencl)
{
    double own = text_is(coproc->type, "NVIDIA") ? coproc->total_global_mem
                 : text_is(coproc->type, "ATI")  ? coproc->local_ram * MEGABYTE
                                                 : 0;

    if ((opencl || own <= 0) && coproc->opencl.global_mem_size > 0)
        own = coproc->opencl.global_mem_size;
    return own > 0 ? own : coproc->available_ram;
}

/* NVIDIA's cores per multiprocessor by compute capability (protocol(7) 2.9); the first row that is
 * not above the device's. */
static const struct {
    int64_t capability;
    double cores, flops_per_clock;
} nvidia_cores[] = {
    {900, 128, 2}, {806, 128, 2}, {800, 64, 2}, {700, 64, 2}, {601, 128, 2}, {600, 64, 2},
    {500, 128, 2}, {300, 192, 2}, {201, 48, 2}, {200, 32, 2}, {0, 8, 3},
};

/* From the other figures that the client gives of it; 0: they do not say. */
static double derived_flops(const struct coproc *coproc)
{
    const struct opencl_properties *opencl = &coproc->opencl;
    int64_t capability = coproc->compute_major * 100 + coproc->compute_minor;
    double flops = 0;

    if (text_is(coproc->type, "NVIDIA")) {
        for (size_t i = 0; i < sizeof(nvidia_cores) / sizeof(nvidia_cores[0]); i++)
            if (capability >= nvidia_cores[i].capability) {
                flops = coproc->clock_rate * 1e3 * coproc->multi_processor_count *
                        nvidia_cores[i].cores * nvidia_cores[i].flops_per_clock;
                break;
            }
    } else if (text_is(coproc->type, "ATI")) {
        flops = coproc->simd_count * coproc->wavefront_size * 5 * coproc->engine_clock * 1e6;
    } else {
        flops = opencl->max_compute_units * 8 * opencl->max_clock_frequency * 1e6;
        if (flops <= 0 && text_is(coproc->type, "apple_gpu"))
            flops = COPROC_FLOPS_MODEST;
    }
    return fmax(flops, 0);
}

/* Drivers have made clients say 43 exaFLOPS, by a clock that was none: so the other figures may be
 * as wrong. What cannot be is not cut to the most there is but taken for a modest device: from too
 * high a speed come estimates of no time at all, and jobs that are given up after seconds. */
double coproc_peak_flops(const struct coproc *coproc)
{
    double said = coproc->peak_flops, derived;

    if (said > 0 && said <= COPROC_FLOPS_MAX)
        return said;
    derived = derived_flops(coproc);
    if (derived > COPROC_FLOPS_MAX || (said > COPROC_FLOPS_MAX && derived <= 0))
        return COPROC_FLOPS_MODEST;
    return derived;
}
