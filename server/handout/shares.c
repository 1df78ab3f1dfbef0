/* SPDX-License-Identifier: Apache-2.0 */
/* The pool keeps the clocks of streams. Without it (plain CGI) each request draws lots, which
 * shares as well, only less evenly, and only among the candidates of its queries. */
#include "server/handout/shares.h"

#include "server/base/arena.h"
#include "server/base/random.h"
#include "server/base/sorted.h"
#include "server/policy/dispatch/stream.h"
#include "server/pool/pool.h"
#include "server/rpc/request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

enum { SEED_SHARES = 0x7368 };

bool shares_read(const struct request *request, struct host_view *view)
{
    struct streams *streams;
    size_t bad; /* of which the filler tells */

    if (!streams_exist(request->config))
        return true;
    streams = ARENA_NEW(request->arena, struct streams);
    if (streams == NULL || !streams_read(request->config, request->arena, streams, &bad))
        return false;
    view->streams = streams;
    return true;
}

/* --- jobs by query ---------------------------------------------------------------------------- */

/* Of each job; NULL: it does not matter whose they are. */
static enum status find_owners(struct request *request, const struct streams *streams,
                               const struct job *jobs, size_t count,
                               struct batch_owner_row **ret_owners)
{
    int64_t *batches;

    *ret_owners = NULL;
    if (!streams_ask_for_owners(streams) || !db_has_batches(request->db))
        return STATUS_OK;
    batches = ARENA_ARRAY(request->arena, count, int64_t);
    *ret_owners = ARENA_ARRAY(request->arena, count, struct batch_owner_row);
    if (batches == NULL || *ret_owners == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        batches[i] = jobs[i].workunit->batch;
    return db_batch_owners(request->db, request->arena, batches, count, *ret_owners);
}

static struct stream stream_of_job(const struct streams *streams,
                                   const struct batch_owner_row *owner, const struct job *job)
{
    struct stream_subject subject = {.batch = job->workunit->batch};

    if (job->app != NULL) {
        subject.app_name = job->app->name;
        subject.appid = job->app->id;
    }
    if (owner != NULL) {
        subject.ownerid = owner->user_id;
        subject.owner_weight = owner->quota;
    }
    return stream_of(streams, &subject);
}

static void find_clock(const struct request *request, struct stream *stream)
{
    if (request->pool != NULL)
        pool_stream_find(request->pool, stream);
    else
        stream->clock =
            stream_clock_drawn(random_mix(request->seed, SEED_SHARES), stream->key, stream->weight);
}

static enum status find_streams(struct request *request, const struct streams *streams,
                                struct job *jobs, size_t count)
{
    struct batch_owner_row *owners;
    enum status status;

    if (count > 0 && jobs[0].stream.weight > 0) /* out of the pool */
        return STATUS_OK;
    status = find_owners(request, streams, jobs, count, &owners);
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        struct stream *stream = &jobs[i].stream;

        *stream = stream_of_job(streams, owners != NULL ? &owners[i] : NULL, &jobs[i]);
        if (i > 0 && stream_key_equal(stream->key, jobs[i - 1].stream.key))
            *stream = jobs[i - 1].stream; /* jobs that were made together lie together */
        else
            find_clock(request, stream);
    }
    return status;
}

/* --- all jobs --------------------------------------------------------------------------------- */

/* By what this request gave them before. */
static void advance_clocks(const struct request *request, struct job *jobs, size_t count)
{
    const struct pool_booking *booking = request->attempt.bookings;

    for (; booking != NULL; booking = booking->next)
        for (size_t i = 0; i < count; i++)
            if (stream_key_equal(jobs[i].stream.key, booking->key))
                stream_advance(&jobs[i].stream, booking->flops);
}

static int64_t level_of(const struct job *job)
{
    return stream_level(job->stream.key, job->priority);
}

static bool is_sorted(const struct job *jobs, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (level_of(&jobs[i]) > level_of(&jobs[i - 1]))
            return false;
    return true;
}

/* Candidates by query come by falling priority. Those of owners' streams, whatever their priority,
 * are all of one level: they go where the others pass that level. */
static bool sort_by_level(struct arena *arena, struct job *jobs, size_t count)
{
    struct job *sorted;
    size_t found = 0;

    if (is_sorted(jobs, count))
        return true;
    sorted = ARENA_ARRAY(arena, count, struct job);
    if (sorted == NULL)
        return false;
    for (int sign = 1; sign >= -1; sign--)
        for (size_t i = 0; i < count; i++)
            if ((level_of(&jobs[i]) > 0) - (level_of(&jobs[i]) < 0) == sign)
                sorted[found++] = jobs[i];
    memcpy(jobs, sorted, count * sizeof(jobs[0]));
    return true;
}

enum status shares_mark(struct request *request, const struct host_view *view, struct job *jobs,
                        size_t count)
{
    enum status status;

    if (view->streams == NULL)
        return STATUS_OK;
    status = find_streams(request, view->streams, jobs, count);
    if (status != STATUS_OK)
        return status;
    advance_clocks(request, jobs, count);
    return sort_by_level(request->arena, jobs, count) ? STATUS_OK : STATUS_NO_MEMORY;
}

void shares_book(struct request *request, const struct host_view *view, const struct job *job)
{
    struct pool_booking *booking;

    if (view->streams == NULL)
        return;
    booking = ARENA_NEW(request->arena, struct pool_booking);
    if (booking == NULL) /* the reply does not fit either */
        return;
    *booking = (struct pool_booking){.next = request->attempt.bookings,
                                     .key = job->stream.key,
                                     .flops = stream_flops(job->workunit->rsc_fpops_est)};
    request->attempt.bookings = booking;
}

void shares_commit(struct request *request)
{
    const struct pool_booking *first = request->attempt.bookings;

    request->attempt.bookings = NULL;
    if (first != NULL && request->pool != NULL)
        pool_charge(request->pool, first);
}
