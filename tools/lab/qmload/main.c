/* SPDX-License-Identifier: Apache-2.0 */
/* Load on a scheduler, by the real protocol over HTTP: many emulated hosts at once, each with one
 * request under way at most, as real clients.
 *
 * Closed loop (the default): a host asks again as soon as it has its answer. Open loop (--rate):
 * every request has its time beforehand, and its latency counts from that time even if the host was
 * still busy then, so that a slow server cannot slow its own measurement down. */
#include "server/base/shown.h"
#include "tools/lab/qmload/load_arguments.h"
#include "tools/lab/qmload/load_host.h"
#include "tools/lab/qmload/load_tally.h"
#include "tools/lab/qmload/load_upload.h"

#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/base/file.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { REPLY_BYTES_MAX = 256 << 20 };

struct load_slot {
    struct load_host host;
    CURL *easy;
    struct buffer request, reply;
    size_t jobs;       /* in the reply */
    int64_t sent;      /* requests begun */
    int64_t empty;     /* replies without a job, in a row */
    double due;        /* when the request should have begun */
    double not_before; /* a pause after trouble */
    bool is_busy, is_done;
    bool is_late; /* the request under way is behind --time, and counts only if it fails */
    struct load_job *upload; /* whose output the request under way brings; NULL: it is an RPC */
    struct load_run *load;
};

struct load_run {
    struct load_arguments arguments;
    struct load_tally tally;
    struct load_slot *slots;
    struct curl_slist *headers;
    CURLM *multi;
    int timer; /* for pauses that are shorter than curl's millisecond */
    size_t busy, done;
    int64_t turn; /* the host that is asked first */
    double begun;
    double counts_since; /* 0: requests that end do not count yet */
    FILE *log;           /* NULL: nobody wants it */
    size_t complaints;   /* printed so far */
};

enum { COMPLAINTS_MAX = 10 };

/* After a reply that is no full one a host waits this long, or a server that is down would be asked
 * thousands of times a second. */
static const double pause_after_trouble = 0.2; /* s */

static size_t receive(char *data, size_t size, size_t count, void *context)
{
    struct load_slot *slot = context;

    buffer_add(&slot->reply, (struct text){.at = data, .length = size * count});
    return slot->reply.overflowed ? 0 : size * count;
}

static void complain(struct load_run *load, const struct load_slot *slot, const char *what,
                     struct text detail)
{
    if (load->arguments.is_quiet || load->complaints++ >= COMPLAINTS_MAX)
        return;
    detail = text_first(detail, 300);
    shown_line(stderr, "qmload: host %zu: %s: " TEXT_FORMAT, slot->host.number, what,
               TEXT_ARG(detail));
}

static void write_upload(struct load_run *load, struct load_slot *slot)
{
    struct text address =
        upload_write(slot->upload, load->arguments.profile.upload_bytes, &slot->request);
    char *url = text_keep(address);

    if (url == NULL)
        abort();
    curl_easy_setopt(slot->easy, CURLOPT_URL, url);
    free(url);
}

static void write_rpc(struct load_run *load, struct load_slot *slot)
{
    host_write_request(&slot->host, &slot->request);
    curl_easy_setopt(slot->easy, CURLOPT_URL, load->arguments.url);
    slot->sent++;
    if (slot->is_late)
        return;
    load->tally.requests++;
    load->tally.bytes_out += slot->request.length;
}

static void begin(struct load_run *load, struct load_slot *slot)
{
    slot->request.length = 0;
    slot->reply.length = 0;
    slot->upload = host_next_upload(&slot->host);
    if (slot->upload != NULL)
        write_upload(load, slot);
    else
        write_rpc(load, slot);
    curl_easy_setopt(slot->easy, CURLOPT_POSTFIELDS, slot->request.at);
    curl_easy_setopt(slot->easy, CURLOPT_POSTFIELDSIZE, (long)slot->request.length);
    curl_multi_add_handle(load->multi, slot->easy);
    slot->is_busy = true;
    load->busy++;
}

