/* SPDX-License-Identifier: Apache-2.0 */
/* What a job uses is worked out for those who passed: the threads that the CPUs and the memory
 * allow, or the part of a coprocessor and what it takes of a CPU beside. */
#include "server/policy/plan_class/plan_verdict.h"

#include "server/base/arena.h"
#include "server/parse/message.h"
#include "server/policy/limits/preferences.h"
#include "server/policy/plan_class/coproc_figures.h"
#include "server/policy/plan_class/plan_class_builtin.h"

#include <math.h>

#include "server/base/banned.h"

#define MEGABYTE  1048576.0
#define SHARE_MIN 0.01 /* of a coprocessor: a hundred jobs at once are enough for anybody */

/* Threads that the memory allows, and the memory they need. */
static bool use_memory(struct trial *trial, double *threads, struct plan_verdict *ret_verdict)
{
    const struct plan_class *class = trial->class;
    double base = class->mem_usage_base_mb * MEGABYTE;
    double each = class->mem_usage_per_cpu_mb * MEGABYTE;
    double least = base + fmax(class->min_ncpus, 1) * each;

    if (each > 0) {
        if (least > trial->host->memory)
            return trial_refuse(trial, "it needs %.0f MB of memory; BOINC may use %.0f MB",
                                least / MEGABYTE, trial->host->memory / MEGABYTE);
        *threads = fmin(*threads, fmax(floor((trial->host->memory - base) / each), 1));
    }
    if (base + each > 0)
        ret_verdict->memory = base + *threads * each;
    return true;
}

static bool use_cpus(struct trial *trial, struct plan_verdict *ret_verdict)
{
    const struct plan_class *class = trial->class;
    struct usage *usage = &ret_verdict->usage;
    double threads = fmax(fmin(trial->host->cpus, class->max_threads), 1);

    if (class->virtualbox && class->max_threads > 1 &&
        !plan_host_has_acceleration(trial->host->message))
        threads = 1;
    if (!use_memory(trial, &threads, ret_verdict))
        return false;
    usage->avg_ncpus = class->avg_ncpus > 0 ? class->avg_ncpus : threads;
    usage->peak_flops = trial->host->cpu_flops * usage->avg_ncpus;
    usage->projected_flops = usage->peak_flops * class->projected_flops_scale;
    usage->cmdline = text_print(trial->arena, "%s%.0f", "--nthreads ", threads);
    if (!class->nthreads_cmdline)
        usage->cmdline = NO_TEXT;
    if (class->mem_usage_per_cpu_mb > 0)
        usage->cmdline = text_print(trial->arena, TEXT_FORMAT "%s--memory_size_mb %.0f",
                                    TEXT_ARG(usage->cmdline), usage->cmdline.length > 0 ? " " : "",
                                    ceil(ret_verdict->memory / MEGABYTE));
    return true;
}

/* The part of the processor that a job takes: as given, or as many whole jobs as its memory holds,
 * times the user's own factor. */
static double coproc_share(const struct trial *trial)
{
    const struct plan_class *class = trial->class;
    double share = class->ngpus, factor = 1;
    struct text value;

    if (class->gpu_utilization_tag.length > 0) {
        value = preferences_value(trial->host->project_prefs, trial->host->venue,
                                  class->gpu_utilization_tag);
        if (!text_to_real(value, &factor) || factor <= 0)
            factor = 1;
        factor = fmax(factor, SHARE_MIN);
    }
    if (share > 0)
        return share * factor;
    if (share < 0 && class->gpu_ram_used_mb > 0) {
        double memory = coproc_memory(trial->coproc, class->opencl);
        double jobs = floor(memory / (class->gpu_ram_used_mb * MEGABYTE));

        return jobs >= 1 ? 1 / jobs : 1;
    }
    return factor;
}

static void use_coproc(const struct trial *trial, struct usage *usage)
{
    const struct plan_class *class = trial->class;
    const struct coproc *coproc = trial->coproc;
    double cpu = trial->host->cpu_flops, fraction = class->cpu_frac;
    double each = coproc_peak_flops(coproc), gpu, whole;

    usage->coproc_count = fmin(coproc_share(trial), coproc->count);
    usage->gpu_ram =
        (class->gpu_ram_used_mb > 0 ? class->gpu_ram_used_mb : class->min_gpu_ram_mb) * MEGABYTE;
    if (each <= 0) {
        /* Nothing is known of its speed: as a CPU job that takes the given part of one. */
        usage->avg_ncpus = fraction;
        usage->peak_flops = cpu;
        usage->projected_flops = cpu * class->projected_flops_scale;
    } else {
        gpu = class->gpu_peak_flops_scale * usage->coproc_count * each;
        whole = fraction * gpu + (1 - fraction) * cpu;
        usage->avg_ncpus = fraction * gpu / whole;
        usage->projected_flops = cpu * gpu / whole * class->projected_flops_scale;
        usage->peak_flops =
            (class->peak_unscaled ? usage->coproc_count * each : gpu) + usage->avg_ncpus * cpu;
    }
    if (class->avg_ncpus > 0)
        usage->avg_ncpus = class->avg_ncpus;
}

static bool use(struct trial *trial, struct plan_verdict *ret_verdict)
{
    if (trial->coproc == NULL)
        return use_cpus(trial, ret_verdict);
    use_coproc(trial, &ret_verdict->usage);
    return true;
}

static const struct plan_class *find_class(const struct plan_classes *classes, struct text name,
                                           struct plan_class *made)
{
    if (classes->is_builtin)
        return plan_class_builtin(name, made) ? made : NULL;
    return plan_class_find(classes, name);
}

bool plan_class_is_known(const struct plan_classes *classes, struct text name)
{
    struct plan_class made;

    return find_class(classes, name, &made) != NULL;
}

struct plan_verdict plan_class_judge(const struct plan_classes *classes, struct text name,
                                     const struct plan_host *host, struct arena *arena)
{
    struct plan_verdict verdict = {0};
    struct plan_class made;
    struct trial trial = {.class = find_class(classes, name, &made), .host = host, .arena = arena};
    enum trial_outcome outcome = TRIAL_REFUSED;

    if (trial.class == NULL) {
        trial_refuse(&trial, "its plan class is not known to the server");
    } else {
        verdict.bounds = (struct plan_bounds){.min_wu_id = trial.class->min_wu_id,
                                              .max_wu_id = trial.class->max_wu_id,
                                              .min_batch = trial.class->min_batch,
                                              .max_batch = trial.class->max_batch};
        outcome = trial_judge(&trial);
        if (outcome != TRIAL_REFUSED && !use(&trial, &verdict))
            outcome = TRIAL_REFUSED;
    }
    verdict.usage.coproc_type = trial.coproc_type;
    verdict.why = trial.why;
    verdict.is_usable = outcome == TRIAL_PASSED;
    verdict.is_fit = outcome != TRIAL_REFUSED;
    return verdict;
}

bool plan_bounds_take(const struct plan_bounds *bounds, int64_t workunitid, int64_t batch)
{
    double id = (double)workunitid, of_batch = (double)batch;

    return (bounds->min_wu_id == 0 || id >= bounds->min_wu_id) &&
           (bounds->max_wu_id == 0 || id <= bounds->max_wu_id) &&
           (bounds->min_batch == 0 || of_batch >= bounds->min_batch) &&
           (bounds->max_batch == 0 || of_batch <= bounds->max_batch);
}
