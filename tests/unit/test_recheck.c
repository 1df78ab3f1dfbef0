/* SPDX-License-Identifier: Apache-2.0 */
/* After a failed claim: what the pool holds is compared with a fake database. */
#include "server/handout/source_parts.h"

#include "server/base/arena.h"
#include "server/rpc/request.h"
#include "tests/support/db_fake.h"
#include "tests/support/pool_host.h"
#include "tests/support/test.h"

#include <math.h>

#include "server/base/banned.h"

enum { JOBS_MAX = 5000, FIRST_ID = 101, BATCH_MAX = 8, PLENTY = 1 << 17 };

static struct arena *arena;
static struct pool *pool;
static struct request request;
static struct pool_job jobs[JOBS_MAX]; /* of the pool */
static size_t job_count;
static struct unsent_job rows[JOBS_MAX]; /* of the database */
static bool is_gone[JOBS_MAX];
static struct source source;
static struct job batch[BATCH_MAX];

static int setup(void **state)
{
    (void)state;
    arena = arena_create(1 << 26);
    pool = pool_create(JOBS_MAX, false);
    request = (struct request){.arena = arena, .pool = pool};
    job_count = 0;
    memset(is_gone, 0, sizeof(is_gone));
    db_fake_begin("unsent_by_id unsent_page");
    db_fake.unsent = rows;
    return arena == NULL || pool == NULL;
}

static int teardown(void **state)
{
    (void)state;
    pool_destroy(pool);
    arena_destroy(arena);
    return 0;
}

/* One that the pool holds; jobs of different `memory` are different classes. */
static void add_job(int64_t id, int64_t priority, double memory)
{
    jobs[job_count] = (struct pool_job){.resultid = id,
                                        .priority = priority,
                                        .workunit = {.id = id,
                                                     .rsc_memory_bound = memory,
                                                     .rsc_disk_bound = 1,
                                                     .rsc_fpops_est = 1,
                                                     .delay_bound = 1000}};
    assert_status(STATUS_OK, pool_put(pool, &jobs[job_count++], 1));
}

/* The next ids. */
static void add_jobs(size_t count, int64_t priority, double memory)
{
    for (size_t i = 0; i < count; i++)
        add_job(FIRST_ID + (int64_t)job_count, priority, memory);
}

/* One that the database holds. */
static void add_row(int64_t id, int64_t priority, bool is_free)
{
    rows[db_fake.unsent_count++] =
        (struct unsent_job){.resultid = id, .priority = priority, .is_free = is_free};
}

static struct pool_figures figures(void)
{
    struct pool_figures now;

    pool_figures(pool, &now);
    return now;
}

static enum status recheck(void)
{
    return recheck_jobs(&request, jobs, job_count, is_gone);
}

/* --- what is asked --------------------------------------------------------------------------- */

static void a_few_are_asked_about_by_id(void **state)
{
    static const bool wanted[] = {false, true, true, true, false};
    int64_t ids[4];
    size_t used;

    (void)state;
    add_jobs(5, 0, 1);
    add_row(FIRST_ID, 0, true);
    add_row(FIRST_ID + 1, 0, false); /* of a workunit that is over */
    add_row(FIRST_ID + 4, 0, true);
    is_gone[3] = true; /* known already: it is not asked about, and stays where it is */
    used = arena_used(arena);
    assert_status(STATUS_OK, recheck());
    assert_string_equal(db_fake_record(NULL), "unsent_by_id(4)");
    assert_memory_equal(is_gone, wanted, sizeof(wanted));
    assert_int_equal(figures().jobs, 3);
    assert_int_equal(pool_to_reread(pool, ids, 4), 0);
    assert_int_equal(arena_used(arena), used);
}

static void what_is_known_to_be_gone_is_not_asked_about(void **state)
{
    (void)state;
    memset(is_gone, true, sizeof(is_gone));
    add_jobs(5, 0, 1);
    assert_status(STATUS_OK, recheck());
    add_jobs(300, 0, 1);
    assert_status(STATUS_OK, recheck());
    assert_int_equal(db_fake_calls(NULL), 0);
    assert_int_equal(figures().jobs, 305);
}

static void as_many_as_one_statement_takes_are_asked_about_by_id(void **state)
{
    (void)state;
    add_jobs(RECHECK_FIRST, 0, 1);
    assert_status(STATUS_OK, recheck());
    assert_string_equal(db_fake_record(NULL), "unsent_by_id(256)");
}

