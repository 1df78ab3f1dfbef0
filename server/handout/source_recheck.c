/* SPDX-License-Identifier: Apache-2.0 */
/* The database is asked which candidates out of the pool are still unsent. After a claim has failed
 * the pool is known to be behind the database: jobs were withdrawn, perhaps by the thousand, or
 * other servers were quicker. So what is left of the batch is checked at once, and the neighbours
 * of what was not got, which are the jobs of the same classes; and from then on each batch is
 * checked before it is offered. What is gone leaves the pool. One lost race should cost little, and
 * a mass withdrawal few round trips: the first page of neighbours is small, and pages grow for as
 * long as everything on them was gone.
 *
 * A few jobs are asked for by id. Larger pages are asked for by the span of their ids in the index
 * of unsent results, which is one round trip for each priority. A job that is not found in its span
 * may have been given another priority by another program, so the pool reads it again. */
#include "server/handout/source_parts.h"

#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/sorted.h"
#include "server/rpc/request.h"

#include <stdlib.h>

#include "server/base/banned.h"

enum {
    BY_ID_MAX = RECHECK_FIRST, /* jobs asked for by id: what one statement takes */
    SPAN_MAX = RECHECK_MOST,   /* rows of a span that are read */
    SPANS_MAX = 4,             /* of as many priorities; what is of others counts as unsent */
    RECHECKED_MAX = 1 << 14,   /* jobs of one search */
};

size_t recheck_grown(size_t page)
{
    enum { GROWTH = 4 };

    return page < RECHECK_MOST / GROWTH ? page * GROWTH : RECHECK_MOST;
}

/* --- questions -------------------------------------------------------------------------------- */

/* Jobs that are asked about, and what the database said of them. */
struct inquiry {
    struct request *request;
    const struct pool_job *jobs;
    bool *is_gone;    /* of each */
    int64_t *over;    /* ids: read, and not to be handed out any more */
    int64_t *missing; /* ids: not found in their span */
    size_t over_count, missing_count;
};

/* Judges jobs by rows that are sorted by id and reach up to `last`. */
static void judge(struct inquiry *inquiry, size_t begin, size_t end, const struct unsent_job *rows,
                  size_t row_count, int64_t last, bool by_id)
{
    for (size_t i = begin; i < end; i++) {
        int64_t id = inquiry->jobs[i].resultid;
        const struct unsent_job *row =
            row_count == 0 ? NULL
                           : bsearch(&id, rows, row_count, sizeof(rows[0]), sorted_compare_ids);

        if (inquiry->is_gone[i] || id > last || (row != NULL && row->is_free))
            continue;
        inquiry->is_gone[i] = true;
        if (by_id || row != NULL)
            inquiry->over[inquiry->over_count++] = id;
        else
            inquiry->missing[inquiry->missing_count++] = id;
    }
}

static enum status ask_by_id(struct inquiry *inquiry, size_t count)
{
    struct request *request = inquiry->request;
    int64_t ids[BY_ID_MAX];
    struct unsent_job *rows = NULL;
    size_t id_count = 0, row_count = 0;
    enum status status;

    for (size_t i = 0; i < count; i++)
        if (!inquiry->is_gone[i])
            ids[id_count++] = inquiry->jobs[i].resultid;
    if (id_count == 0)
        return STATUS_OK;
    status = db_unsent_by_id(request->db, request->arena, ids, id_count, &rows, &row_count);
    if (status != STATUS_OK)
        return status;
    if (row_count > 0)
        qsort(rows, row_count, sizeof(rows[0]), sorted_compare_ids);
    judge(inquiry, 0, count, rows, row_count, INT64_MAX, true);
    return STATUS_OK;
}

/* Of jobs of one priority. What lies behind the rows that are read counts as unsent. */
static enum status ask_by_span(struct inquiry *inquiry, size_t begin, size_t end)
{
    struct request *request = inquiry->request;
    struct unsent_job *rows = NULL;
    size_t row_count = 0;
    int64_t first = INT64_MAX, last;
    enum status status;

    for (size_t i = begin; i < end; i++)
        if (!inquiry->is_gone[i] && inquiry->jobs[i].resultid < first)
            first = inquiry->jobs[i].resultid;
    if (first == INT64_MAX)
        return STATUS_OK;
    status = db_unsent_page(request->db, request->arena, inquiry->jobs[begin].priority, first - 1,
                            SPAN_MAX, &rows, &row_count);
    if (status != STATUS_OK)
        return status;
    last = row_count == SPAN_MAX ? rows[row_count - 1].resultid : INT64_MAX;
    judge(inquiry, begin, end, rows, row_count, last, false);
    return STATUS_OK;
}

static enum status ask_by_spans(struct inquiry *inquiry, size_t count)
{
    const struct pool_job *jobs = inquiry->jobs;
    size_t begin = 0, spans = 0;
    enum status status = STATUS_OK;

    for (size_t end = 1; end <= count && status == STATUS_OK && spans < SPANS_MAX; end++) {
        if (end < count && jobs[end].priority == jobs[begin].priority)
            continue;
        status = ask_by_span(inquiry, begin, end);
        begin = end;
        spans++;
    }
    return status;
}

