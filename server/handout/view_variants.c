/* SPDX-License-Identifier: Apache-2.0 */
/* Variants of science apps as this host would run them: each with each wrapper that the host has a
 * version of (policy(7) 4.6). Whether the host is fit for one, and what it uses, is the same for
 * all variants of a kind, of which there are few; so plan classes are judged once for each kind and
 * wrapper, and a thousand variants cost little more than one. */
#include "server/handout/view_parts.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/policy/plan_class/plan_class_builtin.h"
#include "server/policy/plan_class/plan_verdict.h"
#include "server/policy/version/buda.h"
#include "server/policy/version/estimate.h"
#include "server/project/catalog.h"
#include "server/rpc/host_variants.h"
#include "server/rpc/request.h"

#include <math.h>

#include "server/base/banned.h"

/* Workunits that both take. */
static struct plan_bounds both_bounds(const struct plan_bounds *a, const struct plan_bounds *b)
{
#define LOWER(x, y) ((x) > 0 && (y) > 0 ? fmin(x, y) : fmax(x, y)) /* 0: no bound */
    return (struct plan_bounds){
        .min_wu_id = fmax(a->min_wu_id, b->min_wu_id),
        .max_wu_id = LOWER(a->max_wu_id, b->max_wu_id),
        .min_batch = fmax(a->min_batch, b->min_batch),
        .max_batch = LOWER(a->max_batch, b->max_batch),
    };
#undef LOWER
}

/* Of a kind without a plan class: one CPU, as fast as it says itself. */
static struct plan_verdict one_cpu(const struct request *request)
{
    double flops = estimate_cpu_flops(request->attempt.host.p_fpops);

    return (struct plan_verdict){
        .is_usable = true,
        .is_fit = true,
        .usage = {.avg_ncpus = 1, .projected_flops = flops, .peak_flops = flops},
    };
}

static void make_kind(const struct request *request, const struct host_view *view,
                      const struct version_option *wrapper, const struct plan_verdict *verdict,
                      struct version_option *ret_option)
{
    const struct version_option *counted =
        wrapper->counted_with != NULL ? wrapper->counted_with : wrapper;

    *ret_option = *wrapper;
    ret_option->wrapper = wrapper;
    ret_option->counted_with = counted;
    ret_option->is_runnable = wrapper->is_runnable && verdict->is_usable;
    ret_option->is_fit = wrapper->is_fit && verdict->is_fit;
    ret_option->why = wrapper->is_runnable ? verdict->why : wrapper->why;
    ret_option->bounds = both_bounds(&wrapper->bounds, &verdict->bounds);
    if (verdict->memory > 0)
        ret_option->memory = verdict->memory;
    ret_option->memory_peak = 0; /* that of all science apps in the wrapper */
    ret_option->usage = verdict->usage;
    ret_option->resource = amounts_resource(&view->asked, verdict->usage.coproc_type);
    ret_option->stored_peak = estimate_stored_peak(
        request->attempt.host.p_fpops, verdict->usage.peak_flops,
        verdict->usage.avg_ncpus *
            estimate_capped_flops(request->attempt.host.p_fpops, &request->catalog->benchmarks));
}

/* What the wrapper's other jobs took says nothing of this variant. `class_flops` is its plan
 * class's word; `row`: NULL where the host has run none of it. */
static void judge_speed(const struct request *request, double class_flops,
                        const struct host_variant_row *row, struct version_option *option)
{
    struct host_app_version_row statistics = {.et_n = row != NULL ? row->et_n : 0,
                                              .et_avg = row != NULL ? row->et_avg : 0};
    const struct speed_question speed = {
        .class_flops = class_flops,
        .benchmark_flops = class_flops,
        .peak_flops = option->usage.peak_flops,
        .statistics = &statistics,
        .no_statistics = request->config->rte_no_stats,
    };

    option->is_untried = statistics.et_n < 1;
    option->usage.projected_flops = option->choice_flops = estimate_projected_flops(&speed);
    option->bound_scale =
        estimate_bound_scale(&speed, option->is_untried ? request->config->untried_margin : 1);
}

/* One option for each kind that suits the host's CPU; the rest has no app. */
static void judge_kinds(const struct request *request, const struct host_view *view,
                        const struct plan_host *host, const struct version_option *wrapper,
                        struct version_option *ret_options)
{
    const struct message *message = &request->message;
    const struct plan_classes builtin = plan_classes_builtin();
    enum buda_cpu cpu = buda_cpu_of(message->platforms, message->platform_count);

