/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of events. With one line it follows the order of virtual time exactly. With several, the
 * next event may begin while requests of other hosts are under way, as long as it is no further
 * than the window behind the earliest of them: hosts and server see what they would see over
 * networks that are up to the window slow. What is due by time (crowd_clock.c) waits until nothing
 * is under way. */
#include "tools/lab/volunteers/crowd/crowd.h"

#include "server/base/arena.h"
#include "tools/lab/volunteers/crowd/command_line.h"
#include "tools/lab/volunteers/crowd/crowd_parts.h"
#include "tools/lab/volunteers/crowd/scenario.h"
#include "tools/lab/volunteers/host/life.h"
#include "tools/lab/volunteers/host/scheduler_rpc.h"
#include "tools/lab/volunteers/host/volunteer.h"
#include "tools/lab/volunteers/wire/metrics_page.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>

#include "server/base/banned.h"

enum { ARENA_BYTES_MAX = 256 << 20, REQUEST_BYTES_MAX = 64 << 20 };
#define DAY 86400.0

/* Set by a signal, so it is one for the process. */
static volatile sig_atomic_t is_stopped;

void crowd_stop(void)
{
    is_stopped = 1;
}

bool crowd_is_stopped(void)
{
    return is_stopped != 0;
}

static bool prepare_flights(struct crowd *crowd)
{
    crowd->http = http_create(crowd->options->parallel);
    for (; crowd->flight_count < crowd->options->parallel; crowd->flight_count++) {
        struct flight *flight = &crowd->flights[crowd->flight_count];

        flight->request = buffer_on_heap(REQUEST_BYTES_MAX);
        flight->question = calloc(1, sizeof(*flight->question));
        flight->arena = arena_create(ARENA_BYTES_MAX);
        if (flight->question == NULL || flight->arena == NULL) {
            crowd->flight_count++;
            return false;
        }
    }
    return crowd->http != NULL;
}

static bool prepare_volunteers(struct crowd *crowd)
{
    const struct scenario *scenario = crowd->scenario;
    size_t hosts = (size_t)scenario->hosts;

    crowd->volunteers = calloc(hosts, sizeof(*crowd->volunteers));
    for (; crowd->volunteers != NULL && crowd->count < hosts; crowd->count++) {
        double arrival = scenario_arrival(scenario, crowd->count);

        if (!volunteer_init(&crowd->volunteers[crowd->count], &scenario->population,
                            (uint64_t)scenario->seed, crowd->count, arrival) ||
            !agenda_add(&crowd->agenda, arrival, crowd->count))
            return false;
    }
    return crowd->volunteers != NULL;
}

static enum status read_accounts(struct crowd *crowd, struct failure *failure)
{
    enum status status = STATUS_OK;

    crowd->arena = arena_create(ARENA_BYTES_MAX);
    if (crowd->arena == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory for account keys");
    for (size_t i = 0; i < crowd->options->key_count && status == STATUS_OK; i++)
        status = accounts_read(crowd->options->keys[i], crowd->arena, &crowd->accounts[i], failure);
    for (size_t i = crowd->options->key_count; i < crowd->options->project_count; i++)
        crowd->accounts[i] = crowd->accounts[0]; /* one word for all projects */
    return status;
}

enum status crowd_create(const struct command_line *options, const struct scenario *scenario,
                         struct crowd **ret_crowd, struct failure *failure)
{
    struct crowd *crowd = calloc(1, sizeof(*crowd));
    enum status status;

