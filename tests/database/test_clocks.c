/* SPDX-License-Identifier: Apache-2.0 */
/* Two servers whose clocks are seconds or an hour apart, and stepped, work on one database:
 * whatever one of them writes, the other may have written with the same second, or with a later one
 * before. Nothing may be known by its second. Their pools hold what the other has handed out long
 * ago. */
#include "tests/support/pool_server.h"

#include "db/states.h"
#include "server/base/arena.h"
#include "server/base/random.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

enum { NOW = SERVING_NOW, SERVERS = 2, HOSTS = 3, JOBS_MAX = 1000, JOBS_AT_ONCE = 20 };

static struct test_database *database;
static struct pool_server servers[SERVERS];
static const struct answer *answer; /* the last one */
static struct arena *arena;         /* of what the next request says */

/* A result as its host knows it, and as the database should; by its number. */
struct known_job {
    int owner;      /* host; 0: it was not sent */
    bool is_told;   /* a reply that was not lost brought it */
    bool is_done;   /* it is reported with each request until that is acknowledged */
    bool is_booked; /* by a reply that may have been lost */
    bool is_acked;
};
static struct known_job jobs[JOBS_MAX + 1];
static int job_count;

/* --- the world ------------------------------------------------------------------------------- */

static int setup(void **state)
{
    (void)state;
    database = test_database_create(true, NULL);
    serving_add_hosts(database, HOSTS);
    for (int i = 0; i < SERVERS; i++)
        pool_server_open(&servers[i], database, 1 + i, JOBS_MAX);
    arena = arena_create((size_t)1024 * 1024);
    memset(jobs, 0, sizeof(jobs));
    job_count = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int i = 0; i < SERVERS; i++)
        pool_server_close(&servers[i]);
    arena_destroy(arena);
    test_database_destroy(database);
    return 0;
}

/* Both pools see them, and nothing else that has changed. */
static void add_jobs(int count)
{
    serving_add_jobs(database, &(struct new_jobs){.first = job_count + 1, .count = count});
    job_count += count;
    assert_true(job_count <= JOBS_MAX);
    for (int i = 0; i < SERVERS; i++)
        pool_server_pass(&servers[i], 2);
}

static int count_jobs(bool (*is_meant)(const struct known_job *job, int host), int host)
{
    int count = 0;

    for (int i = 1; i <= job_count; i++)
        count += is_meant(&jobs[i], host);
    return count;
}

static bool is_unsent(const struct known_job *job, int host)
{
    (void)host;
    return job->owner == 0;
}

static bool is_lost(const struct known_job *job, int host)
{
    return job->owner == host && !job->is_told;
}

static bool is_listed(const struct known_job *job, int host)
{
    return job->owner == host && job->is_told && !job->is_done;
}

static bool is_to_report(const struct known_job *job, int host)
{
    return job->owner == host && job->is_done && !job->is_acked;
}

static bool is_to_book(const struct known_job *job, int host)
{
    return is_to_report(job, host) && !job->is_booked;
}

/* --- requests -------------------------------------------------------------------------------- */

static const char *elements_of(int host)
{
    struct buffer text = buffer_in(arena);

    for (int i = 1; i <= job_count; i++)
        if (is_to_report(&jobs[i], host))
            buffer_print(&text,
                         "<result>\n<name>r_%d</name>\n<state>5</state>\n"
                         "<exit_status>0</exit_status>\n</result>\n",
                         i);
    buffer_add(&text, TEXT("<other_results>\n"));
    for (int i = 1; i <= job_count; i++)
        if (is_listed(&jobs[i], host))
            buffer_print(&text, "<other_result>\n<name>r_%d</name>\n</other_result>\n", i);
    buffer_add(&text, TEXT("</other_results>\n"));
    return text_string(arena, buffer_text(&text));
}

