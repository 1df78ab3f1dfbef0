/* SPDX-License-Identifier: Apache-2.0 */
/* Judging a host by a plan class: an ordered table of demands, each of which lets the host pass or
 * says in words with numbers what is missing; then, for those who passed, what a job uses.
 *
 * A figure that the host did not report is "unknown". What an unknown figure means is decided per
 * demand as the project's other programs expect it (database-and-policy 10.1): a driver version
 * that is not known does not refuse a host, an Android version that is not known does. */
#include "server/policy/plan_class.h"

#include "server/base/arena.h"
#include "server/parse/message.h"
#include "server/policy/plan_class_builtin.h"

#include <math.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>

#include "server/base/banned.h"

#define MEGABYTE 1048576.0

enum { CLIENT_VIRTUALBOX_MIN = 70000, CLIENT_DOCKER_DARWIN_MIN = 80206 };

/* A host before one class. */
struct trial {
    const struct plan_class *class;
    const struct plan_host *host;
    const struct coproc *coproc; /* of the class's type; NULL: CPU class */
    struct arena *arena;
    struct plan_verdict *verdict;
};

static bool refuse(struct trial *trial, const char *format, ...) PRINTF_LIKE(2, 3);
static bool refuse(struct trial *trial, const char *format, ...)
{
    char words[400];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    trial->verdict->why = text_copy(trial->arena, text_from(words));
    return false;
}

static bool regex_matches(const struct plan_regex *regex, struct arena *arena, struct text text)
{
    return regex->compiled == NULL ||
           regexec(regex->compiled, text_string(arena, text), 0, NULL, 0) == 0;
}

/* --- versions -------------------------------------------------------------------------------- */

/* Up to `most` numbers separated by dots at the beginning of the text; returns how many. */
static size_t read_dotted(struct text text, double *ret_numbers, size_t most)
{
    size_t count = 0, at = 0;

    while (count < most && at < text.length && text.at[at] >= '0' && text.at[at] <= '9') {
        double number = 0;

        while (at < text.length && text.at[at] >= '0' && text.at[at] <= '9')
            number = number * 10 + (text.at[at++] - '0');
        ret_numbers[count++] = fmin(number, 1e9);
        if (at >= text.length || text.at[at] != '.')
            break;
        at++;
    }
    return count;
}

static struct text after(struct text text, size_t offset)
{
    return offset >= text.length
               ? NO_TEXT
               : (struct text){.at = text.at + offset, .length = text.length - offset};
}

static struct text after_mark(struct text text, struct text mark)
{
    size_t found = text_find(text, mark);

    return found >= text.length ? NO_TEXT : after(text, found + mark.length);
}

double plan_os_version(struct text os_name, struct text os_version)
{
    double part[4] = {0};

    if (text_contains_nocase(os_name, TEXT("Windows"))) {
        /* "... Edition, (10.00.19041.00)" */
        struct text version = after_mark(os_version, TEXT("("));

        while (version.length > 0 && read_dotted(version, part, 4) < 3)
            version = after_mark(version, TEXT("("));
        if (version.length == 0)
            return -1;
        return part[0] * 1e8 + part[1] * 1e6 + part[2] * 100 + part[3];
    }
    if (text_contains_nocase(os_name, TEXT("Linux")) ||
        text_contains_nocase(os_name, TEXT("Darwin")) ||
        text_contains_nocase(os_name, TEXT("Android"))) {
        /* "6.1.0-27-amd64", or since 7.9 "Debian GNU/Linux 12 [6.1.0-27-amd64|libc 2.36]" */
        struct text version = after_mark(os_version, TEXT("["));

        if (version.length == 0)
            version = text_trim(os_version);
        if (read_dotted(version, part, 3) < 2)
            return -1;
        return part[0] * 10000 + part[1] * 100 + part[2];
    }
    return -1;
}

double plan_android_version(struct text os_version)
{
    double part[3] = {0};

    if (read_dotted(after_mark(os_version, TEXT("(Android ")), part, 3) == 0)
        return -1;
    return part[0] * 10000 + part[1] * 100 + part[2];
}

double plan_libc_version(struct text os_version)
{
    double part[2] = {0};
    struct text version = after_mark(os_version, TEXT("|libc "));

    if (read_dotted(version, part, 2) < 2)
        return 0;
    return part[0] * 100 + part[1];
}

/* "OpenCL 1.2 ..." is 102; 0: unknown. */
static double opencl_version(struct text text)
{
    double part[2] = {0};

    if (read_dotted(after_mark(text, TEXT("OpenCL ")), part, 2) < 2)
        return 0;
    return part[0] * 100 + part[1];
}

