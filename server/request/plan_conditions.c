/* SPDX-License-Identifier: Apache-2.0 */
/* Where the conditions of a plan come from: the message, the host, config.xml and the catalog. */
#include "server/request/plan_conditions.h"

#include "config/config.h"
#include "server/policy/edf/workload.h"
#include "server/policy/limits/amounts.h"
#include "server/policy/limits/limits.h"
#include "server/project/catalog.h"
#include "server/rpc/request.h"

#include "server/base/banned.h"

static bool has_app(const struct request *request, bool (*is_meant)(const struct app_row *app))
{
    const struct catalog_rows *rows = &request->catalog->rows;

    for (size_t i = 0; i < rows->app_count; i++)
        if (is_meant(&rows->apps[i]))
            return true;
    return false;
}

static bool is_always_on(const struct app_row *app)
{
    return app->non_cpu_intensive != 0;
}

static bool is_current_always_on(const struct app_row *app)
{
    return app->non_cpu_intensive != 0 && app->deprecated == 0;
}

struct request_plan request_plan_make(const struct request *request)
{
    const struct config *config = request->config;
    const struct message *message = &request->message;
    const struct attempt *attempt = &request->attempt;
    const struct plan_conditions conditions = {
        .asks_for_work = message_wants_work(message),
        .declines_work = message->dont_send_work,
        .has_job_list = message->has_other_results,
        .lists_jobs = message->other_result_count > 0,
        .has_unread_reports = message->results_left > 0,
        .counts_again = message->result_count > 0 || attempt->is_new_day,
        .queue_lacks_own_jobs = workload_needs_own(message, has_app(request, is_always_on)),
        .is_new = attempt->host_is_new,
        .is_forbidden = request->work_forbidden,
        .is_refused = attempt->work_refused,
        .is_too_recent = attempt->too_recent,
        .resends_lost = config->resend_lost_results,
        .aborts_unneeded = config->send_result_abort,
        .assigns_targeted = config->enable_assignment,
        .assigns_broadcast = config->enable_assignment_multi,
        .simulates_deadlines = config->workload_sim && !config->ignore_delay_bound,
        .limits_in_progress =
            limits_count_in_progress(config, &attempt->project_prefs, message->coproc_count > 0),
        .has_always_on_apps = has_app(request, is_current_always_on),
    };

    return plan_of(&conditions);
}

bool request_may_bring_jobs(const struct request *request)
{
    const struct plan_conditions conditions = {
        .asks_for_work = message_wants_work(&request->message),
        .declines_work = request->message.dont_send_work,
        .assigns_broadcast = request->config->enable_assignment_multi,
        .has_always_on_apps = has_app(request, is_current_always_on),
    };

    return plan_of(&conditions).serves_any;
}
