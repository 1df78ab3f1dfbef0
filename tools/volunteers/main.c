/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a crowd against real schedulers in virtual time, so that months pass in minutes. The figures
 * go to standard output as one JSON object; what depends on this machine goes to standard error. */
#include "tools/volunteers/crowd.h"
#include "tools/volunteers/options.h"
#include "tools/volunteers/scenario.h"
#include "tools/volunteers/volunteer.h"

#include "server/base/arena.h"
#include "server/base/file.h"
#include "server/base/xml.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "server/base/banned.h"

enum { SCENARIO_BYTES_MAX = 1 << 20, SCENARIO_ARENA_BYTES = 4 << 20, EXIT_INTERRUPTED = 130 };

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
    struct text file;
    enum status status;

    if (arena == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    status = file_read(arena, path, SCENARIO_BYTES_MAX, &file, failure);
    if (status == STATUS_OK)
        status = scenario_read(file, ret_scenario, failure);
    arena_destroy(arena);
    return status;
}

static void print_figures(const struct scenario *scenario, const struct volunteer *volunteers,
                          size_t count)
{
    struct tally_of_host sum = {0};

    for (size_t i = 0; i < count; i++) {
        const struct tally_of_host *one = &volunteers[i].tally;

        sum.present += one->present;
        sum.used += one->used;
        sum.wasted += one->wasted;
        sum.rpcs += one->rpcs;
        sum.failed_rpcs += one->failed_rpcs;
        sum.empty_replies += one->empty_replies;
        sum.jobs += one->jobs;
        sum.late += one->late;
        sum.failed += one->failed;
        sum.abandoned += one->abandoned;
        sum.lost_acks += one->lost_acks;
        sum.deadline_flags += one->deadline_flags;
    }
    printf("{\"hosts\": %zu, \"days\": %g, \"cpu_seconds\": %.0f,\n"
           " \"idle_fraction\": %.6f, \"wasted_fraction\": %.6f,\n",
           count, scenario->days, sum.present, sum.present > 0 ? 1 - sum.used / sum.present : 0,
           sum.present > 0 ? sum.wasted / sum.present : 0);
    printf(" \"jobs\": %" PRIu64 ", \"late\": %" PRIu64 ", \"failed\": %" PRIu64
           ", \"abandoned\": %" PRIu64 ",\n",
           sum.jobs, sum.late, sum.failed, sum.abandoned);
    printf(" \"rpcs\": %" PRIu64 ", \"failed_rpcs\": %" PRIu64 ", \"empty_replies\": %" PRIu64
           ", \"deadline_flags\": %" PRIu64 ", \"lost_acks\": %" PRIu64 ",\n"
           " \"rpcs_per_job\": %.4f}\n",
           sum.rpcs, sum.failed_rpcs, sum.empty_replies, sum.deadline_flags, sum.lost_acks,
           sum.jobs > 0 ? (double)sum.rpcs / (2 * (double)sum.jobs) : 0);
}

static void print_effort(const struct crowd_effort *effort)
{
    fprintf(stderr, "%" PRIu64 " RPCs in %.1f s, %.0f/s\n", effort->rpcs, effort->seconds,
            effort->seconds > 0 ? (double)effort->rpcs / effort->seconds : 0);
    for (int i = 0; i < CROWD_FAILURE_COUNT; i++)
        if (effort->failures[i] > 0)
            fprintf(stderr, "%s: %" PRIu64 "\n", crowd_failure_words((enum crowd_failure)i),
                    effort->failures[i]);
}

static enum status run(const struct options *options, struct failure *failure)
{
    struct scenario scenario;
    struct crowd *crowd;
    const struct volunteer *volunteers;
    size_t count;
    enum status status = read_scenario(options->scenario, &scenario, failure);

    if (status != STATUS_OK)
        return status;
    crowd = crowd_create(options, &scenario);
    if (crowd == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory for so many hosts");
    catch_signals();
    status = crowd_run(crowd, failure);
    volunteers = crowd_volunteers(crowd, &count);
    if (status == STATUS_OK)
        print_figures(&scenario, volunteers, count);
    if (!options->is_quiet)
        print_effort(crowd_effort(crowd));
    crowd_destroy(crowd);
    return status;
}

int main(int argc, char **argv)
{
    struct failure failure = {.status = STATUS_OK};
    struct options options;
    enum status status;

    options_parse(argc, argv, &options);
    xml_startup();
    status = run(&options, &failure);
    if (status != STATUS_OK)
        fprintf(stderr, "qmvolunteers: %s\n", failure.text);
    xml_shutdown();
    if (status != STATUS_OK)
        return 1;
    return crowd_is_stopped() ? EXIT_INTERRUPTED : 0;
}