/* One request, which is answered at the first attempt: nobody else is there. */
static void ask(int server, int host, double now, double work_seconds, bool reply_is_lost)
{
    struct serving *serving = &servers[server].serving;
    int lost = count_jobs(is_lost, host), reports = count_jobs(is_to_report, host);
    int to_book = count_jobs(is_to_book, host), came_again = 0;

    answer = serving_ask(
        serving,
        &(struct asking){.host = host, .work_seconds = work_seconds, .elements = elements_of(host)},
        now, (uint64_t)job_count * HOSTS + (uint64_t)host);
    arena_reset(arena);
    assert_int_equal(answer->kind, ANSWER_FULL);
    assert_int_equal(serving->request.attempts, 1);
    assert_int_equal(answer->acks.count, reports);
    assert_int_equal(serving->request.attempt.booked, to_book);
    for (int i = 1; i <= job_count; i++) {
        if (!is_to_report(&jobs[i], host))
            continue;
        jobs[i].is_booked = true;
        jobs[i].is_acked = !reply_is_lost;
    }
    for (size_t i = 0; i < answer->job_count; i++) {
        struct known_job *job = &jobs[answer->jobs[i].resultid];

        assert_int_equal(answer->jobs[i].is_resent, job->owner != 0);
        if (job->owner != 0)
            assert_true(is_lost(job, host));
        came_again += job->owner != 0;
        job->owner = host;
        job->is_told = !reply_is_lost;
    }
    assert_int_equal(came_again, lost);
}

static void compare_rows(void)
{
    for (int i = 1; i <= job_count; i++) {
        const struct known_job *job = &jobs[i];
        int state = job->owner == 0  ? RESULT_UNSENT
                    : job->is_booked ? RESULT_OVER
                                     : RESULT_IN_PROGRESS;

        assert_i64(test_sql_integer(database, "SELECT server_state FROM result WHERE id = %d", i),
                   state);
        assert_i64(test_sql_integer(database, "SELECT hostid FROM result WHERE id = %d", i),
                   job->owner);
    }
}

/* --- stories --------------------------------------------------------------------------------- */

/* The second server offers what the first one has sent to this host, in what is the same second by
 * its own clock; the host gets the other job, at once. */
static void what_was_sent_in_the_same_second_is_not_sent_again(void **state)
{
    (void)state;
    for (int difference = 0; difference <= 5; difference += 5) {
        int before = job_count;

        add_jobs(2);
        ask(0, 1, NOW + difference, 1, false);
        assert_int_equal(answer->job_count, 1);
        ask(1, 1, NOW + difference, 150, false); /* the difference later */
        assert_int_equal(answer->job_count, 1);
        assert_true(jobs[before + 1].is_told && jobs[before + 2].is_told);
    }
    compare_rows();
}

/* A report is booked by the first, and its acknowledgement lost; the second gets it again in the
 * same second, with another. */
static void what_was_booked_in_the_same_second_is_not_booked_again(void **state)
{
    (void)state;
    add_jobs(2);
    ask(0, 1, NOW, 150, false);
    assert_int_equal(answer->job_count, 2);
    jobs[1].is_done = true;
    ask(0, 1, NOW + 5, 0, true);
    jobs[2].is_done = true;
    ask(1, 1, NOW + 5, 0, false);
    assert_int_equal(servers[1].serving.request.attempt.booked, 1);
    compare_rows();
}

static int pick(struct random *random, const int *items, size_t count)
{
    return items[(size_t)(random_unit(random) * (double)count)];
}

/* Hosts go from one server to the other, many times in a second; replies are lost; the clock of the
 * second server is stepped now and then. */
static void no_second_says_whose_a_row_is(void **state)
{
    enum { REQUESTS = 400, CLOCK_IS_RIGHT_FOR = 20 };
    static const int pauses[] = {0, 0, 0, 1, 5}, clocks[] = {5, 5, 0, -5, 600, -3600};
    struct random random = {.state = 7};
    int ahead[SERVERS] = {5, 5}, time = NOW, most_in_progress = 6;

    (void)state;
    for (int i = 0; i < REQUESTS; i++) {
        int server = random_unit(&random) < 0.5, host = 1 + (int)(random_unit(&random) * HOSTS);
        bool reply_is_lost = random_unit(&random) < 0.25;

        time += pick(&random, pauses, sizeof(pauses) / sizeof(pauses[0]));
        if (i % CLOCK_IS_RIGHT_FOR == 0)
            ahead[1] = pick(&random, clocks, sizeof(clocks) / sizeof(clocks[0]));
        if (count_jobs(is_unsent, 0) < 3)
            add_jobs(JOBS_AT_ONCE);
        for (int j = 1; j <= job_count; j++)
            if (is_listed(&jobs[j], host) && random_unit(&random) < 0.3)
                jobs[j].is_done = true;
        ask(server, host, time + ahead[server],
            count_jobs(is_listed, host) < most_in_progress ? 150 : 0, reply_is_lost);
    }
    compare_rows();
    assert_true(job_count > 5 * JOBS_AT_ONCE);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_was_sent_in_the_same_second_is_not_sent_again),
        CASE(what_was_booked_in_the_same_second_is_not_booked_again),
        CASE(no_second_says_whose_a_row_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
