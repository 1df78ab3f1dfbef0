/* SPDX-License-Identifier: Apache-2.0 */
/* The figures come from tables, counters.def, reasons.def and REQUEST_STEPS: a new row is on the
 * page without a line of code. */
#include "server/process/metrics.h"

#include "server/base/buffer.h"
#include "server/base/counters.h"
#include "server/base/metric.h"
#include "server/policy/refusal/reason.h"
#include "server/request/reason_counts.h"
#include "server/request/walk.h"
#include "server/rpc/request.h"
#include "server/status/status_page.h"

#include <inttypes.h>
#include <stdatomic.h>

#include "server/base/banned.h"

/* Process-wide, as counters are. */
static struct histogram steps[STEP_COUNT], commit, waited, served, database;
static _Atomic uint64_t errors[DB_ERROR_COUNT];

void metrics_note_request(const struct request *request)
{
    const struct db_count *count = &request->counted;

    for (int i = 0; i < STEP_COUNT; i++)
        if (request->step_ns[i] > 0)
            histogram_add(&steps[i], request->step_ns[i]);
    if (request->commit_ns > 0)
        histogram_add(&commit, request->commit_ns);
    if (request->db == NULL)
        return;
    counter_add(COUNTER_db_statements, count->statements);
    counter_add(COUNTER_db_round_trips, count->round_trips);
    if (count->waited_ns > 0)
        histogram_add(&database, count->waited_ns);
    for (int i = 0; i < DB_ERROR_COUNT; i++)
        if (count->errors[i] > 0)
            (void)atomic_fetch_add_explicit(&errors[i], count->errors[i], memory_order_relaxed);
}

void metrics_note_served(uint64_t waited_ns, uint64_t served_ns)
{
    histogram_add(&waited, waited_ns);
    histogram_add(&served, served_ns);
}

void metrics_take_totals(uint64_t *ret_totals)
{
    for (int i = 0; i < DB_ERROR_COUNT; i++)
        ret_totals[STATUS_ERRORS + i] = atomic_load_explicit(&errors[i], memory_order_relaxed);
    for (int i = 0; i < STATUS_STEPS; i++) {
        const struct histogram *step = i < STEP_COUNT ? &steps[i] : &commit;

        ret_totals[STATUS_STEP_NS + i] = histogram_sum_ns(step);
        ret_totals[STATUS_STEP_TIMES + i] = histogram_count(step);
    }
    ret_totals[STATUS_TIMED] = histogram_count(&served);
    ret_totals[STATUS_SERVED_NS] = histogram_sum_ns(&served);
    ret_totals[STATUS_WAITED_NS] = histogram_sum_ns(&waited);
    ret_totals[STATUS_ASKED] = histogram_count(&database);
    ret_totals[STATUS_ASKED_NS] = histogram_sum_ns(&database);
}

void metrics_take_bounds(struct status_figures *figures)
{
    const double share = 0.99;

    for (int i = 0; i < STATUS_STEPS; i++)
        figures->steps[i].bound = histogram_bound(i < STEP_COUNT ? &steps[i] : &commit, share);
    figures->served_bound = histogram_bound(&served, share);
    figures->waited_bound = histogram_bound(&waited, share);
    figures->asked_bound = histogram_bound(&database, share);
}

static void write_durations(struct buffer *page)
{
    metric_head(page, "request_step_seconds", "histogram", "time per step of a request");
    for (int i = 0; i < STEP_COUNT; i++)
        histogram_write(&steps[i], "request_step_seconds", "step", request_step_word((enum step)i),
                        page);
    histogram_write(&commit, "request_step_seconds", "step", "commit", page);
    metric_head(page, "request_waiting_seconds", "histogram",
                "time from a request's arrival until a thread took it");
    histogram_write(&waited, "request_waiting_seconds", NULL, NULL, page);
    metric_head(page, "request_seconds", "histogram",
                "time from then to the last byte of the reply");
    histogram_write(&served, "request_seconds", NULL, NULL, page);
    metric_head(page, "db_wait_seconds", "histogram",
                "part of that time spent waiting for the database");
    histogram_write(&database, "db_wait_seconds", NULL, NULL, page);
}

static void write_errors(struct buffer *page)
{
    metric_head(page, "db_errors_total", "counter", "database errors in requests");
    for (int i = 0; i < DB_ERROR_COUNT; i++)
        metric_value(page, "db_errors_total", "kind", text_from(db_error_words[i].word),
                     (double)atomic_load_explicit(&errors[i], memory_order_relaxed));
}

void metrics_write(struct buffer *ret_page)
{
    counters_write(ret_page);
    metric_head(ret_page, "no_work_total", "counter", "replies without new jobs, by reason");
    for (int i = 0; i < REASON_COUNT; i++)
        buffer_print(ret_page, METRIC_PREFIX "no_work_total{reason=\"%s\"} %" PRIu64 "\n",
                     reason_word((enum reason)i), reason_count((enum reason)i));
    write_durations(ret_page);
    write_errors(ret_page);
}
