/* SPDX-License-Identifier: Apache-2.0 */
/* Each app version as this host would run it: whether its plan class fits, what a job of it uses,
 * how fast it is, and what the host's statistics of it say of quota and trust (policy(7) 4.1
 * to 5.4).
 */
#include "server/handout/view_parts.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/budget.h"
#include "server/base/random.h"
#include "server/policy/plan_class/coproc_figures.h"
#include "server/policy/plan_class/plan_class_builtin.h"
#include "server/policy/plan_class/plan_verdict.h"
#include "server/policy/version/estimate.h"
#include "server/policy/version/own_versions.h"
#include "server/policy/version/reliability.h"
#include "server/policy/version/version_absence.h"
#include "server/project/catalog.h"
#include "server/reply/reply.h"
#include "server/rpc/request.h"

#include <math.h>

#include "server/base/banned.h"

enum { SEED_VERSIONS = 0x7653 };

#define COPROC_SPEEDUP 10.0 /* what a coprocessor is worth in CPUs where nothing else is known */

/* --- statistics ---------------------------------------------------------------------------- */

/* The row with what this request's reports changed of it; false: the host has none. */
static bool statistics_now(const struct request *request, int64_t id, int64_t first_quota,
                           struct host_app_version_row *ret_row)
{
    const struct attempt *attempt = &request->attempt;
    const struct host_app_version_row *stored = request_version(request, id);

    *ret_row = stored != NULL ? *stored
                              : (struct host_app_version_row){.app_version_id = id,
                                                              .max_jobs_per_day = first_quota};
    if (attempt->is_new_day)
        ret_row->n_jobs_today = 0;
    for (size_t i = 0; i < attempt->version_change_count; i++) {
        const struct host_app_version_change *change = &attempt->version_changes[i];
        if (change->app_version_id != id)
            continue;
        if (change->sets_max_jobs_per_day)
            ret_row->max_jobs_per_day = change->max_jobs_per_day;
        if (change->resets_consecutive_valid)
            ret_row->consecutive_valid = 0;
    }
    return stored != NULL;
}

static double processors_of(const struct request *request, const struct host_view *view,
                            size_t resource)
{
    double count =
        view->asked.resource_count > resource ? view->asked.resources[resource].count : 0;

    if (resource == RESOURCE_CPU)
        return fmin((double)request->attempt.host.p_ncpus, (double)request->config->max_ncpus);
    return request->config->gpu_multiplier > 0 ? count * request->config->gpu_multiplier : count;
}

/* Speeds, quota and trust, from the statistics. `class_flops` is the plan class's word. */
static void judge_option(const struct request *request, const struct host_view *view,
                         double class_flops, struct random *random, struct version_option *option)
{
    struct host_app_version_row row;
    bool has_row = statistics_now(request, option->statistics_id, view->first_quota, &row);
    double benchmark = estimate_cpu_flops(request->attempt.host.p_fpops) *
                       (option->usage.avg_ncpus + COPROC_SPEEDUP * option->usage.coproc_count);
    const struct speed_question speed = {
        .class_flops = class_flops,
        .benchmark_flops = option->version != NULL ? benchmark : class_flops,
        .peak_flops = option->usage.peak_flops,
        .statistics = has_row ? &row : NULL,
        .version = option->version,
        .no_statistics = request->config->rte_no_stats,
    };

    option->stored_peak = estimate_stored_peak(
        request->attempt.host.p_fpops, option->usage.peak_flops,
        option->usage.avg_ncpus *
            estimate_capped_flops(request->attempt.host.p_fpops, &request->catalog->benchmarks));
    option->is_untried = !has_row || row.et_n < 1;
    option->turnaround = has_row && row.turnaround_n >= 1 ? row.turnaround_avg : 0;
    option->is_failing =
        has_row && row.pfc_n <= 0 && row.max_jobs_per_day == 1 && row.consecutive_valid == 0;
    option->usage.projected_flops = estimate_projected_flops(&speed);
    option->bound_scale =
        estimate_bound_scale(&speed, option->is_untried ? request->config->untried_margin : 1);
    option->choice_flops =
        version_randomize(estimate_blended_flops(&speed), has_row ? row.pfc_n : 0,
                          request->config->version_select_random_factor, option->is_failing,
                          random_normal(random), random_unit(random));
    option->is_reliable =
        has_row && version_is_reliable(&row, request->config, request->attempt.host.os_name,
                                       request->attempt.host.p_vendor);
    option->is_trusted = version_is_trusted(row.consecutive_valid, random_unit(random));
    option->daily_limit = limits_daily(row.max_jobs_per_day, request->config->daily_result_quota,
                                       option->resource < view->asked.resource_count
                                           ? processors_of(request, view, option->resource)
                                           : 1);
    option->jobs_today = row.n_jobs_today;
    option->is_unproven = limits_is_unproven(request->config, row.max_jobs_per_day);
}

/* --- versions ------------------------------------------------------------------------------ */

