/* SPDX-License-Identifier: Apache-2.0 */
/* Booking of finished jobs. All names are looked up at once (report_entries.c) and judged one by
 * one (policy/result/report_verdict.h); what may be booked is written in one go. Invariants:
 * nothing is acknowledged but what is committed with this transaction or needs no booking; a failed
 * query acknowledges nothing. A row that changed between look-up and writing is looked at again,
 * and stays unacknowledged if it might still be booked: the client brings it back.
 *
 * Jobs that the host lost (detaches) are given up only here, after the reports, for a report may be
 * about one of them. */
#include "server/request/report_entries.h"
#include "server/request/report_variants.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/base/log.h"
#include "server/fates/fates.h"
#include "server/policy/host/bounds.h"
#include "server/policy/result/report_verdict.h"
#include "server/project/catalog.h"
#include "server/reply/answer.h"
#include "server/rpc/in_progress.h"
#include "server/rpc/request.h"

#include <inttypes.h>

#include "server/base/banned.h"

static bool is_single_threaded(const struct request *request, int64_t app_version_id)
{
    const struct app_version_row *version =
        app_version_id > 0 ? catalog_version(request->catalog, app_version_id) : NULL;

    return version != NULL && !text_contains(version->plan_class, TEXT("mt"));
}

static double not_negative(double number)
{
    return number > 0 ? number : 0;
}

static struct result_report make_report(const struct request *request, const struct entry *entry)
{
    const struct reported_result *reported = entry->reported;
    const struct result_row *row = entry->row;
    const struct attempt *attempt = &request->attempt;
    struct report_times times = {.cpu_time = reported->final_cpu_time,
                                 .elapsed_time = reported->final_elapsed_time};
    struct result_report report = {
        .id = row->id,
        .workunitid = row->workunitid,
        .hostid = attempt->host.id,
        .teamid = attempt->user.teamid,
        .received_time = (int64_t)request->now,
        .client_state = bound_int32(reported->state),
        .exit_status = report_exit_status(reported),
        .app_version_num = bound_int32(reported->app_version_num),
        .peak_working_set_size = not_negative(reported->peak_working_set_size),
        .peak_swap_size = not_negative(reported->peak_swap_size),
        .peak_disk_usage = not_negative(reported->peak_disk_usage),
        .stderr_out = report_bound_stderr(reported->stderr_out),
        .xml_doc_out = report_bound_files(reported->xml_doc_out),
    };

    report_outcome(report.client_state, report.exit_status, row->validate_state, &report.outcome,
                   &report.validate_state);
    times =
        report_repair_times(times, is_single_threaded(request, row->app_version_id),
                            (double)(report.received_time - row->sent_time), attempt->host.p_ncpus);
    report.cpu_time = times.cpu_time;
    report.elapsed_time = times.elapsed_time;
    if (report.outcome == OUTCOME_SUCCESS && request->config->dont_store_success_stderr)
        report.stderr_out = NO_TEXT;
    return report;
}

/* What the report does to the host's daily quota of this version. */
static void count_quota(struct request *request, const struct result_row *row,
                        const struct result_report *report)
{
    int64_t quota = request->config->daily_result_quota;
    int64_t id = report_statistics_id(row->appid, row->app_version_id);
    const struct host_app_version_row *stored = request_version(request, id);
    struct attempt *attempt = &request->attempt;
    int64_t before = stored != NULL ? stored->max_jobs_per_day : request_first_quota(request);
    int64_t after;
    bool breaks = stored != NULL && report_is_failure(report->outcome, report->exit_status);

    if (id == 0)
        return;
    for (size_t i = 0; i < attempt->version_change_count; i++) {
        const struct host_app_version_change *change = &attempt->version_changes[i];

        if (change->app_version_id == id && change->sets_max_jobs_per_day)
            before = change->max_jobs_per_day;
    }
    after = report_quota_after(before, quota, report->outcome, report->exit_status);
    if (after != before) {
        struct host_app_version_change *change = request_version_change(request, id);

        change->sets_max_jobs_per_day = true;
        change->max_jobs_per_day = after;
    }
    if (breaks)
        request_version_change(request, id)->resets_consecutive_valid = true;
}

static struct fate_entry fate_of(const struct result_row *row, const struct result_report *report)
{
    struct fate_entry entry = {.hostid = report->hostid,
                               .appid = row->appid,
                               .app_version_id = row->app_version_id,
                               .batch = row->batch,
                               .fate = FATE_SUCCESS};

    if (report->outcome == OUTCOME_SUCCESS)
        return entry;
    entry.fate =
        report_is_failure(report->outcome, report->exit_status) ? FATE_CLIENT_ERROR : FATE_ABORTED;
    entry.exit_status = report->exit_status;
    return entry;
}