static void take(void *context, const struct load_host *host, struct text name)
{
    struct load_slot *slot = context;

    slot->jobs++;
    tally_job(&slot->load->tally, name, host->number);
}

static void log_request(const struct load_run *load, const struct load_slot *slot, const char *kind,
                        double delay)
{
    if (load->log != NULL)
        fprintf(load->log, "%.3f %.3f %s %.0f\n", slot->due - load->begun,
                clock_seconds() - slot->due, kind, delay);
}

static void read_reply(struct load_run *load, struct load_slot *slot)
{
    static const char *const kinds[] = {[REPLY_FULL] = "full",
                                        [REPLY_SHORT] = "short",
                                        [REPLY_DOWN] = "down",
                                        [REPLY_BROKEN] = "failed"};
    const struct reply_taker taker = {.job = take, .context = slot};
    struct reply_summary summary;

    slot->jobs = 0;
    summary = host_read_reply(&slot->host, buffer_text(&slot->reply), &taker);
    log_request(load, slot, kinds[summary.kind], summary.delay);
    if (summary.kind != REPLY_FULL)
        slot->not_before = clock_seconds() + pause_after_trouble;
    load->tally.acked += slot->is_late ? 0 : summary.acked;
    load->tally.missing_acks += summary.missing_acks;
    slot->empty = slot->jobs > 0 ? 0 : slot->empty + 1;
    switch (summary.kind) {
    case REPLY_FULL:
        load->tally.empty += slot->jobs == 0 && slot->host.seconds > 0;
        if (summary.missing_acks > 0)
            complain(load, slot, "reported jobs were not acknowledged", summary.message);
        return;
    case REPLY_SHORT:
        load->tally.later++;
        complain(load, slot, "short reply", summary.message);
        return;
    case REPLY_DOWN:
        load->tally.down++;
        complain(load, slot, "project is down", summary.message);
        return;
    case REPLY_BROKEN:
        load->tally.failed++;
        complain(load, slot, "no complete reply", buffer_text(&slot->reply));
        return;
    }
}

static void finish_upload(struct load_run *load, struct load_slot *slot, CURLcode result,
                          long status)
{
    if (result == CURLE_OK && status == 200 &&
        upload_read_reply(slot->upload, load->arguments.profile.upload_bytes,
                          buffer_text(&slot->reply))) {
        load->tally.uploads += slot->upload->file == NULL && !slot->is_late;
        return;
    }
    load->tally.failed++;
    slot->not_before = clock_seconds() + pause_after_trouble;
    complain(load, slot, result != CURLE_OK ? curl_easy_strerror(result) : "upload",
             buffer_text(&slot->reply));
}

static void finish(struct load_run *load, struct load_slot *slot, CURLcode result)
{
    long status = 0;

    curl_multi_remove_handle(load->multi, slot->easy);
    slot->is_busy = false;
    load->busy--;
    curl_easy_getinfo(slot->easy, CURLINFO_RESPONSE_CODE, &status);
    if (slot->upload != NULL) {
        finish_upload(load, slot, result, status);
        return;
    }
    if (!slot->is_late) {
        tally_latency(&load->tally, clock_seconds() - slot->due);
        load->tally.bytes_in += slot->reply.length;
    }
    if (result != CURLE_OK || status != 200) {
        load->tally.failed++;
        log_request(load, slot, "failed", 0);
        slot->not_before = clock_seconds() + pause_after_trouble;
        slot->empty++;
        complain(load, slot, result != CURLE_OK ? curl_easy_strerror(result) : "HTTP status",
                 buffer_text(&slot->reply));
    } else {
        read_reply(load, slot);
    }
    if ((load->arguments.requests > 0 && slot->sent >= load->arguments.requests) ||
        (load->arguments.requests == 0 && load->arguments.time == 0 &&
         slot->empty >= load->arguments.empty_replies)) {
        slot->is_done = true;
        load->done++;
    }
}

