/* SPDX-License-Identifier: Apache-2.0 */
/* One thread, one libcurl multi handle. A line goes into the history, and out of the process,
 * before the request that it tells of is sent and before the reply that it tells of is acted on. */
#include "tools/lab/campaign/campaign_crowd.h"

#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/base/random.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

enum { BYTES_OF_REPLY = 64 << 20, EMPTY_BEFORE_LEAVING = 6, REPEATS_MAX = 3, SPEEDS = 8 };
static const double pause_after_failure = 0.1; /* s */
static const double patience = 20;             /* s for one request */

/* What is meant to become of a transfer. */
enum fate { FATE_WHOLE, FATE_BROKEN_OFF, FATE_THROWN_AWAY };

struct member {
    struct load_host host;
    CURL *easy;
    struct buffer request, reply;
    enum fate fate;
    double not_before;
    int64_t got, life, empty, repeats;
    bool is_busy, repeats_same, leaves, is_settled;
    struct crowd_run *crowd;
};

/* The figures of a run, which go into the history at its end. */
#define CROWD_FIGURES(FIGURE) \
    FIGURE(replies_full)      \
    FIGURE(replies_later)     \
    FIGURE(replies_down)      \
    FIGURE(replies_lost) FIGURE(requests_failed) FIGURE(requests_repeated) FIGURE(requests_doubled)

struct crowd_run {
    const struct crowd_plan *plan;
    struct history *history;
    FILE *file;
    CURLM *multi;
    struct curl_slist *headers;
    struct member *members;
    struct random random;
    int64_t next_number;
    size_t busy, doubles; /* transfers under way; of them those whose reply nobody waits for */
    bool is_settling;
    struct {
#define FIGURE(name) int64_t name;
        CROWD_FIGURES(FIGURE)
#undef FIGURE
    } figures;
};

static void note(struct crowd_run *crowd, const char *format, ...) PRINTF_LIKE(2, 3);

static void note(struct crowd_run *crowd, const char *format, ...)
{
    char line[400];
    va_list values;

    va_start(values, format);
    vsnprintf(line, sizeof(line), format, values);
    va_end(values);
    fprintf(crowd->file, "%s\n", line);
    history_take(crowd->history, text_from(line));
}

static bool happens(struct crowd_run *crowd, int64_t of_hundred)
{
    return (int64_t)(random_next(&crowd->random) % 100) < of_hundred;
}

/* --- machines --------------------------------------------------------------------------------- */

static int64_t number_of(const struct member *member)
{
    return (int64_t)member->host.number;
}

static void prepare_life(struct member *member)
{
    const struct crowd_plan *plan = member->crowd->plan;

    member->got = member->empty = member->repeats = 0;
    member->leaves = member->is_settled = member->repeats_same = false;
    member->life = 1 + (int64_t)(random_next(&member->crowd->random) % (uint64_t)plan->life);
}

static void bear(struct crowd_run *crowd, struct member *member)
{
    const struct crowd_plan *plan = crowd->plan;
    struct load_host *host = &member->host;

    host_clear(host);
    host_init(host, &plan->profile, (size_t)crowd->next_number++);
    prepare_life(member);
    note(crowd, "b %zu %" PRIu64 " " TEXT_FORMAT, host->number,
         (uint64_t)(host->number % plan->profile.authenticators.count) + 1, TEXT_ARG(host->vendor));
}

/* A machine of an earlier run goes on. Its jobs are found by one walk over all, in revive_all. */
static void revive(struct crowd_run *crowd, struct member *member,
                   const struct told_machine *machine)
{
    host_init(&member->host, &crowd->plan->profile, (size_t)machine->number);
    prepare_life(member);
    member->host.id = machine->hostid;
    member->host.rpc_seqno = machine->rpc_seqno;
}

static void give_jobs_back(struct crowd_run *crowd, bool are_reported)
{
    const int64_t hosts = crowd->plan->hosts;
    struct told_job *job, *next;

    HASH_ITER(hh, crowd->history->jobs, job, next)
    {
        if (job->machine == NULL || job->machine->is_gone || job->acked_for != NULL ||
            job->is_reported != are_reported)
            continue;
        for (int64_t i = 0; i < hosts; i++) {
            struct load_host *host = &crowd->members[i].host;

            if ((int64_t)host->number != job->machine->number)
                continue;
            host_add_job(host, text_from(job->name));
            host->reported += are_reported;
        }
    }
}

