/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan class can demand of a coprocessor: its type, driver, libraries, memory and speed. */
#include "server/policy/plan_class/plan_class_trial.h"

#include "server/parse/message.h"

#include <math.h>

#include "server/base/banned.h"

#define GIGA                1e9
#define COPROC_FLOPS_MAX    1e15 /* ten times what one can do today */
#define COPROC_FLOPS_MODEST 1e11

enum {
    CLIENT_CUDA_DARWIN_MIN = 61028,
    CLIENT_TELLS_LIBRARIES = 61300 /* have_cuda, have_cal, have_opencl */
};

/* How plan classes spell the types that have elements of their own in a request. */
static const struct {
    const char *spelling, *type;
    bool is_prefix;
} spellings[] = {
    {"amd", "ATI", false},     {"ati", "ATI", false},        {"nvidia", "NVIDIA", false},
    {"cuda", "NVIDIA", false}, {"intel", "intel_gpu", true}, {"apple", "apple_gpu", true},
};

/* The type that a class names; `ret_is_known` tells whether it is one of the table. */
static struct text coproc_type(const struct plan_class *class, bool *ret_is_known)
{
    for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
        struct text spelling = text_from(spellings[i].spelling);
        struct text name =
            spellings[i].is_prefix ? text_first(class->gpu_type, spelling.length) : class->gpu_type;

        *ret_is_known = text_equal_nocase(name, spelling);
        if (*ret_is_known)
            return text_from(spellings[i].type);
    }
    return class->gpu_type;
}

static bool is_gpu_class(const struct plan_class *class)
{
    return class->gpu_type.length > 0 || class->gpu_type_regex.compiled != NULL;
}

void trial_name_type(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    const struct message *message = trial->host->message;
    bool is_known, by_pattern;
    struct text type = coproc_type(class, &is_known);

    if (!is_gpu_class(class))
        return;
    by_pattern = !is_known && class->gpu_type_regex.compiled != NULL;
    for (size_t i = 0; i < message->coproc_count && trial->coproc == NULL; i++) {
        const struct coproc *coproc = &message->coprocs[i];

        if (coproc->count > 0 &&
            (by_pattern ? trial_matches(&class->gpu_type_regex, trial->arena, coproc->type)
                        : text_equal(coproc->type, type)))
            trial->coproc = coproc;
    }
    if (by_pattern)
        type = class->gpu_type_regex.text;
    trial->verdict->usage.coproc_type =
        trial->coproc != NULL ? trial->coproc->type : text_copy(trial->arena, type);
}

bool trial_has_coproc(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    struct text type = trial->verdict->usage.coproc_type;

    if (!is_gpu_class(class))
        return true;
    if (trial->coproc == NULL)
        return trial_refuse(trial, "it needs a coprocessor of the type " TEXT_FORMAT,
                            TEXT_ARG(text_first(type, 60)));
    if (class->ngpus > trial->coproc->count)
        return trial_refuse(trial,
                            "it needs %.0f processors of the type " TEXT_FORMAT "; yours has %.0f",
                            class->ngpus, TEXT_ARG(text_first(type, 60)), trial->coproc->count);
    return true;
}

/* One figure between two bounds; a bound of 0 is none, an unknown figure (0) passes. */
static bool within(struct trial *trial, const char *what, double figure, double least, double most)
{
    if (figure == 0)
        return true;
    if (figure < least)
        return trial_refuse(trial, "it needs %s %.0f or later; yours is %.0f", what, least, figure);
    if (most > 0 && figure > most)
        return trial_refuse(trial, "it needs %s %.0f or earlier; yours is %.0f", what, most,
                            figure);
    return true;
}

/* Clients take the name of a class for a demand too: the first of these words in it names the
 * library without which they do not run its jobs. */
