/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a crowd against a real scheduler in virtual time: one event after the other, each request
 * with the time that it happens at, so that months pass in minutes and a run can be repeated. The
 * figures go to standard output as one JSON object; what depends on this machine does not. */
#include "tools/volunteers/agenda.h"
#include "tools/volunteers/incoming.h"
#include "tools/volunteers/outgoing.h"
#include "tools/volunteers/scenario.h"
#include "tools/volunteers/volunteer.h"

#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/file.h"
#include "server/base/xml.h"

#include <argp.h>
#include <curl/curl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "server/base/banned.h"

enum { REPLY_BYTES_MAX = 64 << 20, ARENA_BYTES_MAX = 256 << 20, SCENARIO_BYTES_MAX = 1 << 20 };

struct arguments {
    const char *authenticator, *scenario, *url;
    bool is_quiet;
};

struct crowd {
    struct arguments arguments;
    struct scenario scenario;
    struct volunteer *volunteers;
    size_t count;
    struct agenda agenda;
    CURL *easy;
    struct buffer request, reply;
    struct arena *arena;
    struct volunteer_question *question;
    uint64_t complaints;
};

static size_t receive(char *data, size_t size, size_t count, void *context)
{
    struct crowd *crowd = context;

    buffer_add(&crowd->reply, (struct text){.at = data, .length = size * count});
    return crowd->reply.overflowed ? 0 : size * count;
}

static void complain(struct crowd *crowd, const char *what)
{
    if (!crowd->arguments.is_quiet && crowd->complaints++ < 10)
        fprintf(stderr, "qmvolunteers: %s\n", what);
}

