/* SPDX-License-Identifier: Apache-2.0 */
/* The demands of plan classes, each of which lets a host pass or says in words, with numbers, what
 * is missing.
 *
 * A figure that the host did not report is unknown. What an unknown figure means is decided for
 * each demand as the project's other programs expect it (policy(7) 4.2): a driver version that is
 * not known does not refuse a host, an Android version that is not known does. */
#include "server/policy/plan_class/plan_demands.h"

#include "server/base/arena.h"
#include "server/base/marked.h"
#include "server/parse/client_age.h"
#include "server/parse/message.h"
#include "server/policy/limits/preferences.h"
#include "server/policy/plan_class/coproc_figures.h"
#include "server/policy/plan_class/plan_versions.h"

#include <math.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>

#include "server/base/banned.h"

#define GIGA     1e9
#define MEGABYTE 1048576.0

bool trial_refuse(struct trial *trial, const char *format, ...)
{
    char words[400];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    trial->why = text_copy(trial->arena, text_from(words));
    return false;
}

/* Of versions: from which on. Answers false. */
static bool needs_version(struct trial *trial, const char *what, enum version_form form,
                          double least, double figure)
{
    return trial_refuse(trial, "it needs %s %s or later; yours is %s", what,
                        version_words(form, least).text, version_words(form, figure).text);
}

/* 0 is no bound. */
static bool version_fits(struct trial *trial, const char *what, enum version_form form,
                         double least, double most, double figure)
{
    if (least > 0 && figure < least)
        return needs_version(trial, what, form, least, figure);
    return most <= 0 || figure <= most ||
           trial_refuse(trial, "it needs %s %s or earlier; yours is %s", what,
                        version_words(form, most).text, version_words(form, figure).text);
}

/* The volunteer can mend it by the sentence, which Managers translate. */
static bool trial_advise(struct trial *trial, const char *sentence)
{
    trial->why = text_print(trial->arena, TEXT_FORMAT ". %s", TEXT_ARG(trial->why), sentence);
    return false;
}

/* No expression matches everything. */
static bool matches(const struct plan_regex *regex, struct arena *arena, struct text text)
{
    return regex->compiled == NULL ||
           regexec(regex->compiled, text_string(arena, text), 0, NULL, 0) == 0;
}

/* --- any host --------------------------------------------------------------------------------- */

static bool is_in_use(struct trial *trial)
{
    if (trial->class->disabled)
        return trial_refuse(trial, "it is switched off by the project");
    if (trial->class->user_id != 0 && (double)trial->host->userid != trial->class->user_id)
        return trial_refuse(trial, "it is for another account");
    return true;
}

static bool is_lucky(struct trial *trial)
{
    if (trial->host->chance < trial->class->infeasible_random)
        return trial_refuse(trial,
                            "this time it goes to other computers, by chance (%.0f%% of requests)",
                            100 * fmin(trial->class->infeasible_random, 1));
    return true;
}

static bool client_fits(struct trial *trial)
{
    double client = (double)trial->host->client_version;
    const struct plan_class *class = trial->class;

    return version_fits(trial, "BOINC", VERSION_OF_CLIENT, class->min_core_client_version,
                        class->max_core_client_version, client);
}

/* Whole words of the feature list; old clients put them in brackets behind the model's name. */
static bool has_feature(const struct message *message, struct text feature)
{
    struct text lists[2] = {message->p_features, version_after(message->p_model, TEXT("["))};

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
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
            return trial_refuse(trial, "it needs a CPU with " TEXT_FORMAT,
                                TEXT_ARG(text_first(class->cpu_feature.items[i], 60)));
    if (class->min_ncpus > trial->host->cpus)
        return trial_refuse(trial, "it needs %.0f CPUs; BOINC may use %.0f", class->min_ncpus,
                            trial->host->cpus);
    if (!matches(&class->cpu_vendor_regex, trial->arena, message->p_vendor))
        return trial_refuse(trial, "it is not for CPUs of " TEXT_FORMAT,
                            TEXT_ARG(text_first(message->p_vendor, 60)));
    if (!matches(&class->cpu_model_regex, trial->arena, message->p_model))
        return trial_refuse(trial, "it is not for the CPU model " TEXT_FORMAT,
                            TEXT_ARG(text_first(message->p_model, 60)));
    return true;
}

static bool android_fits(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    const struct message *message = trial->host->message;
    double android = plan_android_version(message->os_version);

    if (class->min_android_version <= 0 && class->max_android_version <= 0)
        return true;
    if (!text_equal_nocase(message->os_name, TEXT("Android")))
        return trial_refuse(trial, "it is for Android only");
    return version_fits(trial, "Android", VERSION_OF_CLIENT, class->min_android_version,
                        class->max_android_version, android);
}

