/* SPDX-License-Identifier: Apache-2.0 */
/* One RPC, or the reading of one master page, from question to answer.
 *
 * - A request during an outage of the scenario fails at once; the host hears nothing.
 * - A server that is really not there is no part of the scenario: the same request goes out again
 *   until it is answered, or patience ends, and the run with it.
 * - All other real failures reach the host as they are. Where hosts find schedulers on master
 *   pages, absent servers do too, since what hosts do about them is what such a run is for.
 * - A project that has served none of its first requests is a mistake in a URL, a key or its
 *   configuration, and so is a server that goes by its own clock. They end the run, because its
 *   figures would be worth nothing. */
#include "tools/lab/volunteers/crowd/crowd_parts.h"

#include "server/base/arena.h"
#include "server/base/master_page.h"
#include "server/base/shown.h"
#include "tools/lab/volunteers/crowd/command_line.h"
#include "tools/lab/volunteers/crowd/scenario.h"
#include "tools/lab/volunteers/host/scheduler_rpc.h"
#include "tools/lab/volunteers/host/volunteer.h"
#include "tools/lab/volunteers/wire/wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "server/base/banned.h"

#define RETRY_PAUSE   0.2 /* s */
#define WAIT_MAX      0.2 /* s */
#define STOP_PATIENCE 5.0 /* s for requests under way when the run is to stop */
enum { COMPLAINTS_MAX = 10, UNSERVED_MAX = 20 };

static const enum crowd_failure failure_of[HTTP_ENDS] = {
    [HTTP_AWAY] = CROWD_AWAY,
    [HTTP_STATUS] = CROWD_STATUS,
    [HTTP_BROKEN] = CROWD_BROKEN,
};

static const char *url_of(const struct crowd *crowd, const struct flight *flight)
{
    const struct volunteer_question *question = flight->question;

    return question->request.reads_master
               ? crowd->options->urls[flight->project]
               : crowd->schedulers[flight->project].urls[question->scheduler];
}

static void note_failure(struct crowd *crowd, const struct flight *flight, enum crowd_failure kind,
                         const char *words)
{
    crowd->effort.failures[kind]++;
    if (crowd->options->is_quiet || crowd->complaints >= COMPLAINTS_MAX)
        return;
    crowd->complaints++;
    shown_line(stderr, "qmvolunteers: %s: %s%s%s", url_of(crowd, flight), crowd_failure_words(kind),
               words[0] == '\0' ? "" : ": ", words);
}

enum status crowd_rpc_judge(const struct crowd *crowd, uint64_t least, struct failure *failure)
{
    for (size_t p = 0; p < crowd->options->project_count; p++) {
        const struct crowd_server *server = &crowd->servers[p];

        if (!server->serves && server->idle >= least)
            return fail(failure, STATUS_INVALID,
                        "%s: none of the first %" PRIu64 " requests was served: %s",
                        crowd->options->urls[p], server->idle, server->words);
    }
    return STATUS_OK;
}

static void server_is_there(struct crowd *crowd, size_t project)
{
    double *since = &crowd->servers[project].away_since;

    if (*since == 0)
        return;
    crowd->effort.away_seconds += crowd_seconds() - *since;
    *since = 0;
}

static enum status note_unserved(struct crowd *crowd, const struct flight *flight,
                                 enum crowd_failure kind, const char *words,
                                 struct failure *failure)
{
    struct crowd_server *server = &crowd->servers[flight->project];

    server_is_there(crowd, flight->project);
    note_failure(crowd, flight, kind, words);
    server->idle++;
    snprintf(server->words, sizeof(server->words), "%s",
             words[0] != '\0' ? words : crowd_failure_words(kind));
    /* With several schedulers the first ones that hosts try may be dead; whether all of them are is
     * judged at the end of the run. */
    if (crowd->options->has_masters && kind != CROWD_DOWN && kind != CROWD_REFUSED)
        return STATUS_OK;
    return crowd_rpc_judge(crowd, UNSERVED_MAX, failure);
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

static enum status hear_master(struct crowd *crowd, struct flight *flight, struct text text,
                               struct failure *failure)
{
    uint8_t numbers[MASTER_SCHEDULERS_MAX] = {0};
    struct master_page page;
    size_t count;

    master_read(text, &page);
    count = crowd_number_schedulers(crowd, flight->project, &page, numbers);
    volunteer_hear_master(&crowd->volunteers[flight->host], flight->question, numbers, count);
    land(crowd, flight);
    return count > 0 ? STATUS_OK : note_unserved(crowd, flight, CROWD_NO_SCHEDULER, "", failure);
}

static void hear_nothing(struct crowd *crowd, struct flight *flight, enum rpc_outcome outcome)
{
    if (flight->question->request.reads_master) {
        volunteer_hear_master(&crowd->volunteers[flight->host], flight->question, NULL, 0);
        land(crowd, flight);
        return;
    }
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
    const char *url = url_of(crowd, flight);

    flight->retry_at = 0;
    if (flight->question->request.reads_master
            ? !http_fetch(crowd->http, line, url, flight->time)
            : !http_post(crowd->http, line, url, flight->time, buffer_text(&flight->request)))
        return fail(failure, STATUS_NO_MEMORY, "no memory for a request");
    return STATUS_OK;
}

enum status crowd_rpc_begin(struct crowd *crowd, size_t line, struct failure *failure)
{
    struct flight *flight = &crowd->flights[line];
    struct outgoing *outgoing = &flight->question->outgoing;