/* When the next request of a slot is to begin. */
static double next_due(const struct load_run *load, const struct load_slot *slot, double now)
{
    double turn = (double)slot->sent * (double)load->arguments.hosts + (double)slot->host.number;

    if (slot->not_before > now)
        return slot->not_before;
    if (slot->is_late || host_next_upload(&slot->host) != NULL)
        return now;
    return load->arguments.rate > 0 ? load->begun + turn / load->arguments.rate : now;
}

/* Starts whatever is due; returns how long to wait for the next one at most, in s. Hosts take
 * turns, where not all can have a request under way. */
static double begin_due(struct load_run *load)
{
    const struct load_arguments *arguments = &load->arguments;
    double now = clock_seconds(), soonest = 1;
    bool time_is_over = arguments->time > 0 && now >= load->begun + arguments->time;
    int64_t first = load->turn;

    if (time_is_over && load->tally.elapsed == 0)
        load->tally.elapsed = now - load->counts_since;
    /* The run ends at its time, not when the next request would have been due. */
    if (arguments->time > 0 && !time_is_over && load->begun + arguments->time - now < soonest)
        soonest = load->begun + arguments->time - now;
    for (int64_t i = 0; i < arguments->hosts; i++) {
        int64_t number = (first + i) % arguments->hosts;
        struct load_slot *slot = &load->slots[number];
        double due;

        if (slot->is_busy || slot->is_done)
            continue;
        if (time_is_over && (!arguments->finishes || slot->host.job_count == 0)) {
            slot->is_done = true;
            load->done++;
            continue;
        }
        slot->is_late = slot->host.is_leaving = time_is_over;
        if (arguments->connections > 0 && load->busy >= (size_t)arguments->connections)
            break;
        due = next_due(load, slot, now);
        if (due <= now) {
            slot->due = due;
            begin(load, slot);
            load->turn = number + 1;
        } else if (due - now < soonest) {
            soonest = due - now;
        }
    }
    return soonest;
}

/* Returns how many requests ended. */
static size_t collect(struct load_run *load)
{
    CURLMsg *message;
    size_t ended = 0;
    int left;

    while ((message = curl_multi_info_read(load->multi, &left)) != NULL) {
        struct load_slot *slot = NULL;
        CURLcode result = message->data.result;

        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&slot);
        finish(load, slot, result);
        ended++;
    }
    return ended;
}

/* What ended in the first seconds is forgotten. */
static void begin_to_count(struct load_run *load)
{
    tally_clear(&load->tally);
    load->counts_since = clock_seconds();
}

/* Until something arrives, or so many seconds have passed. */
static void wait_for_replies(struct load_run *load, double seconds)
{
    struct itimerspec pause = {.it_value = {.tv_sec = (time_t)seconds}};
    struct curl_waitfd timer = {.fd = load->timer, .events = CURL_WAIT_POLLIN};

    pause.it_value.tv_nsec = 1 + (long)((seconds - (double)pause.it_value.tv_sec) * 0.99e9);
    timerfd_settime(load->timer, 0, &pause, NULL);
    curl_multi_poll(load->multi, &timer, 1, 1000, NULL);
}

/* False: it ended before anything counted. */
static bool run(struct load_run *load)
{
    const double warm_up = load->arguments.warm_up;

    load->begun = clock_seconds();
    load->counts_since = warm_up > 0 ? 0 : load->begun;
    while (load->done < (size_t)load->arguments.hosts) {
        double pause = begin_due(load);
        int running;

        if (load->counts_since == 0 && clock_seconds() - load->begun >= warm_up)
            begin_to_count(load);
        curl_multi_perform(load->multi, &running);
        if (collect(load) > 0 || load->done == (size_t)load->arguments.hosts)
            continue; /* hosts may go on at once, or there are none left */
        wait_for_replies(load, pause);
    }
    if (load->counts_since == 0) {
        fputs("qmload: ended before --warm-up was over: nothing counts\n", stderr);
        return false;
    }
    if (load->tally.elapsed == 0)
        load->tally.elapsed = clock_seconds() - load->counts_since;
    return true;
}

