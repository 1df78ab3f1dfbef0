/* SPDX-License-Identifier: Apache-2.0 */
/* Judging a host by a plan class: an ordered table of demands, each of which lets the host pass or
 * says in words with numbers what is missing; then, for those who passed, what a job uses.
 *
 * A figure that the host did not report is "unknown". What an unknown figure means is decided per
 * demand as the project's other programs expect it (policy(7) 4.2): a driver version
 * that is not known does not refuse a host, an Android version that is not known does. */
#include "server/policy/plan_class/plan_class.h"

#include "server/base/arena.h"
#include "server/parse/message.h"
#include "server/policy/limits/preferences.h"
#include "server/policy/plan_class/plan_class_builtin.h"
#include "server/policy/plan_class/plan_class_trial.h"

#include <math.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>

#include "server/base/banned.h"

#define SHARE_MIN 0.01 /* of a coprocessor: a hundred jobs at once are enough for anybody */

bool trial_refuse(struct trial *trial, const char *format, ...)
{
    char words[400];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    trial->verdict->why = text_copy(trial->arena, text_from(words));
    return false;
}

bool trial_matches(const struct plan_regex *regex, struct arena *arena, struct text text)
{
    return regex->compiled == NULL ||
           regexec(regex->compiled, text_string(arena, text), 0, NULL, 0) == 0;
}

/* --- what a job uses -------------------------------------------------------------------------- */

/* Threads that the memory allows, and the memory they need. */
static bool use_memory(struct trial *trial, double *threads)
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
        trial->verdict->memory = base + *threads * each;
    return true;
}

static bool use_cpus(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    struct usage *usage = &trial->verdict->usage;
    double threads = fmax(fmin(trial->host->cpus, class->max_threads), 1);

    if (class->virtualbox && class->max_threads > 1 &&
        !trial_has_acceleration(trial->host->message))
        threads = 1;
    if (!use_memory(trial, &threads))
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
                                    ceil(trial->verdict->memory / MEGABYTE));
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
        double memory = trial_coproc_memory(trial->coproc, class->opencl);
        double jobs = floor(memory / (class->gpu_ram_used_mb * MEGABYTE));

        return jobs >= 1 ? 1 / jobs : 1;
    }
    return factor;
}

static bool use_coproc(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    const struct coproc *coproc = trial->coproc;
    struct usage *usage = &trial->verdict->usage;
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
    return true;
}

static bool use(struct trial *trial)
{
    return trial->coproc == NULL ? use_cpus(trial) : use_coproc(trial);
}

/* --- judging ---------------------------------------------------------------------------------- */

/* A soft demand is one that the volunteer's choice or chance decides, not what the computer is. */
static const struct {
    bool (*passes)(struct trial *trial);
    bool is_soft;
} demands[] = {
    {trial_in_use, false},          {trial_is_lucky, true},          {trial_client_fits, false},
    {trial_cpu_fits, false},        {trial_system_fits, false},      {trial_preferences_fit, true},
    {trial_virtualbox_fits, false}, {trial_containers_fit, false},   {trial_has_coproc, false},
    {trial_nvidia_fits, false},     {trial_amd_fits, false},         {trial_apple_fits, false},
    {trial_opencl_fits, false},     {trial_coproc_size_fits, false}, {use, false},
};

static const struct plan_class *find_class(const struct plan_classes *classes, struct text name,
                                           struct plan_class *made)
{
    if (classes->is_builtin)
        return plan_class_builtin(name, made) ? made : NULL;
    for (size_t i = 0; i < classes->count; i++)
        if (text_equal(classes->items[i].name, name))
            return &classes->items[i];
    return NULL;
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
    struct trial trial = {.class = find_class(classes, name, &made),
                          .host = host,
                          .arena = arena,
                          .verdict = &verdict};

    if (trial.class == NULL) {
        trial_refuse(&trial, "its plan class is not known to the server");
        return verdict;
    }
    verdict.bounds = (struct plan_bounds){.min_wu_id = trial.class->min_wu_id,
                                          .max_wu_id = trial.class->max_wu_id,
                                          .min_batch = trial.class->min_batch,
                                          .max_batch = trial.class->max_batch};
    trial_name_type(&trial);
    verdict.is_usable = true;
    for (size_t i = 0; i < sizeof(demands) / sizeof(demands[0]); i++) {
        struct text why = verdict.why;

        if (demands[i].passes(&trial))
            continue;
        verdict.is_usable = false;
        if (!demands[i].is_soft)
            return verdict;
        if (why.length > 0)
            verdict.why = why;
    }
    verdict.is_fit = true;
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