/* Sends what is in `request`, at a virtual time. */
static bool exchange(struct crowd *crowd, double now)
{
    struct curl_slist *headers = NULL;
    char line[64];
    CURLcode result;
    long code = 0;

    snprintf(line, sizeof(line), "X-Simulated-Time: %.3f", now);
    headers = curl_slist_append(headers, line);
    headers = curl_slist_append(headers, "Content-Type: text/xml");
    headers = curl_slist_append(headers, "Expect:");
    buffer_free(&crowd->reply);
    crowd->reply = buffer_on_heap(REPLY_BYTES_MAX);
    curl_easy_setopt(crowd->easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(crowd->easy, CURLOPT_POSTFIELDS, crowd->request.at);
    curl_easy_setopt(crowd->easy, CURLOPT_POSTFIELDSIZE, (long)crowd->request.length);
    result = curl_easy_perform(crowd->easy);
    curl_easy_getinfo(crowd->easy, CURLINFO_RESPONSE_CODE, &code);
    curl_slist_free_all(headers);
    if (result != CURLE_OK || code != 200)
        complain(crowd, result != CURLE_OK ? curl_easy_strerror(result) : "HTTP status is not 200");
    return result == CURLE_OK && code == 200;
}

static void talk(struct crowd *crowd, struct volunteer *volunteer)
{
    struct failure failure = {.status = STATUS_OK};
    struct incoming incoming;

    crowd->question->outgoing.authenticator = text_from(crowd->arguments.authenticator);
    crowd->request.length = 0;
    outgoing_write(&crowd->question->outgoing, &crowd->request);
    arena_reset(crowd->arena);
    if (crowd->request.overflowed || !exchange(crowd, volunteer->now)) {
        volunteer_hear_nothing(volunteer);
    } else if (incoming_read(buffer_text(&crowd->reply), crowd->arena, &incoming, &failure) !=
               STATUS_OK) {
        complain(crowd, failure.text);
        volunteer_hear_nothing(volunteer);
    } else {
        volunteer_hear(volunteer, crowd->question, &incoming);
    }
}

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static bool run(struct crowd *crowd)
{
    double end = crowd->scenario.begin + crowd->scenario.days * 86400;
    double told = seconds_now();
    struct agenda_entry entry;

    while (agenda_take(&crowd->agenda, &entry)) {
        struct volunteer *volunteer = &crowd->volunteers[entry.who];

        volunteer_live(volunteer, fmin(entry.time, end));
        if (entry.time >= end)
            continue;
        if (volunteer_ask(volunteer, crowd->question))
            talk(crowd, volunteer);
        if (!agenda_add(&crowd->agenda, volunteer_next_event(volunteer), entry.who))
            return false;
        if (!crowd->arguments.is_quiet && seconds_now() - told > 1) {
            told = seconds_now();
            fprintf(stderr, "day %.1f of %.0f\n", (entry.time - crowd->scenario.begin) / 86400,
                    crowd->scenario.days);
        }
    }
    return true;
}

static void print_figures(const struct crowd *crowd)
{
    struct tally_of_host sum = {0};

    for (size_t i = 0; i < crowd->count; i++) {
        const struct tally_of_host *one = &crowd->volunteers[i].tally;

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
           crowd->count, crowd->scenario.days, sum.present,
           sum.present > 0 ? 1 - sum.used / sum.present : 0,
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

static bool prepare(struct crowd *crowd)
{
    const struct scenario *scenario = &crowd->scenario;

    crowd->volunteers = calloc((size_t)scenario->hosts, sizeof(*crowd->volunteers));
    crowd->question = calloc(1, sizeof(*crowd->question));
    crowd->request = buffer_on_heap(REPLY_BYTES_MAX);
    crowd->reply = buffer_on_heap(REPLY_BYTES_MAX);
    crowd->easy = curl_easy_init();
    if (crowd->volunteers == NULL || crowd->question == NULL || crowd->easy == NULL)
        return false;
    curl_easy_setopt(crowd->easy, CURLOPT_URL, crowd->arguments.url);
    curl_easy_setopt(crowd->easy, CURLOPT_POST, 1L);
    curl_easy_setopt(crowd->easy, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(crowd->easy, CURLOPT_WRITEDATA, crowd);
    curl_easy_setopt(crowd->easy, CURLOPT_TIMEOUT, 120L);
    for (; crowd->count < (size_t)scenario->hosts; crowd->count++) {
        double arrival = scenario->begin +
                         scenario->arrival_days * 86400 * (double)crowd->count / scenario->hosts;

        if (!volunteer_init(&crowd->volunteers[crowd->count], &scenario->population,
                            (uint64_t)scenario->seed, crowd->count, arrival) ||
            !agenda_add(&crowd->agenda, arrival, crowd->count))
            return false;
    }
    return true;
}

static void clear(struct crowd *crowd)
{
    for (size_t i = 0; i < crowd->count; i++)
        volunteer_free(&crowd->volunteers[i]);
    free(crowd->volunteers);
    free(crowd->question);
    agenda_free(&crowd->agenda);
    arena_destroy(crowd->arena);
    buffer_free(&crowd->request);
    buffer_free(&crowd->reply);
    curl_easy_cleanup(crowd->easy);
}

static const struct argp_option options[] = {
    {"authenticator", 'a', "KEY", 0, "Account key of all hosts (required)", 0},
    {"quiet", 'q', NULL, 0, "Say nothing of progress and of failed requests", 0},
    {0}};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 'a':
        arguments->authenticator = value;
        return 0;
    case 'q':
        arguments->is_quiet = true;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num == 0)
            arguments->scenario = value;
        else if (state->arg_num == 1)
            arguments->url = value;
        else
            argp_usage(state);
        return 0;
    case ARGP_KEY_END:
        if (arguments->authenticator == NULL || arguments->url == NULL)
            argp_usage(state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp parser = {options,
                                       parse_option,
                                       "SCENARIO URL",
                                       "Lets an emulated crowd work on the project whose "
                                       "scheduler, started with --clock=request, is at URL.",
                                       NULL,
                                       NULL,
                                       NULL};
    struct crowd crowd = {.count = 0};
    struct failure failure = {.status = STATUS_OK};
    struct text file;
    bool good;

    argp_parse(&parser, argc, argv, 0, NULL, &crowd.arguments);
    crowd.arena = arena_create(ARENA_BYTES_MAX);
    if (crowd.arena == NULL ||
        file_read(crowd.arena, crowd.arguments.scenario, SCENARIO_BYTES_MAX, &file, &failure) !=
            STATUS_OK ||
        scenario_read(file, &crowd.scenario, &failure) != STATUS_OK) {
        fprintf(stderr, "qmvolunteers: %s: %s\n", crowd.arguments.scenario, failure.text);
        arena_destroy(crowd.arena);
        return 1;
    }
    xml_startup();
    curl_global_init(CURL_GLOBAL_DEFAULT);
    good = prepare(&crowd) && run(&crowd);
    if (good)
        print_figures(&crowd);
    else
        fprintf(stderr, "qmvolunteers: no memory\n");
    clear(&crowd);
    curl_global_cleanup();
    xml_shutdown();
    return good ? 0 : 1;
}
