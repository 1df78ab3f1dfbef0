/* SPDX-License-Identifier: Apache-2.0 */
/* The choice among versions. Each is asked for one resource at a time, so that a slower version
 * that runs on what was requested is never lost to a faster one that does not. When none is left,
 * the most useful reason among the refused ones is the answer. A version that a workunit is
 * committed to is taken even when superseded, and without looking at quota or preferences: the
 * workunit cannot go anywhere else. */
#include "server/policy/version/version_choice.h"

#include "server/base/budget.h"
#include "server/parse/client_age.h"
#include "server/policy/limits/amounts.h"
#include "server/policy/limits/limits.h"
#include "server/policy/version/buda.h"
#include "server/policy/version/own_versions.h"
#include "server/policy/version/version_absence.h"

#include <math.h>

#include "server/base/banned.h"

enum { JUDGE_COST = 20 /* units of the budget */ };

#define RANDOM_MIN         0.1
#define FAILING_FACTOR     0.01
#define FAILING_LIKELIHOOD 0.99
#define GIGABYTE           1073741824.0

bool platform_is_64bit(struct text platform)
{
    return text_contains(platform, TEXT("64"));
}

double memory_of_32bit(struct text os_name)
{
    static const struct {
        const char *os;
        double bytes;
    } limits[] = {
        {"Windows", 2 * GIGABYTE}, {"Linux", 3 * GIGABYTE},   {"Darwin", 4 * GIGABYTE},
        {"SunOS", 4 * GIGABYTE},   {"Solaris", 4 * GIGABYTE},
    };

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        if (text_contains(os_name, text_from(limits[i].os)))
            return limits[i].bytes;
    return 2 * GIGABYTE;
}

/* Coprocessors that have numbers of their own in the database, and how plan classes name them, in
 * the order in which BOINC compares. */
static const struct {
    const char *type;
    int64_t app_version_id;
    const char *names[2];
} known[] = {
    {"NVIDIA", -3, {"cuda", "nvidia"}},
    {"ATI", -4, {"ati", "amd"}},
    {"intel_gpu", -5, {"intel_gpu", "intel_gpu"}},
    {"apple_gpu", -6, {"apple_gpu", "apple_gpu"}},
};

int64_t anonymous_version_id(struct text coproc_type)
{
    if (coproc_type.length == 0)
        return -2;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (text_is(coproc_type, known[i].type))
            return known[i].app_version_id;
    return 0;
}

int64_t anonymous_statistics_id(int64_t appid, int64_t app_version_id)
{
    return 1000000 * appid - app_version_id;
}

struct text plan_class_type(struct text plan_class)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (text_contains(plan_class, text_from(known[i].names[0])) ||
            text_contains(plan_class, text_from(known[i].names[1])))
            return text_from(known[i].type);
    return TEXT("CPU");
}

double version_randomize(double flops, double samples, double factor, bool is_failing,
                         double normal, double chance)
{
    if (is_failing && chance < FAILING_LIKELIHOOD)
        flops *= FAILING_FACTOR;
    return flops * fmax(RANDOM_MIN, 1 + factor * normal / fmax(samples, 1));
}

static struct refusal refuse(enum reason reason, const struct version_option *option)
{
    return (struct refusal){.reason = reason, .name = option->app->user_friendly_name};
}

static struct refusal refuse_for(enum reason reason, const struct version_option *option,
                                 double need, double have)
{
    struct refusal refusal = refuse(reason, option);
    refusal.need = need;
    refusal.have = have;
    return refusal;
}

/* 0: any. What a variant uses stands in the workunit, where clients do not always look for it. */
static int64_t oldest_client(const struct version_option *option)
{
    int64_t least = option->version != NULL ? option->version->min_core_version : 0;

    return option->variant != NULL && least < CLIENT_READS_JOB_USE ? CLIENT_READS_JOB_USE : least;
}

/* REASON_COUNT: usable. Versions of other apps and resources do not come here. */
static struct refusal judge(const struct version_option *option,
                            const struct version_demand *demand, int64_t jobs_chosen)
{
    const struct app_version_row *version = option->version;

    if (demand->needs_64bit && !option->is_64bit)
        return refuse(REASON_VERSION_64BIT, option);
    if (!option->is_runnable && !(demand->is_resend && option->is_fit)) {
        struct refusal refusal = refuse(REASON_VERSION_PLAN_CLASS, option);
        refusal.why = option->why;
        return refusal;
    }
    if (oldest_client(option) > demand->client_version)
        return refuse_for(REASON_CLIENT_TOO_OLD, option, (double)oldest_client(option),
                          (double)demand->client_version);
    if (version != NULL && version->max_core_version != 0 &&
        version->max_core_version < demand->client_version)
        return refuse_for(REASON_CLIENT_TOO_NEW, option, (double)version->max_core_version,
                          (double)demand->client_version);
    if (demand->needs_reliable && !demand->is_resend && !option->is_reliable)
        return refuse(REASON_UNRELIABLE, option);
    if (demand->is_resend)
        return refuse(REASON_COUNT, option);
    if (!plan_bounds_take(&option->bounds, demand->workunitid, demand->batch))
        return refuse(REASON_VERSION_WORKUNIT, option);
    if (demand->committed_id != 0)
        return refuse(REASON_COUNT, option);
    if (version != NULL && version->beta != 0 && !demand->allow_beta)
        return refuse(REASON_VERSION_BETA, option);
    if (option->daily_limit != LIMIT_NONE &&
        option->jobs_today + jobs_chosen >= option->daily_limit)
        return refuse_for(REASON_DAILY_QUOTA, option, (double)option->daily_limit,
                          (double)(option->jobs_today + jobs_chosen));
    return refuse(REASON_COUNT, option);
}

