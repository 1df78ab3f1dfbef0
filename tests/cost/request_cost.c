/* SPDX-License-Identifier: Apache-2.0 */
/* What requests of four shapes cost: for each, after a warm-up, statements and round trips, with
 * the commit, of one request. `tests/cost/request-cost` runs this program under callgrind too,
 * where begin_counting and end_counting tell it which requests count. Not a test: the figures are
 * for people who compare two builds; the bounds of the suite are in tests/database/test_cost.c. */
#include "tests/support/serving.h"

#include "config/config.h"
#include "server/base/log.h"
#include "server/fates/fates.h"
#include "server/pool/fill.h"
#include "server/pool/pool.h"
#include "tests/support/database.h"
#include "tests/support/test.h"

#include <stdlib.h>

enum { HOST = 1, WARM = 5, POOL_MOST = 100000 };
/* Numbers of jobs: what is reported, and what is unsent. */
enum { REPORTED = 100, UNSENT = 1000, UNSENT_COUNT = 2000 };

static const struct shape {
    const char *name;
    int reports, jobs;
    double seconds; /* a job takes 100 s on each of four CPUs */
} shapes[] = {
    {"nothing reported, nothing asked", 0, 0, 0},
    {"1 job", 0, 1, 1},
    {"10 jobs", 0, 10, 1000},
    {"5 reports, 5 jobs", 5, 5, 500},
};

/* callgrind looks for these names. */
void begin_counting(void);
void end_counting(void);

__attribute__((noinline)) void begin_counting(void)
{
    __asm__ volatile("");
}

__attribute__((noinline)) void end_counting(void)
{
    __asm__ volatile("");
}

static struct pool *fill_pool(struct serving *serving)
{
    struct pool *pool = pool_create(POOL_MOST, serving->config->user_filter);
    struct filler *filler = filler_create(pool, serving->config, 1);
    struct pool_figures figures = {0};

    assert_non_null(filler);
    for (double now = 1; !figures.is_filled; now += 0.1) {
        double pause;

        assert_status(STATUS_OK, filler_step(filler, serving->db, now, &pause));
        pool_figures(pool, &figures);
    }
    assert_status(STATUS_OK, filler_leave(filler, serving->db));
    filler_destroy(filler);
    return pool;
}

static void add_reports(struct buffer *elements, int count)
{
    for (int i = REPORTED; i < REPORTED + count; i++)
        buffer_print(elements,
                     "<result>\n<name>r_%d</name>\n<state>5</state>\n<exit_status>0</exit_status>\n"
                     "<final_cpu_time>90</final_cpu_time>\n"
                     "<final_elapsed_time>100</final_elapsed_time>\n</result>\n",
                     i);
    buffer_add_string(elements, "<other_results>\n</other_results>\n");
}

/* The rows as each request finds them. */
static void set_scene(struct test_database *database, const struct shape *shape)
{
    test_sql(database, "DELETE FROM result; DELETE FROM workunit");
    if (shape->reports > 0)
        serving_add_jobs(
            database, &(struct new_jobs){.first = REPORTED, .count = shape->reports, .host = HOST});
    serving_add_jobs(database, &(struct new_jobs){.first = UNSENT, .count = UNSENT_COUNT});
}

static struct db_count cost_of(struct serving *serving, struct test_database *database,
                               const struct shape *shape, bool with_pool, double now)
{
    struct buffer elements = buffer_on_heap(0);
    const struct answer *answer;

    set_scene(database, shape);
    if (with_pool)
        serving->pool = fill_pool(serving);
    add_reports(&elements, shape->reports);
    buffer_add_char(&elements, '\0');
    answer = serving_ask(serving,
                         &(struct asking){.host = HOST,
                                          .work_seconds = shape->seconds,
                                          .elements = buffer_text(&elements).at},
                         now, (uint64_t)now);
    assert_int_equal(serving->request.attempts, 1);
    assert_int_equal(answer->job_count, shape->jobs);
    assert_int_equal(answer->acks.count, shape->reports);
    buffer_free(&elements);
    if (with_pool)
        pool_destroy(serving->pool);
    serving->pool = NULL;
    return serving->request.counted;
}

/* How many requests of each shape are counted; what is printed is said of the last one. */
static int requests_counted(int argc, char **argv)
{
    return argc > 1 ? atoi(argv[1]) : 1;
}

int main(int argc, char **argv)
{
    struct test_database *database = test_database_create(true, NULL);
    int counted = requests_counted(argc, argv);
    struct serving serving;
    double now = SERVING_NOW;

    log_set_level(LOG_LEVEL_WARNING);
    serving_add_hosts(database, 1);
    test_database_config(database)->has_buda_apps = false;
    serving_open(&serving, database);
    serving.fates = fates_create();
    for (int with_pool = 0; with_pool < 2; with_pool++)
        for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
            struct db_count count = {0};

            for (int turn = 0; turn < WARM; turn++, now += 100)
                cost_of(&serving, database, &shapes[i], with_pool, now);
            begin_counting();
            for (int turn = 0; turn < counted; turn++, now += 100)
                count = cost_of(&serving, database, &shapes[i], with_pool, now);
            end_counting();
            printf("%s|%s|%llu|%llu\n", with_pool ? "job pool" : "plain CGI", shapes[i].name,
                   (unsigned long long)count.statements, (unsigned long long)count.round_trips);
        }
    fates_destroy(serving.fates);
    serving_close(&serving);
    test_database_destroy(database);
    return EXIT_SUCCESS;
}
