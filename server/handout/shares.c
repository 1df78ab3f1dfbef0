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

/* A job in the reply. The newest comes first. */
struct stream_booking {
    struct stream_booking *next;
    struct pool_booking of_pool;
};

bool shares_read(const struct request *request, struct host_view *view)
{
    struct streams *streams;

    if (!streams_exist(request->config))
        return true;
    streams = ARENA_NEW(request->arena, struct streams);
    if (streams == NULL)
        return false;
    (void)streams_read(request->config, streams);
    view->streams = streams;
    return true;
}

/* --- jobs by query ---------------------------------------------------------------------------- */

static bool needs_owners(const struct streams *streams)
{
    for (size_t i = 0; i < streams->count; i++)
        if (streams->items[i].kind == STREAM_USER)
            return true;
    return streams->by_owner;
}

/* The batches of the jobs, by rising id, and whose they are. */
struct owners {
    struct batch_owner_row *rows;
    size_t count;
};

static enum status find_owners(struct request *request, const struct streams *streams,
                               const struct job *jobs, size_t count, struct owners *ret_owners)
{
    int64_t *batches;
    size_t found = 0;

    *ret_owners = (struct owners){0};
    if (!needs_owners(streams) || !db_has_batches(request->db))
        return STATUS_OK;
    batches = ARENA_ARRAY(request->arena, count, int64_t);
    if (batches == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        if (jobs[i].workunit->batch > 0)
            batches[found++] = jobs[i].workunit->batch;
    found = sorted_ids(batches, found);
    return found == 0 ? STATUS_OK
                      : db_batch_owners(request->db, request->arena, batches, found,
                                        &ret_owners->rows, &ret_owners->count);
}

static struct stream find_stream(const struct request *request, const struct streams *streams,
                                 const struct owners *owners, const struct job *job)
{
    struct stream_subject subject = {.batch = job->workunit->batch};
    const struct batch_owner_row *owner = owners->count == 0
                                              ? NULL
                                              : bsearch(&subject.batch, owners->rows, owners->count,
                                                        sizeof(*owner), sorted_compare_ids);
    struct stream stream;

    if (job->app != NULL) {
        subject.app_name = job->app->name;
        subject.appid = job->app->id;
    }
    if (owner != NULL) {
        subject.ownerid = owner->user_id;
        subject.owner_weight = owner->quota;
    }
    stream = stream_of(streams, &subject);
    if (request->pool != NULL)
        pool_stream_find(request->pool, &stream);
    else
        stream.clock =
            stream_clock_drawn(random_mix(request->seed, SEED_SHARES), stream.key, stream.weight);
    return stream;
}

static enum status find_streams(struct request *request, const struct streams *streams,
                                struct job *jobs, size_t count)
{
    struct owners owners;
    enum status status;

    if (count > 0 && jobs[0].stream.weight > 0) /* out of the pool */
        return STATUS_OK;
    status = find_owners(request, streams, jobs, count, &owners);
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        jobs[i].stream = find_stream(request, streams, &owners, &jobs[i]);
    return status;
}

/* --- all jobs --------------------------------------------------------------------------------- */

/* By what this request gave them before. */
static void advance_clocks(const struct request *request, struct job *jobs, size_t count)
{
    const struct stream_booking *booking = request->attempt.bookings;

    for (; booking != NULL; booking = booking->next)
        for (size_t i = 0; i < count; i++)
            if (stream_key_equal(jobs[i].stream.key, booking->of_pool.key))
                jobs[i].stream.clock += booking->of_pool.flops / jobs[i].stream.weight;
}

/* Candidates come by falling priority. Those of owners' streams, whatever their priority, are all
 * of one level: they go where the others pass that level. */
static bool sort_by_level(struct arena *arena, struct job *jobs, size_t count)
{
    struct job *sorted = ARENA_ARRAY(arena, count, struct job);
    size_t found = 0;

    if (sorted == NULL)
        return false;
    for (int sign = 1; sign >= -1; sign--)
        for (size_t i = 0; i < count; i++) {
            int64_t level = stream_level(jobs[i].stream.key, jobs[i].priority);

            if ((level > 0) - (level < 0) == sign)
                sorted[found++] = jobs[i];
        }
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
    struct stream_booking *booking;

    if (view->streams == NULL)
        return;
    booking = ARENA_NEW(request->arena, struct stream_booking);
    if (booking == NULL) /* the reply does not fit either */
        return;
    *booking = (struct stream_booking){
        .next = request->attempt.bookings,
        .of_pool = {.key = job->stream.key, .flops = fmax(job->workunit->rsc_fpops_est, 1)}};
    request->attempt.bookings = booking;
}

void shares_commit(struct request *request)
{
    const struct stream_booking *booking = request->attempt.bookings;

    request->attempt.bookings = NULL;
    for (; booking != NULL && request->pool != NULL; booking = booking->next)
        pool_charge(request->pool, &booking->of_pool, 1);
}
