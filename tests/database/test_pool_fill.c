/* SPDX-License-Identifier: Apache-2.0 */
/* Keeping a pool like the database, in invented time. */
#include "server/pool/fill.h"

#include "config/config.h"
#include "db/db.h"
#include "server/base/arena.h"
#include "server/pool/fill_parts.h"
#include "server/pool/pool.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include <math.h>
#include <time.h>

static struct test_database *database;
static struct config *config;

/* One server of the database. */
struct keeper {
    struct pool *pool;
    struct filler *filler;
    struct db *db;
    struct arena *arena;
    double now;
};

static int setup(void **state)
{
    (void)state;
    database = test_database_create(true, NULL);
    config = test_database_config(database);
    test_sql(database, "SET SESSION sql_mode = '';"
                       "INSERT INTO app SET id = 1, name = 'app', user_friendly_name = 'App'");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    test_database_destroy(database);
    return 0;
}

/* Workunits and their unsent results, of the same numbers. */
static void add_jobs(int first, int count, int priority)
{
    test_sql(database,
             "INSERT INTO workunit (id, name, appid, rsc_fpops_est, rsc_memory_bound,"
             " rsc_disk_bound, delay_bound) SELECT seq, CONCAT('wu', seq), 1, 1e12, 1e6, 1e6, 86400"
             " FROM seq_%d_to_%d;"
             "INSERT INTO result (id, workunitid, appid, name, server_state, priority)"
             " SELECT seq, seq, 1, CONCAT('wu', seq, '_0'), 2, %d FROM seq_%d_to_%d",
             first, first + count - 1, priority, first, first + count - 1);
}

static struct keeper open_keeper(int64_t id, size_t jobs_max)
{
    struct keeper keeper = {.pool = pool_create(jobs_max, false),
                            .db = test_database_open(database),
                            .arena = arena_create(1 << 24),
                            .now = 1000};

    keeper.filler = filler_create(keeper.pool, config, id);
    assert_non_null(keeper.filler);
    return keeper;
}

static void close_keeper(struct keeper *keeper)
{
    filler_destroy(keeper->filler);
    pool_destroy(keeper->pool);
    db_close(keeper->db);
    arena_destroy(keeper->arena);
}

/* Lets so much time pass. */
static void pass(struct keeper *keeper, double seconds)
{
    double end = keeper->now + seconds;

    for (;;) {
        double pause;

        assert_status(STATUS_OK, filler_step(keeper->filler, keeper->db, keeper->now, &pause));
        assert_true(pause >= 0);
        if (keeper->now + pause > end)
            break;
        keeper->now += pause > 0 ? pause : 0.001;
    }
    keeper->now = end;
}

static struct pool_figures figures_of(struct keeper *keeper)
{
    struct pool_figures figures;

    pool_figures(keeper->pool, &figures);
    return figures;
}

static bool take_any(void *context, const struct pool_group *group, struct pool_terms *ret_terms)
{
    (void)context;
    (void)group;
    *ret_terms = (struct pool_terms){.limits = {HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL}, .jobs = 1};
    return true;
}

static int64_t first_job(struct keeper *keeper)
{
    struct pool_question question = {
        .judge = take_any, .jobs_max = 1, .classes_max = 1, .times_wanted = 1};
    struct pool_answer answer;

    assert_true(pool_take(keeper->pool, keeper->arena, &question, (struct pool_place){0}, &answer));
    return answer.count > 0 ? answer.jobs[0].resultid : 0;
}

static void the_first_sweep_brings_everything(void **state)
{
    struct keeper keeper;
    struct pool_figures figures;

    (void)state;
    add_jobs(1, 2500, 0);
    add_jobs(3000, 10, 7);
    add_jobs(4000, 10, -1800000000);
    keeper = open_keeper(1, 100000);
    pass(&keeper, 0.5);
    figures = figures_of(&keeper);
    assert_int_equal(figures.jobs, 2520);
    assert_int_equal(figures.classes, 3);
    assert_true(figures.is_filled && figures.is_complete);
    assert_i64(first_job(&keeper), 3000);
    close_keeper(&keeper);
}

static void new_jobs_are_there_within_a_refresh(void **state)
{
    struct keeper keeper = open_keeper(1, 100000);
    struct filler_figures figures;

    (void)state;
    pass(&keeper, 0.5);
    assert_int_equal(figures_of(&keeper).jobs, 0);
    add_jobs(1, 1700, 0);
    pass(&keeper, config->pool_refresh + 0.1);
    assert_int_equal(figures_of(&keeper).jobs, 1700);
    pass(&keeper, 20);
    filler_figures(keeper.filler, &figures);
    assert_true(figures.lag <= config->pool_refresh + 0.1);
    close_keeper(&keeper);
}