static bool system_fits(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    const struct message *message = trial->host->message;
    double version = plan_os_version(message->os_name, message->os_version);
    enum version_form form = text_contains_nocase(message->os_name, TEXT("Windows"))
                                 ? VERSION_OF_WINDOWS
                                 : VERSION_OF_CLIENT;
    double libc = plan_libc_version(message->os_version);

    if (!matches(&class->os_regex, trial->arena, message->os_version))
        return trial_refuse(trial, "it is not for your version of the operating system");
    if ((class->min_os_version > 0 || class->max_os_version > 0) && version < 0)
        return trial_refuse(trial, "your version of the operating system is not known");
    if (!version_fits(trial, "an operating system of version", form, class->min_os_version,
                      class->max_os_version, version) ||
        !android_fits(trial))
        return false;
    /* On Windows the C library is that of a Linux subsystem, of which the request says little. */
    if (class->min_libc_version > libc && !class->wsl)
        return needs_version(trial, "a C library of version", VERSION_OF_LIBRARY,
                             class->min_libc_version, libc > 0 ? libc : -1);
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
                          : matches(&class->project_prefs_regex, trial->arena, value))
        return true;
    return trial_refuse(trial, "your project preferences do not include it (" TEXT_FORMAT ")",
                        TEXT_ARG(text_first(class->project_prefs_tag, 60)));
}

/* --- virtual machines and containers ---------------------------------------------------------- */

bool plan_host_has_acceleration(const struct message *message)
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
    if (host->client_version < CLIENT_USES_VIRTUALBOX)
        return trial_refuse(trial, "it needs BOINC 7 or later");
    if (installed.length == 0)
        return trial_refuse(trial, "it needs VirtualBox, and BOINC found none when it started");
    if (text_contains_nocase(installed, TEXT("unusable")))
        return trial_refuse(trial,
                            "your BOINC client says that its VirtualBox cannot be used, as it does "
                            "on Windows next to Docker or Podman");
    if (version_read_dotted(installed, part, 3) < 3)
        return trial_refuse(trial, "the version of your VirtualBox is not known");
    version = part[0] * 10000 + part[1] * 100 + part[2];
    if (!version_fits(trial, "VirtualBox", VERSION_OF_CLIENT, class->min_vbox_version,
                      class->max_vbox_version, version))
        return false;
    for (size_t i = 0; i < class->exclude_vbox_version.count; i++)
        if (class->exclude_vbox_version.items[i] == version)
            return trial_refuse(trial, "it does not work with VirtualBox %s",
                                version_words(VERSION_OF_CLIENT, version).text);
    if (text_contains(host->primary_platform, TEXT("64")) != class->is64bit)
        return trial_refuse(trial, "it is for the %s-bit version of BOINC",
                            class->is64bit ? "64" : "32");
    if (class->vm_accel_required && !plan_host_has_acceleration(host->message))
        return trial_refuse(
            trial,
            "it needs virtualisation, which is missing in your CPU or switched off in its BIOS");
    return true;
}

/* On Windows programs for Linux run in a distribution of its subsystem (WSL). */
static bool wsl_fits(struct trial *trial)
{
    const struct message *message = trial->host->message;
    double newest = -1;

    if (message->dont_use_wsl)
        return trial_refuse(trial, "your computer's configuration forbids the use of WSL");
    for (size_t i = 0; i < message->distro_count; i++) {
        double part[2] = {0};

        if (!message->distros[i].disallowed) {
            (void)version_read_dotted(message->distros[i].libc_version, part, 2);
            newest = fmax(newest, part[0] * 100 + part[1]);
        }
    }
    if (newest < 0)
        return trial_refuse(trial,
                            "it needs a WSL distribution that BOINC may use; there are %zu in all",
                            message->distro_count);
    if (trial->class->min_libc_version > newest)
        return needs_version(trial, "a WSL distribution with a C library of version",
                             VERSION_OF_LIBRARY, trial->class->min_libc_version,
                             newest > 0 ? newest : -1);
    return true;
}

/* Either BOINC's own distribution, from a version on, or any; BOINC found the program there. */
static bool distro_has_docker(const struct plan_class *class, const struct wsl_distro *distro)
{
    double least = class->min_boinc_wsl_distro_version;

    return !distro->disallowed && distro->docker_version.length > 0 &&
           (least <= 0 || (text_is(distro->distro_name, "boinc-buda-runner") &&
                           (double)distro->distro_version >= least));
}