static double opencl_revision(struct text text)
{
    double part[2] = {0};

    if (read_dotted(text, part, 2) < 1)
        return 0;
    return part[0] * 100 + part[1];
}

/* AMD's releases exceed a thousand, hence the wide places. 0: unreadable. */
static double cal_version(struct text text)
{
    double part[3] = {0};

    if (read_dotted(text, part, 3) < 3)
        return 0;
    return part[0] * 1e7 + part[1] * 1e4 + part[2];
}

/* --- demands on every host -------------------------------------------------------------------- */

static bool in_use(struct trial *trial)
{
    if (trial->class->disabled)
        return refuse(trial, "it is switched off by the project");
    if (trial->class->user_id != 0 && (double)trial->host->userid != trial->class->user_id)
        return refuse(trial, "it is for another account");
    if (trial->class->infeasible_random > 0 &&
        trial->host->chance < trial->class->infeasible_random)
        return refuse(trial, "it goes to some computers only, by chance");
    return true;
}

static bool client_fits(struct trial *trial)
{
    double client = (double)trial->host->client_version;
    const struct plan_class *class = trial->class;

    if (class->min_core_client_version > client)
        return refuse(trial, "it needs a BOINC client of version %.0f or later; yours is %.0f",
                      class->min_core_client_version, client);
    if (class->max_core_client_version > 0 && client > class->max_core_client_version)
        return refuse(trial, "it needs a BOINC client of version %.0f or earlier; yours is %.0f",
                      class->max_core_client_version, client);
    return true;
}

/* Whole words of the feature list; old clients put them in brackets behind the model's name. */
static bool has_feature(const struct message *message, struct text feature)
{
    struct text lists[2] = {message->p_features, after_mark(message->p_model, TEXT("["))};

    for (size_t i = 0; i < 2; i++) {
        struct text rest = lists[i];

        while (rest.length > 0) {
            struct text word = text_trim(text_split(&rest, ' '));

            if (word.length > 0 && word.at[word.length - 1] == ']')
                word.length--;
            if (text_equal_nocase(word, feature))
                return true;
        }
    }
    return false;
}

static bool cpu_fits(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    const struct message *message = trial->host->message;

    for (size_t i = 0; i < class->cpu_feature.count; i++)
        if (!has_feature(message, class->cpu_feature.items[i]))
            return refuse(trial, "it needs a CPU with " TEXT_FORMAT,
                          TEXT_ARG(text_first(class->cpu_feature.items[i], 60)));
    if (class->min_ncpus > trial->host->cpus)
        return refuse(trial, "it needs %.0f CPUs; BOINC may use %.0f", class->min_ncpus,
                      trial->host->cpus);
    if (!regex_matches(&class->cpu_vendor_regex, trial->arena, message->p_vendor))
        return refuse(trial, "it is not for CPUs of " TEXT_FORMAT,
                      TEXT_ARG(text_first(message->p_vendor, 60)));
    if (!regex_matches(&class->cpu_model_regex, trial->arena, message->p_model))
        return refuse(trial, "it is not for the CPU model " TEXT_FORMAT,
                      TEXT_ARG(text_first(message->p_model, 60)));
    return true;
}

static bool system_fits(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    const struct message *message = trial->host->message;
    double version = plan_os_version(message->os_name, message->os_version);
    double android = plan_android_version(message->os_version);
    double libc = plan_libc_version(message->os_version);

    if (!regex_matches(&class->os_regex, trial->arena, message->os_version))
        return refuse(trial, "it is not for your version of the operating system");
    if ((class->min_os_version > 0 || class->max_os_version > 0) && version < 0)
        return refuse(trial, "your version of the operating system is not known");
    if (class->min_os_version > version && class->min_os_version > 0)
        return refuse(trial, "it needs an operating system of version %.0f; yours is %.0f",
                      class->min_os_version, version);
    if (class->max_os_version > 0 && version > class->max_os_version)
        return refuse(trial, "it needs an operating system up to version %.0f; yours is %.0f",
                      class->max_os_version, version);
    if (class->min_android_version > 0 || class->max_android_version > 0) {
        if (!text_equal_nocase(message->os_name, TEXT("Android")))
            return refuse(trial, "it is for Android only");
        if (android < class->min_android_version)
            return refuse(trial, "it needs Android %.0f; yours is %.0f", class->min_android_version,
                          android < 0 ? 0 : android);
        if (class->max_android_version > 0 && android > class->max_android_version)
            return refuse(trial, "it needs Android up to %.0f; yours is %.0f",
                          class->max_android_version, android);
    }
    /* On Windows the C library is that of a Linux subsystem, of which the request says little. */
    if (class->min_libc_version > libc && !class->wsl)
        return refuse(trial, "it needs a C library of version %.0f; yours is %.0f",
                      class->min_libc_version, libc);
    return true;
}

