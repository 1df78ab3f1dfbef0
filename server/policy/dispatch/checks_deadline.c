/* SPDX-License-Identifier: Apache-2.0 */
/* The last check: whether the job would be in time, and makes no other late. With a workload it is
 * simulated; without one, busy processors say when it could begin. A deadline that was reduced for
 * a retry is a wish: where it cannot be met, the workunit's own counts. */
#include "server/policy/dispatch/checks_parts.h"

#include "server/base/banned.h"

static bool meets_deadline_plainly(struct question *question)
{
    struct job *job = question->job;
    const struct busy *busy = &question->tally->busy[question->resource];

    question->have = busy_finish(busy, job->use.instances, job->use.wall_time);
    if (!deadline_is_met(question->have, (double)job->delay_bound))
        job->delay_bound = job->workunit->delay_bound; /* a reduced one is a wish */
    question->need = (double)job->delay_bound;
    question->why = (struct refusal){.reason = REASON_DEADLINE,
                                     .name = question->name,
                                     .need = question->need,
                                     .have = question->have};
    return deadline_is_met(question->have, question->need);
}

/* The words for a deadline that the workload does not allow. */
static void explain_workload(struct question *question, enum workload_answer answer,
                             const struct edf_reason *reason)
{
    const struct workload *workload = question->view->workload;
    struct refusal *why = &question->why;

    *why = (struct refusal){.reason = REASON_DEADLINE,
                            .name = question->name,
                            .need = (double)question->job->delay_bound,
                            .have = reason->finish};
    if (answer == WORKLOAD_CONNECTION) {
        why->reason = REASON_CONNECTION;
        why->have = workload->connection_period;
    } else if (answer == WORKLOAD_UNKNOWN) {
        why->reason = REASON_QUEUE_TOO_LARGE;
        why->need = why->have = (double)workload->count;
    } else if (answer == WORKLOAD_DELAYS) {
        why->reason = REASON_QUEUE_DEADLINE;
        why->need = 0;
        why->have = reason->lateness_after - reason->lateness_before;
    }
    if (reason->has_listed) {
        why->task = workload->names[reason->listed];
        why->task_left = workload->jobs[reason->listed].wall_time;
        why->task_due = workload->jobs[reason->listed].deadline;
    }
}

static bool skips_connection(const struct question *question)
{
    struct text rule = question->view->config->edf_min_queue;

    /* A job of another resource counts as well: then the rule is kept rather than not. */
    if (text_is(rule, "when_not_idle"))
        return (double)question->view->workload->count + (double)question->tally->jobs <
               question->view->asked.resources[question->resource].count;
    return text_is(rule, "never");
}

bool meets_deadline(struct question *question)
{
    struct job *job = question->job;
    enum workload_answer answer;
    struct edf_reason reason;
    struct edf_job asked;

    if (question->view->config->ignore_delay_bound)
        return true;
    if (question->view->workload == NULL)
        return meets_deadline_plainly(question);
    asked = workload_job(&job->use, (double)job->delay_bound);
    asked.wall_time *= deadline_margin(question->view->config, job->option);
    answer = workload_try(question->view->workload, &asked, skips_connection(question), &reason);
    if (answer != WORKLOAD_IN_TIME && job->delay_bound != job->workunit->delay_bound) {
        job->delay_bound = job->workunit->delay_bound; /* a reduced one is a wish */
        asked.deadline = (double)job->delay_bound;
        answer =
            workload_try(question->view->workload, &asked, skips_connection(question), &reason);
    }
    if (answer == WORKLOAD_IN_TIME)
        return true;
    explain_workload(question, answer, &reason);
    return false;
}
