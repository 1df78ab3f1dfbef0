/* SPDX-License-Identifier: Apache-2.0 */
/* The request at hand: taken from a capture or written in the scenario, changed, and sent to the
 * request room. Whatever the story is about, each reply must be one that its client can read. */
#include "config/config.h"
#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/file.h"
#include "server/base/random.h"
#include "server/pool/fill.h"
#include "server/pool/pool.h"
#include "server/project/catalog.h"
#include "server/project/project.h"
#include "server/reply/answer.h"
#include "server/request/walk.h"
#include "server/rpc/world.h"
#include "tests/scenarios/story.h"
#include "tests/support/reply_check.h"

#include <stdlib.h>

#include "server/base/banned.h"

static struct text rest_after(struct text text, size_t offset)
{
    return (struct text){.at = text.at + offset, .length = text.length - offset};
}

static void splice(struct story *story, size_t at, size_t length, struct text text)
{
    struct buffer body = buffer_in(story->arena);

    buffer_add(&body, text_first(story->body, at));
    buffer_add(&body, text);
    buffer_add(&body, rest_after(story->body, at + length));
    story->body = buffer_text(&body);
}

void send_capture(struct story *story, const struct words *words)
{
    struct failure failure = {0};

    if (words->count != 1)
        story_fail(story, "capture NAME");
    const char *path =
        text_string(story->arena, text_print(story->arena, "tests/captures/" TEXT_FORMAT ".xml",
                                             TEXT_ARG(words->items[0])));
    if (file_read(story->arena, path, (size_t)16 << 20, &story->body, &failure) != STATUS_OK)
        story_fail(story, "%s", failure.text);
}

/* Where the first element of that name stands in the body, its tags included. */
static bool find_element(struct story *story, struct text name, size_t *ret_at, size_t *ret_length)
{
    struct text open = text_print(story->arena, "<" TEXT_FORMAT ">", TEXT_ARG(name));
    struct text close = text_print(story->arena, "</" TEXT_FORMAT ">", TEXT_ARG(name));
    size_t at = text_find(story->body, open);

    if (at == story->body.length)
        return false;
    struct text inside = rest_after(story->body, at);
    size_t end = text_find(inside, close);
    if (end == inside.length)
        return false;
    *ret_at = at;
    *ret_length = end + close.length;
    return true;
}

static void add_to_body(struct story *story, struct text xml)
{
    size_t at = text_find(story->body, TEXT("</scheduler_request>"));

    splice(story, at, 0, text_print(story->arena, TEXT_FORMAT "\n", TEXT_ARG(xml)));
}

static void set_element(struct story *story, struct text name, struct text value)
{
    size_t at, length;
    struct text element =
        text_print(story->arena, "<" TEXT_FORMAT ">" TEXT_FORMAT "</" TEXT_FORMAT ">",
                   TEXT_ARG(name), TEXT_ARG(value), TEXT_ARG(name));

    if (find_element(story, name, &at, &length))
        splice(story, at, length, element);
    else
        add_to_body(story, element);
}

void send_element(struct story *story, const struct words *words)
{
    if (words->count != 2)
        story_fail(story, "element NAME VALUE");
    set_element(story, words->items[0], words->items[1]);
}

void send_without(struct story *story, const struct words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        size_t at, length;
        if (!find_element(story, words->items[i], &at, &length))
            story_fail(story, "the request has no <" TEXT_FORMAT ">", TEXT_ARG(words->items[i]));
        do
            splice(story, at, length, NO_TEXT);
        while (find_element(story, words->items[i], &at, &length));
    }
}

void send_add(struct story *story, const struct words *words)
{
    for (size_t i = 0; i < words->count; i++)
        add_to_body(story, words->items[i]);
}

void send_replace(struct story *story, const struct words *words)
{
    size_t from = 0;

    if (words->count != 2 || words->items[0].length == 0)
        story_fail(story, "replace OLD NEW");
    for (size_t count = 0;; count++) {
        size_t at = from + text_find(rest_after(story->body, from), words->items[0]);
        if (at == story->body.length) {
            if (count == 0)
                story_fail(story, "the request does not contain that");
            return;
        }
        splice(story, at, words->items[0].length, words->items[1]);
        from = at + words->items[1].length;
    }
}

