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
#include "server/policy/preferences.h"

#include <math.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>

#include "server/base/banned.h"

#define MEGABYTE         1048576.0
#define GIGA             1e9
#define COPROC_FLOPS_MAX 1e15 /* ten times what one can do today */

#define SHARE_MIN 0.01 /* of a coprocessor: a hundred jobs at once are enough for anybody */

enum {
    CLIENT_VIRTUALBOX_MIN = 70000,
    CLIENT_DOCKER_DARWIN_MIN = 80206,
    CLIENT_CUDA_DARWIN_MIN = 61028,
    CLIENT_TELLS_LIBRARIES = 61300 /* have_cuda, have_cal, have_opencl */
};

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
    return true;
}

static bool is_lucky(struct trial *trial)
{
    if (trial->host->chance < trial->class->infeasible_random)
        return refuse(trial, "this time it goes to other computers, by chance (%.0f%% of requests)",
                      100 * fmin(trial->class->infeasible_random, 1));
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
        if (class->min_android_version > 0 && android < class->min_android_version)
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

static bool preferences_fit(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    struct text value;

    if (class->project_prefs_tag.length == 0 || class->project_prefs_regex.compiled == NULL)
        return true;
    value =
        preferences_value(trial->host->project_prefs, trial->host->venue, class->project_prefs_tag);
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

/* On Windows programs for Linux run in a distribution of its subsystem (WSL). */
static bool wsl_fits(struct trial *trial)
{
    const struct message *message = trial->host->message;
    double newest = -1;

    if (message->dont_use_wsl)
        return refuse(trial, "your computer's configuration forbids the use of WSL");
    for (size_t i = 0; i < message->distro_count; i++) {
        double part[2] = {0};

        if (!message->distros[i].disallowed) {
            (void)read_dotted(message->distros[i].libc_version, part, 2);
            newest = fmax(newest, part[0] * 100 + part[1]);
        }
    }
    if (newest < 0)
        return refuse(trial, "it needs a WSL distribution that BOINC may use; there are %zu in all",
                      message->distro_count);
    if (trial->class->min_libc_version > newest)
        return refuse(trial,
                      "it needs a WSL distribution with a C library of version %.0f; yours "
                      "has %.0f",
                      trial->class->min_libc_version, newest);
    return true;
}

/* Either BOINC's own distribution, from a version on, or any that has the program. */
static bool wsl_has_docker(struct trial *trial)
{
    const struct message *message = trial->host->message;
    double least = trial->class->min_boinc_wsl_distro_version;

    if (message->dont_use_wsl)
        return refuse(trial, "your computer's configuration forbids the use of WSL");
    for (size_t i = 0; i < message->distro_count; i++) {
        const struct wsl_distro *distro = &message->distros[i];

        if (!distro->disallowed && (least > 0 ? text_is(distro->distro_name, "boinc-buda-runner") &&
                                                    (double)distro->distro_version >= least
                                              : distro->docker_version.length > 0))
            return true;
    }
    if (least > 0)
        return refuse(trial, "it needs BOINC's own WSL distribution of version %.0f", least);
    return refuse(trial, "it needs Docker or Podman in a WSL distribution");
}

static bool containers_fit(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    const struct message *message = trial->host->message;

    if (class->wsl && !wsl_fits(trial))
        return false;
    if (!class->docker)
        return true;
    if (message->dont_use_docker)
        return refuse(trial, "your computer's configuration forbids the use of Docker");
    if (text_contains_nocase(message->os_name, TEXT("Windows")))
        return wsl_has_docker(trial);
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

/* Finds the processor that the class means, and names its type in the verdict, whatever is refused
 * for other reasons. */
static void name_type(struct trial *trial)
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
            (by_pattern ? regex_matches(&class->gpu_type_regex, trial->arena, coproc->type)
                        : text_equal(coproc->type, type)))
            trial->coproc = coproc;
    }
    if (by_pattern)
        type = class->gpu_type_regex.text;
    trial->verdict->usage.coproc_type =
        trial->coproc != NULL ? trial->coproc->type : text_copy(trial->arena, type);
}

