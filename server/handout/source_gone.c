/* SPDX-License-Identifier: Apache-2.0 */
/* Which candidates out of the pool are there no more. After a claim has failed the pool is known to
 * be behind the database: jobs were withdrawn, perhaps by the thousand, or other servers were
 * quicker. So it is asked at once about what is left of the batch and about the neighbours of what
 * was not got, the jobs of the same classes; and from then on about each batch before it is
 * offered. What is gone leaves the pool. A few jobs are asked for by id, and pages of thousands by
 * the span of their ids in the index of unsent results, which is one round trip for each priority.
 */
#include "server/handout/source_parts.h"

#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/sorted.h"
#include "server/rpc/request.h"

#include "server/base/banned.h"

enum {
    BY_ID_MAX = 256,     /* jobs asked for by id: what one statement takes */
    SPAN_MAX = 4096,     /* rows of a span that are read */
    SPANS_MAX = 4,       /* of as many priorities; what is of others counts as there */
    NEIGHBOURS = 4096,   /* asked about at a time */
    LOOKS_MAX = 1 << 14, /* jobs of one search that are asked about */
};

/* Of rows, all of them unsent or not, the results that can be handed out, sorted. NULL: no memory.
 */
static int64_t *open_among(struct arena *arena, const struct unsent_job *rows, size_t count,
                           size_t *ret_count)
{
    int64_t *ids = ARENA_ARRAY(arena, count, int64_t);
    size_t found = 0;

    for (size_t i = 0; ids != NULL && i < count; i++)
        if (rows[i].is_free)
            ids[found++] = rows[i].resultid;
    *ret_count = ids != NULL ? sorted_ids(ids, found) : 0;
    return ids;
}

static enum status find_by_id(struct request *request, const struct pool_job *jobs, size_t count,
                              bool *ret_gone)
{
    int64_t ids[BY_ID_MAX];
    const int64_t *open;
    struct unsent_job *rows = NULL;
    size_t row_count = 0, open_count;
    enum status status;

    for (size_t i = 0; i < count; i++)
        ids[i] = jobs[i].resultid;
    status = db_unsent_by_id(request->db, request->arena, ids, count, &rows, &row_count);
    if (status != STATUS_OK)
        return status;
    open = open_among(request->arena, rows, row_count, &open_count);
    if (open == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        ret_gone[i] = sorted_find_id(open, open_count, jobs[i].resultid) == open_count;
    return STATUS_OK;
}

/* The same for jobs of one priority. What lies behind the rows that are read counts as there. */
static enum status find_in_span(struct request *request, const struct pool_job *jobs, size_t count,
                                bool *ret_gone)
{
    const int64_t *open;
    struct unsent_job *rows = NULL;
    size_t row_count = 0, open_count;
    int64_t first = jobs[0].resultid, last = INT64_MAX;
    enum status status;

    for (size_t i = 1; i < count; i++)
        first = jobs[i].resultid < first ? jobs[i].resultid : first;
    status = db_unsent_page(request->db, request->arena, jobs[0].priority, first - 1, SPAN_MAX,
                            &rows, &row_count);
    if (status != STATUS_OK)
        return status;
    if (row_count == SPAN_MAX)
        last = rows[row_count - 1].resultid;
    open = open_among(request->arena, rows, row_count, &open_count);
    if (open == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        ret_gone[i] = jobs[i].resultid <= last &&
                      sorted_find_id(open, open_count, jobs[i].resultid) == open_count;
    return STATUS_OK;
}

enum status gone_find(struct request *request, const struct pool_job *jobs, size_t count,
                      bool *ret_gone)
{
    size_t begin = 0, spans = 0;
    enum status status = STATUS_OK;

    for (size_t i = 0; i < count; i++)
        ret_gone[i] = false;
    if (count == 0)
        return STATUS_OK;
    if (count <= BY_ID_MAX)
        return find_by_id(request, jobs, count, ret_gone);
    for (size_t end = 1; end <= count && status == STATUS_OK && spans < SPANS_MAX; end++) {
        if (end < count && jobs[end].priority == jobs[begin].priority)
            continue;
        status = find_in_span(request, jobs + begin, end - begin, ret_gone + begin);
        begin = end;
        spans++;
    }
    return status;
}

static void spend_asks(struct source *source, size_t count)
{
    source->asks_left -= count < source->asks_left ? count : source->asks_left;
}

/* Marks what is left of the batch and is gone. */
static enum status look_at_batch(struct source *source, struct job *jobs, size_t count)
{
    bool *gone = ARENA_ARRAY(source->request->arena, count, bool);
    enum status status;

    if (gone == NULL)
        return STATUS_NO_MEMORY;
    spend_asks(source, count);
    status = gone_find(source->request, source->batch, count, gone);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        if (jobs[i].is_gone || !gone[i])
            continue;
        jobs[i].is_gone = true;
        pool_drop(source->request->pool, &jobs[i].resultid, 1);
    }
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
    for (size_t i = 0; i < found; i++)
        ret_classes[i].jobs = NEIGHBOURS / found + 1;
    return found;
}

/* Asks about a page of neighbours, which are held for as long as that takes. *ret_again: all of a
 * whole page were gone. */
static enum status look_at_neighbours(struct source *source, const struct pool_more *classes,
                                      size_t class_count, bool *ret_again)
{
    struct request *request = source->request;
    const struct pool_question question = {.jobs_max = NEIGHBOURS};
    bool *gone = ARENA_ARRAY(request->arena, NEIGHBOURS, bool);
    struct pool_answer page;
    size_t gone_count = 0;
    enum status status = STATUS_NO_MEMORY;

    if (pool_take_more(request->pool, request->arena, &question, classes, class_count, &page) &&
        gone != NULL)
        status = gone_find(request, page.jobs, page.count, gone);
    spend_asks(source, page.count);
    for (size_t i = 0; i < page.count; i++) {
        bool is_gone = status == STATUS_OK && gone[i];

        (is_gone ? pool_drop : pool_return)(request->pool, &page.jobs[i].resultid, 1);
        gone_count += is_gone;
    }
    *ret_again = gone_count == NEIGHBOURS;
    return status;
}

enum status source_look(struct source *source, struct job *jobs, size_t count)
{
    struct pool_more *classes = ARENA_ARRAY(source->request->arena, count, struct pool_more);
    bool again = true;
    size_t class_count;
    enum status status;

    if (!source->has_pool || source->pool_is_done)
        return STATUS_OK;
    if (classes == NULL)
        return STATUS_NO_MEMORY;
    if (!source->looks && source->asks_left > LOOKS_MAX)
        source->asks_left = LOOKS_MAX;
    source->looks = true;
    class_count = classes_chosen(source, jobs, count, classes);
    status = look_at_batch(source, jobs, count);
    while (status == STATUS_OK && again && source->asks_left > 0)
        status = look_at_neighbours(source, classes, class_count, &again);
    return status;
}