enum status recheck_jobs(struct request *request, const struct pool_job *jobs, size_t count,
                         bool *is_gone)
{
    struct arena_mark mark = arena_mark(request->arena);
    struct inquiry inquiry = {.request = request,
                              .jobs = jobs,
                              .is_gone = is_gone,
                              .over = ARENA_ARRAY(request->arena, count, int64_t),
                              .missing = ARENA_ARRAY(request->arena, count, int64_t)};
    enum status status;

    if (inquiry.over == NULL || inquiry.missing == NULL)
        return STATUS_NO_MEMORY;
    status = count <= BY_ID_MAX ? ask_by_id(&inquiry, count) : ask_by_spans(&inquiry, count);
    if (status != STATUS_OK)
        return status;
    pool_drop(request->pool, inquiry.over, inquiry.over_count);
    if (inquiry.missing_count > 0)
        pool_reread(request->pool, inquiry.missing, inquiry.missing_count);
    arena_rewind(request->arena, mark);
    return STATUS_OK;
}

/* --- after a failed claim --------------------------------------------------------------------- */

static void spend_asks(struct source *source, size_t count)
{
    source->asks_left -= count < source->asks_left ? count : source->asks_left;
}

/* Marks what is left of the batch and is gone. */
static enum status recheck_batch(struct source *source, struct job *jobs, size_t count)
{
    bool *is_gone = ARENA_ARRAY(source->request->arena, count, bool);
    enum status status;

    if (source->asks_left == 0)
        return STATUS_OK;
    if (is_gone == NULL)
        return STATUS_NO_MEMORY;
    spend_asks(source, count);
    for (size_t i = 0; i < count; i++)
        is_gone[i] = jobs[i].is_gone;
    status = recheck_jobs(source->request, source->batch, count, is_gone);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        jobs[i].is_gone = is_gone[i];
    return status;
}

/* The classes that jobs of the batch were chosen from, each once in a row. */
static size_t classes_chosen(const struct source *source, const struct job *jobs, size_t count,
                             struct pool_more *ret_classes)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++)
        if (jobs[i].is_gone &&
            (found == 0 || ret_classes[found - 1].class_number != source->batch[i].class_number))
            ret_classes[found++].class_number = source->batch[i].class_number;
    return found;
}

/* One page of neighbours, which are taken for as long as that takes. *ret_again: all of a whole
 * page were gone. */
static enum status recheck_neighbours(struct source *source, struct pool_more *classes,
                                      size_t class_count, size_t page_max, bool *ret_again)
{
    struct request *request = source->request;
    struct arena_mark mark = arena_mark(request->arena);
    const struct pool_question question = {.jobs_max = page_max};
    bool *is_gone = ARENA_ARRAY(request->arena, page_max, bool);
    int64_t *taken = ARENA_ARRAY(request->arena, page_max, int64_t);
    struct pool_answer page;
    size_t taken_count = 0;
    enum status status = STATUS_NO_MEMORY;

    if (is_gone == NULL || taken == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < class_count; i++)
        classes[i].jobs = page_max / class_count + 1;
    if (pool_take_more(request->pool, request->arena, &question, classes, class_count, &page))
        status = recheck_jobs(request, page.jobs, page.count, is_gone);
    spend_asks(source, page.count);
    for (size_t i = 0; i < page.count; i++)
        if (status != STATUS_OK || !is_gone[i])
            taken[taken_count++] = page.jobs[i].resultid;
    pool_return(request->pool, taken, taken_count);
    *ret_again = page.count == page_max && taken_count == 0;
    if (status == STATUS_OK)
        arena_rewind(request->arena, mark);
    return status;
}

enum status source_recheck(struct source *source, struct job *jobs, size_t count)
{
    struct arena *arena = source->request->arena;
    struct pool_more *classes;
    struct arena_mark mark;
    size_t class_count;
    bool again;
    enum status status;

    if (!source->has_pool || source->pool_is_done)
        return STATUS_OK;
    /* For the pages to come, a page and what takes its place: else the first of them would have it
     * made, and its memory could not be given back. */
    if (!source_make_place(source->request, 2 * (size_t)RECHECK_MOST))
        return STATUS_NO_MEMORY;
    mark = arena_mark(arena);
    classes = ARENA_ARRAY(arena, count, struct pool_more);
    if (classes == NULL)
        return STATUS_NO_MEMORY;
    if (!source->is_rechecking) {
        source->is_rechecking = true;
        source->recheck_page = RECHECK_FIRST;
        if (source->asks_left > RECHECKED_MAX)
            source->asks_left = RECHECKED_MAX;
    }
    class_count = classes_chosen(source, jobs, count, classes);
    status = recheck_batch(source, jobs, count);
    again = class_count > 0;
    for (size_t page = RECHECK_FIRST; status == STATUS_OK && again && source->asks_left > 0;
         page = recheck_grown(page))
        status = recheck_neighbours(source, classes, class_count,
                                    page < source->asks_left ? page : source->asks_left, &again);
    if (status == STATUS_OK)
        arena_rewind(arena, mark);
    return status;
}
