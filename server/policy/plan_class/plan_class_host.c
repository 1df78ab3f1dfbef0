/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan class can demand of any host: its client, CPU, system, preferences, and what virtual
 * machines and containers need. */
#include "server/policy/plan_class/plan_class_trial.h"

#include "server/parse/message.h"
#include "server/policy/limits/preferences.h"

#include <math.h>

#include "server/base/banned.h"

enum { CLIENT_VIRTUALBOX_MIN = 70000, CLIENT_DOCKER_DARWIN_MIN = 80206 };

bool trial_in_use(struct trial *trial)
{
    if (trial->class->disabled)
        return trial_refuse(trial, "it is switched off by the project");
    if (trial->class->user_id != 0 && (double)trial->host->userid != trial->class->user_id)
        return trial_refuse(trial, "it is for another account");
    return true;
}

bool trial_is_lucky(struct trial *trial)
{
    if (trial->host->chance < trial->class->infeasible_random)
        return trial_refuse(trial,
                            "this time it goes to other computers, by chance (%.0f%% of requests)",
                            100 * fmin(trial->class->infeasible_random, 1));
    return true;
}

bool trial_client_fits(struct trial *trial)
{
    double client = (double)trial->host->client_version;
    const struct plan_class *class = trial->class;

    if (class->min_core_client_version > client)
        return trial_refuse(trial,
                            "it needs a BOINC client of version %.0f or later; yours is %.0f",
                            class->min_core_client_version, client);
    if (class->max_core_client_version > 0 && client > class->max_core_client_version)
        return trial_refuse(trial,
                            "it needs a BOINC client of version %.0f or earlier; yours is %.0f",
                            class->max_core_client_version, client);
    return true;
}

/* Whole words of the feature list; old clients put them in brackets behind the model's name. */
static bool has_feature(const struct message *message, struct text feature)
{
    struct text lists[2] = {message->p_features, trial_after_mark(message->p_model, TEXT("["))};

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

bool trial_cpu_fits(struct trial *trial)
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
    if (!trial_matches(&class->cpu_vendor_regex, trial->arena, message->p_vendor))
        return trial_refuse(trial, "it is not for CPUs of " TEXT_FORMAT,
                            TEXT_ARG(text_first(message->p_vendor, 60)));
    if (!trial_matches(&class->cpu_model_regex, trial->arena, message->p_model))
        return trial_refuse(trial, "it is not for the CPU model " TEXT_FORMAT,
                            TEXT_ARG(text_first(message->p_model, 60)));
    return true;
}

bool trial_system_fits(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    const struct message *message = trial->host->message;
    double version = plan_os_version(message->os_name, message->os_version);
    double android = plan_android_version(message->os_version);
    double libc = plan_libc_version(message->os_version);

    if (!trial_matches(&class->os_regex, trial->arena, message->os_version))
        return trial_refuse(trial, "it is not for your version of the operating system");
    if ((class->min_os_version > 0 || class->max_os_version > 0) && version < 0)
        return trial_refuse(trial, "your version of the operating system is not known");
    if (class->min_os_version > version && class->min_os_version > 0)
        return trial_refuse(trial, "it needs an operating system of version %.0f; yours is %.0f",
                            class->min_os_version, version);
    if (class->max_os_version > 0 && version > class->max_os_version)
        return trial_refuse(trial, "it needs an operating system up to version %.0f; yours is %.0f",
                            class->max_os_version, version);
    if (class->min_android_version > 0 || class->max_android_version > 0) {
        if (!text_equal_nocase(message->os_name, TEXT("Android")))
            return trial_refuse(trial, "it is for Android only");
        if (class->min_android_version > 0 && android < class->min_android_version)
            return trial_refuse(trial, "it needs Android %.0f; yours is %.0f",
                                class->min_android_version, android < 0 ? 0 : android);
        if (class->max_android_version > 0 && android > class->max_android_version)
            return trial_refuse(trial, "it needs Android up to %.0f; yours is %.0f",
                                class->max_android_version, android);
    }
    /* On Windows the C library is that of a Linux subsystem, of which the request says little. */
    if (class->min_libc_version > libc && !class->wsl)
        return trial_refuse(trial, "it needs a C library of version %.0f; yours is %.0f",
                            class->min_libc_version, libc);
    return true;
}