static bool prepare_slot(struct load_run *load, size_t number)
{
    struct load_slot *slot = &load->slots[number];

    host_init(&slot->host, &load->arguments.profile, number);
    slot->load = load;
    slot->request = buffer_on_heap(0);
    slot->reply = buffer_on_heap(REPLY_BYTES_MAX);
    slot->easy = curl_easy_init();
    if (slot->easy == NULL)
        return false;
    curl_easy_setopt(slot->easy, CURLOPT_POST, 1L);
    curl_easy_setopt(slot->easy, CURLOPT_HTTPHEADER, load->headers);
    curl_easy_setopt(slot->easy, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(slot->easy, CURLOPT_WRITEDATA, slot);
    curl_easy_setopt(slot->easy, CURLOPT_PRIVATE, slot);
    curl_easy_setopt(slot->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(slot->easy, CURLOPT_INTERFACE, load->arguments.from);
    /* A host that asks once keeps no connection, and so no descriptor of either side. */
    curl_easy_setopt(slot->easy, CURLOPT_FORBID_REUSE, load->arguments.requests == 1 ? 1L : 0L);
    curl_easy_setopt(slot->easy, CURLOPT_TIMEOUT_MS, (long)(load->arguments.timeout * 1000));
    return true;
}

static bool prepare(struct load_run *load)
{
    load->slots = calloc((size_t)load->arguments.hosts, sizeof(*load->slots));
    load->multi = curl_multi_init();
    load->headers = curl_slist_append(NULL, "Content-Type: text/xml");
    load->headers = curl_slist_append(load->headers, "Expect:");
    load->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    if (load->slots == NULL || load->multi == NULL || load->timer < 0)
        return false;
    curl_multi_setopt(load->multi, CURLMOPT_MAXCONNECTS, (long)load->arguments.hosts);
    for (int64_t i = 0; i < load->arguments.hosts; i++) {
        if (!prepare_slot(load, (size_t)i))
            return false;
    }
    return true;
}

static void clear(struct load_run *load)
{
    for (int64_t i = 0; load->slots != NULL && i < load->arguments.hosts; i++) {
        curl_easy_cleanup(load->slots[i].easy);
        buffer_free(&load->slots[i].request);
        buffer_free(&load->slots[i].reply);
        host_clear(&load->slots[i].host);
    }
    free(load->slots);
    curl_multi_cleanup(load->multi);
    curl_slist_free_all(load->headers);
    if (load->timer >= 0)
        close(load->timer);
    tally_clear(&load->tally);
}

static bool open_log(struct load_run *load)
{
    if (load->arguments.log_path == NULL)
        return true;
    load->log = fopen(load->arguments.log_path, "w");
    if (load->log == NULL)
        fprintf(stderr, "qmload: %s cannot be written\n", load->arguments.log_path);
    return load->log != NULL;
}

static bool close_log(struct load_run *load)
{
    bool is_written = load->log == NULL || fclose(load->log) == 0;

    if (!is_written)
        fprintf(stderr, "qmload: %s is not whole\n", load->arguments.log_path);
    load->log = NULL;
    return is_written;
}

static bool save_jobs(const struct load_run *load)
{
    FILE *file;

    if (load->arguments.jobs_path == NULL)
        return true;
    file = fopen(load->arguments.jobs_path, "w");
    if (file == NULL) {
        fprintf(stderr, "qmload: %s cannot be written\n", load->arguments.jobs_path);
        return false;
    }
    tally_print_jobs(&load->tally, file);
    return fclose(file) == 0;
}

int main(int argc, char **argv)
{
    struct load_run load = {.timer = -1};
    bool is_clean = false;

    file_occupy_standard();
    load.arguments = arguments_read(argc, argv);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    if (open_log(&load) && prepare(&load) && run(&load)) {
        tally_print(&load.tally, load.arguments.format, stdout);
        is_clean = close_log(&load) && save_jobs(&load) && tally_is_clean(&load.tally);
    }
    clear(&load);
    curl_global_cleanup();
    return is_clean ? EXIT_SUCCESS : EXIT_FAILURE;
}