    flight->is_on = true;
    crowd->on_count++;
    crowd->effort.masters += flight->question->request.reads_master;
    if (scenario_is_out(crowd->scenario, flight->time)) {
        hear_nothing(crowd, flight, RPC_OUTAGE);
        return STATUS_OK;
    }
    if (flight->question->request.reads_master)
        return send_out(crowd, line, failure);
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

/* No server is there: the request goes out again after a pause, unless patience is over. */
static enum status wait_for_server(struct crowd *crowd, struct flight *flight,
                                   enum crowd_failure kind, const char *words,
                                   struct failure *failure)
{
    double now = crowd_seconds(), *since = &crowd->servers[flight->project].away_since;

    if (*since == 0) {
        *since = now;
        note_failure(crowd, flight, kind, words);
    }
    if (now - *since > crowd->options->patience)
        return fail(failure, STATUS_IO, "%s: %s for %g s: %s",
                    crowd->options->urls[flight->project],
                    kind == CROWD_DOWN ? "down" : "no answer", crowd->options->patience, words);
    flight->retry_at = now + RETRY_PAUSE;
    return STATUS_OK;
}

/* Takes a reply that could be read. A project that says at the beginning of a run that it is down
 * is waited for, because servers say so while they start; later on the host hears it. */
static enum status take_reply(struct crowd *crowd, struct flight *flight,
                              const struct incoming *incoming, struct failure *failure)
{
    struct crowd_server *server = &crowd->servers[flight->project];
    enum crowd_failure kind = incoming->is_down ? CROWD_DOWN : CROWD_REFUSED;
    char words[128];

    snprintf(words, sizeof(words), TEXT_FORMAT, TEXT_ARG(incoming->message));
    if (incoming->is_down && !server->serves && crowd->options->patience > 0 &&
        !crowd->options->has_masters)
        return wait_for_server(crowd, flight, kind, words, failure);
    hear(crowd, flight, incoming);
    if (incoming->is_down || (!incoming->is_full && incoming->job_count == 0))
        return note_unserved(crowd, flight, kind, words, failure);
    server_is_there(crowd, flight->project);
    server->serves = true;
    return STATUS_OK;
}

static enum status take_result(struct crowd *crowd, const struct http_result *result,
                               struct failure *failure)
{
    struct flight *flight = &crowd->flights[result->line];
    struct failure reading = {.status = STATUS_OK};
    struct incoming incoming;

    if (result->end == HTTP_AWAY && crowd->options->patience > 0 && !crowd->options->has_masters)
        return wait_for_server(crowd, flight, CROWD_AWAY, result->words, failure);
    if (result->end != HTTP_GOOD) {
        hear_nothing(crowd, flight, RPC_FAILED);
        return note_unserved(crowd, flight, failure_of[result->end], result->words, failure);
    }
    if (flight->question->request.reads_master)
        return hear_master(crowd, flight, result->reply, failure);
    arena_reset(flight->arena);
    if (incoming_read(result->reply, flight->arena, &incoming, &reading) != STATUS_OK) {
        hear_nothing(crowd, flight, RPC_FAILED);
        return note_unserved(crowd, flight, CROWD_UNREADABLE, reading.text, failure);
    }
    if (!result->is_simulated)
        return fail(failure, STATUS_INVALID,
                    "%s: this server uses its own clock: start it with --clock=request",
                    crowd->options->urls[flight->project]);
    return take_reply(crowd, flight, &incoming, failure);
}

/* Sends requests again that wait for their server. After a signal these are given up at once, and
 * after STOP_PATIENCE also those that no server has answered. */
static enum status retry_some(struct crowd *crowd, size_t *ret_host, struct failure *failure)
{
    double now = crowd_seconds();
    bool is_over;

    if (*crowd->is_stopped != 0 && crowd->stopped_since == 0)
        crowd->stopped_since = now;
    is_over = crowd->stopped_since > 0 && now - crowd->stopped_since > STOP_PATIENCE;

    for (size_t line = 0; line < crowd->flight_count; line++) {
        struct flight *flight = &crowd->flights[line];
        enum status status;

        if (!flight->is_on || (flight->retry_at == 0 && !is_over))
            continue;
        if (crowd->stopped_since > 0) {
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

enum status crowd_rpc_wait(struct crowd *crowd, size_t *ret_host, struct failure *failure)
{
    struct http_result result;
    enum status status;

    *ret_host = crowd->count;
    status = retry_some(crowd, ret_host, failure);
    if (status != STATUS_OK || *ret_host < crowd->count)
        return status;
    if (all_wait(crowd)) {
        nanosleep(&(struct timespec){.tv_nsec = (long)(RETRY_PAUSE * 0.5e9)}, NULL);
        return STATUS_OK;
    }
    if (!http_wait(crowd->http, WAIT_MAX, &result))
        return STATUS_OK;
    status = take_result(crowd, &result, failure);
    if (status == STATUS_OK && !crowd->flights[result.line].is_on)
        *ret_host = crowd->flights[result.line].host;
    return status;
}
