/* SPDX-License-Identifier: Apache-2.0 */
/* What happens by virtual time and not to one host: samples of the figures, the commands that stand
 * in for a project's other programs, and lines of progress. Samples and commands wait until all
 * hosts have come to their time, so that what they see and do belongs to that time. */
#include "tools/lab/volunteers/crowd/crowd_parts.h"

#include "tools/lab/volunteers/crowd/command.h"
#include "tools/lab/volunteers/crowd/command_line.h"
#include "tools/lab/volunteers/crowd/scenario.h"
#include "tools/lab/volunteers/host/life.h"
#include "tools/lab/volunteers/host/volunteer.h"
#include "tools/lab/volunteers/wire/metrics_page.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "server/base/banned.h"

#define HOUR 3600.0
#define DAY  86400.0

double crowd_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double next_sample(const struct crowd *crowd)
{
    return crowd->scenario->begin + (double)crowd->samples * crowd->scenario->sample_hours * HOUR;
}

static double next_transition(const struct crowd *crowd)
{
    if (crowd->options->transition_count == 0)
        return INFINITY;
    return crowd->scenario->begin +
           (double)(crowd->effort.transitions + 1) * crowd->scenario->transition_hours * HOUR;
}

double crowd_next_due(const struct crowd *crowd)
{
    return fmin(next_sample(crowd), next_transition(crowd));
}

static enum status run_commands(struct crowd *crowd, double now, struct failure *failure)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < crowd->options->transition_count && status == STATUS_OK; i++)
        status = command_run(crowd->options->transitions[i], now, failure);
    crowd->effort.transitions++;
    /* A signal from a terminal reaches the command as well, so its failure means nothing then. */
    return *crowd->is_stopped != 0 ? STATUS_OK : status;
}

enum status crowd_do_due(struct crowd *crowd, struct failure *failure)
{
    double sample = next_sample(crowd), transition = next_transition(crowd);

    if (transition <= sample)
        return run_commands(crowd, transition, failure);
    crowd_sample(crowd, sample, false);
    return STATUS_OK;
}

void crowd_live(struct crowd *crowd, size_t host, double until)
{
    for (size_t i = 0; i < crowd->observer_count; i++)
        if (crowd->observers[i].interval != NULL)
            crowd->observers[i].interval(crowd->observers[i].context, host,
                                         &crowd->volunteers[host], until);
    volunteer_live(&crowd->volunteers[host], until);
}

/* Of several processes of one project the URLs are separated by commas. */
static void read_metrics(struct crowd *crowd, size_t project)
{
    struct text rest = text_from(crowd->options->metrics[project]);
    struct metrics *metrics = &crowd->metrics[project];
    char url[1024];

    metrics->count = 0;
    while (rest.length > 0) {
        struct buffer page = buffer_on_heap(METRICS_PAGE_BYTES_MAX);
        struct text one = text_split(&rest, ',');

        snprintf(url, sizeof(url), TEXT_FORMAT, TEXT_ARG(one));
        if (http_get(crowd->http, url, &page)) {
            metrics_add_page(metrics, buffer_text(&page));
        } else if (!crowd->misses_metrics && !crowd->options->is_quiet) {
            crowd->misses_metrics = true;
            fprintf(stderr, "qmvolunteers: %s cannot be read\n", url);
        }
        buffer_free(&page);
    }
}

void crowd_sample(struct crowd *crowd, double time, bool is_last)
{
    struct sample sample = {.time = time,
                            .volunteers = crowd->volunteers,
                            .count = crowd->count,
                            .metrics = crowd->metrics,
                            .project_count = crowd->options->project_count,
                            .is_first = crowd->samples == 0,
                            .is_last = is_last};

    crowd->samples++;
    for (size_t i = 0; i < crowd->count; i++)
        if (crowd->volunteers[i].now < time)
            crowd_live(crowd, i, time);
    for (size_t i = 0; crowd->metrics != NULL && i < crowd->options->project_count; i++)
        read_metrics(crowd, i);
    for (size_t i = 0; i < crowd->observer_count; i++)
        if (crowd->observers[i].sample != NULL)
            crowd->observers[i].sample(crowd->observers[i].context, &sample);
}

void crowd_tell_progress(struct crowd *crowd, double time)
{
    double now = crowd_seconds(), days = (time - crowd->scenario->begin) / DAY;
    char left[32] = "";

    if (crowd->options->is_quiet || now - crowd->told < 1)
        return;
    if (days > 0)
        snprintf(left, sizeof(left), ", %.0f s left",
                 (now - crowd->begun) * (crowd->scenario->days / days - 1));
    fprintf(stderr, "%sday %.2f of %g, %.0f RPCs/s, %" PRIu64 " RPCs, %" PRIu64 " jobs sent%s%s",
            isatty(STDERR_FILENO) ? "\r" : "", days, crowd->scenario->days,
            (double)(crowd->effort.rpcs - crowd->told_rpcs) / (now - crowd->told),
            crowd->effort.rpcs, crowd->effort.jobs, left, isatty(STDERR_FILENO) ? "\033[K" : "\n");
    crowd->told = now;
    crowd->told_rpcs = crowd->effort.rpcs;
}
