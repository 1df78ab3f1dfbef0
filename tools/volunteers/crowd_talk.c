/* SPDX-License-Identifier: Apache-2.0 */
/* One RPC from question to answer. What the scenario wants to fail is told to the host at once. A
 * server that is really not there is no part of a scenario: the same request goes out again until
 * patience ends, and with it the run. Other real failures the host sees as they are. */
#include "tools/volunteers/crowd_parts.h"

#include "server/base/arena.h"
#include "tools/volunteers/incoming.h"
#include "tools/volunteers/options.h"
#include "tools/volunteers/outgoing.h"
#include "tools/volunteers/scenario.h"
#include "tools/volunteers/volunteer.h"

#include <stdio.h>
#include <time.h>

#include "server/base/banned.h"

#define RETRY_PAUSE 0.2 /* s */
#define WAIT_MAX    0.2 /* s */
enum { COMPLAINTS_MAX = 10 };

static const enum crowd_failure failure_of[EXCHANGE_END_COUNT] = {
    [EXCHANGE_AWAY] = CROWD_AWAY,
    [EXCHANGE_STATUS] = CROWD_STATUS,
    [EXCHANGE_BROKEN] = CROWD_BROKEN,
};

static void note_failure(struct crowd *crowd, const struct flight *flight, enum crowd_failure kind,
                         const char *words)
{
    crowd->effort.failures[kind]++;
    if (crowd->options->is_quiet || crowd->complaints >= COMPLAINTS_MAX)
        return;
    crowd->complaints++;
    fprintf(stderr, "qmvolunteers: %s: %s: %s\n", crowd->options->urls[flight->project],
            crowd_failure_words(kind), words);
}

static void tell(struct crowd *crowd, const struct flight *flight, enum rpc_outcome outcome,
                 const struct incoming *incoming)
{
    struct rpc rpc = {.time = flight->time,
                      .host = flight->host,
                      .project = flight->project,
                      .outcome = outcome,
                      .wanted_work = volunteer_wants_work(flight->question)};

    for (size_t i = 0; i < flight->question->outgoing.job_count; i++)
        rpc.reported +=
            flight->question->outgoing.jobs[i].is_own && flight->question->outgoing.jobs[i].done;
    if (incoming != NULL) {
        rpc.no_work_deadlines = incoming->no_work_deadlines;
        rpc.acked = incoming->ack_count;
        rpc.jobs = incoming->job_count;
        rpc.request_delay = incoming->request_delay;
    }
    crowd->effort.rpcs++;
    crowd->effort.jobs += rpc.jobs;
    for (size_t i = 0; i < crowd->observer_count; i++)
        if (crowd->observers[i].rpc != NULL)
            crowd->observers[i].rpc(crowd->observers[i].context, &rpc);
}

static void land(struct crowd *crowd, struct flight *flight)
{
    flight->is_on = false;
    crowd->on_count--;
}

static void hear_nothing(struct crowd *crowd, struct flight *flight, enum rpc_outcome outcome)
{
    volunteer_hear_nothing(&crowd->volunteers[flight->host], flight->question);
    tell(crowd, flight, outcome, NULL);
    land(crowd, flight);
}

static void hear(struct crowd *crowd, struct flight *flight, const struct incoming *incoming)
{
    enum rpc_outcome outcome = RPC_SENT;

    if (incoming->is_down)
        outcome = RPC_DOWN;
    else if (incoming->job_count == 0)
        outcome = volunteer_wants_work(flight->question) ? RPC_EMPTY : RPC_REPORTED;
    volunteer_hear(&crowd->volunteers[flight->host], flight->question, incoming);
    tell(crowd, flight, outcome, incoming);
    land(crowd, flight);
}

static enum status send_out(struct crowd *crowd, size_t line, struct failure *failure)
{
    struct flight *flight = &crowd->flights[line];

    flight->retry_at = 0;
    if (!exchange_post(crowd->exchange, line, crowd->options->urls[flight->project], flight->time,
                       buffer_text(&flight->request)))
        return fail(failure, STATUS_NO_MEMORY, "no memory for a request");
    return STATUS_OK;
}

enum status crowd_talk_begin(struct crowd *crowd, size_t line, struct failure *failure)
{
    struct flight *flight = &crowd->flights[line];
    struct outgoing *outgoing = &flight->question->outgoing;