/* Ids are given before commits: a lower one may show up after a higher one. */
static void a_late_commit_is_found_in_the_trailing_window(void **state)
{
    struct keeper keeper = open_keeper(1, 100000);

    (void)state;
    assert_status(STATUS_OK, config_set(config, TEXT("pool_sweep"), TEXT("10000"), NULL));
    pass(&keeper, 20);
    add_jobs(100, 1, 0);
    pass(&keeper, 2);
    assert_int_equal(figures_of(&keeper).jobs, 1);
    add_jobs(50, 1, 0);
    pass(&keeper, 11);
    assert_int_equal(figures_of(&keeper).jobs, 2);
    close_keeper(&keeper);
    assert_status(STATUS_OK, config_set(config, TEXT("pool_sweep"), TEXT("60"), NULL));
}

static void new_jobs_of_a_restored_database_are_found(void **state)
{
    struct keeper keeper = open_keeper(1, 100000);

    (void)state;
    assert_status(STATUS_OK, config_set(config, TEXT("pool_sweep"), TEXT("10000"), NULL));
    add_jobs(5000, 1, 0);
    pass(&keeper, 100);
    test_sql(database, "DELETE FROM result");
    pass(&keeper, 11);
    add_jobs(100, 1, 0);
    pass(&keeper, 2);
    assert_int_equal(figures_of(&keeper).jobs, 2); /* the other is for the sweep to find */
    close_keeper(&keeper);
    assert_status(STATUS_OK, config_set(config, TEXT("pool_sweep"), TEXT("60"), NULL));
}

static void a_sweep_repairs_the_rest(void **state)
{
    struct keeper keeper;

    (void)state;
    add_jobs(1, 5000, 0);
    test_sql(database, "UPDATE result SET server_state = 1 WHERE id = 10");
    keeper = open_keeper(1, 100000);
    pass(&keeper, 1);
    assert_int_equal(figures_of(&keeper).jobs, 4999);
    test_sql(database, "UPDATE result SET server_state = 2 WHERE id = 10;" /* released */
                       "UPDATE result SET priority = 9 WHERE id = 4000;"
                       "UPDATE result SET server_state = 4 WHERE id BETWEEN 1 AND 5;"
                       "UPDATE result SET server_state = 5 WHERE id = 4500");
    pass(&keeper, config->pool_sweep + 1);
    assert_int_equal(figures_of(&keeper).jobs, 4994);
    assert_i64(first_job(&keeper), 4000);
    assert_i64(first_job(&keeper), 6);
    close_keeper(&keeper);
}

/* --- job streams ------------------------------------------------------------------------------ */

static void charge(struct keeper *keeper, int64_t owner, double flops)
{
    pool_charge(keeper->pool, &(struct pool_booking){.key = {STREAM_USER, owner}, .flops = flops});
}

static struct stream find_stream(struct keeper *keeper, int64_t owner)
{
    struct stream stream = {.key = {STREAM_USER, owner}, .weight = 1};

    pool_stream_find(keeper->pool, &stream);
    return stream;
}

static void submit_jobs(void)
{
    add_jobs(1, 20, 0);
    test_sql(database, "UPDATE workunit SET batch = 5 + id %% 2;"
                       "INSERT INTO batch (id, user_id) VALUES (5, 7), (6, 8);"
                       "INSERT INTO user_submit SET user_id = 7, quota = 3");
    assert_status(STATUS_OK, config_set(config, TEXT("submitter_streams"), TEXT("1"), NULL));
}

/* What either hands out counts for both within some seconds, and for one that begins later. */
static void servers_share_the_clocks_of_streams(void **state)
{
    struct keeper one, other, later;

    (void)state;
    submit_jobs();
    one = open_keeper(1, 1000);
    other = open_keeper(2, 1000);
    pass(&one, 2);
    pass(&other, 2);
    assert_real(find_stream(&one, 7).weight, 3, 0);
    assert_real(find_stream(&one, 8).weight, 1, 0); /* who is no submitter */
    charge(&one, 7, 3e12);
    charge(&other, 7, 6e12);
    charge(&other, 8, 1e12);
    pass(&one, 6);
    pass(&other, 6);
    pass(&one, 6);
    assert_real(find_stream(&one, 7).clock, 3e12, 1);
    assert_real(find_stream(&other, 7).clock, 3e12, 1);
    assert_real(find_stream(&one, 8).clock, 1e12, 1);
    close_keeper(&one);
    close_keeper(&other);
    later = open_keeper(3, 1000);
    pass(&later, 6);
    assert_real(find_stream(&later, 7).clock, 3e12, 1);
    assert_i64(test_sql_integer(database, "SELECT flops FROM qm_stream WHERE id = 7"),
               9000000000000);
    close_keeper(&later);
}

