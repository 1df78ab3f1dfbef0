/* SPDX-License-Identifier: Apache-2.0 */
/* Signals are blocked while children are looked at and waited for, their ends among them, so that
 * none gets lost between looking and waiting. */
#include "server/passes/command_crew.h"

#include "server/base/clock.h"
#include "server/passes/line_process.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "server/base/banned.h"

struct crew_process {
    pid_t pid;
    int64_t id; /* of its question */
    double begun;
};

struct command_crew {
    struct command_crew_settings settings;
    struct line_process *line; /* NULL: a process for each question */
    struct crew_process processes[PASS_PARALLEL_MOST];
    size_t count;
    bool has_failed; /* a question that could not be asked */
    struct command_answer failed;
};

struct command_crew *command_crew_create(const struct command_crew_settings *settings)
{
    struct command_crew *crew = calloc(1, sizeof(*crew));

    if (crew == NULL)
        return NULL;
    crew->settings = *settings;
    if (settings->reads_lines) {
        crew->line = line_process_create(settings);
        if (crew->line == NULL) {
            free(crew);
            return NULL;
        }
    }
    return crew;
}

static void end_processes(struct command_crew *crew)
{
    pid_t pids[PASS_PARALLEL_MOST];

    for (size_t i = 0; i < crew->count; i++)
        pids[i] = crew->processes[i].pid;
    command_end(pids, crew->count);
    crew->count = 0;
}

void command_crew_destroy(struct command_crew *crew)
{
    if (crew == NULL)
        return;
    end_processes(crew);
    line_process_destroy(crew->line);
    free(crew);
}

void command_crew_drop(struct command_crew *crew)
{
    end_processes(crew);
    crew->has_failed = false;
    if (crew->line != NULL)
        line_process_drop(crew->line);
}

bool command_crew_has_room(const struct command_crew *crew)
{
    if (crew->line != NULL)
        return line_process_has_room(crew->line);
    return !crew->has_failed && (int64_t)crew->count < crew->settings.parallel;
}

size_t command_crew_waiting(const struct command_crew *crew)
{
    return crew->line != NULL ? line_process_waiting(crew->line) : crew->count + crew->has_failed;
}

enum status command_crew_ask(struct command_crew *crew, const struct command_question *question)
{
    struct crew_process *process = &crew->processes[crew->count];
    const struct command_call call = {.command = crew->settings.command,
                                      .arguments = question->arguments,
                                      .argument_count = question->argument_count,
                                      .environment = question->environment,
                                      .input = -1,
                                      .output = -1};
    sigset_t mask;

    if (crew->line != NULL)
        return line_process_ask(crew->line, question->id, question->line);
    *process = (struct crew_process){.id = question->id, .begun = clock_seconds()};
    (void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
    crew->failed = (struct command_answer){.id = question->id};
    crew->failed.status = command_start(&call, &mask, &process->pid, &crew->failed.failure);
    if (crew->failed.status == STATUS_OK)
        crew->count++;
    else
        crew->has_failed = true;
    return STATUS_OK;
}

/* --- waiting ------------------------------------------------------------------------------------
 */

static void take_out(struct command_crew *crew, size_t index, struct command_answer *ret_answer)
{
    *ret_answer = (struct command_answer){
        .id = crew->processes[index].id, .seconds = clock_seconds() - crew->processes[index].begun};
    crew->processes[index] = crew->processes[--crew->count];
}

static bool find_ended(struct command_crew *crew, struct command_answer *ret_answer)
{
    for (size_t i = 0; i < crew->count; i++) {
        int status = 0;

        if (waitpid(crew->processes[i].pid, &status, WNOHANG) != crew->processes[i].pid)
            continue;
        take_out(crew, i, ret_answer);
        ret_answer->status = command_judge(status, &ret_answer->exit, &ret_answer->failure);
        return true;
    }
    return false;
}

static size_t find_oldest(const struct command_crew *crew)
{
    size_t oldest = 0;

    for (size_t i = 1; i < crew->count; i++)
        if (crew->processes[i].begun < crew->processes[oldest].begun)
            oldest = i;
    return oldest;
}

/* Ends the oldest if its time is up; *ret_left: until when there is nothing to do. */
static bool end_overdue(struct command_crew *crew, double *ret_until,
                        struct command_answer *ret_answer)
{
    size_t oldest = find_oldest(crew);
    double deadline = crew->processes[oldest].begun + (double)crew->settings.seconds_max;

    if (clock_seconds() < deadline) {
        *ret_until = deadline < *ret_until ? deadline : *ret_until;
        return false;
    }
    command_end(&crew->processes[oldest].pid, 1);
    take_out(crew, oldest, ret_answer);
    ret_answer->status =
        fail(&ret_answer->failure, STATUS_IO, "the command took longer than %" PRId64 " s",
             crew->settings.seconds_max);
    return true;
}

/* Signals that are ignored end neither us nor the command: SIGHUP under nohup, SIGINT of a job that
 * a shell has begun in the background. */
static void watched_signals(sigset_t *ret_signals)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction action;

    (void)sigemptyset(ret_signals);
    (void)sigaddset(ret_signals, SIGCHLD);
    for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
        if (sigaction(ending[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            (void)sigaddset(ret_signals, ending[i]);
}

static bool await_process(struct command_crew *crew, const sigset_t *signals, double until,
                          struct command_answer *ret_answer)
{
    for (;;) {
        double wakes = until, left;
        struct timespec span;
        int found;

        if (find_ended(crew, ret_answer))
            return true;
        if (pass_is_to_end(crew->settings.owner)) {
            end_processes(crew);
            return false;
        }
        if (end_overdue(crew, &wakes, ret_answer))
            return true;
        left = wakes - clock_seconds();
        if (clock_seconds() >= until)
            return false;
        span = (struct timespec){.tv_sec = (time_t)(left > 0 ? left : 0)};
        span.tv_nsec = left > 0 ? (long)((left - (double)span.tv_sec) * 1e9) : 0;
        found = sigtimedwait(signals, NULL, &span);
        if (found > 0 && found != SIGCHLD) {
            end_processes(crew);
            (void)raise(found); /* comes when it is no longer blocked */
            return false;
        }
    }
}

bool command_crew_await(struct command_crew *crew, double until, struct command_answer *ret_answer)
{
    sigset_t signals, before;
    bool has_one;

    if (crew->line != NULL)
        return line_process_await(crew->line, until, ret_answer);
    if (crew->has_failed) {
        *ret_answer = crew->failed;
        crew->has_failed = false;
        return true;
    }
    if (crew->count == 0)
        return false;
    watched_signals(&signals);
    (void)pthread_sigmask(SIG_BLOCK, &signals, &before);
    has_one = await_process(crew, &signals, until, ret_answer);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return has_one;
}