static bool has_coproc(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    struct text type = trial->verdict->usage.coproc_type;

    if (!is_gpu_class(class))
        return true;
    if (trial->coproc == NULL)
        return refuse(trial, "it needs a coprocessor of the type " TEXT_FORMAT,
                      TEXT_ARG(text_first(type, 60)));
    if (class->ngpus > trial->coproc->count)
        return refuse(trial, "it needs %.0f processors of the type " TEXT_FORMAT "; yours has %.0f",
                      class->ngpus, TEXT_ARG(text_first(type, 60)), trial->coproc->count);
    return true;
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

static bool nvidia_fits(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    const struct coproc *coproc = trial->coproc;

    if (coproc == NULL || !text_is(coproc->type, "NVIDIA"))
        return true;
    if (needs_library(trial, "cuda", class->cuda) && !has_cuda(trial))
        return refuse(trial, "it needs CUDA, which your graphics driver does not offer");
    if (class->cuda && text_contains_nocase(trial->host->message->os_name, TEXT("Darwin")) &&
        trial->host->client_version < CLIENT_CUDA_DARWIN_MIN)
        return refuse(trial, "it needs a BOINC client of version %d or later; yours is %lld",
                      (int)CLIENT_CUDA_DARWIN_MIN, (long long)trial->host->client_version);
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
    if (needs_library(trial, "ati", class->cal) && !has_cal(trial))
        return refuse(trial, "it needs CAL, which your graphics driver does not offer");
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
    if (!has_cal(trial) || (class->min_driver_version == 0 && class->max_driver_version == 0))
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

    if (!needs_library(trial, "opencl", class->opencl) || (trial->coproc == NULL && !class->opencl))
        return true;
    if (trial->coproc == NULL)
        return refuse(trial, "it needs OpenCL on the CPU, which this server cannot judge");
    if (!trial->coproc->has_opencl)
        return refuse(trial, "it needs OpenCL, which your graphics driver does not offer");
    if (!class->opencl)
        return true;
    opencl = &trial->coproc->opencl;
    if (class->double_precision_fp && opencl->double_fp_config == 0)
        return refuse(trial, "it needs OpenCL with double precision");
    return within(trial, "OpenCL", opencl_version(opencl->device_version),
                  class->min_opencl_version, class->max_opencl_version) &&
           within(trial, "OpenCL driver", opencl_revision(opencl->driver_version),
                  class->min_opencl_driver_revision, class->max_opencl_driver_revision);
}

/* Bytes; each type's own figure where there is one. */
static double coproc_memory(const struct coproc *coproc, bool opencl)
{
    double own = text_is(coproc->type, "NVIDIA") ? coproc->total_global_mem
                 : text_is(coproc->type, "ATI")  ? coproc->local_ram * MEGABYTE
                                                 : 0;

    if ((opencl || own <= 0) && coproc->opencl.global_mem_size > 0)
        own = coproc->opencl.global_mem_size;
    return own > 0 ? own : coproc->available_ram;
}

static bool coproc_size_fits(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    double memory, flops;

    if (trial->coproc == NULL)
        return true;
    memory = coproc_memory(trial->coproc, class->opencl);
    if (class->min_gpu_ram_mb * MEGABYTE > memory)
        return refuse(trial, "it needs %.0f MB of graphics memory; yours has %.0f MB",
                      class->min_gpu_ram_mb, floor(memory / MEGABYTE));
    flops = coproc_peak_flops(trial->coproc);
    if (flops > 0 && class->min_gpu_peak_flops > flops)
        return refuse(trial, "it needs a processor of %.3g GFLOPS or more; yours has %.3g",
                      class->min_gpu_peak_flops / GIGA, flops / GIGA);
    if (flops > 0 && class->max_gpu_peak_flops > 0 && flops > class->max_gpu_peak_flops)
        return refuse(trial, "it is for processors of up to %.3g GFLOPS; yours has %.3g",
                      class->max_gpu_peak_flops / GIGA, flops / GIGA);
    return true;
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

/* --- judging ------------------------------------------------------------------------------------
 */

/* A soft demand is one that the volunteer's choice or chance decides, not what the computer is. */
static const struct {
    bool (*passes)(struct trial *trial);
    bool is_soft;
} demands[] = {
    {in_use, false},          {is_lucky, true},          {client_fits, false},
    {cpu_fits, false},        {system_fits, false},      {preferences_fit, true},
    {virtualbox_fits, false}, {containers_fit, false},   {has_coproc, false},
    {nvidia_fits, false},     {amd_fits, false},         {apple_fits, false},
    {opencl_fits, false},     {coproc_size_fits, false}, {use, false},
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
        refuse(&trial, "its plan class is not known to the server");
        return verdict;
    }
    verdict.bounds = (struct plan_bounds){.min_wu_id = trial.class->min_wu_id,
                                          .max_wu_id = trial.class->max_wu_id,
                                          .min_batch = trial.class->min_batch,
                                          .max_batch = trial.class->max_batch};
    name_type(&trial);
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

/* --- speed of coprocessors -------------------------------------------------------------------- */

/* NVIDIA's cores per multiprocessor by compute capability (protocol 2.10); the first row that is
 * not above the device's. */
static const struct {
    int64_t capability;
    double cores, flops_per_clock;
} nvidia_cores[] = {
    {900, 128, 2}, {806, 128, 2}, {800, 64, 2}, {700, 64, 2}, {601, 128, 2}, {600, 64, 2},
    {500, 128, 2}, {300, 192, 2}, {201, 48, 2}, {200, 32, 2}, {0, 8, 3},
};

double coproc_peak_flops(const struct coproc *coproc)
{
    const struct opencl_properties *opencl = &coproc->opencl;
    int64_t capability = coproc->compute_major * 100 + coproc->compute_minor;
    double flops = 0;

    if (coproc->peak_flops > 0) /* drivers have made clients say 43 exaFLOPS */
        return fmin(coproc->peak_flops, COPROC_FLOPS_MAX);
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
            flops = 1e11;
    }
    return flops > 0 ? fmin(flops, COPROC_FLOPS_MAX) : 0;
}
