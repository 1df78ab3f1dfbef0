/* SPDX-License-Identifier: Apache-2.0 */
#include "server/upload/upload.h"

#include "config/config.h"
#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/base/counters.h"
#include "server/base/file.h"
#include "server/base/log.h"
#include "server/upload/upload_lines.h"
#include "server/upload/upload_project.h"
#include "server/upload/upload_store.h"
#include "server/web/listen.h"
#include "server/web/notify.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "server/base/banned.h"

#define NS_OF_S UINT64_C(1000000000)

/* An upload that is cut by a stop goes on later; a file that is being finished is waited for. */
static const uint64_t drain_longest_ns = 10 * NS_OF_S;
static const uint64_t cut_longest_ns = 20 * NS_OF_S;
static const uint64_t sweep_every_ns = 3600 * NS_OF_S;
#define DAY_S             86400.0
#define FIGURES_BYTES_MAX ((size_t)16 * 1024)

struct upload_process {
    const struct upload_options *options;
    struct upload_project *project;
    struct config *begun; /* what it was started with */
    struct listener *listener;
    struct upload_lines *lines;
    sigset_t signals;
    int64_t began; /* epoch */
};

/* 0: none came in that time. */
static int wait_for_signal(const struct upload_process *process, long milliseconds)
{
    struct timespec most = {.tv_sec = milliseconds / 1000,
                            .tv_nsec = milliseconds % 1000 * 1000000};
    int signal_number = sigtimedwait(&process->signals, NULL, &most);

    return signal_number < 0 ? 0 : signal_number;
}

static bool is_stop(int signal_number)
{
    return signal_number == SIGTERM || signal_number == SIGINT;
}

/* What cannot be read leaves everything as it was. */
static void reload(struct upload_process *process)
{
    struct upload_project *project = NULL;
    struct failure failure = {0};

    if (log_reopen() != STATUS_OK)
        log_line(LOG_LEVEL_WARNING, "event=log_not_reopened");
    if (upload_project_load(process->options->project_dir, &project, &failure) != STATUS_OK) {
        log_event(LOG_LEVEL_CRITICAL, "not_reloaded", text_from(failure.text));
        return;
    }
    log_line(LOG_LEVEL_NORMAL, "event=reloaded changes=%zu",
             config_log_changes(process->project->config, project->config, NULL));
    (void)config_restarts_wanted(process->begun, project->config, PROGRAM_UPLOAD);
    upload_lines_set_project(process->lines, project);
    upload_project_release(process->project);
    process->project = project;
}

static void sweep(const struct upload_process *process)
{
    double days = process->project->config->upload_partial_days;
    size_t removed = days > 0 ? upload_store_sweep(process->project->store, days * DAY_S) : 0;

    counter_add(COUNTER_uploads_swept, removed);
    if (removed > 0)
        log_line(LOG_LEVEL_NORMAL, "event=uploads_swept files=%zu", removed);
}

/* Where it cannot be written, uploads cannot either, which is told. */
static void write_figures(const struct upload_process *process)
{
    struct text dir = process->project->config->upload_dir;
    struct buffer words = buffer_on_heap(FIGURES_BYTES_MAX);
    struct failure failure;
    char path[PATH_MAX];

    buffer_print(&words, "at %" PRId64 "\nbegan %" PRId64 "\nstopped %d\n", (int64_t)time(NULL),
                 process->began, upload_project_is_stopped(process->project));
    counters_write_words(&words);
    (void)snprintf(path, sizeof(path), TEXT_FORMAT "/" UPLOAD_FIGURES_FILE, TEXT_ARG(dir));
    if (file_write_at_ease(path, buffer_text(&words), 0644, &failure) != STATUS_OK)
        log_event(LOG_LEVEL_DEBUG, "upload_figures_not_written", text_from(failure.text));
    buffer_free(&words);
}

static void run_until_stopped(struct upload_process *process)
{
    uint64_t swept_ns = clock_ns(), written_ns = 0;

    sweep(process);
    for (;;) {
        int signal_number = wait_for_signal(process, 1000);

        if (is_stop(signal_number))
            return;
        if (signal_number == SIGHUP)
            reload(process);
        if (clock_ns() - written_ns > UPLOAD_FIGURES_S * NS_OF_S) {
            written_ns = clock_ns();
            write_figures(process);
        }
        if (clock_ns() - swept_ns > sweep_every_ns) {
            swept_ns = clock_ns();
            sweep(process);
        }
    }
}

/* Whether all lines ended in time. */
static bool drain(struct upload_process *process)
{
    uint64_t end = clock_ns() + drain_longest_ns;
    bool is_cut = false;

    while (upload_lines_count(process->lines) >= 0) {
        bool hurry = is_stop(wait_for_signal(process, 20));

        if (is_cut && clock_ns() > end)
            return false;
        if (!is_cut && (hurry || clock_ns() > end)) {
            is_cut = true;
            end = clock_ns() + cut_longest_ns;
            upload_lines_cut(process->lines);
        }
    }
    return true;
}

static enum status start(struct upload_process *process, struct failure *failure)
{
    const struct upload_options *options = process->options;
    enum status status = upload_project_load(options->project_dir, &process->project, failure);

    if (status == STATUS_OK)
        status = listener_open(options->listen, options->socket, &process->listener, failure);
    if (status == STATUS_OK && listener_is_exposed(process->listener))
        log_event(LOG_LEVEL_WARNING, "socket_exposed",
                  TEXT("other machines may reach the socket: let only web servers do so"));
    if (status == STATUS_OK)
        process->begun = config_hold(process->project->config);
    if (status == STATUS_OK)
        status = upload_lines_start(process->listener, process->project, &process->lines, failure);
    return status;
}

enum status upload_run_fastcgi(const struct upload_options *options, struct failure *failure)
{
    struct upload_process process = {.options = options, .began = (int64_t)time(NULL)};
    enum status status;

    sigemptyset(&process.signals);
    sigaddset(&process.signals, SIGTERM);
    sigaddset(&process.signals, SIGINT);
    sigaddset(&process.signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &process.signals, NULL); /* in all threads to come */
    status = start(&process, failure);
    if (status == STATUS_OK) {
        log_line(LOG_LEVEL_NORMAL,
                 "event=started what=upload version=\"%s\" threads=%d certificates=%s",
                 options->version, (int)process.project->config->upload_threads,
                 process.project->limits.ignores_certificates ? "ignored" : "checked");
        notify_manager("READY=1");
        run_until_stopped(&process);
        notify_manager("STOPPING=1");
        listener_stop(process.listener);
        if (!drain(&process))
            return fail(failure, STATUS_IO, "the disk did not finish a file in time");
    }
    upload_lines_join(process.lines);
    listener_close(process.listener);
    upload_project_release(process.project);
    config_release(process.begun);
    if (status == STATUS_OK)
        log_line(LOG_LEVEL_NORMAL, "event=stopped");
    return status;
}