/* One that is not found there may be of another priority by now, so it is read again. */
static void more_are_asked_about_by_the_span_of_their_ids(void **state)
{
    enum { OVER = 20, MOVED = 30 };
    int64_t ids[4];
    size_t gone = 0;

    (void)state;
    add_jobs(RECHECK_FIRST + 1, 7, 1);
    is_gone[0] = true;
    for (size_t i = 1; i < job_count; i++)
        add_row(jobs[i].resultid, i == MOVED ? 6 : 7, i != OVER);
    assert_status(STATUS_OK, recheck());
    assert_string_equal(db_fake_record(NULL), "unsent_page(101)");
    for (size_t i = 0; i < job_count; i++)
        gone += is_gone[i];
    assert_int_equal(gone, 3);
    assert_true(is_gone[OVER] && is_gone[MOVED]);
    assert_int_equal(figures().jobs, job_count - 2);
    assert_int_equal(pool_to_reread(pool, ids, 4), 1);
    assert_i64(ids[0], jobs[MOVED].resultid);
}

static void jobs_of_four_priorities_are_asked_about(void **state)
{
    (void)state;
    for (int64_t priority = 6; priority > 0; priority--)
        add_jobs(50, priority, 1);
    assert_status(STATUS_OK, recheck());
    assert_string_equal(db_fake_record(NULL),
                        "unsent_page(100) unsent_page(150) unsent_page(200) unsent_page(250)");
    for (size_t i = 0; i < job_count; i++)
        assert_int_equal(is_gone[i], i < 200);
}

static void of_what_lies_behind_a_full_page_nothing_is_known(void **state)
{
    enum { MISSING = 40, BEHIND = FIRST_ID + 2 * RECHECK_MOST };

    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        teardown(state);
        setup(state);
        add_jobs(RECHECK_FIRST, 0, 1);
        add_job(BEHIND, 0, 1);
        for (int64_t i = 0; db_fake.unsent_count < RECHECK_MOST - (size_t)turn; i++)
            if (i != MISSING)
                add_row(FIRST_ID + i, 0, true);
        assert_status(STATUS_OK, recheck());
        for (size_t i = 0; i < job_count; i++)
            assert_int_equal(is_gone[i], i == MISSING || (jobs[i].resultid == BEHIND && turn == 1));
    }
}

static void a_question_that_fails_changes_nothing(void **state)
{
    (void)state;
    db_fake.calls_left = 0;
    add_jobs(5, 1, 1);
    assert_status(STATUS_DB_GONE, recheck());
    add_jobs(300, 0, 1);
    assert_status(STATUS_DB_GONE, recheck());
    assert_int_equal(db_fake_calls(NULL), 2); /* and the second priority is not asked about */
    for (size_t i = 0; i < job_count; i++)
        assert_false(is_gone[i]);
    assert_int_equal(figures().jobs, job_count);
}

/* --- after a failed claim --------------------------------------------------------------------- */

/* A search that has taken so many jobs of the pool, and of each class `each`. */
static void open_search(size_t count, double each)
{
    struct pool_host host = {
        .apps = UINT64_MAX,
        .terms = {.limits = {HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL}, .jobs = each}};
    const struct pool_question question = {.judge = pool_host_judge,
                                           .context = &host,
                                           .jobs_max = count,
                                           .classes_max = count,
                                           .times_wanted = HUGE_VAL};
    struct pool_answer answer;

    assert_true(pool_take(pool, arena, &question, (struct pool_place){0}, &answer));
    assert_int_equal(answer.count, count);
    memset(batch, 0, sizeof(batch));
    source = (struct source){
        .request = &request, .has_pool = true, .asks_left = PLENTY, .batch = answer.jobs};
}

/* All that is like the jobs that were not got is looked for, page by page. */
static void neighbours_of_what_is_gone_are_gone_page_by_page(void **state)
{
    size_t used;

    (void)state;
    add_jobs(2000, 0, 1);
    open_search(4, 4);
    batch[0].is_gone = batch[1].is_gone = true;
    assert_true(source_make_place(&request, 2 * (size_t)RECHECK_MOST));
    used = arena_used(arena);
    assert_status(STATUS_OK, source_recheck(&source, batch, 4));
    assert_string_equal(db_fake_record(NULL), "unsent_by_id(2) unsent_by_id(256) unsent_page(360)"
                                              " unsent_page(1384)");
    assert_true(batch[2].is_gone && batch[3].is_gone);
    assert_int_equal(figures().jobs, 2); /* which the claim has dropped before */
    assert_int_equal(figures().taken, 2);
    assert_true(source.is_rechecking);
    assert_int_equal(source.recheck_page, RECHECK_FIRST);
    assert_int_equal(source.asks_left, (1 << 14) - 2000);
    assert_int_equal(arena_used(arena), used);
}

static void one_neighbour_that_is_there_ends_the_pages(void **state)
{
    (void)state;
    add_jobs(2000, 0, 1);
    open_search(4, 4);
    batch[0].is_gone = true;
    add_row(FIRST_ID + 3, 0, true);
    add_row(FIRST_ID + 50, 0, true);
    assert_status(STATUS_OK, source_recheck(&source, batch, 4));
    assert_string_equal(db_fake_record(NULL), "unsent_by_id(3) unsent_by_id(256)");
    assert_false(batch[3].is_gone);
    assert_int_equal(figures().jobs, 2000 - 2 - 255);
    assert_int_equal(figures().taken, 2); /* what is gone of the batch has left the pool */
}

