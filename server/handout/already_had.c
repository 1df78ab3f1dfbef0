/* SPDX-License-Identifier: Apache-2.0 */
/* Which candidates belong to workunits of which the user, or the host, already had a result.
 *
 * Rules of one result per user or host are decided under the lock of the workunit. But to lock all
 * that these rules refuse would cost others their time, and would itself lead to deadlocks among
 * the hosts of one user, who are offered the same results. So a query without locks sorts out
 * what was had long ago; what happened since is found under the lock.
 *
 * The own workunits of a user with much of a project's power stand before all others: the pool may
 * hold 100,000 of them in front of one that he may have. So what the query finds is remembered by
 * the pool (server/pool/had_before.c) and goes back to it at once, for others to take, and the
 * search goes on behind it, a page at a time. This costs about as many queries as there are pages
 * once in a while, and nothing in the requests that follow. How many results the user has had in
 * all does not matter. */
#include "server/handout/source_parts.h"

#include "config/config.h"
#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/sorted.h"
#include "server/rpc/request.h"
#include "server/rpc/world.h"

#include <stdlib.h>

#include "server/base/banned.h"

enum {
    PAGE = 1024,     /* jobs asked about, and taken, at a time */
    PAGE_GROWTH = 4, /* up to there, for the next page */
};

static bool has_rule(const struct config *config)
{
    return config->one_result_per_user_per_wu || config->one_result_per_host_per_wu;
}

static int compare(const void *key, const void *row)
{
    int64_t id = *(const int64_t *)key, other = ((const struct had_workunit *)row)->id;
    return (id > other) - (id < other);
}

/* What the database says of these workunits. */
struct had_answer {
    struct had_workunit *rows;
    size_t count;
};

static enum status look_up(struct request *request, const int64_t *ids, size_t count,
                           struct had_answer *ret_answer)
{
    *ret_answer = (struct had_answer){0};
    return request->world->workunits_had(request, ids, count, &ret_answer->rows,
                                         &ret_answer->count);
}

static bool already_had(const struct config *config, const struct had_answer *answer,
                        int64_t workunitid, bool *ret_user, bool *ret_host)
{
    const struct had_workunit *row =
        answer->count == 0
            ? NULL
            : bsearch(&workunitid, answer->rows, answer->count, sizeof(answer->rows[0]), compare);

    *ret_user = row != NULL && config->one_result_per_user_per_wu && row->by_user;
    *ret_host = row != NULL && config->one_result_per_host_per_wu && row->by_host;
    return *ret_user || *ret_host;
}

enum status had_mark(struct request *request, struct job *jobs, size_t count)
{
    int64_t *ids = ARENA_ARRAY(request->arena, count, int64_t);
    struct had_answer answer;
    enum status status;

