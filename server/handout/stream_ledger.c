/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger is one lock around a few numbers. It is a guide, not an account: servers do not share
 * it. Without one (CGI) each request draws lots, which shares as well, only less evenly. */
#include "server/handout/stream_ledger.h"

#include "server/base/arena.h"
#include "server/base/log.h"
#include "server/base/random.h"
#include "server/base/sorted.h"
#include "server/policy/dispatch/stream.h"
#include "server/rpc/request.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

enum { SEED_SHARES = 0x7368 };

struct stream_ledger {
    pthread_mutex_t lock;
    uint64_t key; /* of the option that the shares belong to */
    struct stream_shares shares;
    double given[STREAMS_MAX]; /* FLOP */
};

/* A job in the reply. The newest comes first. */
struct stream_booking {
    struct stream_booking *next;
    const struct streams *streams;
    size_t stream;
    double flops;
};

struct stream_ledger *stream_ledger_create(void)
{
    struct stream_ledger *ledger = calloc(1, sizeof(*ledger));

    if (ledger != NULL && pthread_mutex_init(&ledger->lock, NULL) != 0) {
        free(ledger);
        return NULL;
    }
    return ledger;
}

void stream_ledger_destroy(struct stream_ledger *ledger)
{
    if (ledger == NULL)
        return;
    pthread_mutex_destroy(&ledger->lock);
    free(ledger);
}

/* The ledger, locked, for the streams in force. */
static struct stream_shares *ledger_lock(struct stream_ledger *ledger, struct text_list lines,
                                         size_t bad)
{
    uint64_t key =
        stream_lines_key(lines); /* others: what the old ones had says nothing about them */

    pthread_mutex_lock(&ledger->lock);
    if (ledger->key != key) {
        ledger->shares = (struct stream_shares){0};
        memset(ledger->given, 0, sizeof(ledger->given));
        if (bad > 0)
            log_line(LOG_LEVEL_WARNING, "event=streams_refused lines=%zu", bad);
    }
    ledger->key = key;
    return &ledger->shares;
}

bool shares_read(const struct request *request, struct host_view *view)
{
    struct text_list lines = request->config->stream;
    struct streams *streams;
    size_t bad;

    if (lines.count == 0)
        return true;
    streams = ARENA_NEW(request->arena, struct streams);
    if (streams == NULL)
        return false;
    bad = streams_read(lines, streams);
    view->streams = streams;
    if (request->ledger != NULL) {
        view->shares = *ledger_lock(request->ledger, lines, bad);
        pthread_mutex_unlock(&request->ledger->lock);
    } else {
        struct random random = {.state = random_mix(request->seed, SEED_SHARES)};
        double chances[STREAMS_MAX];

        for (size_t i = 0; i < STREAMS_MAX; i++)
            chances[i] = 1 - random_unit(&random);
        stream_shares_draw(streams, chances, &view->shares);
    }
    return true;
}

static bool has_users(const struct streams *streams)
{
    for (size_t i = 0; i < streams->count; i++)
        if (streams->items[i].kind == STREAM_USER)
            return true;
    return false;
}

/* The batches of jobs, by rising id, and whose they are. */
struct owners {
    int64_t *batches, *userids;
    size_t count;
};

static enum status find_owners(struct request *request, const struct job *jobs, size_t count,
                               struct owners *ret_owners)
{
    int64_t *batches = ARENA_ARRAY(request->arena, count, int64_t);
    int64_t *userids = ARENA_ARRAY(request->arena, count, int64_t);
    size_t found = 0;

    if (batches == NULL || userids == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        if (jobs[i].workunit->batch > 0)
            batches[found++] = jobs[i].workunit->batch;
    found = sorted_ids(batches, found);
    *ret_owners = (struct owners){.batches = batches, .userids = userids, .count = found};
    return found == 0 ? STATUS_OK
                      : db_batch_owners(request->db, request->arena, batches, found, userids);
}

/* 0: nobody's. */
static int64_t owner_of(const struct owners *owners, int64_t batch)
{
    size_t at = sorted_find_id(owners->batches, owners->count, batch);

    return at < owners->count ? owners->userids[at] : 0;
}

enum status shares_mark(struct request *request, const struct host_view *view, struct job *jobs,
                        size_t count)
{
    struct owners owners = {0};
    enum status status = STATUS_OK;

    if (view->streams == NULL)
        return STATUS_OK;
    if (has_users(view->streams))
        status = find_owners(request, jobs, count, &owners);
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        int64_t batch = jobs[i].workunit->batch;

        if (jobs[i].app != NULL)
            jobs[i].stream =
                stream_of(view->streams, jobs[i].app->name, batch, owner_of(&owners, batch));
    }
    return status;
}

void shares_book(struct request *request, struct host_view *view, const struct job *job)
{
    struct stream_booking *booking;

    if (view->streams == NULL)
        return;
    stream_charge(view->streams, &view->shares, job->stream, job->workunit->rsc_fpops_est);
    booking = ARENA_NEW(request->arena, struct stream_booking);
    if (booking == NULL) /* the reply does not fit either */
        return;
    *booking = (struct stream_booking){.next = request->attempt.bookings,
                                       .streams = view->streams,
                                       .stream = job->stream,
                                       .flops = job->workunit->rsc_fpops_est};
    request->attempt.bookings = booking;
}

void shares_commit(struct request *request)
{
    const struct stream_booking *booking = request->attempt.bookings;
    struct stream_shares *shares;

    request->attempt.bookings = NULL;
    if (request->ledger == NULL || booking == NULL)
        return;
    shares = ledger_lock(request->ledger, request->config->stream, 0);
    for (; booking != NULL; booking = booking->next) {
        stream_charge(booking->streams, shares, booking->stream, booking->flops);
        request->ledger->given[booking->stream] += fmax(booking->flops, 0);
    }
    pthread_mutex_unlock(&request->ledger->lock);
}

static struct text words_of(struct arena *arena, const struct stream *stream)
{
    switch (stream->kind) {
    case STREAM_APP:
        return text_print(arena, "app " TEXT_FORMAT, TEXT_ARG(stream->name));
    case STREAM_USER:
        return text_print(arena, "user %" PRId64, stream->id);
    case STREAM_BATCH:
        return text_print(arena, "batch %" PRId64, stream->id);
    case STREAM_REST:
        break;
    }
    return TEXT("rest");
}

bool stream_ledger_figures(struct stream_ledger *ledger, struct text_list lines,
                           struct arena *arena, struct stream_given **ret_streams,
                           size_t *ret_count)
{
    struct streams *streams = ARENA_NEW(arena, struct streams);
    struct stream_given *given = ARENA_ARRAY(arena, STREAMS_MAX, struct stream_given);

    *ret_count = 0;
    if (streams == NULL || given == NULL)
        return false;
    *ret_streams = given;
    if (lines.count == 0)
        return true;
    (void)streams_read(lines, streams);
    pthread_mutex_lock(&ledger->lock);
    for (size_t i = 0; i < streams->count; i++)
        given[i] = (struct stream_given){
            .words = words_of(arena, &streams->items[i]),
            .weight = streams->items[i].weight,
            .flops = ledger->key == stream_lines_key(lines) ? ledger->given[i] : 0};
    pthread_mutex_unlock(&ledger->lock);
    *ret_count = streams->count;
    return !arena_overflowed(arena);
}