static void revive_all(struct crowd_run *crowd)
{
    const struct told_machine *machine = crowd->history->first_born;
    int64_t count = 0;

    for (; machine != NULL; machine = machine->next_born) {
        if (machine->number >= crowd->next_number)
            crowd->next_number = machine->number + 1;
        if (!machine->is_gone && count < crowd->plan->hosts)
            revive(crowd, &crowd->members[count++], machine);
    }
    if (count > 0) { /* the reported ones are the first of a host */
        give_jobs_back(crowd, true);
        give_jobs_back(crowd, false);
    }
    while (count < crowd->plan->hosts)
        bear(crowd, &crowd->members[count++]);
}

/* --- requests --------------------------------------------------------------------------------- */

static size_t keep_reply(char *data, size_t size, size_t count, void *context)
{
    struct member *member = context;

    buffer_add(&member->reply, (struct text){.at = data, .length = size * count});
    return member->reply.overflowed ? 0 : size * count;
}

static size_t drop_reply(char *data, size_t size, size_t count, void *context)
{
    (void)data;
    (void)context;
    return size * count;
}

static void set_transfer(struct crowd_run *crowd, CURL *easy)
{
    curl_easy_setopt(easy, CURLOPT_URL, crowd->plan->url);
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, crowd->headers);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(patience * 1000));
}

/* The same bytes once more, for a reply that nobody will see. */
static void send_double(struct crowd_run *crowd, const struct member *member)
{
    CURL *easy = curl_easy_init();

    if (easy == NULL)
        return;
    set_transfer(crowd, easy);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop_reply);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)member->request.length);
    curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, member->request.at);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, NULL);
    curl_multi_add_handle(crowd->multi, easy);
    crowd->doubles++;
    crowd->figures.requests_doubled++;
}

/* What the machine does next: leaving it gives everything back and wants nothing; at the end every
 * other one holds what it has, so that the auditor finds jobs in progress. What was reported once
 * is reported until it is acknowledged. */
static void decide(struct crowd_run *crowd, struct member *member)
{
    struct load_host *host = &member->host;
    size_t may_hold = host->job_count - host->reported;

    host->declines = member->leaves;
    if (member->leaves || (crowd->is_settling && host->number % 2 == 0))
        host->held = 0;
    else if (crowd->is_settling)
        host->held = may_hold;
    else
        host->held = (size_t)(random_next(&crowd->random) % 12);
    if (host->held > may_hold)
        host->held = may_hold;
}

static void write_request(struct crowd_run *crowd, struct member *member)
{
    struct load_host *host = &member->host;

    if (member->repeats_same && member->repeats < REPEATS_MAX) {
        member->repeats++;
        crowd->figures.requests_repeated++;
    } else {
        decide(crowd, member);
        member->repeats = 0;
        member->request.length = 0;
        host_write_request(host, &member->request);
        for (size_t i = 0; i < host->reported; i++)
            note(crowd, "r %zu %s", host->number, host->jobs[i].name);
    }
    member->repeats_same = false;
    note(crowd, "q %zu %" PRId64, host->number, host->rpc_seqno);
    fflush(crowd->file);
}

static void begin_request(struct crowd_run *crowd, struct member *member)
{
    bool is_calm = crowd->is_settling || *crowd->plan->is_calm;
    bool is_lost = !is_calm && happens(crowd, crowd->plan->lost);
    double time = patience;

    write_request(crowd, member);
    member->reply.length = 0;
    member->fate = !is_lost ? FATE_WHOLE : happens(crowd, 50) ? FATE_BROKEN_OFF : FATE_THROWN_AWAY;
    if (member->fate == FATE_BROKEN_OFF)
        time = 0.001 * (double)(1 + random_next(&crowd->random) % 60);
    curl_easy_setopt(member->easy, CURLOPT_POSTFIELDS, member->request.at);
    curl_easy_setopt(member->easy, CURLOPT_POSTFIELDSIZE, (long)member->request.length);
    curl_easy_setopt(member->easy, CURLOPT_TIMEOUT_MS, (long)(time * 1000));
    curl_multi_add_handle(crowd->multi, member->easy);
    member->is_busy = true;
    crowd->busy++;
    if (!is_calm && happens(crowd, crowd->plan->doubled))
        send_double(crowd, member);
}

/* --- replies ---------------------------------------------------------------------------------- */

