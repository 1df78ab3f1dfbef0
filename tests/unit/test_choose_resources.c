/* SPDX-License-Identifier: Apache-2.0 */
/* Several kinds of processors in one request, by chance: what is sent is judged by a slow account
 * of its own, job by job. */
#include "server/policy/dispatch/choose.h"

#include "server/base/arena.h"
#include "server/base/budget.h"
#include "server/base/random.h"
#include "server/parse/message.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>

enum { JOBS = 60, APPS = 4, OPTIONS = 8, RESOURCES = 4, LISTED = 5 };

struct world {
    struct arena *arena;
    struct config *config;
    struct message message;
    struct host_row host;
    struct project_preferences project;
    struct app_row apps[APPS];
    struct app_version_row versions[OPTIONS];
    struct version_option options[OPTIONS];
    struct app_limit app_limits[1];
    struct app_count app_counts[1];
    struct host_view view;
    struct workunit_row workunits[JOBS];
    struct job jobs[JOBS];
    struct ip_result listed[LISTED];
    struct budget budget;
    bool withholds; /* jobs are due before the host connects: only idle instances get one */
    double idle[RESOURCES];
};

static double pick(struct random *random, double most)
{
    return floor(random_unit(random) * (most + 1));
}

static void make_option(struct world *world, size_t i, struct random *random)
{
    struct version_option *option = &world->options[i];
    size_t resource = (size_t)pick(random, RESOURCES - 1);
    static const double cpus[] = {0.05, 0.5, 1, 2};

    world->versions[i] = (struct app_version_row){.id = 50 + (int64_t)i};
    *option = (struct version_option){
        .app = &world->apps[i % APPS],
        .version = &world->versions[i],
        .app_version_id = 50 + (int64_t)i,
        .is_64bit = true,
        .is_current = true,
        .is_runnable = pick(random, 9) > 0,
        .resource = resource,
        .usage = {.avg_ncpus = resource == 0 ? 1 + pick(random, 3) : cpus[(int)pick(random, 3)],
                  .coproc_count = resource == 0         ? 0
                                  : pick(random, 1) > 0 ? 1
                                                        : 0.5,
                  .projected_flops = 1e9 * (1 + pick(random, 9))},
        .choice_flops = 1e9 * (1 + pick(random, 9)),
        .daily_limit = LIMIT_NONE};
}

static struct world *make_world(struct random *random)
{
    struct world *world = calloc(1, sizeof(*world));
    struct host_view *view = &world->view;

    assert_non_null(world);
    world->arena = arena_create(1 << 24);
    assert_status(STATUS_OK, config_defaults(&world->config));
    world->config->ignore_delay_bound = true;
    message_init(&world->message);
    for (size_t i = 0; i < APPS; i++)
        world->apps[i] = (struct app_row){.id = 1 + (int64_t)i, .weight = 1};
    for (size_t i = 0; i < OPTIONS; i++)
        make_option(world, i, random);
    for (size_t i = 0; i < JOBS; i++) {
        world->workunits[i] = (struct workunit_row){.id = 100 + (int64_t)i,
                                                    .rsc_fpops_est = 1e11 * (1 + pick(random, 20)),
                                                    .delay_bound = 1000000};
        world->jobs[i] = (struct job){.resultid = 1000 + (int64_t)i,
                                      .priority = JOBS / 20 - (int64_t)i / 20,
                                      .workunit = &world->workunits[i],
                                      .app = &world->apps[(int)pick(random, APPS - 1)]};
    }
    *view = (struct host_view){.config = world->config,
                               .message = &world->message,
                               .host = &world->host,
                               .project = &world->project,
                               .client_version = 80000,
                               .delay_bound_most = INT64_MAX,
                               .memory = 1e9,
                               .disk = 1e9,
                               .correction = 1,
                               .availability = {.cpu = 1, .gpu = 1},
                               .expected = {.cpu = 1, .gpu = 1},
                               .stretch = {.cpu = 1, .gpu = 1},
                               .asked = {.resource_count = RESOURCES, .share = 1},
                               .limits = {.reply = 40 + (int64_t)pick(random, 40),
                                          .in_progress_total = LIMIT_NONE,
                                          .project_total = LIMIT_NONE},
                               .app_limits = world->app_limits,
                               .app_counts = world->app_counts,
                               .app_limit_count = 1,
                               .options = {.items = world->options, .count = OPTIONS}};
    world->app_limits[0] = (struct app_limit){.appid = 1, .total = 1 + (int64_t)pick(random, 30)};
    for (size_t i = 0; i < RESOURCES; i++) {
        static const char *const types[] = {"CPU", "NVIDIA", "miner_asic", "intel_gpu"};
        bool wants = pick(random, 2) > 0;

        view->asked.resources[i] =
            (struct resource){.type = text_from(types[i]),
                              .count = i == 0 ? 4 : 2,
                              .seconds = wants ? pick(random, 4000) : 0,
                              .instances = wants ? pick(random, i == 0 ? 4 : 2) : 0};
        view->limits.in_progress[i] = pick(random, 3) > 0 ? LIMIT_NONE : (int64_t)pick(random, 9);
        world->app_limits[0].by_resource[i] =
            pick(random, 1) > 0 ? LIMIT_NONE : (int64_t)pick(random, 5);
    }
    return world;
}