    for (size_t i = 0; i < request->buda->kind_count; i++) {
        const struct buda_kind *kind = &request->buda->kinds[i];
        struct plan_verdict verdict;

        ret_options[i].app = NULL;
        if (kind->cpu != cpu)
            continue;
        verdict =
            kind->plan_class.length == 0
                ? one_cpu(request)
                : plan_class_judge(request->plan_classes != NULL ? request->plan_classes : &builtin,
                                   kind->plan_class, host, request->arena);
        make_kind(request, view, wrapper, &verdict, &ret_options[i]);
        judge_speed(request, verdict.usage.projected_flops, NULL, &ret_options[i]);
    }
}

/* The host's wrappers, each with what it makes of each kind. */
struct wrappers {
    struct version_option *kinds; /* those of a wrapper beside each other */
    size_t count;
};

static bool read_wrappers(const struct request *request, const struct host_view *view,
                          const struct plan_host *host, struct wrappers *ret_wrappers)
{
    const size_t kinds = request->buda->kind_count;
    size_t count = 0;

    for (size_t i = 0; i < view->options.count; i++)
        count += version_is_wrapper(view->options.items[i].version);
    ret_wrappers->kinds = ARENA_ARRAY(request->arena, count * kinds, struct version_option);
    ret_wrappers->count = 0;
    if (ret_wrappers->kinds == NULL)
        return false;
    for (size_t i = 0; i < view->options.count; i++)
        if (version_is_wrapper(view->options.items[i].version))
            judge_kinds(request, view, host, &view->options.items[i],
                        ret_wrappers->kinds + kinds * ret_wrappers->count++);
    return true;
}

/* In order of apps, variants and wrappers, so that of equal ones always the same is first. */
static void add_variants(const struct request *request, const struct wrappers *wrappers,
                         struct version_options *options, size_t *first)
{
    const struct buda_apps *buda = request->buda;
    const struct attempt *attempt = &request->attempt;

    for (size_t i = 0; i < buda->app_count; i++) {
        first[i] = options->variant_count;
        for (size_t j = 0; j < buda->apps[i].count; j++) {
            const struct buda_variant *variant = &buda->variants[buda->apps[i].first + j];
            const struct host_variant_row *row =
                host_variant_find(attempt->variants, attempt->variant_count, variant->number);

            for (size_t k = 0; k < wrappers->count; k++) {
                const struct version_option *kind =
                    &wrappers->kinds[k * buda->kind_count + variant->kind];
                struct version_option *option =
                    &options->items[options->count + options->variant_count];

                if (kind->app == NULL)
                    continue;
                *option = *kind;
                option->variant = variant;
                if (row != NULL)
                    judge_speed(request, kind->usage.projected_flops, row, option);
                options->variant_count++;
            }
        }
    }
    first[buda->app_count] = options->variant_count;
}

static bool has_platform(const struct request *request, int64_t platformid)
{
    const struct message *message = &request->message;

    for (size_t i = 0; i < message->platform_count; i++) {
        const struct platform_row *platform =
            catalog_platform_by_name(request->catalog, message->platforms[i]);

        if (platform != NULL && platform->id == platformid)
            return true;
    }
    return false;
}

static bool has_variants(const struct request *request)
{
    return request->buda != NULL && request->buda->app_count > 0 &&
           !request->message.anonymous_platform;
}

size_t view_variants_most(const struct request *request)
{
    const struct catalog_rows *rows = &request->catalog->rows;
    const struct message *message = &request->message;
    enum buda_cpu cpu = buda_cpu_of(message->platforms, message->platform_count);
    size_t wrappers = 0, variants = 0;

    if (!has_variants(request))
        return 0;
    for (size_t i = 0; i < rows->version_count; i++)
        wrappers += version_is_wrapper(&rows->versions[i]) &&
                    has_platform(request, rows->versions[i].platformid);
    for (size_t i = 0; wrappers > 0 && i < request->buda->variant_count; i++)
        variants += request->buda->kinds[request->buda->variants[i].kind].cpu == cpu;
    return wrappers * variants;
}

enum status view_read_variants(struct request *request)
{
    return view_variants_most(request) > 0 ? host_variants_read(request) : STATUS_OK;
}

bool view_add_variants(struct request *request, struct host_view *view,
                       const struct plan_host *host)
{
    struct version_options *options = &view->options;
    struct wrappers wrappers;
    size_t *first;

    if (!has_variants(request))
        return true;
    options->buda = request->buda;
    first = ARENA_ARRAY(request->arena, request->buda->app_count + 1, size_t);
    if (first == NULL || !read_wrappers(request, view, host, &wrappers))
        return false;
    add_variants(request, &wrappers, options, first);
    options->buda_first = first;
    return true;
}
