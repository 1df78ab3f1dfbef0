/* SPDX-License-Identifier: Apache-2.0 */
/* The score. Each term is a row: its weight, and how often a job earns it. The result's priority is
 * no term: priority comes first, so that no liking of a host's ever holds back what the project
 * calls urgent. */
#include "server/policy/dispatch/score.h"

#include "server/policy/dispatch/host_view.h"
#include "server/policy/dispatch/job.h"

#include <math.h>

#include "server/base/banned.h"

/* --- size classes ----------------------------------------------------------------------------- */

bool size_census_read(struct text document, struct size_census *ret_census)
{
    struct size_census census = {.app_name = ret_census->app_name};

    while (document.length > 0) {
        struct text line = text_trim(text_split(&document, '\n'));
        double flops;

        if (line.length == 0)
            continue;
        if (census.count == SIZE_CLASSES_MAX - 1 || !text_to_real(line, &flops) ||
            (census.count > 0 && flops <= census.flops[census.count - 1]))
            return false;
        census.flops[census.count++] = flops;
    }
    *ret_census = census;
    return true;
}

int64_t size_census_class(const struct size_census *census, double flops)
{
    size_t i = 0;

    while (i < census->count && flops >= census->flops[i])
        i++;
    return (int64_t)i;
}

/* Classes that the host is above the job; false: the job has none, or nothing is known of hosts. */
static bool size_distance(const struct host_view *view, const struct job *job, int64_t *ret_above)
{
    const struct app_row *app = job->app;

    if (!view->config->size_classes || app->n_size_classes <= 1 || job->workunit->size_class < 0)
        return false;
    for (size_t i = 0; i < view->size_census_count; i++) {
        const struct size_census *census = &view->size_censuses[i];
        double available =
            job->use.resource == RESOURCE_CPU ? view->availability.cpu : view->availability.gpu;

        if (!text_equal(census->app_name, app->name) ||
            (int64_t)census->count != app->n_size_classes - 1)
            continue;
        *ret_above = size_census_class(census, job->option->usage.projected_flops * available) -
                     job->workunit->size_class;
        return true;
    }
    return false;
}

/* --- terms ------------------------------------------------------------------------------------ */

static double is_beta(const struct host_view *view, const struct job *job)
{
    (void)view;
    return job->app->beta != 0;
}

static double is_not_preferred(const struct host_view *view, const struct job *job)
{
    return !app_is_selected(view->project, job->app->id);
}

static double is_committed(const struct host_view *view, const struct job *job)
{
    return (job->workunit->hr_class != 0 && app_hr_type(view->config, job->app) != HR_NONE) ||
           (job->workunit->app_version_id != 0 && job->app->homogeneous_app_version != 0);
}

static double has_file(const struct host_view *view, const struct job *job)
{
    (void)view;
    return job->has_file;
}

static double is_same_size(const struct host_view *view, const struct job *job)
{
    int64_t above;
    return size_distance(view, job, &above) && above == 0;
}

static double is_host_below(const struct host_view *view, const struct job *job)
{
    int64_t above;
    return size_distance(view, job, &above) && above < 0;
}

static double is_host_above(const struct host_view *view, const struct job *job)
{
    int64_t above;
    return size_distance(view, job, &above) && above > 0;
}

static double keywords_wanted(const struct host_view *view, const struct job *job)
{
    if (!view->config->keyword_sched)
        return 0;
    return (double)keywords_among(job->workunit->keywords, view->keywords_yes.ids,
                                  view->keywords_yes.count);
}

/* Requirement 4-2: what is above its share makes way first when others need room; it should not
 * grow. */
static double gigabytes_above_share(const struct host_view *view, const struct job *job)
{
    return view->is_above_disk_share ? fmax(job->workunit->rsc_disk_bound, 0) / 1e9 : 0;
}

static double is_accelerated(const struct host_view *view, const struct job *job)
{
    return job_is_accelerated(view->config, job);
}

static const struct {
    size_t weight; /* of an option in struct config */
    double (*times)(const struct host_view *view, const struct job *job);
} terms[] = {
    {offsetof(struct config, score_beta), is_beta},
    {offsetof(struct config, score_non_preferred), is_not_preferred},
    {offsetof(struct config, score_committed), is_committed},
    {offsetof(struct config, score_locality), has_file},
    {offsetof(struct config, score_size_same), is_same_size},
    {offsetof(struct config, score_size_below), is_host_below},
    {offsetof(struct config, score_size_above), is_host_above},
    {offsetof(struct config, score_keyword), keywords_wanted},
    {offsetof(struct config, score_batch_accel), is_accelerated},
    {offsetof(struct config, score_disk), gigabytes_above_share},
};

double job_score(const struct host_view *view, const struct job *job)
{
    double score = 0;

    for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
        const void *weight = (const char *)view->config + terms[i].weight;
        score += *(const double *)weight * terms[i].times(view, job);
    }
    return score;
}
