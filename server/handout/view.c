/* SPDX-License-Identifier: Apache-2.0 */
/* The view of a host: from the request, the host's row and the user's preferences here, the app
 * versions in view_versions.c, the jobs that the host has in view_jobs.c. */
#include "server/handout/view.h"

#include "server/base/arena.h"
#include "server/base/budget.h"
#include "server/base/file.h"
#include "server/base/sorted.h"
#include "server/files/deletable_files.h"
#include "server/handout/shares.h"
#include "server/handout/view_parts.h"
#include "server/policy/result/reconcile.h"
#include "server/policy/version/estimate.h"
#include "server/policy/version/reliability.h"
#include "server/project/catalog.h"
#include "server/project/project.h"
#include "server/rpc/request.h"

#include "server/base/banned.h"

enum { KEYWORDS_BYTES_MAX = 65536 };

static int64_t delay_bound_most(const struct config *config, int64_t now)
{
    int64_t latest = deadline_latest(grace_period(config));

    return latest > now ? latest - now : 1;
}

/* For keywords_among. */
static struct id_list sort_keywords(int64_t *ids, size_t count)
{
    return (struct id_list){.ids = ids, .count = sorted_ids(ids, count)};
}

static struct id_list read_line(struct arena *arena, struct text line)
{
    int64_t *ids = ARENA_ARRAY(arena, MESSAGE_KEYWORDS_MAX, int64_t);
    struct id_list list = {.ids = ids};

    while (ids != NULL && line.length > 0 && list.count < MESSAGE_KEYWORDS_MAX)
        if (text_to_i64(text_split(&line, ' '), &ids[list.count]))
            list.count++;
    return sort_keywords(ids, list.count);
}

/* What the client says; if it says nothing, the project's file kw_prefs/USERID: two lines of ids,
 * wanted and unwanted. A file that cannot be read is no file: nobody is refused work for a
 * preference that is lost. */
static void read_keywords(const struct request *request, struct host_view *view)
{
    const struct message *message = &request->message;
    struct text file = NO_TEXT;
    const char *path;

    if (!request->config->keyword_sched)
        return;
    view->keywords_yes = sort_keywords(message->keywords_yes, message->keyword_yes_count);
    view->keywords_no = sort_keywords(message->keywords_no, message->keyword_no_count);
    if (message->keyword_yes_count + message->keyword_no_count > 0)
        return;
    path = text_string(request->arena, text_print(request->arena, TEXT_FORMAT "/kw_prefs/%lld",
                                                  TEXT_ARG(request->config->project_dir_path),
                                                  (long long)request->attempt.user.id));
    if (file_read(request->arena, path, KEYWORDS_BYTES_MAX, &file, NULL) != STATUS_OK)
        return;
    view->keywords_yes = read_line(request->arena, text_split(&file, '\n'));
    view->keywords_no = read_line(request->arena, text_split(&file, '\n'));
}

static bool make_app_limits(const struct request *request, struct host_view *view)
{
    const struct config *config = request->config;
    struct app_limit *limits =
        ARENA_ARRAY(request->arena, config->jobs_in_progress_count, struct app_limit);

    view->app_counts =
        ARENA_ARRAY(request->arena, config->jobs_in_progress_count, struct app_count);
    if (limits == NULL || view->app_counts == NULL)
        return false;
    for (size_t i = 0; i < config->jobs_in_progress_count; i++) {
        const struct jobs_in_progress *given = &config->jobs_in_progress[i];
        const struct app_row *app = catalog_app_by_name(request->catalog, given->app_name);

        if (app != NULL)
            limits[view->app_limit_count++] = limits_of_app(given, app->id, &view->asked);
    }
    view->app_limits = limits;
    return true;
}