static void hear_host(struct member *member)
{
    const struct told_machine *machine = history_machine(member->crowd->history, number_of(member));

    if (machine != NULL && machine->hostid != member->host.id)
        note(member->crowd, "i %zu %" PRId64, member->host.number, member->host.id);
}

static void hear_acknowledgement(void *context, const struct load_host *host, struct text name,
                                 bool was_reported)
{
    struct member *member = context;

    hear_host(member);
    note(member->crowd, "a %zu " TEXT_FORMAT " %d", host->number, TEXT_ARG(name), was_reported);
}

static void hear_job(void *context, const struct load_host *host, struct text name)
{
    struct member *member = context;

    hear_host(member);
    note(member->crowd, "g %zu %" PRId64 " " TEXT_FORMAT " %d", host->number, host->id,
         TEXT_ARG(name), host_has_job(host, name));
    member->got++;
    member->empty = -1; /* counted up to 0 below */
}

static double pause_of(const struct member *member)
{
    return (double)member->crowd->plan->pause * (double)(member->host.number % SPEEDS) /
           (SPEEDS - 1);
}

static void act_on_full_reply(struct crowd_run *crowd, struct member *member)
{
    crowd->figures.replies_full++;
    if (!crowd->is_settling)
        member->not_before = clock_seconds() + pause_of(member);
    member->empty++;
    hear_host(member);
    if (member->leaves && member->host.job_count == 0) {
        note(crowd, "d %zu", member->host.number);
        if (crowd->is_settling)
            member->is_settled = true;
        else
            bear(crowd, member);
        return;
    }
    if (crowd->is_settling) {
        member->is_settled = true;
        note(crowd, "e %zu", member->host.number);
    } else if (member->got >= member->life || member->empty >= EMPTY_BEFORE_LEAVING) {
        member->leaves = true;
    }
}

static void read_whole_reply(struct crowd_run *crowd, struct member *member)
{
    const struct reply_taker taker = {
        .job = hear_job, .ack = hear_acknowledgement, .context = member};
    struct reply_summary summary =
        host_read_reply(&member->host, buffer_text(&member->reply), &taker);

    if (summary.kind != REPLY_FULL)
        member->not_before = clock_seconds() + pause_after_failure;
    switch (summary.kind) {
    case REPLY_FULL:
        act_on_full_reply(crowd, member);
        break;
    case REPLY_SHORT:
        crowd->figures.replies_later++;
        break;
    case REPLY_DOWN:
        crowd->figures.replies_down++;
        break;
    case REPLY_BROKEN:
        crowd->figures.requests_failed++;
        member->repeats_same = happens(crowd, 50);
        break;
    }
    fflush(crowd->file);
}

static void end_request(struct crowd_run *crowd, struct member *member, CURLcode result)
{
    long status = 0;

    curl_multi_remove_handle(crowd->multi, member->easy);
    member->is_busy = false;
    crowd->busy--;
    curl_easy_getinfo(member->easy, CURLINFO_RESPONSE_CODE, &status);
    if (member->fate == FATE_WHOLE && result == CURLE_OK && status == 200) {
        read_whole_reply(crowd, member);
        return;
    }
    if (member->fate == FATE_WHOLE) {
        crowd->figures.requests_failed++;
        member->not_before = clock_seconds() + pause_after_failure;
    } else {
        crowd->figures.replies_lost++;
    }
    member->repeats_same = happens(crowd, 50);
}

/* --- the run ---------------------------------------------------------------------------------- */

static void collect_ended(struct crowd_run *crowd)
{
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(crowd->multi, &left)) != NULL) {
        struct member *member = NULL;
        CURL *easy = message->easy_handle;
        CURLcode result = message->data.result;

        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&member);
        if (member != NULL) {
            end_request(crowd, member, result);
            continue;
        }
        curl_multi_remove_handle(crowd->multi, easy);
        curl_easy_cleanup(easy);
        crowd->doubles--;
    }
}

/* Requests that may go; at the end not before all doubles have ended, which could change what a
 * settled machine was told. Returns whether anybody is still to be heard. */
static bool begin_all(struct crowd_run *crowd)
{
    double now = clock_seconds();
    bool is_anybody_left = crowd->busy > 0 || crowd->doubles > 0;

    for (int64_t i = 0; i < crowd->plan->hosts; i++) {
        struct member *member = &crowd->members[i];

        if (member->is_settled)
            continue;
        is_anybody_left = true;
        if (!member->is_busy && member->not_before <= now &&
            (!crowd->is_settling || crowd->doubles == 0))
            begin_request(crowd, member);
    }
    return is_anybody_left;
}