/* A queue of short jobs, of each resource but that which clients cannot tell. What they occupy is
 * counted here in its own way. */
static void add_queue(struct world *world, struct random *random)
{
    struct workload_sources sources = {.message = &world->message,
                                       .asked = &world->view.asked,
                                       .availability = {.cpu = 1, .gpu = 1},
                                       .connection_period = 2000000,
                                       .jobs_max = JOBS,
                                       .budget = &world->budget};
    size_t count = (size_t)pick(random, LISTED);

    world->withholds = true;
    world->config->ignore_delay_bound = false;
    world->config->edf_min_queue = EDF_MIN_QUEUE_WHEN_NOT_IDLE;
    world->message.client_major = 7;
    world->message.client_minor = 20;
    world->message.has_ip_results = true;
    world->message.ip_results = world->listed;
    world->message.ip_result_count = count;
    for (size_t i = 0; i < RESOURCES; i++) {
        world->idle[i] = world->view.asked.resources[i].count;
        world->view.asked.resources[i].tells_idle = pick(random, 1) > 0;
    }
    for (size_t i = 0; i < count; i++) {
        static const double widths[] = {0.5, 1, 2, 8};
        double width = widths[(int)pick(random, 3)], cpus = widths[(int)pick(random, 2)];
        struct ip_result *job = &world->listed[i];
        int kind = (int)pick(random, 2);

        *job = (struct ip_result){.time_remaining = 1, .avg_ncpus = kind == 0 ? width : cpus};
        world->idle[0] -= kind == 0 ? fmin(width, 4) : cpus >= 1 ? cpus : 0;
        if (kind == 1)
            job->ncudas = width;
        else if (kind == 2)
            job->nintel_gpus = width;
        if (kind > 0)
            world->idle[kind == 1 ? 1 : 3] -= fmin(width, 2);
    }
    world->view.workload = workload_make(world->arena, &sources);
    assert_non_null(world->view.workload);
}

static void free_world(struct world *world)
{
    arena_destroy(world->arena);
    config_release(world->config);
    free(world);
}

/* What has been sent, by a plain account. */
struct account {
    double seconds[RESOURCES], instances[RESOURCES]; /* still wanted */
    double idle[RESOURCES];
    int64_t jobs, by_resource[RESOURCES], of_app, of_app_by[RESOURCES];
};

static bool is_wanted(const struct account *account, size_t resource)
{
    return account->seconds[resource] > 1e-6 || account->instances[resource] > 1e-6;
}