/* The client's platforms as the catalog knows them, best first. */
struct host_platforms {
    const struct platform_row
        *rows[MESSAGE_PLATFORMS_MAX]; /* NULL: the project has none of these */
};

static struct host_platforms host_platforms_of(const struct request *request)
{
    struct host_platforms platforms = {0};

    for (size_t i = 0; i < request->message.platform_count; i++)
        platforms.rows[i] =
            catalog_platform_by_name(request->catalog, request->message.platforms[i]);
    return platforms;
}

/* The rank of a version's platform among the host's; false: the host has none of it. */
static bool platform_rank(const struct host_platforms *platforms, int64_t platformid,
                          size_t *ret_rank, struct text *ret_name)
{
    for (size_t i = 0; i < MESSAGE_PLATFORMS_MAX; i++) {
        const struct platform_row *platform = platforms->rows[i];

        if (platform != NULL && platform->id == platformid) {
            *ret_rank = i;
            *ret_name = platform->name;
            return true;
        }
    }
    return false;
}

/* The host as plan classes see it; `chance` is uniform in [0, 1). */
static struct plan_host plan_host_of(const struct request *request, const struct host_view *view,
                                     double chance)
{
    const struct attempt *attempt = &request->attempt;

    return (struct plan_host){
        .message = &request->message,
        .client_version = request->client_version,
        .userid = attempt->user.id,
        .cpus = view->asked.our_cpus,
        .memory = view->memory,
        .cpu_flops = estimate_capped_flops(attempt->host.p_fpops, &request->catalog->benchmarks),
        .primary_platform =
            request->message.platform_count > 0 ? request->message.platforms[0] : NO_TEXT,
        .project_prefs = attempt->user.project_prefs,
        .venue = attempt->host.venue,
        .chance = chance,
    };
}

/* Whether this host can run the version, and what a job of it uses. */
static void judge_plan_class(const struct request *request, const struct host_view *view,
                             struct random *random, struct version_option *option)
{
    const struct plan_classes builtin = plan_classes_builtin();
    const struct plan_host host = plan_host_of(request, view, random_unit(random));
    const struct plan_verdict verdict =
        plan_class_judge(request->plan_classes != NULL ? request->plan_classes : &builtin,
                         option->version->plan_class, &host, request->arena);

    option->is_runnable = verdict.is_usable && request->message.client_cap_plan_class;
    option->is_fit = verdict.is_fit && request->message.client_cap_plan_class;
    option->why = request->message.client_cap_plan_class
                      ? verdict.why
                      : TEXT("your BOINC client is too old for that");
    option->bounds = verdict.bounds;
    option->memory = verdict.memory;
    if (verdict.is_fit)
        option->usage = verdict.usage;
    option->usage.coproc_type = verdict.usage.coproc_type;
}

static void add_version(const struct request *request, struct host_view *view,
                        const struct host_platforms *platforms,
                        const struct app_version_row *version, struct random *random)
{
    struct version_option *option = &view->options.items[view->options.count];
    double cpu_flops = estimate_cpu_flops(request->attempt.host.p_fpops);

    *option = (struct version_option){
        .app = catalog_app(request->catalog, version->appid),
        .version = version,
        .fpops_scale = 1,
        .app_version_id = version->id,
        .statistics_id = version->id,
        .usage = {.avg_ncpus = 1, .projected_flops = cpu_flops, .peak_flops = cpu_flops},
    };
    if (option->app == NULL ||
        !platform_rank(platforms, version->platformid, &option->platform_rank, &option->platform))
        return;
    option->is_64bit = platform_is_64bit(option->platform);
    option->is_current = catalog_version_is_current(request->catalog, version);
    option->is_runnable = option->is_fit = true;
    if (version->plan_class.length > 0)
        judge_plan_class(request, view, random, option);
    option->resource = amounts_resource(&view->asked, option->usage.coproc_type);
    judge_option(request, view, option->usage.projected_flops, random, option);
    view->options.count++;
}

static double peak_flops_of(const struct message *message, struct text type)
{
    for (size_t i = 0; i < message->coproc_count; i++)
        if (text_equal(message->coprocs[i].type, type))
            return coproc_peak_flops(&message->coprocs[i]);
    return 0;
}

/* The client's own version. It estimates by the flops that it says itself, so what we know better
 * goes into the job's FLOP figures. */