static void show_progress(const struct crowd_run *crowd, double begun)
{
    const struct history *history = crowd->history;

    if (crowd->plan->is_quiet)
        return;
    fprintf(stderr,
            "qmcampaign: %5.0f s: %" PRId64 " hand-outs, %" PRId64 " acknowledged; %" PRId64
            " lost replies, %" PRId64 " failed, %" PRId64 " down%s\n",
            clock_seconds() - begun, history->handouts, history->acks, crowd->figures.replies_lost,
            crowd->figures.requests_failed, crowd->figures.replies_down,
            crowd->is_settling ? " (settling)" : "");
}

/* The last requests: nothing that is under way may be broken off any more, and what a request was
 * told to be is forgotten. */
static void begin_settling(struct crowd_run *crowd)
{
    crowd->is_settling = true;
    for (int64_t i = 0; i < crowd->plan->hosts; i++)
        crowd->members[i].repeats_same = false;
}

static void go_on(struct crowd_run *crowd)
{
    const struct crowd_plan *plan = crowd->plan;
    double begun = clock_seconds(), shown = begun, settling_since = 0;

    for (;;) {
        double now = clock_seconds();
        int running;

        if (!crowd->is_settling &&
            (*plan->is_over || (plan->time > 0 && now >= begun + plan->time))) {
            begin_settling(crowd);
            settling_since = now;
        }
        if (crowd->is_settling && now >= settling_since + plan->settling)
            break;
        if (!begin_all(crowd))
            break;
        curl_multi_perform(crowd->multi, &running);
        collect_ended(crowd);
        curl_multi_poll(crowd->multi, NULL, 0, 20, NULL);
        if (now >= shown + 10) {
            shown = now;
            show_progress(crowd, begun);
        }
    }
    note(crowd, "n seconds %" PRId64, (int64_t)(clock_seconds() - begun));
    show_progress(crowd, begun);
}

static bool open_all(struct crowd_run *crowd)
{
    crowd->members = calloc((size_t)crowd->plan->hosts, sizeof(*crowd->members));
    crowd->multi = curl_multi_init();
    crowd->headers = curl_slist_append(NULL, "Content-Type: text/xml");
    crowd->headers = curl_slist_append(crowd->headers, "Expect:");
    if (crowd->members == NULL || crowd->multi == NULL)
        return false;
    for (int64_t i = 0; i < crowd->plan->hosts; i++) {
        struct member *member = &crowd->members[i];

        member->crowd = crowd;
        member->request = buffer_on_heap(0);
        member->reply = buffer_on_heap(BYTES_OF_REPLY);
        member->easy = curl_easy_init();
        if (member->easy == NULL)
            return false;
        set_transfer(crowd, member->easy);
        curl_easy_setopt(member->easy, CURLOPT_WRITEFUNCTION, keep_reply);
        curl_easy_setopt(member->easy, CURLOPT_WRITEDATA, member);
        curl_easy_setopt(member->easy, CURLOPT_PRIVATE, member);
    }
    return true;
}

static void close_all(struct crowd_run *crowd)
{
    for (int64_t i = 0; crowd->members != NULL && i < crowd->plan->hosts; i++) {
        struct member *member = &crowd->members[i];

        if (member->is_busy)
            curl_multi_remove_handle(crowd->multi, member->easy);
        curl_easy_cleanup(member->easy);
        buffer_free(&member->request);
        buffer_free(&member->reply);
        host_clear(&member->host);
    }
    free(crowd->members);
    curl_multi_cleanup(crowd->multi);
    curl_slist_free_all(crowd->headers);
}

bool campaign_crowd_run(const struct crowd_plan *plan, struct history *history, const char *path)
{
    struct crowd_run crowd = {
        .plan = plan, .history = history, .next_number = 1, .random.state = random_u64()};
    bool is_written = false;

    crowd.file = history_append(path);
    if (crowd.file == NULL)
        return false;
    if (open_all(&crowd)) {
        revive_all(&crowd);
        go_on(&crowd);
#define FIGURE(name) note(&crowd, "n " #name " %" PRId64, crowd.figures.name);
        CROWD_FIGURES(FIGURE)
#undef FIGURE
        is_written = ferror(crowd.file) == 0;
    }
    close_all(&crowd);
    return fclose(crowd.file) == 0 && is_written;
}
