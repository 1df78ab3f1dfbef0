/* SPDX-License-Identifier: Apache-2.0 */
#include "server/process/project_count.h"

#include "config/config.h"
#include "db/figure_rows.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/project/catalog.h"
#include "server/status/project_totals.h"

#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

enum {
    HOUR_S = 3600,
    DAY_S = 86400,
    RUNTIMES_MOST = 10000,                      /* results of an application that are looked at */
    BATCH_PARTS = 20,                           /* of a large batch, each with ... */
    BATCH_PART_JOBS = 500,                      /* ... so many jobs */
    BATCH_WHOLE = BATCH_PARTS * BATCH_PART_JOBS /* up to so many jobs all are looked at */
};
#define COUNT_BYTES_MAX ((size_t)4 * 1024 * 1024)
/* Credit of a computer of 1 GFLOPS in a day. */
#define CREDIT_PER_GFLOPS_DAY 200.0

/* s to hours, rounded up to 0.01. */
static double runtime_hours(double seconds)
{
    return ceil(seconds / HOUR_S * 100) / 100;
}

/* Results of all applications count, those that are in use have a line of their own. */
static enum status count_app(struct db *db, const struct app_row *row,
                             struct project_totals *totals)
{
    struct project_app app = {.id = row->id};
    struct runtimes_row runtimes = {.results = 0};
    enum status status = db_count_results(db, row->id, RESULT_UNSENT, &app.unsent);

    if (status == STATUS_OK)
        status = db_count_results(db, row->id, RESULT_IN_PROGRESS, &app.in_progress);
    totals->values[TOTAL_results_ready_to_send] += (double)app.unsent;
    totals->values[TOTAL_results_in_progress] += (double)app.in_progress;
    if (status != STATUS_OK || row->deprecated != 0 || totals->app_count == PROJECT_APPS_MOST)
        return status;
    status = db_runtimes(db, row->id, totals->at - DAY_S, RUNTIMES_MOST, &runtimes);
    if (status == STATUS_OK && runtimes.results > 0) {
        app.avg_runtime = runtime_hours(runtimes.mean);
        app.min_runtime = runtime_hours(runtimes.shortest);
        app.max_runtime = runtime_hours(runtimes.longest);
        app.users = runtimes.users;
    }
    totals->apps[totals->app_count++] = app;
    return status;
}

static enum status count_waiting(struct db *db, struct project_totals *totals)
{
    struct waiting_counts_row row;
    enum status status = db_count_waiting(db, &row);

    if (status != STATUS_OK)
        return status;
    totals->values[TOTAL_workunits_waiting_for_validation] = (double)row.validation;
    totals->values[TOTAL_workunits_waiting_for_assimilation] = (double)row.assimilation;
    totals->values[TOTAL_workunits_waiting_for_deletion] = (double)row.deletion;
    totals->values[TOTAL_results_waiting_for_deletion] = (double)row.result_deletion;
    totals->values[TOTAL_workunits_waiting_for_purge] = (double)row.purging;
    if (row.first_transition > 0 && row.first_transition < totals->at)
        totals->values[TOTAL_transitioner_backlog_hours] =
            (double)(totals->at - row.first_transition) / HOUR_S;
    return STATUS_OK;
}

static enum status count_outputs(struct db *db, struct project_totals *totals)
{
    struct outputs_waiting_row row = {.bytes = 0};
    enum status status = db_count_outputs(db, &row);

    totals->values[TOTAL_batch_outputs_bytes] = (double)row.bytes;
    return status;
}

static enum status count_people(struct db *db, struct project_totals *totals)
{
    struct people_counts_row row;
    enum status status = db_count_people(db, totals->at - DAY_S, &row);

    if (status != STATUS_OK)
        return status;
    totals->values[TOTAL_users_with_recent_credit] = (double)row.users_recent;
    totals->values[TOTAL_users_with_credit] = (double)row.users_credit;
    totals->values[TOTAL_users_registered_in_past_24_hours] = (double)row.users_new;
    totals->values[TOTAL_hosts_with_recent_credit] = (double)row.hosts_recent;
    totals->values[TOTAL_hosts_with_credit] = (double)row.hosts_credit;
    totals->values[TOTAL_hosts_registered_in_past_24_hours] = (double)row.hosts_new;
    totals->values[TOTAL_current_floating_point_speed] = row.expavg_credit / CREDIT_PER_GFLOPS_DAY;
    return STATUS_OK;
}

/* A large batch is looked at in parts at even distances of its numbers. */
static enum status count_batch(struct db *db, struct arena *arena, const struct config *config,
                               struct project_batch *batch)
{
    struct batch_span_row span;
    enum status status = db_batch_span(db, arena, batch->id, &span);
    bool is_whole = status == STATUS_OK && span.jobs <= BATCH_WHOLE;