static bool wsl_has_docker(struct trial *trial)
{
    const struct message *message = trial->host->message;
    double least = trial->class->min_boinc_wsl_distro_version;

    if (message->dont_use_wsl)
        return trial_refuse(trial, "your computer's configuration forbids the use of WSL");
    for (size_t i = 0; i < message->distro_count; i++)
        if (distro_has_docker(trial->class, &message->distros[i]))
            return true;
    if (least > 0)
        return trial_refuse(
            trial, "it needs BOINC's own WSL distribution of version %.0f, with Podman", least);
    return trial_refuse(trial, "it needs Docker or Podman in a WSL distribution");
}

static bool is_macos(const struct message *message)
{
    return text_contains_nocase(message->os_name, TEXT("Darwin"));
}

static bool containers_fit(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    const struct message *message = trial->host->message;

    if (class->wsl && !wsl_fits(trial))
        return false;
    if (!plan_class_is_docker(class))
        return true;
    if (message->dont_use_docker)
        return trial_refuse(trial, "your computer's configuration forbids the use of Docker");
    if (text_contains_nocase(message->os_name, TEXT("Windows")))
        return wsl_has_docker(trial);
    if (is_macos(message))
        return trial->host->client_version >= CLIENT_USES_DOCKER_ON_MACOS ||
               needs_version(trial, "BOINC", VERSION_OF_CLIENT, CLIENT_USES_DOCKER_ON_MACOS,
                             (double)trial->host->client_version);
    return message->docker_version.length > 0 ||
           trial_refuse(trial, "it needs Docker or Podman, and BOINC found none when it started");
}

/* There Podman runs in a virtual machine, and clients say nothing of it until that has started: so
 * what lacks today may be there in a minute. */
static bool containers_run_now(struct trial *trial)
{
    const struct message *message = trial->host->message;

    return !plan_class_is_docker(trial->class) || !is_macos(message) ||
           message->docker_version.length > 0 ||
           trial_refuse(trial, "it needs Docker or Podman, and BOINC has found none yet");
}

/* --- coprocessors ----------------------------------------------------------------------------- */

/* How plan classes spell the types that have elements of their own in a request. */
static const struct {
    const char *spelling, *type;
    bool is_prefix;
} spellings[] = {
    {"amd", "ATI", false},     {"ati", "ATI", false},        {"nvidia", "NVIDIA", false},
    {"cuda", "NVIDIA", false}, {"intel", "intel_gpu", true}, {"apple", "apple_gpu", true},
};

/* The type that a class names; `ret_is_known`: it is one of the table. */
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

struct text plan_class_coproc(const struct plan_class *class)
{
    bool is_known;
    struct text type = coproc_type(class, &is_known);

    if (!is_gpu_class(class))
        return NO_TEXT;
    return is_known || class->gpu_type_regex.compiled == NULL ? type : class->gpu_type_regex.text;
}

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
            (by_pattern ? matches(&class->gpu_type_regex, trial->arena, coproc->type)
                        : text_equal(coproc->type, type)))
            trial->coproc = coproc;
    }
    if (by_pattern)
        type = class->gpu_type_regex.text;
    trial->coproc_type =
        trial->coproc != NULL ? trial->coproc->type : text_copy(trial->arena, type);
}

static bool has_coproc(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    struct text type = trial->coproc_type;

    if (!is_gpu_class(class))
        return true;
    if (trial->coproc == NULL)
        return trial_refuse(trial, "BOINC found no " TEXT_FORMAT " in your computer",
                            TEXT_ARG(message_type_name(text_first(type, 60))));
    if (class->ngpus > trial->coproc->count)
        return trial_refuse(trial, "it needs %.0f " TEXT_FORMAT "s; your computer has %.0f",
                            class->ngpus, TEXT_ARG(message_type_name(text_first(type, 60))),
                            trial->coproc->count);
    return true;
}