bool version_is_asked_for(const struct version_option *option, const struct version_demand *demand)
{
    if (option->anonymous != NULL) {
        if (demand->is_homogeneous)
            return false;
        return demand->version_num == 0 || option->anonymous->version_num == demand->version_num;
    }
    if (demand->committed_id != 0)
        return option->version->id == demand->committed_id;
    if (demand->version_num != 0)
        return option->version->version_num == demand->version_num &&
               option->version->deprecated == 0 && demand->version_num >= option->app->min_version;
    return option->is_current;
}

static bool is_better(const struct version_option *option, const struct version_option *best,
                      bool prefer_primary_platform)
{
    if (best == NULL)
        return true;
    if (prefer_primary_platform && option->platform_rank != best->platform_rank)
        return option->platform_rank < best->platform_rank;
    return option->choice_flops > best->choice_flops;
}

/* --- among all -------------------------------------------------------------------------------- */

/* The most useful reason so far, of the option that is listed first among equals. */
struct finding {
    struct refusal why;
    const struct version_option *of; /* NULL: there is no reason but the one that stands there */
};

static void note(struct finding *finding, const struct refusal *refusal,
                 const struct version_option *option)
{
    if (finding->of == NULL || refusal->reason < finding->why.reason ||
        (refusal->reason == finding->why.reason && option < finding->of)) {
        finding->why = *refusal;
        finding->of = option;
    }
}

static const struct version_option *choose_of_all(const struct version_options *options,
                                                  const struct version_demand *demand,
                                                  const int64_t *jobs_chosen,
                                                  struct finding *finding)
{
    const struct option_span span = version_options_for(options, demand->buda_app);
    const struct version_option *best = NULL;

    for (size_t i = 0; i < span.count; i++) {
        const struct version_option *option = &span.items[i];
        struct refusal refusal;

        if (option->app->id != demand->appid || !version_is_asked_for(option, demand))
            continue;
        if (demand->variant != 0 && option->variant->number != demand->variant)
            continue;
        if (option->resource != demand->resource)
            refusal = refuse(REASON_VERSION_RESOURCE, option);
        else
            refusal = judge(option, demand, jobs_chosen[version_counter(options, option)]);
        if (refusal.reason != REASON_COUNT)
            note(finding, &refusal, option);
        else if (is_better(option, best, demand->prefer_primary_platform))
            best = option;
    }
    return best;
}

/* --- among a client's own --------------------------------------------------------------------- */

/* The best of a run. What refuses one of it refuses all. */
static const struct version_option *choose_of_run(const struct version_options *options,
                                                  struct own_span run,
                                                  const struct version_demand *demand,
                                                  const int64_t *jobs_chosen,
                                                  struct finding *finding)
{
    const struct version_option *best;
    struct refusal refusal;

    if (run.count == 0)
        return NULL;
    best = run.items[0].option;
    budget_spend(options->own->budget, JUDGE_COST);
    refusal = judge(best, demand, jobs_chosen[version_counter(options, best)]);
    if (refusal.reason == REASON_COUNT)
        return best;
    note(finding, &refusal, run.items[0].first);
    return NULL;
}

static const struct version_option *choose_own(const struct version_options *options,
                                               const struct version_demand *demand,
                                               const int64_t *jobs_chosen, struct finding *finding)
{
    struct own_span all, here;
    const struct version_option *best, *other;

    if (demand->is_homogeneous || demand->buda_app != 0)
        return NULL;
    all = own_versions_of_app(options->own, demand->appid, demand->version_num);
    here = own_versions_on(all, demand->resource);
    if (all.count > here.count) {
        const struct refusal elsewhere = refuse(REASON_VERSION_RESOURCE, all.items[0].option);
        note(finding, &elsewhere, all.items[0].option);
    }
    best = choose_of_run(options, own_versions_of_bits(here, true), demand, jobs_chosen, finding);
    other = choose_of_run(options, own_versions_of_bits(here, false), demand, jobs_chosen, finding);
    if (best == NULL || other == NULL)
        return best != NULL ? best : other;
    if (is_better(other, best, false) || (other < best && !is_better(best, other, false)))
        return other;
    return best;
}

