/* SPDX-License-Identifier: Apache-2.0 */
/* The job pool. Three shapes of a backlog: all jobs alike, a thousand kinds, every job different.
 * An ordinary host has room for about half of all; the rare host for exactly one job, which stands
 * in the middle of the backlog; the hopeless host for none, and asks what came nearest. */
#include "config/config.h"
#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/random.h"
#include "server/base/shown.h"
#include "server/pool/fill.h"
#include "server/pool/pool.h"
#include "tools/lab/qmbench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/base/banned.h"

enum { QUESTIONS = 2000, REPLY_JOBS = 10, ARENA_BYTES = 16 << 20 };

/* Of this thread, so that what else the machine does is not counted. */
static double seconds_worked(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* --- jobs and hosts -------------------------------------------------------------------------- */

/* Amounts between 0 and 1000 in no order, the same for each kind; never below 10. */
static double amount(uint64_t what, uint64_t kind)
{
    struct random random = {.state = random_mix(what, kind)};
    return 10 + 990 * random_unit(&random);
}

static struct pool_job job_of(int64_t id, int64_t kinds)
{
    uint64_t kind = (uint64_t)(id % kinds);

    return (struct pool_job){.resultid = id,
                             .workunit = {.id = id,
                                          .appid = 1 + (int64_t)(kind % 5),
                                          .rsc_memory_bound = amount(1, kind),
                                          .rsc_disk_bound = amount(2, kind),
                                          .rsc_fpops_est = amount(3, kind) * 1e9,
                                          .delay_bound = 1000}};
}

/* It fits a host that nothing else fits. */
static struct pool_job rare_job(int64_t id)
{
    struct pool_job job = job_of(id, INT64_MAX);

    job.workunit.rsc_memory_bound = job.workunit.rsc_disk_bound = 5;
    job.workunit.rsc_fpops_est = 1e9;
    return job;
}

static bool take(void *context, const struct pool_group *group, struct pool_terms *ret_terms)
{
    const struct pool_terms *terms = context;

    (void)group;
    *ret_terms = *terms;
    return true;
}

struct bench_host {
    const char *name;
    double room; /* of each amount */
};
static const struct bench_host hosts[] = {{"ordinary", 800}, {"rare", 6}, {"hopeless", 1}};

/* --- measuring ------------------------------------------------------------------------------- */

static int compare_times(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

/* One question as the server asks it, what was got given back. Microseconds, or -1. */
static double ask(struct pool *pool, struct arena *arena, const struct bench_host *host,
                  size_t *ret_got)
{
    struct pool_terms terms = {.limits = {host->room, host->room, HUGE_VAL, host->room * 1e6},
                               .jobs = REPLY_JOBS};
    struct pool_question question = {.judge = take,
                                     .context = &terms,
                                     .jobs_max = 2 * REPLY_JOBS + 16,
                                     .classes_max = 2 * REPLY_JOBS + 16,
                                     .times_wanted = 2};
    struct pool_answer answer, why;
    double begun = seconds_worked(), took;

    if (!pool_take(pool, arena, &question, (struct pool_place){0}, &answer) ||
        (answer.count == 0 && !pool_explain(pool, arena, &question, &why)))
        return -1;
    took = seconds_worked() - begun;
    *ret_got = answer.count;
    for (size_t i = 0; i < answer.count; i++)
        pool_return(pool, &answer.jobs[i].resultid, 1);
    arena_reset(arena);
    return took * 1e6;
}

static bool ask_often(struct pool *pool, struct arena *arena, const struct bench_host *host)
{
    static double times[QUESTIONS]; /* too many for the stack */
    size_t got = 0;

    for (int i = 0; i < QUESTIONS; i++) {
        times[i] = ask(pool, arena, host, &got);
        if (times[i] < 0)
            return false;
    }
    qsort(times, QUESTIONS, sizeof(times[0]), compare_times);
    printf("  %s host: %zu jobs, %.1f us, 99th %.1f us\n", host->name, got, times[QUESTIONS / 2],
           times[QUESTIONS * 99 / 100]);
    return true;
}

static bool fill(struct pool *pool, int64_t jobs, int64_t kinds)
{
    pool_sweep_begin(pool);
    for (int64_t id = 1; id <= jobs; id++) {
        struct pool_job job = id == jobs / 2 ? rare_job(id) : job_of(id, kinds);
        if (pool_put(pool, &job, 1) != STATUS_OK)
            return false;
    }
    while (pool_sweep_end(pool))
        ;
    return true;
}

static void print_figures(struct pool *pool, double took)
{
    struct pool_figures figures;

    pool_figures(pool, &figures);
    printf("%zu jobs in %zu classes, %zu groups: %.1f MB, %.0f bytes a job, filled in %.2f s%s\n",
           figures.jobs, figures.classes, figures.groups, (double)figures.bytes / 1e6,
           (double)figures.bytes / (double)(figures.jobs > 0 ? figures.jobs : 1), took,
           figures.is_complete ? "" : ", not complete");
}

static bool measure(int64_t jobs, int64_t kinds)
{
    struct pool *pool = pool_create((size_t)jobs, false);
    struct arena *arena = arena_create(ARENA_BYTES);
    double begun = clock_seconds();
    bool done = pool != NULL && arena != NULL && fill(pool, jobs, kinds);

    if (done)
        print_figures(pool, clock_seconds() - begun);
    for (size_t i = 0; done && i < sizeof hosts / sizeof *hosts; i++)
        done = ask_often(pool, arena, &hosts[i]);
    arena_destroy(arena);
    pool_destroy(pool);
    return done;
}

int bench_pool(int argc, char **argv)
{
    static const int64_t sizes[] = {10000, 100000, 1000000};
    size_t count = argc > 0 ? (size_t)argc : sizeof sizes / sizeof *sizes;

    for (size_t i = 0; i < count; i++) {
        int64_t jobs = argc > 0 ? 0 : sizes[i];

        if (argc > 0 && (!text_to_i64(text_from(argv[i]), &jobs) || jobs < 10)) {
            fprintf(stderr, "qmbench: %s is no number of jobs\n", argv[i]);
            return EXIT_FAILURE;
        }
        if (!measure(jobs, 1) || !measure(jobs, 1000) || !measure(jobs, jobs)) {
            fprintf(stderr, "qmbench: no memory\n");
            return EXIT_FAILURE;
        }
    }
    return EXIT_SUCCESS;
}

/* --- filling --------------------------------------------------------------------------------- */

static enum status fill_from(struct config *config, struct failure *failure)
{
    struct pool *pool = pool_create((size_t)config->pool_jobs_max, config->user_filter);
    struct filler *filler = pool == NULL ? NULL : filler_create(pool, config, 1);
    struct db *db = NULL;
    struct pool_figures figures = {0};
    double begun = clock_seconds(), again;
    enum status status = filler == NULL ? STATUS_NO_MEMORY : db_open(config, &db, failure);

    while (status == STATUS_OK && !figures.is_filled) {
        double pause;
        status = filler_step(filler, db, clock_seconds(), &pause);
        pool_figures(pool, &figures);
    }
    if (status == STATUS_OK)
        print_figures(pool, clock_seconds() - begun);
    again = clock_seconds();
    for (uint64_t sweeps = 1; status == STATUS_OK && sweeps < 2;) {
        struct filler_figures filled;
        double pause;

        /* A later time, so that the next sweep is due. */
        status = filler_step(filler, db, clock_seconds() + config->pool_sweep, &pause);
        filler_figures(filler, &filled);
        sweeps = filled.sweeps;
    }
    if (status == STATUS_OK) {
        printf("sweep: %.2f s\n", clock_seconds() - again);
        status = filler_leave(filler, db);
    }
    db_close(db);
    filler_destroy(filler);
    pool_destroy(pool);
    return status;
}

int bench_fill(int argc, char **argv)
{
    struct arena *arena = arena_create(ARENA_BYTES);
    struct config_findings findings = {0};
    struct failure failure = {0};
    struct config *config = NULL;
    enum status status = STATUS_NO_MEMORY;

    if (arena != NULL && argc == 1)
        status = config_load(argv[0], arena, &config, &findings, &failure);
    if (status == STATUS_OK)
        status = fill_from(config, &failure);
    if (status != STATUS_OK)
        shown_line(stderr, "qmbench: %s",
                   argc != 1                 ? "fill PROJECT_DIR"
                   : failure.text[0] != '\0' ? failure.text
                                             : status_word(status));
    config_release(config);
    arena_destroy(arena);
    return status == STATUS_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