/* An unknown figure (0) passes. */
static bool within(struct trial *trial, const char *what, enum version_form form, double figure,
                   double least, double most)
{
    return figure == 0 || version_fits(trial, what, form, least, most, figure);
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

static bool nvidia_driver_fits(struct trial *trial, double version)
{
    const struct plan_class *class = trial->class;

    return within(trial, "driver", VERSION_OF_DRIVER, version, class->min_driver_version,
                  class->max_driver_version) ||
           (version < class->min_driver_version &&
            trial_advise(trial, MARKED(SAYS_DRIVER_FOR_APPS)));
}

static bool nvidia_fits(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    const struct coproc *coproc = trial->coproc;

    if (coproc == NULL || !text_is(coproc->type, "NVIDIA"))
        return true;
    if (needs_library(trial, "cuda", class->cuda) && !has_cuda(trial))
        return trial_refuse(trial, "it needs CUDA, which your graphics driver does not offer") ||
               trial_advise(trial, MARKED(SAYS_DRIVER_FOR_GPU));
    if (class->cuda && text_contains_nocase(trial->host->message->os_name, TEXT("Darwin")) &&
        trial->host->client_version < CLIENT_USES_CUDA_ON_MACOS)
        return needs_version(trial, "BOINC", VERSION_OF_CLIENT, CLIENT_USES_CUDA_ON_MACOS,
                             (double)trial->host->client_version) ||
               trial_advise(trial, MARKED(SAYS_CLIENT_FOR_CUDA));
    return within(trial, "compute capability", VERSION_OF_LIBRARY,
                  (double)(coproc->compute_major * 100 + coproc->compute_minor),
                  class->min_nvidia_compcap, class->max_nvidia_compcap) &&
           (!class->cuda || within(trial, "CUDA", VERSION_OF_CUDA, (double)coproc->cuda_version,
                                   class->min_cuda_version, class->max_cuda_version)) &&
           nvidia_driver_fits(trial, (double)coproc->driver_version);
}

static bool amd_fits(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    const struct coproc *coproc = trial->coproc;

    if (coproc == NULL || !text_is(coproc->type, "ATI"))
        return true;
    if (needs_library(trial, "ati", class->cal) && !has_cal(trial))
        return trial_refuse(trial, "it needs CAL, which your graphics driver does not offer") ||
               trial_advise(trial, MARKED(SAYS_DRIVER_FOR_GPU));
    if (class->need_ati_libs && !coproc->atirt_detected)
        return trial_refuse(trial, "it needs ATI's own libraries");
    if (class->need_amd_libs && !class->need_ati_libs && !coproc->amdrt_detected)
        return trial_refuse(trial, "it needs AMD's own libraries");
    if (class->without_opencl && coproc->has_opencl)
        return trial_refuse(trial, "it is for graphics cards without OpenCL");
    if ((class->min_cal_target > 0 || class->max_cal_target > 0) &&
        !within(trial, "CAL target", VERSION_PLAIN, (double)coproc->cal_target,
                class->min_cal_target, class->max_cal_target))
        return false;
    if (!has_cal(trial) || (class->min_driver_version == 0 && class->max_driver_version == 0))
        return true;
    if (cal_version(coproc->cal_version) == 0)
        return trial_refuse(trial, "the version of your CAL driver is not known");
    return within(trial, "CAL", VERSION_OF_CAL, cal_version(coproc->cal_version),
                  class->min_driver_version, class->max_driver_version);
}

static bool apple_fits(struct trial *trial)
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

/* How distributions name GPUs is not settled: NVIDIA, amd, intel_gpu, "Intel Arc". */
static bool wsl_names(struct text type, struct text name)
{
    const struct text intel = TEXT("intel");

    if (text_is(type, "ATI") && text_equal_nocase(name, TEXT("AMD")))
        return true;
    if (text_is(type, "intel_gpu"))
        return text_equal_nocase(text_first(name, intel.length), intel);
    return text_equal_nocase(name, type);
}

/* What a graphics card offers to Windows is not what it offers in a container of a subsystem: there
 * the distribution's own word counts. */
static bool wsl_gpu_fits(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    const struct message *message = trial->host->message;
    bool cuda = needs_library(trial, "cuda", class->cuda);
    bool opencl = needs_library(trial, "opencl", class->opencl);

    if (!plan_class_is_docker(class) || trial->coproc == NULL ||
        !text_contains_nocase(message->os_name, TEXT("Windows")))
        return true;
    for (size_t i = 0; i < message->wsl_gpu_count; i++) {
        const struct wsl_gpu *gpu = &message->wsl_gpus[i];

        if (gpu->distro < message->distro_count &&
            distro_has_docker(class, &message->distros[gpu->distro]) &&
            wsl_names(trial->coproc->type, gpu->name) &&
            ((cuda && gpu->has_cuda) || (opencl && gpu->has_opencl)))
            return true;
    }
    if (!cuda && !opencl)
        return trial_refuse(trial,
                            "it is for neither CUDA nor OpenCL, and WSL offers nothing else");
    return trial_refuse(trial,
                        "it needs the " TEXT_FORMAT " with %s in a WSL distribution with Docker or"
                        " Podman; BOINC reports none",
                        TEXT_ARG(message_type_name(text_first(trial->coproc_type, 60))),
                        cuda && opencl ? "CUDA or OpenCL"
                        : cuda         ? "CUDA"
                                       : "OpenCL");
}

/* Vendors write what they like, so the host's is told as it was sent. */
static bool opencl_driver_fits(struct trial *trial, struct text driver)
{
    const struct plan_class *class = trial->class;
    double revision = opencl_revision(driver);
    double least = class->min_opencl_driver_revision, most = class->max_opencl_driver_revision;
    bool is_old = revision < least;

    if (revision == 0 || (!is_old && (most <= 0 || revision <= most)))
        return true;
    return trial_refuse(trial, "it needs OpenCL driver %s or %s; yours is " TEXT_FORMAT,
                        version_words(VERSION_OF_DRIVER, is_old ? least : most).text,
                        is_old ? "later" : "earlier", TEXT_ARG(text_first(driver, 60)));
}

static bool device_fits(struct trial *trial, const struct opencl_properties *opencl)
{
    const struct plan_class *class = trial->class;

    if (class->double_precision_fp && opencl->double_fp_config == 0)
        return trial_refuse(trial, "it needs OpenCL with double precision");
    return within(trial, "OpenCL", VERSION_OF_LIBRARY, opencl_version(opencl->device_version),
                  class->min_opencl_version, class->max_opencl_version) &&
           opencl_driver_fits(trial, opencl->driver_version);
}

/* One of the platforms that offer the CPU is enough. */
static bool cpu_device_fits(struct trial *trial)
{
    const struct message *message = trial->host->message;
    struct text vendor = trial->class->opencl_cpu_vendor, why = trial->why;
    bool is_refused = false;

    for (size_t i = 0; i < message->opencl_cpu_count; i++) {
        const struct opencl_cpu *cpu = &message->opencl_cpus[i];

        if (vendor.length > 0 && !text_contains_nocase(cpu->platform_vendor, vendor))
            continue;
        if (device_fits(trial, &cpu->opencl)) {
            trial->why = why;
            return true;
        }
        is_refused = true;
    }
    if (is_refused)
        return false;
    return trial_refuse(trial, "it needs OpenCL on the CPU, which no driver of yours offers");
}

static bool opencl_fits(struct trial *trial)
{
    const struct plan_class *class = trial->class;

    if (!needs_library(trial, "opencl", class->opencl) || (trial->coproc == NULL && !class->opencl))
        return true;
    if (trial->coproc == NULL)
        return cpu_device_fits(trial);
    if (!trial->coproc->has_opencl)
        return trial_refuse(trial, "it needs OpenCL, which your graphics driver does not offer") ||
               trial_advise(trial, MARKED(SAYS_DRIVER_FOR_GPU));
    return !class->opencl || device_fits(trial, &trial->coproc->opencl);
}

static bool coproc_size_fits(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    double memory, flops;

    if (trial->coproc == NULL)
        return true;
    memory = coproc_memory(trial->coproc, class->opencl);
    if (class->min_gpu_ram_mb > 0 && !(memory > 0))
        return trial_refuse(trial,
                            "it needs %.0f MB of graphics memory; how much yours has is not"
                            " known",
                            class->min_gpu_ram_mb);
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

/* --- all of them ------------------------------------------------------------------------------ */

/* A soft demand is one that the volunteer's choice or chance decides, not what the computer is. */
static const struct {
    bool (*passes)(struct trial *trial);
    bool is_soft;
} demands[] = {
    {is_in_use, false},        {is_lucky, true},        {client_fits, false},
    {cpu_fits, false},         {system_fits, false},    {preferences_fit, true},
    {virtualbox_fits, false},  {containers_fit, false}, {containers_run_now, true},
    {has_coproc, false},       {nvidia_fits, false},    {amd_fits, false},
    {apple_fits, false},       {wsl_gpu_fits, false},   {opencl_fits, false},
    {coproc_size_fits, false},
};

enum trial_outcome trial_judge(struct trial *trial)
{
    enum trial_outcome outcome = TRIAL_PASSED;

    name_type(trial);
    for (size_t i = 0; i < sizeof(demands) / sizeof(demands[0]); i++) {
        struct text why = trial->why;

        if (demands[i].passes(trial))
            continue;
        if (!demands[i].is_soft)
            return TRIAL_REFUSED;
        outcome = TRIAL_REFUSED_SOFTLY;
        if (why.length > 0)
            trial->why = why;
    }
    return outcome;
}