static struct text preference_value(struct text preferences, struct text tag, struct arena *arena)
{
    struct text opening = text_print(arena, "<" TEXT_FORMAT ">", TEXT_ARG(tag));
    struct text rest = after_mark(preferences, opening);

    return text_trim(text_split(&rest, '<'));
}

static bool preferences_fit(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    struct text value;

    if (class->project_prefs_tag.length == 0 || class->project_prefs_regex.compiled == NULL)
        return true;
    value = preference_value(trial->host->project_prefs, class->project_prefs_tag, trial->arena);
    if (value.length == 0 ? class->project_prefs_default_true
                          : regex_matches(&class->project_prefs_regex, trial->arena, value))
        return true;
    return refuse(trial, "your project preferences do not include it (" TEXT_FORMAT ")",
                  TEXT_ARG(text_first(class->project_prefs_tag, 60)));
}

/* --- virtual machines and containers ---------------------------------------------------------- */

static bool has_acceleration(const struct message *message)
{
    return !message->p_vm_extensions_disabled &&
           (has_feature(message, TEXT("vmx")) || has_feature(message, TEXT("svm")));
}

static bool virtualbox_fits(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    const struct plan_host *host = trial->host;
    struct text installed = host->message->virtualbox_version;
    double part[3] = {0}, version;

    if (!class->virtualbox)
        return true;
    if (host->client_version < CLIENT_VIRTUALBOX_MIN)
        return refuse(trial, "it needs BOINC 7 or later");
    if (installed.length == 0)
        return refuse(trial, "it needs VirtualBox, which is not installed");
    if (text_contains_nocase(installed, TEXT("unusable")) || read_dotted(installed, part, 3) < 3)
        return refuse(trial, "VirtualBox on your computer cannot be used");
    version = part[0] * 10000 + part[1] * 100 + part[2];
    if (class->min_vbox_version > version)
        return refuse(trial, "it needs VirtualBox %.0f; yours is %.0f", class->min_vbox_version,
                      version);
    if (class->max_vbox_version > 0 && version > class->max_vbox_version)
        return refuse(trial, "it needs VirtualBox up to %.0f; yours is %.0f",
                      class->max_vbox_version, version);
    for (size_t i = 0; i < class->exclude_vbox_version.count; i++)
        if (class->exclude_vbox_version.items[i] == version)
            return refuse(trial, "it does not work with VirtualBox %.0f", version);
    if (text_contains(host->primary_platform, TEXT("64")) != class->is64bit)
        return refuse(trial, "it is for %s-bit operating systems", class->is64bit ? "64" : "32");
    if (class->vm_accel_required && !has_acceleration(host->message))
        return refuse(trial, "it needs a CPU whose virtualisation is switched on");
    return true;
}

static bool containers_fit(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    const struct message *message = trial->host->message;

    if (class->wsl && message->dont_use_wsl)
        return refuse(trial, "your computer's configuration forbids the use of WSL");
    if (!class->docker)
        return true;
    if (message->dont_use_docker)
        return refuse(trial, "your computer's configuration forbids the use of Docker");
    if (message->docker_version.length == 0)
        return refuse(trial, "it needs Docker or Podman, which is not installed");
    if (text_contains_nocase(message->os_name, TEXT("Darwin")) &&
        trial->host->client_version < CLIENT_DOCKER_DARWIN_MIN)
        return refuse(trial, "it needs a BOINC client of version %d or later",
                      (int)CLIENT_DOCKER_DARWIN_MIN);
    return true;
}

/* --- coprocessors ------------------------------------------------------------------------------
 */

static struct text coproc_type(const struct plan_class *class)
{
    static const struct {
        const char *prefix, *type;
    } spellings[] = {
        {"amd", "ATI"},         {"ati", "ATI"},         {"nvidia", "NVIDIA"},
        {"intel", "intel_gpu"}, {"apple", "apple_gpu"},
    };

    for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
        struct text prefix = text_from(spellings[i].prefix);

        if (text_equal_nocase(text_first(class->gpu_type, prefix.length), prefix))
            return text_from(spellings[i].type);
    }
    return class->gpu_type;
}

static bool is_gpu_class(const struct plan_class *class)
{
    return class->gpu_type.length > 0 || class->gpu_type_regex.compiled != NULL;
}