/* The next sweep sees what an administrator gave. */
static void a_quota_that_changes_is_the_weight(void **state)
{
    struct keeper keeper;

    (void)state;
    submit_jobs();
    keeper = open_keeper(1, 1000);
    pass(&keeper, 2);
    test_sql(database, "UPDATE user_submit SET quota = 9");
    pass(&keeper, config->pool_sweep + 1);
    assert_real(find_stream(&keeper, 7).weight, 9, 0);
    close_keeper(&keeper);
}

/* Whom a line of config.xml names has the weight of the line, whatever the quota; one who has no
 * quota has none of the others' share, but next to nothing. */
static void a_line_comes_before_a_quota(void **state)
{
    struct keeper keeper;

    (void)state;
    submit_jobs();
    test_sql(database, "INSERT INTO user_submit SET user_id = 8, quota = 0");
    assert_status(STATUS_OK, config_set(config, TEXT("stream"), TEXT("user 7 5"), NULL));
    keeper = open_keeper(1, 1000);
    for (int sweep = 0; sweep < 2; sweep++) {
        pass(&keeper, config->pool_sweep + 1);
        assert_real(find_stream(&keeper, 7).weight, 5, 0);
        assert_real(find_stream(&keeper, 8).weight, 1e-6, 0);
    }
    close_keeper(&keeper);
}

/* Batches have no owners there. */
static void a_database_without_submitters_has_no_owners(void **state)
{
    struct keeper keeper;

    (void)state;
    submit_jobs();
    test_sql(database, "DROP TABLE user_submit; DROP TABLE user_submit_app");
    keeper = open_keeper(1, 1000);
    pass(&keeper, 20);
    assert_int_equal(figures_of(&keeper).jobs, 20);
    assert_int_equal(figures_of(&keeper).groups, 1);
    close_keeper(&keeper);
}

/* Whatever the database fails to answer: what was read before it is not passed over. */
static void a_step_that_fails_loses_nothing(void **state)
{
    struct failure failure = {0};

    (void)state;
    assert_status(STATUS_OK, config_set(config, TEXT("stream"), TEXT("user 7 1"), &failure));
    add_jobs(1, 1500, 0);
    test_sql(database, "UPDATE workunit SET batch = 5; INSERT INTO batch SET id = 5, user_id = 7");
    for (uint64_t nth = 1; nth < 20; nth++) {
        struct keeper keeper = open_keeper(1, 100000);
        enum status status = STATUS_OK;
        double pause;

        db_fail_nth(keeper.db, nth, STATUS_DB_RETRY); /* in the first sweep */
        for (int i = 0; i < 4 && status == STATUS_OK; i++)
            status = filler_step(keeper.filler, keeper.db, keeper.now, &pause);
        db_fail_nth(keeper.db, 0, STATUS_OK);
        pass(&keeper, 0.5);
        assert_int_equal(figures_of(&keeper).jobs, 1500);

        test_sql(database, "DELETE FROM result WHERE id > 9000; DELETE FROM workunit"
                           " WHERE id > 9000");
        add_jobs(9001, 10, 0);
        test_sql(database, "UPDATE workunit SET batch = 5 WHERE id > 9000");
        db_fail_nth(keeper.db, nth, STATUS_DB_RETRY); /* among new jobs */
        keeper.now += 1;
        status = filler_step(keeper.filler, keeper.db, keeper.now, &pause);
        assert_true(status == STATUS_OK || status == STATUS_DB_RETRY);
        db_fail_nth(keeper.db, 0, STATUS_OK);
        pass(&keeper, 1.5);
        assert_int_equal(figures_of(&keeper).jobs, 1510);
        test_sql(database, "DELETE FROM result WHERE id > 9000; DELETE FROM workunit"
                           " WHERE id > 9000");
        close_keeper(&keeper);
    }
}