/* Whether the app has a version for the host that is a wrapper, or one that is none. */
static bool has_version(const struct version_options *options, const struct version_demand *demand,
                        bool is_wrapper)
{
    for (size_t i = 0; i < options->count; i++)
        if (options->items[i].app->id == demand->appid &&
            version_is_wrapper(options->items[i].version) == is_wrapper &&
            version_is_asked_for(&options->items[i], demand))
            return true;
    return false;
}

/* Of a science app that is there: a variant is lacking, or the app is no wrapper. */
static enum reason reason_without_variant(const struct version_options *options,
                                          const struct version_demand *demand)
{
    if (demand->buda_app == 0 || options->own != NULL)
        return REASON_COUNT;
    return has_version(options, demand, true)    ? REASON_BUDA_VARIANT
           : has_version(options, demand, false) ? REASON_BUDA_APP
                                                 : REASON_COUNT;
}

/* Where the host has no version that the job may use. */
static struct refusal refuse_without(const struct version_options *options,
                                     const struct version_demand *demand)
{
    enum reason reason = reason_without_variant(options, demand);

    if (reason != REASON_COUNT)
        return (struct refusal){.reason = reason};
    if (demand->committed_id != 0)
        return (struct refusal){.reason = REASON_COMMITTED_VERSION};
    if (options->offer == NULL)
        return (struct refusal){.reason = REASON_VERSION_PLATFORM};
    return version_absence(options->offer, demand->appid, demand->version_num);
}

const struct version_option *version_choose(const struct version_options *options,
                                            const struct version_demand *demand,
                                            const int64_t *jobs_chosen, struct refusal *ret_refusal)
{
    struct finding finding = {.why.reason = REASON_COUNT};
    const struct version_option *best = options->own != NULL
                                            ? choose_own(options, demand, jobs_chosen, &finding)
                                            : choose_of_all(options, demand, jobs_chosen, &finding);

    if (best == NULL)
        *ret_refusal = finding.of != NULL ? finding.why : refuse_without(options, demand);
    return best;
}

bool version_is_wrapper(const struct app_version_row *version)
{
    return version != NULL && text_contains(version->plan_class, TEXT("docker"));
}

struct option_span version_options_for(const struct version_options *options, int64_t buda_app)
{
    const struct buda_app *app =
        buda_app != 0 && options->buda != NULL ? buda_app_find(options->buda, buda_app) : NULL;
    size_t place;

    if (buda_app == 0)
        return (struct option_span){options->items, options->count};
    if (app == NULL || options->buda_first == NULL)
        return (struct option_span){0};
    place = (size_t)(app - options->buda->apps);
    return (struct option_span){
        options->items + options->count + options->buda_first[place],
        options->buda_first[place + 1] - options->buda_first[place],
    };
}

struct option_span version_options_all(const struct version_options *options)
{
    return (struct option_span){options->items, options->count + options->variant_count};
}

/* --- counting and finding one again -----------------------------------------------------------
 */

size_t version_counter(const struct version_options *options, const struct version_option *option)
{
    const struct version_option *counted =
        option->counted_with != NULL ? option->counted_with : option;

    return (size_t)(counted - options->items);
}

static const struct version_option *option_of_variant(const struct version_options *options,
                                                      const struct app_version_row *version,
                                                      const struct buda_variant *variant)
{
    const struct option_span span =
        version_options_for(options, options->buda->apps[variant->app].number);

    for (size_t i = 0; i < span.count; i++)
        if (span.items[i].variant == variant && span.items[i].version == version)
            return &span.items[i];
    return NULL;
}

/* Options come in the order in which their versions stand in memory. */
const struct version_option *version_option_of(const struct version_options *options,
                                               const struct app_version_row *version,
                                               const struct client_app_version *anonymous,
                                               const struct buda_variant *variant)
{
    size_t low = 0, high = options->count;

    if (variant != NULL)
        return option_of_variant(options, version, variant);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct version_option *option = &options->items[middle];

        if (option->version == version && option->anonymous == anonymous)
            return option;
        if (version != NULL ? option->version < version : option->anonymous < anonymous)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const struct version_option *version_option_find(const struct version_options *options,
                                                 int64_t appid, int64_t app_version_id,
                                                 int64_t variant)
{
    const struct buda_variant *sent_with =
        variant != 0 && options->buda != NULL ? buda_variant_find(options->buda, variant) : NULL;

    if (options->own != NULL)
        return own_versions_find(options->own, appid, app_version_id);
    if (sent_with != NULL) {
        const struct option_span span =
            version_options_for(options, options->buda->apps[sent_with->app].number);

        for (size_t i = 0; i < span.count; i++)
            if (span.items[i].variant == sent_with &&
                span.items[i].app_version_id == app_version_id)
                return &span.items[i];
    }
    for (size_t i = 0; i < options->count; i++)
        if (options->items[i].app_version_id == app_version_id &&
            (appid == 0 || options->items[i].app->id == appid))
            return &options->items[i];
    return NULL;
}