static bool find_coproc(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    const struct message *message = trial->host->message;
    struct text type = coproc_type(class);

    if (!is_gpu_class(class))
        return true;
    for (size_t i = 0; i < message->coproc_count; i++) {
        const struct coproc *coproc = &message->coprocs[i];
        bool matches = class->gpu_type_regex.compiled != NULL && coproc->is_generic
                           ? regex_matches(&class->gpu_type_regex, trial->arena, coproc->type)
                           : type.length > 0 && text_equal(coproc->type, type);

        if (matches && coproc->count > 0) {
            trial->coproc = coproc;
            return true;
        }
    }
    return refuse(trial, "it needs a " TEXT_FORMAT " processor",
                  TEXT_ARG(text_first(type.length > 0 ? type : class->gpu_type_regex.text, 60)));
}

/* One figure between two bounds; a bound of 0 is none, an unknown figure (0) passes. */
static bool within(struct trial *trial, const char *what, double figure, double least, double most)
{
    if (figure == 0)
        return true;
    if (figure < least)
        return refuse(trial, "it needs %s %.0f or later; yours is %.0f", what, least, figure);
    if (most > 0 && figure > most)
        return refuse(trial, "it needs %s %.0f or earlier; yours is %.0f", what, most, figure);
    return true;
}

static bool nvidia_fits(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    const struct coproc *coproc = trial->coproc;

    if (coproc == NULL || !text_is(coproc->type, "NVIDIA"))
        return true;
    return within(trial, "compute capability",
                  (double)(coproc->compute_major * 100 + coproc->compute_minor),
                  class->min_nvidia_compcap, class->max_nvidia_compcap) &&
           (!class->cuda || within(trial, "CUDA", (double)coproc->cuda_version,
                                   class->min_cuda_version, class->max_cuda_version)) &&
           within(trial, "driver", (double)coproc->driver_version, class->min_driver_version,
                  class->max_driver_version);
}

static bool amd_fits(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    const struct coproc *coproc = trial->coproc;

    if (coproc == NULL || !text_is(coproc->type, "ATI"))
        return true;
    if (class->need_ati_libs && !coproc->atirt_detected)
        return refuse(trial, "it needs ATI's own libraries");
    if (class->need_amd_libs && !class->need_ati_libs && !coproc->amdrt_detected)
        return refuse(trial, "it needs AMD's own libraries");
    if (class->without_opencl && coproc->has_opencl)
        return refuse(trial, "it is for graphics cards without OpenCL");
    if ((class->min_cal_target > 0 || class->max_cal_target > 0) &&
        !within(trial, "CAL target", (double)coproc->cal_target, class->min_cal_target,
                class->max_cal_target))
        return false;
    if (!coproc->has_cal || (class->min_driver_version == 0 && class->max_driver_version == 0))
        return true;
    if (cal_version(coproc->cal_version) == 0)
        return refuse(trial, "the version of your CAL driver is not known");
    return within(trial, "CAL", cal_version(coproc->cal_version), class->min_driver_version,
                  class->max_driver_version);
}

static bool apple_fits(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    const struct coproc *coproc = trial->coproc;

    if (coproc == NULL || !text_is(coproc->type, "apple_gpu"))
        return true;
    if (class->min_metal_support > 0 && (double)coproc->metal_support < class->min_metal_support)
        return refuse(trial, "it needs Metal %.0f; yours is %.0f", class->min_metal_support,
                      (double)coproc->metal_support);
    return true;
}

static bool opencl_fits(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    const struct opencl_properties *opencl;

    if (!class->opencl)
        return true;
    if (trial->coproc == NULL || !trial->coproc->has_opencl)
        return refuse(trial, "it needs OpenCL");
    opencl = &trial->coproc->opencl;
    if (class->double_precision_fp && opencl->double_fp_config == 0)
        return refuse(trial, "it needs OpenCL with double precision");
    return within(trial, "OpenCL", opencl_version(opencl->device_version),
                  class->min_opencl_version, class->max_opencl_version) &&
           within(trial, "OpenCL driver", opencl_revision(opencl->driver_version),
                  class->min_opencl_driver_revision, class->max_opencl_driver_revision);
}

static double coproc_memory(const struct coproc *coproc, bool opencl)
{
    if (opencl)
        return coproc->opencl.global_mem_size;
    if (text_is(coproc->type, "NVIDIA"))
        return coproc->total_global_mem;
    if (text_is(coproc->type, "ATI"))
        return coproc->local_ram > 0 ? coproc->local_ram * MEGABYTE
                                     : coproc->opencl.global_mem_size;
    return coproc->available_ram;
}

