/* SPDX-License-Identifier: Apache-2.0 */
/* The plan follows from conditions that are all known before the first job is looked at, but for
 * one: a success that is reported a second time shows that an earlier reply was lost. The report
 * step finds that out, and the plan says beforehand what it changes. */
#include "server/rpc/request_plan.h"

#include "server/base/banned.h"

struct request_plan plan_of(const struct plan_conditions *conditions)
{
    bool may_get =
        !conditions->is_forbidden && !conditions->is_refused && !conditions->declines_work;
    /* Jobs are sent again only where work is asked for, and may be given: who wants none would not
     * run them. A request that comes too early may come because the reply was lost, and these jobs
     * are the host's already. */
    bool may_resend = conditions->has_job_list && !conditions->has_unread_reports &&
                      !conditions->is_new && !conditions->is_forbidden &&
                      (!conditions->is_refused || conditions->is_too_recent) &&
                      conditions->asks_for_work;
    bool reads_queue;
    struct request_plan plan = {
        .wants_work = may_get && conditions->asks_for_work,
        .serves_always_on = may_get && conditions->has_always_on_apps,
        .serves_assigned = may_get && (conditions->assigns_broadcast ||
                                       (conditions->assigns_targeted && conditions->asks_for_work)),
        .will_resend = may_resend && conditions->resends_lost,
        .resends_if_booked = may_resend && !conditions->resends_lost,
        .aborts = conditions->aborts_unneeded && conditions->lists_jobs,
    };

    plan.serves_any = plan.wants_work || plan.serves_always_on || plan.serves_assigned;
    plan.queue_needs_rows = conditions->simulates_deadlines && conditions->queue_lacks_own_jobs;
    plan.counts_rows = conditions->limits_in_progress;
    reads_queue = plan.wants_work && plan.queue_needs_rows;
    /* Lost jobs need their workunits too, but they are rare, and read by a query of their own. */
    plan.needs_workunits = !conditions->is_new && (plan.aborts || reads_queue);
    plan.reads_in_progress =
        !conditions->is_new && (plan.aborts || reads_queue || plan.will_resend ||
                                plan.serves_always_on || (plan.serves_any && plan.counts_rows));
    /* A quota is charged for what is reported and sent, and what was sent yesterday is forgotten by
     * the first request of a day, whatever it wants. */
    plan.reads_versions =
        !conditions->is_new && (conditions->counts_again || plan.serves_any || plan.will_resend);
    return plan;
}