static bool is_full(const struct world *world, const struct account *account, const struct job *job,
                    size_t resource)
{
    const struct app_limit *limit = &world->app_limits[0];
    double idle = world->view.asked.resources[resource].tells_idle ? account->instances[resource]
                                                                   : account->idle[resource];

    return (world->withholds && !(idle > 1e-6)) || account->jobs >= world->view.limits.reply ||
           account->by_resource[resource] >= world->view.limits.in_progress[resource] ||
           (job->app->id == 1 && (account->of_app >= limit->total ||
                                  account->of_app_by[resource] >= limit->by_resource[resource]));
}

static void book(struct account *account, const struct job *job)
{
    const struct version_option *option = job->option;
    size_t resource = option->resource;
    double wall = job->workunit->rsc_fpops_est / option->usage.projected_flops;
    double taken = resource == 0 ? option->usage.avg_ncpus : option->usage.coproc_count;

    account->seconds[resource] -= wall * taken;
    account->instances[resource] -= taken;
    account->idle[resource] -= taken;
    if (resource != 0 && option->usage.avg_ncpus >= 1) {
        account->seconds[0] -= wall * option->usage.avg_ncpus;
        account->instances[0] -= option->usage.avg_ncpus;
        account->idle[0] -= option->usage.avg_ncpus;
    }
    account->jobs++;
    account->by_resource[resource]++;
    account->of_app += job->app->id == 1;
    account->of_app_by[resource] += job->app->id == 1;
}

static bool has_version(const struct world *world, const struct job *job, size_t resource)
{
    for (size_t i = 0; i < OPTIONS; i++)
        if (world->options[i].app == job->app && world->options[i].resource == resource &&
            world->options[i].is_runnable)
            return true;
    return false;
}

/* Each job was wanted when it was chosen, of the resource that its version uses; so no amount is
 * passed by more than one job. What is still wanted at the end could not be had. */
static void serve_random_worlds(bool withholds)
{
    struct random random = {.state = 4711};
    size_t chosen_in_all = 0, unserved = 0;

    for (int round = 0; round < 3000; round++) {
        struct world *world = make_world(&random);
        struct job *chosen[JOBS];
        struct choice_notes notes = {0};
        struct tally tally;
        struct account account = {0};
        size_t count;

        if (withholds)
            add_queue(world, &random);
        for (size_t i = 0; i < RESOURCES; i++) {
            account.idle[i] = world->idle[i];
            account.seconds[i] = world->view.asked.resources[i].seconds;
            account.instances[i] = world->view.asked.resources[i].instances;
        }
        assert_true(tally_begin(&world->view, world->arena, JOBS, &tally));
        count = choose_jobs(&world->view, &tally, world->jobs, JOBS, chosen, &notes);
        for (size_t i = 0; i < count; i++) {
            const struct version_option *option = chosen[i]->option;

            assert_true(option->is_runnable);
            assert_ptr_equal(option->app, chosen[i]->app);
            assert_true(is_wanted(&account, option->resource));
            assert_false(is_full(world, &account, chosen[i], option->resource));
            /* Coprocessors come before the CPU. */
            assert_true(i == 0 || option->resource <= chosen[i - 1]->option->resource);
            book(&account, chosen[i]);
        }
        for (size_t resource = 0; resource < RESOURCES; resource++)
            for (size_t i = 0; i < JOBS && is_wanted(&account, resource); i++) {
                const struct job *job = &world->jobs[i];

                if (job->is_gone || !has_version(world, job, resource))
                    continue;
                unserved++;
                if (!is_full(world, &account, job, resource))
                    fail_msg("round %d: job %zu is held back from resource %zu", round, i,
                             resource);
            }
        chosen_in_all += count;
        free_world(world);
    }
    assert_true(chosen_in_all > (withholds ? 5000 : 10000));
    assert_true(unserved > 1000);
}

static void each_resource_gets_what_it_asks_for(void **state)
{
    (void)state;
    serve_random_worlds(false);
}

/* Of jobs that are due before the host connects again each idle instance gets one, whatever else
 * the host has; the client says how many idle, or its list does. */
static void each_idle_instance_gets_a_job(void **state)
{
    (void)state;
    serve_random_worlds(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_resource_gets_what_it_asks_for),
        cmocka_unit_test(each_idle_instance_gets_a_job),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