static void add_own_version(const struct request *request, struct host_view *view,
                            const struct client_app_version *own, struct random *random)
{
    struct version_option *option = &view->options.items[view->options.count];
    const struct app_row *app = catalog_app_by_name(request->catalog, own->app_name);
    int64_t id = anonymous_version_id(own->coproc_type);
    double cpu_flops = estimate_cpu_flops(request->attempt.host.p_fpops);
    double said = own->flops > 0 ? own->flops : cpu_flops;

    if (own->is_placeholder || app == NULL || id == 0 || own->version_num < app->min_version ||
        !reply_takes_own_version(own))
        return;
    *option = (struct version_option){
        .app = app,
        .anonymous = own,
        .platform = own->platform,
        .is_64bit = own->platform.length == 0 || platform_is_64bit(own->platform),
        .is_current = true,
        .app_version_id = id,
        .statistics_id = anonymous_statistics_id(app->id, id),
        .usage = {.avg_ncpus = own->avg_ncpus > 0 ? fmin(own->avg_ncpus, 4096) : 1,
                  .coproc_type = own->coproc_type,
                  .coproc_count = fmin(fmax(own->coproc_count, 0), 4096)},
    };
    option->resource = amounts_resource(&view->asked, own->coproc_type);
    option->is_runnable = option->is_fit = option->resource < view->asked.resource_count;
    option->usage.peak_flops =
        cpu_flops * option->usage.avg_ncpus +
        option->usage.coproc_count * peak_flops_of(&request->message, own->coproc_type);
    judge_option(request, view, said, random, option);
    option->fpops_scale = said / option->usage.projected_flops;
    view->options.count++;
}

/* The statistics, and with them the quota, are of an app and a resource, however many versions of
 * them the client lists. False: no memory. */
static bool count_together(struct request *request, struct host_view *view)
{
    const struct catalog_rows *rows = &request->catalog->rows;
    const struct version_option **first = ARENA_ARRAY(
        request->arena, rows->app_count * OWN_VERSION_KINDS, const struct version_option *);

    if (first == NULL)
        return false;
    for (size_t i = 0; i < view->options.count; i++) {
        struct version_option *option = &view->options.items[i];
        size_t kind = (size_t)(anonymous_version_id(NO_TEXT) - option->app_version_id);
        const struct version_option **place =
            &first[(size_t)(option->app - rows->apps) * OWN_VERSION_KINDS + kind];

        if (*place == NULL)
            *place = option;
        option->counted_with = *place;
    }
    return true;
}

enum { OWN_VERSION_COST = 500 /* units of the budget; there are MESSAGE_APP_VERSIONS_MAX */ };

static bool add_own_versions(struct request *request, struct host_view *view, struct random *random)
{
    const struct message *message = &request->message;

    (void)budget_spend(&request->attempt.budget, message->app_version_count * OWN_VERSION_COST);
    for (size_t i = 0; i < message->app_version_count; i++)
        add_own_version(request, view, &message->app_versions[i], random);
    if (!count_together(request, view))
        return false;
    view->options.own = own_versions_sort(request->arena, &view->options, &request->attempt.budget);
    return view->options.own != NULL;
}

/* False: no memory. */
static bool note_offer(const struct request *request, const struct host_platforms *platforms,
                       struct host_view *view)
{
    struct version_offer *offer = ARENA_NEW(request->arena, struct version_offer);

    if (offer == NULL)
        return false;
    offer->rows = &request->catalog->rows;
    for (size_t i = 0; i < MESSAGE_PLATFORMS_MAX; i++)
        offer->platformids[i] = platforms->rows[i] != NULL ? platforms->rows[i]->id : 0;
    view->options.offer = offer;
    return true;
}

static bool add_versions(const struct request *request, struct host_view *view,
                         struct random *random)
{
    const struct catalog_rows *rows = &request->catalog->rows;
    const struct host_platforms platforms = host_platforms_of(request);

    for (size_t i = 0; i < rows->version_count; i++)
        add_version(request, view, &platforms, &rows->versions[i], random);
    return note_offer(request, &platforms, view);
}

/* On each resource, those that have yet to show that the host can run them. */
static void count_unproven_together(struct version_options *options)
{
    struct version_option *first[RESOURCES_MAX] = {0};
    int64_t jobs[RESOURCES_MAX] = {0};

    for (size_t i = 0; i < options->count; i++) {
        struct version_option *option = &options->items[i];

        if (!option->is_unproven || option->resource >= RESOURCES_MAX)
            continue;
        if (option->counted_with == NULL || option->counted_with == option)
            jobs[option->resource] += option->jobs_today;
        if (first[option->resource] == NULL)
            first[option->resource] = option;
        option->counted_with = first[option->resource];
    }
    for (size_t i = 0; i < options->count; i++) {
        struct version_option *option = &options->items[i];

        if (option->is_unproven && option->resource < RESOURCES_MAX)
            option->jobs_today = jobs[option->resource];
    }
}

bool view_make_options(struct request *request, struct host_view *view)
{
    bool is_anonymous = request->message.anonymous_platform;
    size_t count =
        is_anonymous ? request->message.app_version_count : request->catalog->rows.version_count;
    struct random random = {.state = random_mix(request->seed, SEED_VERSIONS)};
    struct plan_host host;

    view->options = (struct version_options){
        .items = ARENA_ARRAY(request->arena, count + view_variants_most(request),
                             struct version_option)};
    if (view->options.items == NULL)
        return false;
    view->first_quota = request_first_quota(request);
    if (is_anonymous ? !add_own_versions(request, view, &random)
                     : !add_versions(request, view, &random))
        return false;
    count_unproven_together(&view->options);
    host = plan_host_of(request, view, random_unit(&random));
    return view_add_variants(request, view, &host);
}
