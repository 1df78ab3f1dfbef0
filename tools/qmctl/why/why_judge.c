/* SPDX-License-Identifier: Apache-2.0 */
/* How each class of unsent jobs fares: the view and the funnel of checks judge it, as they do for a
 * request, and the rules that a claim looks at under lock judge what is left. */
#include "tools/qmctl/why/why_parts.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/handout/claim.h"
#include "server/project/catalog.h"

#include "server/base/banned.h"

static enum status read_classes(struct question *question)
{
    struct session *session = question->session;
    const struct config *config = session->config;
    const char *app_name = option_value(session, "app");
    int64_t most = 5000;
    struct job_class_filter filter = {
        .userid = config->one_result_per_user_per_wu ? question->view.userid : 0,
        .hostid = config->one_result_per_host_per_wu ? question->view.host->id : 0,
        .by_batch = config->user_filter,
        .by_keywords = config->keyword_sched,
    };
    enum status status = option_number(session, "most", 1, 1000000, &most);

    if (app_name != NULL) {
        const struct app_row *app =
            catalog_app_by_name(question->request.catalog, text_from(app_name));
        if (app == NULL)
            return fail(&session->failure, STATUS_NOT_FOUND, "there is no application \"%s\"",
                        app_name);
        filter.appid = app->id;
    }
    filter.most = (size_t)most;
    if (status == STATUS_OK)
        status = session_db_failed(session,
                                   db_admin_job_classes(session->db, session->arena, &filter,
                                                        &question->classes, &question->class_count),
                                   "unsent jobs");
    if (status == STATUS_OK && question->class_count == filter.most)
        assume(session, &question->assumptions,
               "no classes of jobs beyond the first %zu (--most N)", filter.most);
    return status;
}

/* What is closed to other jobs is not to those of always-on apps, of which a host has one each. */
static bool is_closed(const struct question *question, const struct app_row *app, size_t resource,
                      struct refusal *ret_refusal)
{
    const struct host_view *view = &question->view;

    if (app == NULL || app->non_cpu_intensive == 0)
        return resource_is_closed(view, &question->tally, resource, ret_refusal);
    *ret_refusal = (struct refusal){.reason = REASON_ALWAYS_ON, .name = app->user_friendly_name};
    return id_list_has(view->apps_held, app->id);
}

void why_judge_class(const struct question *question, const struct job_class *class,
                     size_t resource, struct verdict *ret_verdict)
{
    const struct host_view *view = &question->view;
    const struct workunit_row *workunit = &class->job.workunit;
    const struct app_row *app = catalog_app(question->request.catalog, class->job.appid);
    struct job job = {.resultid = class->job.resultid,
                      .priority = class->job.priority,
                      .workunit = workunit,
                      .app = app,
                      .user_had_one = class->user_has_one,
                      .host_had_one = class->host_has_one};
    struct locked_workunit locked = {.id = workunit->id,
                                     .hr_class = workunit->hr_class,
                                     .app_version_id = workunit->app_version_id,
                                     .error_mask = workunit->error_mask,
                                     .canonical_resultid = workunit->canonical_resultid,
                                     .results_of_user = class->user_has_one,
                                     .results_of_host = class->host_has_one};
    bool is_always_on = app != NULL && app->non_cpu_intensive != 0;
    enum reason reason;

    *ret_verdict = (struct verdict){.app = app,
                                    .app_name = app != NULL ? app->name : TEXT("?"),
                                    .resource = resource,
                                    .jobs = class->count};
    if (is_closed(question, app, resource, &ret_verdict->refusal) ||
        !job_check(view, &question->tally, is_always_on ? CHECK_ALWAYS_ON : CHECK_NEW, resource,
                   &job, &ret_verdict->refusal) ||
        app == NULL) { /* which the check refuses */
        ret_verdict->option = job.option;
        return;
    }
    ret_verdict->option = job.option;
    ret_verdict->wall_time = workload_time(&job.use, &view->stretch);
    reason = job_check_locked(view, &job, &locked);
    ret_verdict->may_be_sent = reason == REASON_COUNT;
    if (!ret_verdict->may_be_sent)
        ret_verdict->refusal = (struct refusal){.reason = reason, .name = app->user_friendly_name};
}

static bool are_alike(const struct verdict *a, const struct verdict *b)
{
    return a->app == b->app && a->resource == b->resource && a->may_be_sent == b->may_be_sent &&
           a->option == b->option &&
           (a->may_be_sent || (a->refusal.reason == b->refusal.reason &&
                               text_equal(a->refusal.name, b->refusal.name)));
}

static double excess(const struct refusal *refusal)
{
    double distance = refusal->need - refusal->have;

    return distance < 0 ? -distance : distance;
}

/* Of those that fare alike the one that came nearest to being sent stands for all. */
static void add_verdict(struct question *question, const struct verdict *verdict)
{
    for (size_t i = 0; i < question->verdict_count && !question->each; i++) {
        struct verdict *known = &question->verdicts[i];

        if (!are_alike(known, verdict))
            continue;
        known->jobs += verdict->jobs;
        if (excess(&verdict->refusal) < excess(&known->refusal))
            known->refusal = verdict->refusal;
        return;
    }
    question->verdicts[question->verdict_count++] = *verdict;
}

static enum status judge_all(struct question *question)
{
    const struct amounts *asked = &question->view.asked;

    question->verdicts = ARENA_ARRAY(question->session->arena,
                                     question->class_count * asked->resource_count, struct verdict);
    if (question->verdicts == NULL)
        return fail(&question->session->failure, STATUS_NO_MEMORY, "no memory");
    for (size_t i = 0; i < question->class_count; i++)
        for (size_t resource = 0; resource < asked->resource_count; resource++) {
            struct verdict verdict;

            if (!amounts_wants(asked, resource))
                continue;
            why_judge_class(question, &question->classes[i], resource, &verdict);
            add_verdict(question, &verdict);
        }
    return STATUS_OK;
}

enum status why_judge(struct question *question)
{
    enum status status = read_classes(question);

    return status == STATUS_OK ? judge_all(question) : status;
}