static void what_the_feeder_passes_over_stays_out(void **state)
{
    struct keeper keeper;

    (void)state;
    add_jobs(1, 10, 0);
    test_sql(database, "UPDATE workunit SET error_mask = 16 WHERE id = 1;"
                       "UPDATE workunit SET transitioner_flags = 2 WHERE id = 2;"
                       "UPDATE workunit SET canonical_resultid = 77 WHERE id = 3");
    keeper = open_keeper(1, 1000);
    pass(&keeper, 100);
    assert_int_equal(figures_of(&keeper).jobs, 7);
    assert_i64(first_job(&keeper), 4);
    close_keeper(&keeper);
}

static void a_full_pool_refills_what_runs_low(void **state)
{
    struct keeper keeper;
    size_t got = 0;

    (void)state;
    add_jobs(1, 3000, 5);
    add_jobs(4000, 20, 0);
    keeper = open_keeper(1, 500);
    pass(&keeper, 1);
    assert_int_equal(figures_of(&keeper).jobs, 500);
    assert_false(figures_of(&keeper).is_complete);
    assert_int_equal(figures_of(&keeper).classes, 2);
    for (;;) {
        int64_t id = first_job(&keeper);

        if (id == 0)
            break;
        test_sql(database, "UPDATE result SET server_state = 4 WHERE id = %lld", (long long)id);
        pool_drop(keeper.pool, &id, 1);
        arena_reset(keeper.arena);
        if (++got % 100 == 0)
            pass(&keeper, 5);
    }
    assert_int_equal(got, 3020);
    close_keeper(&keeper);
}

static void a_job_in_doubt_is_read_again(void **state)
{
    struct keeper keeper;

    (void)state;
    add_jobs(1, 1, 0);
    keeper = open_keeper(1, 500);
    pass(&keeper, 1);
    assert_i64(first_job(&keeper), 1);
    test_sql(database, "UPDATE workunit SET hr_class = 3 WHERE id = 1");
    pool_reread(keeper.pool, (const int64_t[]){1}, 1);
    assert_int_equal(figures_of(&keeper).jobs, 0);
    pass(&keeper, 1.5);
    assert_int_equal(figures_of(&keeper).jobs, 1);
    close_keeper(&keeper);
}

/* Each step has round trips of its own: of jobs there are many, of steps there are few. */
static void a_large_pool_ends_its_sweep_in_few_steps(void **state)
{
    struct keeper keeper;
    int steps = 0;

    (void)state;
    add_jobs(1, 20000, 0);
    keeper = open_keeper(1, 50000);
    for (double pause; !figures_of(&keeper).is_filled; steps++)
        assert_status(STATUS_OK, filler_step(keeper.filler, keeper.db, keeper.now, &pause));
    assert_int_equal(figures_of(&keeper).jobs, 20000);
    assert_in_range(steps, 20, 24);
    close_keeper(&keeper);
}

static void two_servers_share_until_one_falls_silent(void **state)
{
    struct keeper first, second;

    (void)state;
    add_jobs(1, 2000, 0);
    first = open_keeper(1, 5000);
    second = open_keeper(2, 5000);
    pass(&first, 1);
    assert_int_equal(figures_of(&first).own, 2000);
    pass(&second, 1);
    pass(&first, 1); /* it hears at once of one that came */
    assert_in_range(figures_of(&first).own, 900, 1100);
    assert_int_equal(figures_of(&first).own + figures_of(&second).own, 2000);
    assert_int_equal(figures_of(&first).jobs, 2000);
    /* The second one dies without a word. */
    close_keeper(&second);
    pass(&first, 10);
    assert_in_range(figures_of(&first).own, 900, 1100);
    test_sql(database, "UPDATE qm_server SET beat = beat - 30 WHERE id = 2");
    pass(&first, 10);
    assert_int_equal(figures_of(&first).own, 2000);
    /* The first one leaves in good order. */
    assert_status(STATUS_OK, filler_leave(first.filler, first.db));
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM qm_server WHERE id = 1"), 0);
    close_keeper(&first);
}

static void an_older_schema_has_no_servers(void **state)
{
    struct keeper keeper;

    (void)state;
    add_jobs(1, 20, 0);
    test_sql(database, "DROP TABLE qm_server");
    keeper = open_keeper(1, 500);
    pass(&keeper, 1);
    assert_int_equal(figures_of(&keeper).own, 20);
    close_keeper(&keeper);
}