    if (status != STATUS_OK)
        return status;
    batch->jobs = span.jobs;
    batch->name = span.name;
    batch->half = span.half;
    batch->most = span.most;
    batch->hurry = config_hurries(config, span.hurry != 0);
    batch->within = span.within;
    for (int i = 0; status == STATUS_OK && i < (is_whole ? 1 : BATCH_PARTS); i++) {
        int64_t first = span.first + (int64_t)((double)(span.last - span.first) * i / BATCH_PARTS);
        struct batch_part_row part;

        status =
            db_batch_part(db, batch->id, first, is_whole ? BATCH_WHOLE : BATCH_PART_JOBS, &part);
        if (status != STATUS_OK)
            break;
        batch->looked_at += part.jobs;
        batch->done += part.done;
        batch->failed += part.failed;
        batch->cancelled += part.cancelled;
        if (i == 0) {
            batch->appid = part.appid;
            batch->created = part.created;
        }
    }
    return status == STATUS_OK && batch->hurry ? db_batch_copies(db, batch->id, &batch->copies)
                                               : status;
}

static enum status count_batches(struct db *db, struct arena *arena, const struct config *config,
                                 struct project_totals *totals)
{
    int64_t before = INT32_MAX;
    bool are_indexed;
    enum status indexed = db_batches_are_indexed(db, &are_indexed);

    if (indexed != STATUS_OK || !are_indexed)
        return indexed;
    while (totals->batch_count < PROJECT_BATCHES_MOST) {
        struct project_batch batch = {.id = 0};
        enum status status = db_batch_before(db, before, &batch.id);

        if (status != STATUS_OK || batch.id <= 0)
            return status;
        before = batch.id;
        status = count_batch(db, arena, config, &batch);
        if (status != STATUS_OK)
            return status;
        totals->batches[totals->batch_count++] = batch;
    }
    return STATUS_OK;
}

static enum status count_all(struct db *db, struct arena *arena, const struct config *config,
                             const struct catalog *catalog, int64_t now,
                             struct project_totals *ret_totals)
{
    double begun = clock_seconds();
    enum status status;

    *ret_totals = (struct project_totals){
        .at = now,
        .apps = ARENA_ARRAY(arena, catalog->rows.app_count, struct project_app),
        .batches = ARENA_ARRAY(arena, PROJECT_BATCHES_MOST, struct project_batch)};
    if (ret_totals->apps == NULL || ret_totals->batches == NULL)
        return STATUS_NO_MEMORY;
    status = count_waiting(db, ret_totals);
    if (status == STATUS_OK)
        status = count_outputs(db, ret_totals);
    if (status == STATUS_OK)
        status = count_people(db, ret_totals);
    for (size_t i = 0; status == STATUS_OK && i < catalog->rows.app_count; i++)
        status = count_app(db, &catalog->rows.apps[i], ret_totals);
    if (status == STATUS_OK)
        status = count_batches(db, arena, config, ret_totals);
    ret_totals->seconds = clock_seconds() - begun;
    return status;
}

static enum status write_totals(struct db *db, struct arena *arena,
                                const struct project_totals *totals)
{
    struct buffer now = buffer_in(arena), hour = buffer_in(arena);
    enum status status;

    project_totals_write(totals, true, &now);
    project_totals_write(totals, false, &hour);
    if (arena_overflowed(arena))
        return STATUS_NO_MEMORY;
    status = db_figures_write(db, FIGURES_NOW, 0, 0, buffer_text(&now));
    if (status == STATUS_OK)
        status = db_figures_write(db, FIGURES_PROJECT, totals->at - totals->at % HOUR_S, 0,
                                  buffer_text(&hour));
    return status == STATUS_OK ? db_figures_prune(db, totals->at) : status;
}

/* The turn is taken before the work, and not given back: nobody is to wait for its row as long as
 * counting takes, and if this process dies, the next interval is soon. */
enum status duty_project_figures(struct db *db, const struct config *config,
                                 const struct catalog *catalog, int64_t now, int64_t interval,
                                 bool *ret_done)
{
    struct arena *arena = arena_create(COUNT_BYTES_MAX);
    struct project_totals totals;
    bool is_ours = false;
    enum status status = STATUS_NO_MEMORY;

    if (arena != NULL)
        status = db_duty_take(db, TEXT("project figures"), interval, &is_ours);
    if (status == STATUS_OK)
        status = db_commit(db);
    if (status == STATUS_OK && is_ours)
        status = count_all(db, arena, config, catalog, now, &totals);
    if (status == STATUS_OK && is_ours)
        status = db_rollback(db);
    if (status == STATUS_OK && is_ours)
        status = write_totals(db, arena, &totals);
    if (status == STATUS_OK && is_ours)
        status = db_commit(db);
    if (status != STATUS_OK)
        (void)db_rollback(db);
    arena_destroy(arena);
    *ret_done = status == STATUS_OK && is_ours;
    return status;
}
