/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a crowd against real schedulers in virtual time, so that months pass in minutes. The figures
 * go to standard output as one JSON object; what depends on this machine goes to standard error. */
#include "server/base/shown.h"
#include "tools/lab/volunteers/crowd/command_line.h"
#include "tools/lab/volunteers/crowd/crowd.h"
#include "tools/lab/volunteers/crowd/effort.h"
#include "tools/lab/volunteers/crowd/scenario.h"
#include "tools/lab/volunteers/figures/oracle.h"
#include "tools/lab/volunteers/figures/run_report.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/file.h"
#include "server/base/version.h"
#include "server/base/xml.h"

#include <argp.h>
#include <signal.h>
#include <stdio.h>

#include "server/base/banned.h"

enum {
    ORACLE_BYTES_MAX = 4096,
    SCENARIO_BYTES_MAX = 1 << 20,
    SCENARIO_ARENA_BYTES = 4 << 20,
    EXIT_INTERRUPTED = 130
};

static void on_signal(int number)
{
    (void)number;
    crowd_stop();
}

/* The second signal ends the process. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static enum status read_scenario(const char *path, struct scenario *ret_scenario,
                                 struct failure *failure)
{
    struct arena *arena = arena_create(SCENARIO_ARENA_BYTES);
    struct failure mistake = {.status = STATUS_OK};
    struct text file;
    enum status status;

    if (arena == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    status = file_read(arena, path, SCENARIO_BYTES_MAX, &file, failure);
    if (status == STATUS_OK) {
        status = scenario_read(file, ret_scenario, &mistake);
        if (status != STATUS_OK)
            status = fail(failure, status, "%s: %s", path, mistake.text);
    }
    arena_destroy(arena);
    return status;
}

static enum status run_crowd(struct crowd *crowd, struct run_report *report,
                             struct failure *failure)
{
    struct observer observers[CROWD_OBSERVERS_MAX];
    size_t count = run_report_observers(report, observers);
    struct failure more = {.status = STATUS_OK};
    enum status status = STATUS_OK;

    for (size_t i = 0; i < count; i++)
        if (!crowd_observe(crowd, observers[i]))
            status = fail(failure, STATUS_TOO_LARGE, "too many observers");
    catch_signals();
    if (status == STATUS_OK)
        status = crowd_run(crowd, failure);
    if (status == STATUS_OK)
        return run_report_finish(report, failure);
    /* A run that is given up late still has figures until then. */
    if (status == STATUS_IO && run_report_finish(report, &more) != STATUS_OK)
        shown_line(stderr, "qmvolunteers: %s", more.text);
    return status;
}

/* No server is asked. */
static enum status ask_oracle(const struct scenario *scenario, struct failure *failure)
{
    struct oracle oracle;
    struct buffer buffer = buffer_on_heap(ORACLE_BYTES_MAX);

    if (!oracle_run(scenario, &oracle))
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    buffer_add_char(&buffer, '{');
    oracle_write_json(&oracle, scenario, &buffer);
    buffer_add_string(&buffer, "}\n");
    shown_write(stdout, buffer_text(&buffer), "\n");
    buffer_free(&buffer);
    oracle_free(&oracle);
    return fflush(stdout) == 0
               ? STATUS_OK
               : fail(failure, STATUS_IO, "the figures cannot be written to standard output");
}

static enum status run(const struct command_line *options, struct failure *failure)
{
    struct scenario scenario;
    struct crowd *crowd = NULL;
    struct run_report *report = NULL;
    enum status status = read_scenario(options->scenario, &scenario, failure);

    if (status == STATUS_OK && scenario.oracle_operations > 0)
        return ask_oracle(&scenario, failure);
    if (status == STATUS_OK)
        status = run_report_create(options, &scenario, &report, failure);
    if (status != STATUS_OK)
        return status;
    scenario.population.projects = options->project_count;
    scenario.population.reads_masters = options->has_masters;
    status = crowd_create(options, &scenario, &crowd, failure);
    if (status == STATUS_OK)
        status = run_crowd(crowd, report, failure);
    if (crowd != NULL && !options->is_quiet)
        crowd_effort_print(crowd_effort(crowd), status == STATUS_OK);
    crowd_destroy(crowd);
    run_report_destroy(report);
    return status;
}

int main(int argc, char **argv)
{
    struct failure failure = {.status = STATUS_OK};
    struct command_line options;
    enum status status;

    file_occupy_standard();
    argp_program_version = program_version_line;
    command_line_parse(argc, argv, &options);
    xml_startup();
    status = run(&options, &failure);
    if (status != STATUS_OK)
        shown_line(stderr, "qmvolunteers: %s", failure.text);
    xml_shutdown();
    if (status != STATUS_OK)
        return 1;
    return crowd_is_stopped() ? EXIT_INTERRUPTED : 0;
}