static void the_thread_fills_and_stops(void **state)
{
    struct keeper keeper;
    struct failure failure = {0};

    (void)state;
    add_jobs(1, 20, 0);
    keeper = open_keeper(1, 500);
    assert_status(STATUS_OK, filler_start(keeper.filler, &failure));
    for (int i = 0; i < 500 && !figures_of(&keeper).is_filled; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_int_equal(figures_of(&keeper).jobs, 20);
    close_keeper(&keeper);
    assert_i64(test_sql_integer(database, "SELECT COUNT(*) FROM qm_server"), 0);
}

static void filling_leaves_requests_half_a_core(void **state)
{
    (void)state;
    assert_true(fill_rest(0, 0.01, true) == 0.01);
    assert_true(fill_rest(0, 0.01, false) == 0);
    assert_true(fill_rest(0, 60, true) == 0.1); /* a slow database: new jobs go on */
    assert_true(fill_rest(1, 0.01, true) == 1);
}

/* Twenty jobs, and a keeper that lives in the time of requests. */
static struct keeper open_simulated(void)
{
    struct keeper keeper;
    struct failure failure = {0};

    add_jobs(1, 20, 0);
    keeper = open_keeper(1, 500);
    filler_simulate(keeper.filler);
    assert_status(STATUS_OK, filler_start(keeper.filler, &failure));
    filler_follow(keeper.filler, 1.7e9);
    return keeper;
}

static void in_simulated_time_a_request_finds_what_was_due(void **state)
{
    struct keeper keeper = open_simulated();

    (void)state;
    assert_int_equal(figures_of(&keeper).jobs, 20);
    add_jobs(21, 5, 0);
    filler_follow(keeper.filler, 1.7e9 + 599);
    assert_int_equal(figures_of(&keeper).jobs, 20);
    filler_follow(keeper.filler, 1.7e9 + 540); /* overtaken by another */
    filler_follow(keeper.filler, 1.7e9 + 601);
    assert_int_equal(figures_of(&keeper).jobs, 25);
    test_sql(database, "UPDATE result SET server_state = 5 WHERE id <= 10");
    filler_follow(keeper.filler, 1.7e9 + 6 * 3600 + 700);
    assert_int_equal(figures_of(&keeper).jobs, 15);
    close_keeper(&keeper);
}

/* Each would wait for two minutes, and so end this program. */
static void without_a_database_no_request_waits(void **state)
{
    struct keeper keeper = open_keeper(1, 500);
    struct text socket = config->db_socket;
    struct failure failure = {0};

    (void)state;
    config->db_socket = TEXT("/dev/null/nowhere");
    filler_simulate(keeper.filler);
    assert_status(STATUS_OK, filler_start(keeper.filler, &failure));
    for (int i = 0; i < 10; i++)
        filler_follow(keeper.filler, 1.7e9 + i * 1000.0);
    assert_int_equal(figures_of(&keeper).jobs, 0);
    close_keeper(&keeper);
    config->db_socket = socket;
}

static void simulated_time_may_begin_again(void **state)
{
    struct keeper keeper = open_simulated();

    (void)state;
    add_jobs(21, 5, 0);
    filler_follow(keeper.filler, 1.6e9);
    assert_int_equal(figures_of(&keeper).jobs, 20);
    filler_follow(keeper.filler, 1.6e9 + 601);
    assert_int_equal(figures_of(&keeper).jobs, 25);
    close_keeper(&keeper);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_first_sweep_brings_everything),
        CASE(new_jobs_are_there_within_a_refresh),
        CASE(a_late_commit_is_found_in_the_trailing_window),
        CASE(new_jobs_of_a_restored_database_are_found),
        CASE(a_sweep_repairs_the_rest),
        CASE(servers_share_the_clocks_of_streams),
        CASE(a_quota_that_changes_is_the_weight),
        CASE(a_line_comes_before_a_quota),
        CASE(a_database_without_submitters_has_no_owners),
        CASE(a_step_that_fails_loses_nothing),
        CASE(what_the_feeder_passes_over_stays_out),
        CASE(a_full_pool_refills_what_runs_low),
        CASE(a_job_in_doubt_is_read_again),
        CASE(a_large_pool_ends_its_sweep_in_few_steps),
        CASE(two_servers_share_until_one_falls_silent),
        CASE(an_older_schema_has_no_servers),
        CASE(the_thread_fills_and_stops),
        CASE(filling_leaves_requests_half_a_core),
        CASE(in_simulated_time_a_request_finds_what_was_due),
        CASE(without_a_database_no_request_waits),
        CASE(simulated_time_may_begin_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