    if (!has_rule(request->config))
        return STATUS_OK;
    if (ids == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        ids[i] = jobs[i].workunit->id;
    status = look_up(request, ids, count, &answer);
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        (void)already_had(request->config, &answer, ids[i], &jobs[i].user_had_one,
                          &jobs[i].host_had_one);
    return status;
}

/* --- out of the pool -------------------------------------------------------------------------- */

/* What is in the reply but not committed is passed over without being remembered. */
bool had_ask(struct request *request, struct pool_question *question)
{
    const struct answer *answer = &request->attempt.answer;
    int64_t *ids;

    if (!has_rule(request->config))
        return true;
    if (request->config->one_result_per_user_per_wu)
        question->subjects[POOL_USER] = request->attempt.user.id;
    if (request->config->one_result_per_host_per_wu)
        question->subjects[POOL_HOST] = request->attempt.host.id;
    ids = ARENA_ARRAY(request->arena, answer->job_count, int64_t);
    if (ids == NULL)
        return false;
    for (size_t i = 0; i < answer->job_count; i++)
        ids[i] = answer->jobs[i].workunitid;
    question->passed_over = ids;
    question->passed_over_count = sorted_ids(ids, answer->job_count);
    return true;
}

/* The classes of an answer of which nothing was kept yet, and what was. */
struct sieve {
    struct request *request;
    bool is_rechecking;            /* which of the results are still unsent */
    struct pool_question question; /* for more */
    struct pool_more *more;        /* in the order of the page: what each was to give */
    size_t more_count;
    struct pool_job *kept;
    size_t kept_count, kept_max;
    size_t taken_before; /* of request->taken */
    struct pool_job *example;
};

static bool sieve_begin(struct sieve *sieve, const struct pool_answer *page)
{
    struct arena *arena = sieve->request->arena;

    sieve->more = ARENA_ARRAY(arena, page->count, struct pool_more);
    sieve->kept = ARENA_ARRAY(arena, page->count, struct pool_job);
    if (sieve->more == NULL || sieve->kept == NULL)
        return false;
    for (size_t i = 0; i < page->count; i++) {
        if (i == 0 || page->jobs[i].class_number != page->jobs[i - 1].class_number)
            sieve->more[sieve->more_count++].class_number = page->jobs[i].class_number;
        sieve->more[sieve->more_count - 1].jobs++;
    }
    return source_make_place(sieve->request, sieve->is_rechecking ? RECHECK_MOST : PAGE);
}

static void remember(struct request *request, const struct pool_answer *page,
                     const struct had_answer *answer, enum pool_subject subject, int64_t *ids)
{
    const int64_t subjects[POOL_SUBJECTS] = {request->attempt.user.id, request->attempt.host.id};
    size_t count = 0;

    for (size_t i = 0; i < page->count; i++) {
        bool by[POOL_SUBJECTS];

        (void)already_had(request->config, answer, page->jobs[i].workunit.id, &by[POOL_USER],
                          &by[POOL_HOST]);
        if (by[subject])
            ids[count++] = page->jobs[i].workunit.id;
    }
    pool_note_had(request->pool, subject, subjects[subject], ids, count);
}

/* Drops what is gone: the page gets shorter. */
static enum status drop_gone(struct request *request, struct pool_answer *page)
{
    bool *is_gone = ARENA_ARRAY(request->arena, page->count, bool);
    size_t kept = 0;
    enum status status;

    if (is_gone == NULL)
        return STATUS_NO_MEMORY;
    status = recheck_jobs(request, page->jobs, page->count, is_gone);
    for (size_t i = 0; i < page->count && status == STATUS_OK; i++)
        if (!is_gone[i])
            page->jobs[kept++] = page->jobs[i];
    if (status == STATUS_OK)
        page->count = kept;
    return status;
}

static enum status ask_about_page(const struct sieve *sieve, struct pool_answer *page,
                                  struct had_answer *ret_answer)
{
    struct request *request = sieve->request;
    int64_t *ids = ARENA_ARRAY(request->arena, page->count, int64_t);
    enum status status = STATUS_OK;