/* Writes what may be booked; *ret_missed counts rows that changed meanwhile. */
static enum status save(struct booking *booking, size_t *ret_missed)
{
    struct request *request = booking->request;
    struct result_report *reports =
        ARENA_ARRAY(request->arena, booking->count, struct result_report);
    struct entry **saved = ARENA_ARRAY(request->arena, booking->count, struct entry *);
    bool *booked = ARENA_ARRAY(request->arena, booking->count, bool);
    struct fate_entry *fates = ARENA_ARRAY(request->arena, booking->count, struct fate_entry);
    struct variant_run *runs = ARENA_ARRAY(request->arena, booking->count, struct variant_run);
    size_t count = 0, run_count = 0;
    enum status status;

    *ret_missed = 0;
    if (reports == NULL || saved == NULL || booked == NULL || fates == NULL || runs == NULL)
        return STATUS_TOO_LARGE;
    for (size_t i = 0; i < booking->count; i++) {
        struct entry *entry = &booking->entries[i];

        if (!entry->is_first || entry->row == NULL || !report_verdicts[entry->found].books)
            continue;
        reports[count] = make_report(request, entry);
        saved[count++] = entry;
    }
    if (count == 0)
        return STATUS_OK;
    status =
        db_reports_save(request->db, request->arena, reports, count, (int64_t)request->now, booked);
    if (status != STATUS_OK)
        return status;
    request->attempt.reported = fates;
    for (size_t i = 0; i < count; i++) {
        saved[i]->is_looked_up = !booked[i];
        if (booked[i]) {
            saved[i]->is_done = true;
            request->attempt.booked++;
            fates[request->attempt.reported_count++] = fate_of(saved[i]->row, &reports[i]);
            count_quota(request, saved[i]->row, &reports[i]);
            if (saved[i]->row->variant != 0 && reports[i].outcome == OUTCOME_SUCCESS)
                runs[run_count++] = (struct variant_run){.variant = saved[i]->row->variant,
                                                         .workunitid = saved[i]->row->workunitid,
                                                         .elapsed_time = reports[i].elapsed_time};
        } else {
            ++*ret_missed;
        }
    }
    return report_variants(request, runs, run_count);
}

/* Marks what needs no booking as done. */
static void finish_others(struct booking *booking)
{
    for (size_t i = 0; i < booking->count; i++) {
        struct entry *entry = &booking->entries[i];
        const struct report_verdict *verdict = &report_verdicts[entry->found];

        if (!entry->is_first || entry->is_done || verdict->books)
            continue;
        entry->is_done = verdict->acknowledges;
        entry->is_looked_up = false;
        if (entry->found == REPORT_ALREADY_SUCCESS)
            booking->request->attempt.force_resend = true;
        log_line(LOG_LEVEL_DEBUG,
                 "event=report_ignored host=%" PRId64 " result=%" PRId64 " why=\"%s\"",
                 booking->request->attempt.host.id, entry->row != NULL ? entry->row->id : 0,
                 verdict->word);
    }
}

static bool is_reported(const void *context, const struct result_row *row)
{
    return report_find_entry(context, row) != NULL;
}

static enum status book(struct booking *booking)
{
    size_t missed;
    enum status status = report_look_up(booking, false);

    if (status != STATUS_OK)
        return status;
    finish_others(booking);
    status = save(booking, &missed);
    if (status != STATUS_OK)
        return status;
    if (missed == 0) { /* whatever was in progress and is reported is booked */
        results_in_progress_drop(booking->request, is_reported, booking);
        return STATUS_OK;
    }
    jobs_in_progress_forget(booking->request);
    status = report_look_up(booking, true);
    if (status == STATUS_OK)
        finish_others(booking);
    return status;
}

/* What was cut off the list comes again with the next request. */
static void tell_what_is_left(struct request *request)
{
    const struct message *message = &request->message;

    if (message->results_left > 0)
        answer_say(request->arena, &request->attempt.answer, MESSAGE_LOW,
                   "Your client reports %zu tasks, of which %zu are taken in one request; it will "
                   "report the others again",
                   message->result_count + message->results_left, message->result_count);
}

static enum next take_reports(struct request *request)
{
    struct booking booking = {.request = request};
    enum status status;

    if (request->message.result_count == 0)
        return NEXT_STEP;
    status = report_prepare_entries(&booking) ? book(&booking) : STATUS_TOO_LARGE;
    if (status != STATUS_OK)
        return request_failed(request, status, "reports");
    for (size_t i = 0; i < booking.count; i++) {
        const struct entry *entry = &booking.entries[i];

        if (entry->is_done && entry->reported->name.length > 0)
            text_items_add(request->arena, &request->attempt.answer.acks, entry->reported->name);
    }
    return NEXT_STEP;
}

enum next step_report(struct request *request)
{
    enum next next = take_reports(request);
    enum status status;

    tell_what_is_left(request);
    if (next != NEXT_STEP || !request->attempt.detaches)
        return next;
    jobs_in_progress_forget(request);
    status = db_host_detach_results(request->db, request->attempt.host.id, (int64_t)request->now);
    return status == STATUS_OK ? NEXT_STEP : request_failed(request, status, "lost jobs");
}