    flight->is_on = true;
    crowd->on_count++;
    if (scenario_is_out(crowd->scenario, flight->time)) {
        hear_nothing(crowd, flight, RPC_OUTAGE);
        return STATUS_OK;
    }
    outgoing->authenticator = accounts_of(&crowd->accounts[flight->project], flight->host);
    flight->request.length = 0;
    flight->request.overflowed = false;
    outgoing_write(outgoing, &flight->request);
    if (flight->request.overflowed) {
        note_failure(crowd, flight, CROWD_TOO_LARGE, "");
        hear_nothing(crowd, flight, RPC_FAILED);
        return STATUS_OK;
    }
    return send_out(crowd, line, failure);
}

/* Nobody is there: shall it go out again? */
static enum status wait_for_server(struct crowd *crowd, struct flight *flight, const char *words,
                                   struct failure *failure)
{
    double now = crowd_seconds(), *since = &crowd->away_since[flight->project];

    if (*since == 0) {
        *since = now;
        note_failure(crowd, flight, CROWD_AWAY, words);
    }
    if (now - *since > crowd->options->patience)
        return fail(failure, STATUS_IO, "%s: no answer for %g s: %s",
                    crowd->options->urls[flight->project], crowd->options->patience, words);
    flight->retry_at = now + RETRY_PAUSE;
    return STATUS_OK;
}

static void server_is_there(struct crowd *crowd, size_t project)
{
    if (crowd->away_since[project] == 0)
        return;
    crowd->effort.away_seconds += crowd_seconds() - crowd->away_since[project];
    crowd->away_since[project] = 0;
}

static enum status take_result(struct crowd *crowd, const struct exchange_result *result,
                               struct failure *failure)
{
    struct flight *flight = &crowd->flights[result->line];
    struct failure reading = {.status = STATUS_OK};
    struct incoming incoming;

    if (result->end == EXCHANGE_AWAY && crowd->options->patience > 0)
        return wait_for_server(crowd, flight, result->words, failure);
    server_is_there(crowd, flight->project);
    if (result->end != EXCHANGE_GOOD) {
        note_failure(crowd, flight, failure_of[result->end], result->words);
        hear_nothing(crowd, flight, RPC_FAILED);
        return STATUS_OK;
    }
    arena_reset(flight->arena);
    if (incoming_read(result->reply, flight->arena, &incoming, &reading) != STATUS_OK) {
        note_failure(crowd, flight, CROWD_UNREADABLE, reading.text);
        hear_nothing(crowd, flight, RPC_FAILED);
        return STATUS_OK;
    }
    hear(crowd, flight, &incoming);
    return STATUS_OK;
}

/* Those that wait for their server go out again, or are given up when the run is. */
static enum status retry_some(struct crowd *crowd, size_t *ret_host, struct failure *failure)
{
    double now = crowd_seconds();

    for (size_t line = 0; line < crowd->flight_count; line++) {
        struct flight *flight = &crowd->flights[line];
        enum status status;

        if (!flight->is_on || flight->retry_at == 0)
            continue;
        if (crowd_is_stopped()) {
            *ret_host = flight->host;
            hear_nothing(crowd, flight, RPC_FAILED);
            return STATUS_OK;
        }
        if (now < flight->retry_at)
            continue;
        status = send_out(crowd, line, failure);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static bool all_wait(const struct crowd *crowd)
{
    for (size_t line = 0; line < crowd->flight_count; line++)
        if (crowd->flights[line].is_on && crowd->flights[line].retry_at == 0)
            return false;
    return true;
}

enum status crowd_talk_wait(struct crowd *crowd, size_t *ret_host, struct failure *failure)
{
    struct exchange_result result;
    enum status status;

    *ret_host = crowd->count;
    status = retry_some(crowd, ret_host, failure);
    if (status != STATUS_OK || *ret_host < crowd->count)
        return status;
    if (all_wait(crowd)) {
        nanosleep(&(struct timespec){.tv_nsec = (long)(RETRY_PAUSE * 0.5e9)}, NULL);
        return STATUS_OK;
    }
    if (!exchange_wait(crowd->exchange, WAIT_MAX, &result))
        return STATUS_OK;
    status = take_result(crowd, &result, failure);
    if (status == STATUS_OK && !crowd->flights[result.line].is_on)
        *ret_host = crowd->flights[result.line].host;
    return status;
}