    *ret_answer = (struct had_answer){0};
    if (ids == NULL)
        return STATUS_NO_MEMORY;
    if (sieve->is_rechecking)
        status = drop_gone(request, page);
    if (status != STATUS_OK || page->count == 0 || !has_rule(request->config))
        return status;
    for (size_t i = 0; i < page->count; i++)
        ids[i] = page->jobs[i].workunit.id;
    status = look_up(request, ids, page->count, ret_answer);
    for (int i = 0; status == STATUS_OK && i < POOL_SUBJECTS; i++)
        remember(request, page, ret_answer, (enum pool_subject)i, ids);
    return status;
}

/* Keeps of the page as much as each class was to give, and gives back the rest. Left in sieve->more
 * are the classes of which everything was had: one job that was not is enough to try a class. The
 * page is at the end of what is taken; there, what is kept is written from the beginning of its
 * place on, and what goes back from the end. */
static void keep(struct sieve *sieve, const struct pool_answer *page,
                 const struct had_answer *answer)
{
    struct request *request = sieve->request;
    int64_t *ids = request->taken.ids + sieve->taken_before + sieve->kept_count;
    size_t at = 0, left = 0, kept_here = 0, back = page->count;

    for (size_t i = 0; i < sieve->more_count; i++) {
        struct pool_more more = sieve->more[i];
        size_t begin = at, kept = 0;

        for (; at < page->count && page->jobs[at].class_number == more.class_number; at++) {
            const struct pool_job *job = &page->jobs[at];
            bool by_user, by_host;

            if (already_had(request->config, answer, job->workunit.id, &by_user, &by_host)) {
                if (sieve->example->resultid == 0)
                    *sieve->example = *job;
            } else if (kept < more.jobs && sieve->kept_count < sieve->kept_max) {
                sieve->kept[sieve->kept_count++] = *job;
                ids[kept_here++] = job->resultid;
                kept++;
                continue;
            }
            ids[--back] = job->resultid;
        }
        if (kept == 0 && (at > begin || sieve->is_rechecking))
            sieve->more[left++] = more;
    }
    sieve->more_count = left;
    pool_return(request->pool, ids + back, page->count - back);
    request->taken.count = sieve->taken_before + sieve->kept_count;
}

/* Of the page after one of `page` jobs of which nothing was kept. */
static size_t next_size(const struct sieve *sieve, size_t page)
{
    if (sieve->is_rechecking)
        return page < RECHECK_FIRST ? RECHECK_FIRST : recheck_grown(page);
    return page * PAGE_GROWTH < PAGE ? page * PAGE_GROWTH : PAGE;
}

/* An equal part of it for each class. */
static enum status next_page(struct sieve *sieve, size_t most, struct pool_answer *ret_page)
{
    struct request *request = sieve->request;
    struct pool_more *more = ARENA_ARRAY(request->arena, sieve->more_count, struct pool_more);
    bool done;

    if (more == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < sieve->more_count; i++) {
        more[i].class_number = sieve->more[i].class_number;
        more[i].jobs = most > sieve->more_count ? most / sieve->more_count : 1;
    }
    sieve->question.jobs_max = most;
    done = pool_take_more(request->pool, request->arena, &sieve->question, more, sieve->more_count,
                          ret_page);
    return source_note_taken(request, ret_page) && done ? STATUS_OK : STATUS_NO_MEMORY;
}

enum status had_sift(struct source *source, const struct pool_question *question, size_t kept_max,
                     struct pool_answer *answer)
{
    struct request *request = source->request;
    struct pool_job *example = &source->had_example;
    struct sieve sieve = {.request = request,
                          .is_rechecking = source->is_rechecking,
                          .question = *question,
                          .kept_max = kept_max,
                          .taken_before = request->taken.count - answer->count,
                          .example = example};
    struct pool_answer page = *answer;
    struct arena_mark mark = arena_mark(request->arena);
    size_t most = answer->count;
    bool may_rewind = false; /* the page lies behind the mark, with all that was made for it */

    if ((!has_rule(request->config) && !sieve.is_rechecking) || answer->count == 0)
        return STATUS_OK;
    if (!sieve_begin(&sieve, answer))
        return STATUS_NO_MEMORY;
    while (page.count > 0) {
        size_t kept_before = sieve.kept_count, asked = page.count;
        int64_t example_before = example->resultid;
        struct had_answer had;
        enum status status = ask_about_page(&sieve, &page, &had);

        if (status != STATUS_OK)
            return status;
        source->asks_left -= asked < source->asks_left ? asked : source->asks_left;
        keep(&sieve, &page, &had);
        if (may_rewind && example->resultid == example_before && sieve.kept_count == kept_before)
            arena_rewind(request->arena, mark);
        if (sieve.more_count == 0 || sieve.kept_count == kept_max)
            break;
        most = next_size(&sieve, most);
        mark = arena_mark(request->arena);
        may_rewind = true;
        status = next_page(&sieve, most < source->asks_left ? most : source->asks_left, &page);
        if (status != STATUS_OK)
            return status;
    }
    answer->jobs = sieve.kept;
    answer->count = sieve.kept_count;
    answer->is_short = answer->is_short || sieve.more_count > 0;
    return STATUS_OK;
}