/* client MAJOR.MINOR.RELEASE; without the release as clients before 5.1.2, who do not tell it. */
void send_client(struct story *story, const struct words *words)
{
    struct text rest = words->count == 1 ? words->items[0] : NO_TEXT;
    struct text major = text_split(&rest, '.'), minor = text_split(&rest, '.');
    size_t at, length;

    if (minor.length == 0)
        story_fail(story, "client MAJOR.MINOR[.RELEASE]");
    set_element(story, TEXT("core_client_major_version"), major);
    set_element(story, TEXT("core_client_minor_version"), minor);
    if (rest.length > 0)
        set_element(story, TEXT("core_client_release"), rest);
    else if (find_element(story, TEXT("core_client_release"), &at, &length))
        splice(story, at, length, NO_TEXT);
}

/* Every story is told twice: as by plain CGI, and as by a server process (QM_TEST_POOL), which has
 * a job pool and remembers what job streams have had. */
static void fill_pool(struct story *story, struct filler *filler, double now)
{
    double pause;

    if (filler_step(filler, story->db, now, &pause) != STATUS_OK)
        story_fail(story, "pool: %s", db_error(story->db));
}

static struct pool *make_pool(struct story *story, struct filler **ret_filler)
{
    struct pool *pool = pool_create(100000, story->config->user_filter);
    struct filler *filler = filler_create(pool, story->config, 1);
    struct pool_figures figures = {0};

    if (filler == NULL)
        story_fail(story, "no memory");
    for (double now = 1; !figures.is_filled; now += 0.1) {
        fill_pool(story, filler, now);
        pool_figures(pool, &figures);
    }
    if (filler_leave(filler, story->db) != STATUS_OK)
        story_fail(story, "pool: %s", db_error(story->db));
    *ret_filler = filler;
    return pool;
}

static void end_pool(struct story *story, struct pool *pool, struct filler *filler)
{
    enum { MUCH_LATER = 1000 };
    struct pool_figures figures;

    if (streams_exist(story->config)) /* what they had is kept in the database */
        fill_pool(story, filler, MUCH_LATER);
    filler_destroy(filler);
    pool_figures(pool, &figures);
    if (figures.taken != 0)
        story_fail(story, "%zu jobs were not given back to the pool", figures.taken);
    pool_destroy(pool);
}

static void load_catalog(struct story *story)
{
    catalog_release(story->catalog);
    story->catalog = NULL;
    if (catalog_load(story->db, &story->catalog) != STATUS_OK ||
        catalog_load_crowd(story->db, CROWD_MOST, story->catalog) != STATUS_OK)
        story_fail(story, "catalog: %s", db_error(story->db));
    db_rollback(story->db);
}

/* A job that is this host's and not in the reply would wait for its deadline. */
static void check_jobs_are_written(struct story *story)
{
    const struct answer *answer = &story->request.attempt.answer;
    size_t written = story->root != NULL ? reply_children(story->root, "result") : 0;

    if (story->root != NULL && answer->kind == ANSWER_FULL && written != answer->job_count)
        story_fail(story, "%zu jobs are in the answer, %zu in the reply", answer->job_count,
                   written);
}

void send_now(struct story *story, const struct words *words)
{
    struct buffer reply = buffer_on_heap(0);
    struct filler *filler = NULL;
    const char *fault = NULL;

    if (words->count > 0)
        story_fail(story, "send takes no words");
    if (!story->database_is_away)
        load_catalog(story);
    arena_reset(story->request_arena);
    story->request = (struct request){
        .config = story->config,
        .catalog = story->catalog,
        .keys = &story->keys,
        .plan_classes = &story->plan_classes,
        .buda = &story->buda,
        .db = story->database_is_away ? NULL : story->db,
        .world = &database_world,
        .files = files_ready(story->files, story->config, (uint64_t)(story->now * 1e9)),
        .arena = story->request_arena,
        .now = story->now,
        .seed = random_mix(1, story->sequence++),
        .stop_sched = story->stop_sched,
        .database_away_for = story->database_is_away ? story->now - story->database_away_since : 0,
        .transport = {.body = story->body}};
    if (getenv("QM_TEST_POOL") != NULL && !story->database_is_away) {
        story->request.pool = make_pool(story, &filler);
    }
    world_let_meanwhile_happen(story);
    request_run(&story->request, &reply);
    if (story->request.db != NULL)
        (void)db_end(story->request.db);
    if (story->request.pool != NULL)
        end_pool(story, story->request.pool, filler);
    story->request.pool = NULL;
    story->sends++;
    story->reply = text_copy(story->arena, buffer_text(&reply));
    buffer_free(&reply);
    story->root = reply_read(story->arena, story->reply, story->request.client_version, &fault);
    if (story->root == NULL)
        story_fail(story, "a client of version %lld cannot read the reply: %s",
                   (long long)story->request.client_version, fault);
    check_jobs_are_written(story);
}