static void read_host(const struct request *request, struct host_view *view)
{
    const struct config *config = request->config;
    const struct message *message = &request->message;
    const struct attempt *attempt = &request->attempt;
    struct cpus cpus =
        limits_cpus(attempt->host.p_ncpus, config, &attempt->prefs, &attempt->project_prefs);

    *view = (struct host_view){
        .config = config,
        .message = message,
        .host = &attempt->host,
        .project = &attempt->project_prefs,
        .userid = attempt->user.id,
        .client_version = request->client_version,
        .now = request->now,
        .delay_bound_most = delay_bound_most(config, (int64_t)request->now),
        .is_above_disk_share = message->d_project_share > 0 &&
                               message->d_boinc_used_project > message->d_project_share,
        .is_backup = message->has_resource_share_fraction && message->resource_share_fraction <= 0,
        .only_assigned = attempt->user.seti_id != 0,
        .memory = memory_usable(attempt->host.m_nbytes, &attempt->prefs),
        .memory_is_strict = memory_is_strict(config, request->client_version),
        .memory_32bit = memory_of_32bit(attempt->host.os_name),
        .disk_is_unknown =
            !message->has_d_free && !(message->d_free > 0) && !disk_is_reported(message),
        .space = disk_space_of(message, &attempt->prefs, config->default_disk_min_free_gb,
                               deletable_bytes_bound(request)),
        .correction = estimate_correction(message, request->client_version),
        .availability = request_availability(request),
        .expected = request_expected_availability(request),
    };
    view->stretch = (struct availability){view->availability.cpu / view->expected.cpu,
                                          view->availability.gpu / view->expected.gpu};
    amounts_read(message, cpus, config->share_in_scalar_request, &view->asked);
    view->limits = limits_of(config, &view->asked, &attempt->project_prefs);
    for (size_t i = 0; i < view->asked.resource_count; i++)
        view->is_excluded[i] =
            resource_is_excluded(view->project, i, view->asked.resources[i].type);
    for (int type = HR_FINE; type <= HR_COARSE; type++) {
        int64_t class_number = hr_class((enum hr_type)type, attempt->host.os_name,
                                        attempt->host.p_vendor, attempt->host.p_model);
        if (hr_class_is_known((enum hr_type)type, class_number))
            view->hr_classes[type] = class_number;
    }
    view->hurries = request->catalog->rows.hurries;
    view->hurry_count = request->catalog->rows.hurry_count;
    if (request->blocks != NULL) {
        view->size_censuses = request->blocks->size_censuses;
        view->size_census_count = request->blocks->size_census_count;
    }
}

/* What each purpose needs beside what the request and the host's row say. */
static const struct {
    bool largest_disk;   /* whatever disk pass a job was sent in, it was sent */
    bool reads_variants; /* how long those of science apps took here */
    bool reads_jobs;     /* what the host has in progress by the database */
    bool reads_streams;  /* what each job stream had */
} needs[VIEW_PURPOSES] = {
    [VIEW_RESEND] = {.largest_disk = true, .reads_variants = true},
    [VIEW_ANSWER] = {.reads_jobs = false},
    [VIEW_UNASKED] = {.reads_variants = true, .reads_jobs = true, .reads_streams = true},
    [VIEW_SELECT] = {.reads_variants = true, .reads_jobs = true, .reads_streams = true},
};

enum status view_read(struct request *request, enum view_purpose purpose,
                      struct host_view *ret_view)
{
    struct host_view *view = ret_view;
    int disk_pass = !needs[purpose].largest_disk        ? 0
                    : request->config->delete_from_self ? DISK_PASSES - 1
                                                        : 1;
    enum status status = STATUS_OK;

    read_host(request, view);
    read_keywords(request, view);
    view->disk = view->space.amounts[disk_pass];
    if (!make_app_limits(request, view))
        return STATUS_NO_MEMORY;
    view_count_listed(request, view);
    if (needs[purpose].reads_variants)
        status = view_read_variants(request);
    if (status != STATUS_OK)
        return status;
    if (!view_make_options(request, view) ||
        (needs[purpose].reads_streams && !shares_read(request, view)))
        return STATUS_NO_MEMORY;
    view->is_over_budget = budget_is_used_up(&request->attempt.budget);
    if (view->is_over_budget)
        return STATUS_OK;
    if (needs[purpose].reads_jobs)
        status = view_count_rows(request, view);
    return status;
}