static bool coproc_size_fits(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    double memory;

    if (trial->coproc == NULL)
        return true;
    memory = coproc_memory(trial->coproc, class->opencl);
    if (class->min_gpu_ram_mb * MEGABYTE > memory)
        return refuse(trial, "it needs %.0f MB of graphics memory; yours has %.0f MB",
                      class->min_gpu_ram_mb, memory / MEGABYTE);
    return within(trial, "a graphics card of speed", trial->coproc->peak_flops,
                  class->min_gpu_peak_flops, class->max_gpu_peak_flops);
}

/* --- what a job uses ----------------------------------------------------------------------------
 */

/* Threads that the memory allows, and the memory they need. */
static bool use_memory(struct trial *trial, double *threads)
{
    const struct plan_class *class = trial->class;
    double base = class->mem_usage_base_mb * MEGABYTE;
    double each = class->mem_usage_per_cpu_mb * MEGABYTE;
    double least = base + fmax(class->min_ncpus, 1) * each;

    if (each > 0) {
        if (least > trial->host->memory)
            return refuse(trial, "it needs %.0f MB of memory; BOINC may use %.0f MB",
                          least / MEGABYTE, trial->host->memory / MEGABYTE);
        *threads = fmin(*threads, floor((trial->host->memory - base) / each));
    }
    if (base + each > 0)
        trial->verdict->memory = base + *threads * each;
    return true;
}

static bool use_cpus(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    struct usage *usage = &trial->verdict->usage;
    double threads = fmin(trial->host->cpus, class->max_threads);

    if (class->virtualbox && class->max_threads > 1 && !has_acceleration(trial->host->message))
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
        value =
            preference_value(trial->host->project_prefs, class->gpu_utilization_tag, trial->arena);
        if (!text_to_real(value, &factor) || factor <= 0)
            factor = 1;
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

static bool use_coproc(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    const struct coproc *coproc = trial->coproc;
    struct usage *usage = &trial->verdict->usage;
    double cpu = trial->host->cpu_flops, fraction = class->cpu_frac;
    double gpu, whole;

    usage->coproc_type = coproc->type;
    usage->coproc_count = fmin(coproc_share(trial), coproc->count);
    usage->gpu_ram =
        (class->gpu_ram_used_mb > 0 ? class->gpu_ram_used_mb : class->min_gpu_ram_mb) * MEGABYTE;
    if (coproc->peak_flops <= 0) {
        /* Nothing is known of its speed: as a CPU job that takes the given part of one. */
        usage->avg_ncpus = fraction;
        usage->peak_flops = cpu;
        usage->projected_flops = cpu * class->projected_flops_scale;
    } else {
        gpu = class->gpu_peak_flops_scale * usage->coproc_count * coproc->peak_flops;
        whole = fraction * gpu + (1 - fraction) * cpu;
        usage->avg_ncpus = fraction * gpu / whole;
        usage->projected_flops = cpu * gpu / whole * class->projected_flops_scale;
        usage->peak_flops =
            (class->peak_unscaled ? usage->coproc_count * coproc->peak_flops : gpu) +
            usage->avg_ncpus * cpu;
    }
    if (class->avg_ncpus > 0)
        usage->avg_ncpus = class->avg_ncpus;
    return true;
}

static bool use(struct trial *trial)
{
    return trial->coproc == NULL ? use_cpus(trial) : use_coproc(trial);
}

/* --- judging ------------------------------------------------------------------------------------
 */

static bool (*const demands[])(struct trial *) = {
    in_use,          client_fits,    cpu_fits,         system_fits, preferences_fit,
    virtualbox_fits, containers_fit, find_coproc,      nvidia_fits, amd_fits,
    apple_fits,      opencl_fits,    coproc_size_fits, use,
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
        refuse(&trial, "its plan class is not known to the server");
        return verdict;
    }
    for (size_t i = 0; i < sizeof(demands) / sizeof(demands[0]); i++)
        if (!demands[i](&trial))
            return verdict;
    verdict.is_usable = true;
    return verdict;
}

bool plan_class_takes(const struct plan_classes *classes, struct text name, int64_t workunitid,
                      int64_t batch)
{
    struct plan_class made;
    const struct plan_class *class = find_class(classes, name, &made);
    double id = (double)workunitid, of_batch = (double)batch;

    if (class == NULL)
        return false;
    return (class->min_wu_id == 0 || id >= class->min_wu_id) &&
           (class->max_wu_id == 0 || id <= class->max_wu_id) &&
           (class->min_batch == 0 || of_batch >= class->min_batch) &&
           (class->max_batch == 0 || of_batch <= class->max_batch);
}