static void without_neighbours_the_batch_alone_is_asked_about(void **state)
{
    (void)state;
    add_jobs(100, 0, 1);
    open_search(4, 4);
    assert_status(STATUS_OK, source_recheck(&source, batch, 4));
    assert_string_equal(db_fake_record(NULL), "unsent_by_id(4)");
}

/* Of three classes two have lost something: the page is an equal part of each. Of the second one
 * all are there. */
static void neighbours_are_of_the_classes_that_lost_something(void **state)
{
    enum { EACH = 500, PART = RECHECK_FIRST / 2 + 1 };

    (void)state;
    for (int class_number = 1; class_number <= 3; class_number++)
        add_jobs(EACH, 0, class_number);
    for (int64_t i = EACH; i < 2 * EACH; i++)
        add_row(FIRST_ID + i, 0, true);
    open_search(6, 2);
    batch[0].is_gone = batch[1].is_gone = batch[2].is_gone = true;
    assert_status(STATUS_OK, source_recheck(&source, batch, 6));
    assert_string_equal(db_fake_record(NULL), "unsent_by_id(3) unsent_by_id(256)");
    assert_false(batch[3].is_gone);
    assert_true(batch[4].is_gone && batch[5].is_gone);
    assert_int_equal(figures().jobs, 3 * EACH - 2 - PART);
    assert_int_equal(figures().taken, 4);
}

static void neighbours_that_are_not_judged_go_back(void **state)
{
    (void)state;
    add_jobs(2000, 0, 1);
    open_search(4, 4);
    batch[0].is_gone = true;
    db_fake.calls_left = 1;
    assert_status(STATUS_DB_GONE, source_recheck(&source, batch, 4));
    assert_int_equal(figures().taken, 1);
    assert_int_equal(figures().jobs, 2000 - 3);
}

static void no_more_is_asked_about_than_is_left_of_the_bound(void **state)
{
    (void)state;
    add_jobs(2000, 0, 1);
    open_search(4, 4);
    batch[0].is_gone = true;
    source.asks_left = 300;
    assert_status(STATUS_OK, source_recheck(&source, batch, 4));
    assert_string_equal(db_fake_record(NULL), "unsent_by_id(3) unsent_by_id(256) unsent_by_id(40)");
    assert_int_equal(source.asks_left, 0);
    assert_status(STATUS_OK, source_recheck(&source, batch, 4));
    assert_int_equal(db_fake_calls(NULL), 3);
}

static void the_bound_is_set_once(void **state)
{
    (void)state;
    add_jobs(100, 0, 1);
    open_search(4, 4);
    source.is_rechecking = true;
    source.recheck_page = RECHECK_MOST;
    assert_status(STATUS_OK, source_recheck(&source, batch, 4));
    assert_int_equal(source.recheck_page, RECHECK_MOST);
    assert_int_equal(source.asks_left, PLENTY - 4);
}

static void what_did_not_come_out_of_the_pool_is_not_asked_about(void **state)
{
    (void)state;
    add_jobs(100, 0, 1);
    open_search(4, 4);
    batch[0].is_gone = true;
    source.pool_is_done = true;
    assert_status(STATUS_OK, source_recheck(&source, batch, 4));
    source.pool_is_done = false;
    source.has_pool = false;
    assert_status(STATUS_OK, source_recheck(&source, batch, 4));
    assert_int_equal(db_fake_calls(NULL), 0);
}

static void pages_grow_to_the_largest(void **state)
{
    (void)state;
    assert_int_equal(recheck_grown(RECHECK_FIRST), 1024);
    assert_int_equal(recheck_grown(1024), RECHECK_MOST);
    assert_int_equal(recheck_grown(1000), 4000);
    assert_int_equal(recheck_grown(RECHECK_MOST), RECHECK_MOST);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(a_few_are_asked_about_by_id),
        CASE(what_is_known_to_be_gone_is_not_asked_about),
        CASE(as_many_as_one_statement_takes_are_asked_about_by_id),
        CASE(more_are_asked_about_by_the_span_of_their_ids),
        CASE(jobs_of_four_priorities_are_asked_about),
        CASE(of_what_lies_behind_a_full_page_nothing_is_known),
        CASE(a_question_that_fails_changes_nothing),
        CASE(neighbours_of_what_is_gone_are_gone_page_by_page),
        CASE(one_neighbour_that_is_there_ends_the_pages),
        CASE(without_neighbours_the_batch_alone_is_asked_about),
        CASE(neighbours_are_of_the_classes_that_lost_something),
        CASE(neighbours_that_are_not_judged_go_back),
        CASE(no_more_is_asked_about_than_is_left_of_the_bound),
        CASE(the_bound_is_set_once),
        CASE(what_did_not_come_out_of_the_pool_is_not_asked_about),
        CASE(pages_grow_to_the_largest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