static bool needs_library(const struct trial *trial, const char *word, bool is_given)
{
    static const char *const words[] = {"opencl", "cuda", "ati"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (text_contains(trial->class->name, text_from(words[i])))
            return is_given || text_is(text_from(words[i]), word);
    return is_given;
}

/* Clients before 6.13 say nothing of libraries but their versions. */
static bool has_cuda(const struct trial *trial)
{
    const struct coproc *coproc = trial->coproc;

    return trial->host->client_version >= CLIENT_TELLS_LIBRARIES
               ? coproc->has_cuda
               : coproc->cuda_version != 0 || coproc->driver_version != 0;
}

static bool has_cal(const struct trial *trial)
{
    return trial->host->client_version >= CLIENT_TELLS_LIBRARIES
               ? trial->coproc->has_cal
               : trial->coproc->cal_version.length > 0;
}

bool trial_nvidia_fits(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    const struct coproc *coproc = trial->coproc;

    if (coproc == NULL || !text_is(coproc->type, "NVIDIA"))
        return true;
    if (needs_library(trial, "cuda", class->cuda) && !has_cuda(trial))
        return trial_refuse(trial, "it needs CUDA, which your graphics driver does not offer");
    if (class->cuda && text_contains_nocase(trial->host->message->os_name, TEXT("Darwin")) &&
        trial->host->client_version < CLIENT_CUDA_DARWIN_MIN)
        return trial_refuse(trial, "it needs a BOINC client of version %d or later; yours is %lld",
                            (int)CLIENT_CUDA_DARWIN_MIN, (long long)trial->host->client_version);
    return within(trial, "compute capability",
                  (double)(coproc->compute_major * 100 + coproc->compute_minor),
                  class->min_nvidia_compcap, class->max_nvidia_compcap) &&
           (!class->cuda || within(trial, "CUDA", (double)coproc->cuda_version,
                                   class->min_cuda_version, class->max_cuda_version)) &&
           within(trial, "driver", (double)coproc->driver_version, class->min_driver_version,
                  class->max_driver_version);
}

bool trial_amd_fits(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    const struct coproc *coproc = trial->coproc;

    if (coproc == NULL || !text_is(coproc->type, "ATI"))
        return true;
    if (needs_library(trial, "ati", class->cal) && !has_cal(trial))
        return trial_refuse(trial, "it needs CAL, which your graphics driver does not offer");
    if (class->need_ati_libs && !coproc->atirt_detected)
        return trial_refuse(trial, "it needs ATI's own libraries");
    if (class->need_amd_libs && !class->need_ati_libs && !coproc->amdrt_detected)
        return trial_refuse(trial, "it needs AMD's own libraries");
    if (class->without_opencl && coproc->has_opencl)
        return trial_refuse(trial, "it is for graphics cards without OpenCL");
    if ((class->min_cal_target > 0 || class->max_cal_target > 0) &&
        !within(trial, "CAL target", (double)coproc->cal_target, class->min_cal_target,
                class->max_cal_target))
        return false;
    if (!has_cal(trial) || (class->min_driver_version == 0 && class->max_driver_version == 0))
        return true;
    if (trial_cal_version(coproc->cal_version) == 0)
        return trial_refuse(trial, "the version of your CAL driver is not known");
    return within(trial, "CAL", trial_cal_version(coproc->cal_version), class->min_driver_version,
                  class->max_driver_version);
}

bool trial_apple_fits(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    const struct coproc *coproc = trial->coproc;

    if (coproc == NULL || !text_is(coproc->type, "apple_gpu"))
        return true;
    if (class->min_metal_support > 0 && (double)coproc->metal_support < class->min_metal_support)
        return trial_refuse(trial, "it needs Metal %.0f; yours is %.0f", class->min_metal_support,
                            (double)coproc->metal_support);
    return true;
}

static bool device_fits(struct trial *trial, const struct opencl_properties *opencl)
{
    const struct plan_class *class = trial->class;

    if (class->double_precision_fp && opencl->double_fp_config == 0)
        return trial_refuse(trial, "it needs OpenCL with double precision");
    return within(trial, "OpenCL", trial_opencl_version(opencl->device_version),
                  class->min_opencl_version, class->max_opencl_version) &&
           within(trial, "OpenCL driver", trial_opencl_revision(opencl->driver_version),
                  class->min_opencl_driver_revision, class->max_opencl_driver_revision);
}

/* One of the platforms that offer the CPU is enough. */
static bool cpu_fits(struct trial *trial)
{
    const struct message *message = trial->host->message;
    struct text vendor = trial->class->opencl_cpu_vendor, why = trial->verdict->why;
    bool is_refused = false;

    for (size_t i = 0; i < message->opencl_cpu_count; i++) {
        const struct opencl_cpu *cpu = &message->opencl_cpus[i];

        if (vendor.length > 0 && !text_contains_nocase(cpu->platform_vendor, vendor))
            continue;
        if (device_fits(trial, &cpu->opencl)) {
            trial->verdict->why = why;
            return true;
        }
        is_refused = true;
    }
    if (is_refused)
        return false;
    return trial_refuse(trial, "it needs OpenCL on the CPU, which no driver of yours offers");
}

bool trial_opencl_fits(struct trial *trial)
{
    const struct plan_class *class = trial->class;

    if (!needs_library(trial, "opencl", class->opencl) || (trial->coproc == NULL && !class->opencl))
        return true;
    if (trial->coproc == NULL)
        return cpu_fits(trial);
    if (!trial->coproc->has_opencl)
        return trial_refuse(trial, "it needs OpenCL, which your graphics driver does not offer");
    return !class->opencl || device_fits(trial, &trial->coproc->opencl);
}

double trial_coproc_memory(const struct coproc *coproc, bool opencl)
{
    double own = text_is(coproc->type, "NVIDIA") ? coproc->total_global_mem
                 : text_is(coproc->type, "ATI")  ? coproc->local_ram * MEGABYTE
                                                 : 0;

    if ((opencl || own <= 0) && coproc->opencl.global_mem_size > 0)
        own = coproc->opencl.global_mem_size;
    return own > 0 ? own : coproc->available_ram;
}

bool trial_coproc_size_fits(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    double memory, flops;

    if (trial->coproc == NULL)
        return true;
    memory = trial_coproc_memory(trial->coproc, class->opencl);
    if (class->min_gpu_ram_mb * MEGABYTE > memory)
        return trial_refuse(trial, "it needs %.0f MB of graphics memory; yours has %.0f MB",
                            class->min_gpu_ram_mb, floor(memory / MEGABYTE));
    flops = coproc_peak_flops(trial->coproc);
    if (flops > 0 && class->min_gpu_peak_flops > flops)
        return trial_refuse(trial, "it needs a processor of %.3g GFLOPS or more; yours has %.3g",
                            class->min_gpu_peak_flops / GIGA, flops / GIGA);
    if (flops > 0 && class->max_gpu_peak_flops > 0 && flops > class->max_gpu_peak_flops)
        return trial_refuse(trial, "it is for processors of up to %.3g GFLOPS; yours has %.3g",
                            class->max_gpu_peak_flops / GIGA, flops / GIGA);
    return true;
}

/* --- speed of coprocessors -------------------------------------------------------------------- */

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
    return flops > 0 ? flops : 0;
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
