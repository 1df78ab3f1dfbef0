/* SPDX-License-Identifier: Apache-2.0 */
/* A claim of credit says how many FLOP the devices could have done; how many of those an app needs
 * for the same job depends on version and kind of device. So each version gets a factor that makes
 * its mean claim that of the most efficient kind. Means become good with samples: versions with
 * fewer than samples_needed neither count nor get a factor. */
#include "server/policy/version/credit_scale.h"

#include <math.h>

#include "server/base/banned.h"

static const double samples_needed = 100;
/* With GPU versions only there is nothing to compare them with; a CPU version would be about this
 * much more efficient in its FLOP. */
static const double gpu_only_factor = 0.1;

struct mean {
    double sum, weight;
    size_t versions;
};

static bool is_sound(const struct version_efficiency *version)
{
    return isfinite(version->pfc_n) && isfinite(version->pfc_avg) && version->pfc_avg > 0;
}

static struct mean mean_of(const struct version_efficiency *versions, size_t count, bool is_gpu)
{
    struct mean mean = {0};

    for (size_t i = 0; i < count; i++) {
        const struct version_efficiency *version = &versions[i];

        if (version->is_gpu != is_gpu || !is_sound(version) || version->pfc_n <= samples_needed)
            continue;
        mean.sum += version->pfc_avg * version->pfc_n;
        mean.weight += version->pfc_n;
        mean.versions++;
    }
    return mean;
}

double credit_scale_base(const struct version_efficiency *versions, size_t count)
{
    const struct mean cpu = mean_of(versions, count, false), gpu = mean_of(versions, count, true);
    double base = 0;

    if (cpu.versions > 0 && gpu.versions > 0)
        base = fmin(cpu.sum / cpu.weight, gpu.sum / gpu.weight);
    else if (cpu.versions > 1)
        base = cpu.sum / cpu.weight;
    else if (gpu.versions > 0)
        base = gpu_only_factor * gpu.sum / gpu.weight;
    return isfinite(base) ? base : 0;
}

double credit_scale_of(const struct version_efficiency *version, double base)
{
    double scale;

    if (!is_sound(version) || version->pfc_n < samples_needed || base <= 0)
        return 0;
    scale = base / version->pfc_avg;
    return isfinite(scale) ? scale : 0;
}