bool trial_preferences_fit(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    struct text value;

    if (class->project_prefs_tag.length == 0 || class->project_prefs_regex.compiled == NULL)
        return true;
    value =
        preferences_value(trial->host->project_prefs, trial->host->venue, class->project_prefs_tag);
    if (value.length == 0 ? class->project_prefs_default_true
                          : trial_matches(&class->project_prefs_regex, trial->arena, value))
        return true;
    return trial_refuse(trial, "your project preferences do not include it (" TEXT_FORMAT ")",
                        TEXT_ARG(text_first(class->project_prefs_tag, 60)));
}

/* --- virtual machines and containers ---------------------------------------------------------- */

bool trial_has_acceleration(const struct message *message)
{
    return !message->p_vm_extensions_disabled &&
           (has_feature(message, TEXT("vmx")) || has_feature(message, TEXT("svm")));
}

bool trial_virtualbox_fits(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    const struct plan_host *host = trial->host;
    struct text installed = host->message->virtualbox_version;
    double part[3] = {0}, version;

    if (!class->virtualbox)
        return true;
    if (host->client_version < CLIENT_VIRTUALBOX_MIN)
        return trial_refuse(trial, "it needs BOINC 7 or later");
    if (installed.length == 0)
        return trial_refuse(trial, "it needs VirtualBox, which is not installed");
    if (text_contains_nocase(installed, TEXT("unusable")) ||
        trial_read_dotted(installed, part, 3) < 3)
        return trial_refuse(trial, "VirtualBox on your computer cannot be used");
    version = part[0] * 10000 + part[1] * 100 + part[2];
    if (class->min_vbox_version > version)
        return trial_refuse(trial, "it needs VirtualBox %.0f; yours is %.0f",
                            class->min_vbox_version, version);
    if (class->max_vbox_version > 0 && version > class->max_vbox_version)
        return trial_refuse(trial, "it needs VirtualBox up to %.0f; yours is %.0f",
                            class->max_vbox_version, version);
    for (size_t i = 0; i < class->exclude_vbox_version.count; i++)
        if (class->exclude_vbox_version.items[i] == version)
            return trial_refuse(trial, "it does not work with VirtualBox %.0f", version);
    if (text_contains(host->primary_platform, TEXT("64")) != class->is64bit)
        return trial_refuse(trial, "it is for %s-bit operating systems",
                            class->is64bit ? "64" : "32");
    if (class->vm_accel_required && !trial_has_acceleration(host->message))
        return trial_refuse(trial, "it needs a CPU whose virtualisation is switched on");
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
            (void)trial_read_dotted(message->distros[i].libc_version, part, 2);
            newest = fmax(newest, part[0] * 100 + part[1]);
        }
    }
    if (newest < 0)
        return trial_refuse(trial,
                            "it needs a WSL distribution that BOINC may use; there are %zu in all",
                            message->distro_count);
    if (trial->class->min_libc_version > newest)
        return trial_refuse(trial,
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
        return trial_refuse(trial, "your computer's configuration forbids the use of WSL");
    for (size_t i = 0; i < message->distro_count; i++) {
        const struct wsl_distro *distro = &message->distros[i];

        if (!distro->disallowed && (least > 0 ? text_is(distro->distro_name, "boinc-buda-runner") &&
                                                    (double)distro->distro_version >= least
                                              : distro->docker_version.length > 0))
            return true;
    }
    if (least > 0)
        return trial_refuse(trial, "it needs BOINC's own WSL distribution of version %.0f", least);
    return trial_refuse(trial, "it needs Docker or Podman in a WSL distribution");
}

bool trial_containers_fit(struct trial *trial)
{
    const struct plan_class *class = trial->class;
    const struct message *message = trial->host->message;

    if (class->wsl && !wsl_fits(trial))
        return false;
    if (!class->docker)
        return true;
    if (message->dont_use_docker)
        return trial_refuse(trial, "your computer's configuration forbids the use of Docker");
    if (text_contains_nocase(message->os_name, TEXT("Windows")))
        return wsl_has_docker(trial);
    if (message->docker_version.length == 0)
        return trial_refuse(trial, "it needs Docker or Podman, which is not installed");
    if (text_contains_nocase(message->os_name, TEXT("Darwin")) &&
        trial->host->client_version < CLIENT_DOCKER_DARWIN_MIN)
        return trial_refuse(trial, "it needs a BOINC client of version %d or later",
                            (int)CLIENT_DOCKER_DARWIN_MIN);
    return true;
}