    if (crowd == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    crowd->options = options;
    crowd->scenario = scenario;
    crowd->is_stopped = &is_stopped;
    crowd->end = scenario->begin + scenario->days * DAY;
    if (options->metrics_count > 0)
        crowd->metrics = calloc(options->project_count, sizeof(*crowd->metrics));
    status = read_accounts(crowd, failure);
    if (status == STATUS_OK && (!prepare_flights(crowd) || !prepare_volunteers(crowd) ||
                                (options->metrics_count > 0 && crowd->metrics == NULL)))
        status = fail(failure, STATUS_NO_MEMORY, "no memory for so many hosts");
    if (status == STATUS_OK)
        status = crowd_read_masters(crowd, failure);
    if (status == STATUS_OK)
        *ret_crowd = crowd;
    else
        crowd_destroy(crowd);
    return status;
}

void crowd_destroy(struct crowd *crowd)
{
    if (crowd == NULL)
        return;
    for (size_t i = 0; i < crowd->flight_count; i++) {
        if (crowd->flights[i].question != NULL)
            volunteer_question_free(crowd->flights[i].question);
        free(crowd->flights[i].question);
        arena_destroy(crowd->flights[i].arena);
        buffer_free(&crowd->flights[i].request);
    }
    for (size_t i = 0; i < crowd->count; i++)
        volunteer_free(&crowd->volunteers[i]);
    free(crowd->volunteers);
    agenda_free(&crowd->agenda);
    http_destroy(crowd->http);
    arena_destroy(crowd->arena);
    free(crowd->metrics);
    free(crowd);
}

bool crowd_observe(struct crowd *crowd, struct observer observer)
{
    if (crowd->observer_count == CROWD_OBSERVERS_MAX)
        return false;
    crowd->observers[crowd->observer_count++] = observer;
    return true;
}

const struct crowd_effort *crowd_effort(const struct crowd *crowd)
{
    return &crowd->effort;
}

static size_t free_line(const struct crowd *crowd)
{
    size_t line = 0;

    while (line < crowd->flight_count && crowd->flights[line].is_on)
        line++;
    return line;
}

/* Events later than this have to wait until the earliest request under way has ended. */
static double horizon(const struct crowd *crowd)
{
    double window = crowd->options->window >= 0 ? crowd->options->window : crowd->scenario->window;
    double earliest = INFINITY;

    for (size_t line = 0; line < crowd->flight_count; line++)
        if (crowd->flights[line].is_on)
            earliest = fmin(earliest, crowd->flights[line].time);
    return earliest + window;
}

/* Enters the next event of a host into the agenda. */
static enum status add_event(struct crowd *crowd, size_t host, struct failure *failure)
{
    if (!agenda_add(&crowd->agenda, volunteer_next_event(&crowd->volunteers[host]), host))
        return fail(failure, STATUS_NO_MEMORY, "no memory for events");
    return STATUS_OK;
}

static enum status begin_event(struct crowd *crowd, size_t line, struct failure *failure)
{
    struct flight *flight = &crowd->flights[line];
    struct agenda_entry entry = {.time = 0};
    struct volunteer *volunteer;
    enum status status = STATUS_OK;

    must(agenda_take(&crowd->agenda, &entry));
    volunteer = &crowd->volunteers[entry.who];
    crowd->effort.events++;
    crowd_live(crowd, entry.who, entry.time);
    if (volunteer_ask(volunteer, flight->question)) {
        flight->host = entry.who;
        flight->project = flight->question->project;
        flight->time = entry.time;
        must(flight->project < crowd->options->project_count);
        status = crowd_rpc_begin(crowd, line, failure);
        if (flight->is_on || status != STATUS_OK)
            return status;
    }
    return add_event(crowd, entry.who, failure);
}

/* Begins events as long as a line is free and nothing else comes first. */
static enum status begin_events(struct crowd *crowd, double due, struct failure *failure)
{
    enum status status = STATUS_OK;

    while (status == STATUS_OK && !crowd_is_stopped()) {
        double next = agenda_next(&crowd->agenda);
        size_t line = free_line(crowd);

        if (line == crowd->flight_count || next >= due || next > horizon(crowd))
            return STATUS_OK;
        status = begin_event(crowd, line, failure);
        crowd_tell_progress(crowd, next);
    }
    return status;
}

static enum status end_some(struct crowd *crowd, struct failure *failure)
{
    size_t host;
    enum status status = crowd_rpc_wait(crowd, &host, failure);

    if (status == STATUS_OK && host < crowd->count)
        status = add_event(crowd, host, failure);
    return status;
}

static enum status run(struct crowd *crowd, struct failure *failure)
{
    for (;;) {
        double due = fmin(crowd_next_due(crowd), crowd->end);
        enum status status = begin_events(crowd, due, failure);

        if (status == STATUS_OK && crowd->on_count > 0)
            status = end_some(crowd, failure);
        else if (status == STATUS_OK && (crowd_is_stopped() || due >= crowd->end))
            return STATUS_OK;
        else if (status == STATUS_OK)
            status = crowd_do_due(crowd, failure);
        if (status != STATUS_OK)
            return status;
    }
}

/* The virtual time that every host has reached, even if the run ends with requests under way. */
static double reached(const struct crowd *crowd)
{
    double time = fmin(agenda_next(&crowd->agenda), crowd->end);

    for (size_t line = 0; line < crowd->flight_count; line++)
        if (crowd->flights[line].is_on)
            time = fmin(time, crowd->flights[line].time);
    return time;
}

enum status crowd_run(struct crowd *crowd, struct failure *failure)
{
    enum status status;

    crowd->begun = crowd->told = crowd_seconds();
    status = run(crowd, failure);
    crowd->effort.end = reached(crowd);
    if (status == STATUS_OK || status == STATUS_IO)
        crowd_sample(crowd, crowd->effort.end, true);
    crowd->effort.seconds = crowd_seconds() - crowd->begun;
    return status == STATUS_OK && !crowd_is_stopped() ? crowd_rpc_judge(crowd, 1, failure) : status;
}
