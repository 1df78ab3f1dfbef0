/* SPDX-License-Identifier: Apache-2.0 */
/* From top to bottom: what needs attention, the figures that matter most, jobs through their life,
 * what became of results and who fails, then applications, batches, streams and disks. */
#include "server/status/project_page.h"

#include "server/base/buffer.h"
#include "server/fates/fates_summary.h"
#include "server/status/page_frame.h"
#include "server/status/page_words.h"

#include <inttypes.h>
#include <math.h>

#include "server/base/banned.h"

enum {
    PASSES_TOLD = 5,
    PASSES_SHOWN = 50,
    VERSIONS_SHOWN = 20,
    HOSTS_SHOWN = 20,
    APPS_SHOWN = 100,
    DAY_HOURS = 24
};

/* What is above is told at the top. */
#define LATE_TOLD_HOURS 1.0
#define COUNTED_TOLD_S  7200
#define DISK_TOLD_PART  0.05

struct project_writer {
    const struct project_figures *figures;
    struct buffer *page;
    struct page_table table;
};

static uint64_t whole(double number)
{
    return number > 0 && number < 1e18 ? (uint64_t)(number + 0.5) : 0;
}

static uint64_t count_of(int64_t count)
{
    return count > 0 ? (uint64_t)count : 0;
}

static uint64_t total_of(const struct project_writer *writer, enum project_total which)
{
    return whole(writer->figures->totals->values[which]);
}

static const struct app_row *app_of(const struct project_writer *writer, int64_t id)
{
    for (size_t i = 0; i < writer->figures->app_count; i++)
        if (writer->figures->apps[i].id == id)
            return &writer->figures->apps[i];
    return NULL;
}

/* --- what needs attention --------------------------------------------------------------------- */

static void tell_versions(struct project_writer *writer, struct page_attention *attention)
{
    const struct project_figures *figures = writer->figures;

    if (figures->versions_failing == 0)
        return;
    page_tell(attention, true);
    buffer_print(attention->items, COUNT_FORMAT, COUNT_ARG(figures->versions_failing, "version"));
    page_tell_end(attention, " with too many failures in the last day: see \"Versions\", or "
                             "<code>qmctl failures</code>.");
}

static void tell_hosts(struct project_writer *writer, struct page_attention *attention)
{
    const struct project_figures *figures = writer->figures;

    if (figures->hosts_failing == 0)
        return;
    page_tell(attention, false);
    buffer_print(attention->items, COUNT_FORMAT, COUNT_ARG(figures->hosts_failing, "host"));
    page_tell_end(attention, " whose recent results all failed: see \"Hosts\", or "
                             "<code>qmctl failures --hosts</code>.");
}

static void tell_stuck(struct project_writer *writer, struct page_attention *attention)
{
    const struct project_figures *figures = writer->figures;

    if (!stuck_is_current(figures->stuck, figures->now) || figures->stuck->jobs <= 0)
        return;
    page_tell(attention, true);
    buffer_add_string(attention->items, figures->stuck->is_limited ? "At least " : "");
    page_count(attention->items, count_of(figures->stuck->jobs));
    page_tell_end(attention, figures->stuck->jobs == 1
                                 ? " waiting job fits none of the hosts that were asked: see "
                                   "\"Jobs that no host can run\"."
                                 : " waiting jobs fit none of the hosts that were asked: see "
                                   "\"Jobs that no host can run\".");
}

static void write_pass_name(struct buffer *page, const struct pass_note_row *pass)
{
    page_text(page, pass->pass);
    if (pass->app.length > 0) {
        buffer_add_string(page, " of ");
        page_text(page, pass->app);
    }
}

static void tell_passes(struct project_writer *writer, struct page_attention *attention,
                        enum pass_state state)
{
    const struct project_figures *figures = writer->figures;

    for (size_t i = 0, told = 0; i < figures->pass_count && told < PASSES_TOLD; i++) {
        if (pass_state_of(&figures->passes[i], figures->now) != state)
            continue;
        page_tell(attention, state == PASS_FAILS);
        write_pass_name(attention->items, &figures->passes[i]);
        page_tell_end(attention, state == PASS_FAILS ? " fails for every job: see \"Validation, "
                                                       "assimilation, deletion\"."
                                                     : " fails for some jobs: see \"Validation, "
                                                       "assimilation, deletion\".");
        told++;
    }
}

static void tell_findings(struct page_attention *attention, const char *what, unsigned errors)
{
    if (errors == 0)
        return;
    page_tell(attention, true);
    buffer_print(attention->items, COUNT_FORMAT " of %s", COUNT_ARG(errors, "error"), what);
    page_tell_end(attention, ": see <code>qmctl check-config</code>.");
}

static void tell_counts(struct project_writer *writer, struct page_attention *attention)
{
    const struct project_figures *figures = writer->figures;
    double late = figures->totals->values[TOTAL_transitioner_backlog_hours];

    if (figures->totals->at == 0) {
        page_tell(attention, false);
        page_tell_end(attention, "The project's jobs have not been counted yet.");
        return;
    }
    if (figures->now - figures->totals->at > COUNTED_TOLD_S) {
        page_tell(attention, false);
        buffer_add_string(attention->items, "The project's jobs were last counted ");
        page_duration(attention->items, (double)(figures->now - figures->totals->at));
        page_tell_end(attention, " ago.");
    }
    if (late > LATE_TOLD_HOURS) {
        page_tell(attention, true);
        buffer_add_string(attention->items, "Transitions are late by ");
        page_duration(attention->items, late * 3600);
        page_tell_end(attention, ": does <code>qmctl transition</code> run?");
    }
}

static void tell_disks(struct project_writer *writer, struct page_attention *attention)
{
    for (size_t i = 0; i < writer->figures->disk_count; i++) {
        const struct project_disk *disk = &writer->figures->disks[i];

        if (!disk->is_known || (double)disk->free >= DISK_TOLD_PART * (double)disk->bytes)
            continue;
        page_tell(attention, true);
        buffer_print(attention->items, "The disk of %s has only ", disk->words);
        page_bytes(attention->items, disk->free);
        page_tell_end(attention, " left.");
    }
}

/* --- figures that matter most ----------------------------------------------------------------- */

static int64_t ended_in_day(const struct project_figures *figures, bool *ret_is_known)
{
    int64_t ended = 0;

    *ret_is_known = false;
    for (size_t i = WEEK_SLOTS - DAY_HOURS; i < WEEK_SLOTS; i++) {
        *ret_is_known = *ret_is_known || figures->week[i].has_fates;
        for (int j = 1; j < FATE_NUMBERS; j++)
            if (fate_kind_of(j)->ends)
                ended += figures->week[i].fates[j];
    }
    return ended;
}

static void write_cards(struct project_writer *writer)
{
    struct buffer *page = writer->page;
    bool is_known;
    int64_t ended = ended_in_day(writer->figures, &is_known);

    page_begin_cards(page);
    page_card_count(page, "Unsent", total_of(writer, TOTAL_results_ready_to_send), "results");
    page_card_count(page, "In progress", total_of(writer, TOTAL_results_in_progress),
                    "results, on hosts");
    page_begin_card(page, "Results over");
    if (is_known)
        page_count(page, count_of(ended));
    else
        buffer_add_string(page, "-");
    page_middle_of_card(page);
    buffer_add_string(page, "in the last 24 hours");
    page_end_card(page);
    page_card_count(page, "Volunteers", total_of(writer, TOTAL_users_with_recent_credit),
                    "with recent credit");
    page_card_count(page, "Hosts", total_of(writer, TOTAL_hosts_with_recent_credit),
                    "with recent credit");
    page_begin_card(page, "Speed");
    page_number(page, writer->figures->totals->values[TOTAL_current_floating_point_speed]);
    page_middle_of_card(page);
    buffer_add_string(page, "GFLOPS, from recent credit");
    page_end_card(page);
    page_end_cards(page);
}

/* --- jobs through their life ------------------------------------------------------------------ */

static void picture_states(const struct project_writer *writer)
{
    static const enum project_total states[] = {
        TOTAL_results_in_progress, TOTAL_results_ready_to_send,
        TOTAL_workunits_waiting_for_validation, TOTAL_workunits_waiting_for_assimilation};
    struct picture picture = {.span = PICTURE_WEEK,
                              .id = "states",
                              .title = "Jobs by state, hourly",
                              .unit = "jobs",
                              .is_stacked = true,
                              .count = sizeof(states) / sizeof(states[0])};

    for (size_t i = 0; i < picture.count; i++) {
        picture.series[i].words = project_total_words(states[i]);
        for (size_t hour = 0; hour < WEEK_SLOTS; hour++) {
            const struct project_hour *known = &writer->figures->week[hour];

            picture.series[i].values[hour] = known->has_totals ? known->totals[states[i]] : NAN;
        }
    }
    picture_write(&picture, writer->figures->week_begin, writer->page);
}

/* What a picture of outcomes puts together. */
static const struct {
    const char *words;
    enum result_fate fates[3];
} outcomes[] = {{"successes", {FATE_SUCCESS}},
                {"errors", {FATE_CLIENT_ERROR}},
                {"no reply", {FATE_NO_REPLY}},
                {"found invalid", {FATE_INVALID, FATE_VALIDATE_ERROR}}};

static int64_t outcome_at(const struct project_hour *hour, size_t outcome)
{
    int64_t sum = 0;

    for (size_t i = 0; i < 3 && outcomes[outcome].fates[i] != 0; i++)
        sum += hour->fates[outcomes[outcome].fates[i]];
    return sum;
}

static void picture_outcomes(const struct project_writer *writer)
{
    struct picture picture = {.span = PICTURE_WEEK,
                              .id = "outcomes",
                              .title = "Outcomes of results, per hour",
                              .unit = "per hour",
                              .is_stacked = true,
                              .count = sizeof(outcomes) / sizeof(outcomes[0])};

    for (size_t i = 0; i < picture.count; i++) {
        picture.series[i].words = outcomes[i].words;
        for (size_t hour = 0; hour < WEEK_SLOTS; hour++)
            picture.series[i].values[hour] =
                writer->figures->week[hour].has_fates
                    ? (double)outcome_at(&writer->figures->week[hour], i)
                    : NAN;
    }
    picture_write(&picture, writer->figures->week_begin, writer->page);
}

/* The pictures as a table: by the day, newest first. */
static void write_days(struct project_writer *writer)
{
    static const char *const columns[] = {"<24 hours from",
                                          "Sent",
                                          "Successes",
                                          "Errors",
                                          "No reply",
                                          "Found invalid",
                                          "Unsent",
                                          "In progress",
                                          "Waiting for validation",
                                          NULL};
    const struct project_figures *figures = writer->figures;

    buffer_add_string(writer->page,
                      "<details id=\"days\"><summary>Daily figures as a table</summary>\n");
    page_begin_table(&writer->table, writer->page,
                     "Results by outcome, and jobs by state at the end of the day.", columns);
    for (size_t day = WEEK_SLOTS / DAY_HOURS; day-- > 0;) {
        const struct project_hour *hours = &figures->week[day * DAY_HOURS], *last = NULL;
        struct project_hour sum = {.has_fates = false};

        for (size_t i = 0; i < DAY_HOURS; i++) {
            last = hours[i].has_totals ? &hours[i] : last;
            sum.has_fates = sum.has_fates || hours[i].has_fates;
            for (int j = 0; j < FATE_NUMBERS; j++)
                sum.fates[j] += hours[i].fates[j];
        }
        if (!sum.has_fates && last == NULL)
            continue;
        page_begin_row(&writer->table);
        page_time(writer->page, figures->week_begin + (int64_t)(day * DAY_HOURS) * 3600);
        page_end_row_head(&writer->table);
        page_cell_count(&writer->table, count_of(sum.fates[FATE_SENT]));
        for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++)
            page_cell_count(&writer->table, count_of(outcome_at(&sum, i)));
        page_cell_number(&writer->table,
                         last != NULL ? last->totals[TOTAL_results_ready_to_send] : NAN, "");
        page_cell_number(&writer->table,
                         last != NULL ? last->totals[TOTAL_results_in_progress] : NAN, "");
        page_cell_number(&writer->table,
                         last != NULL ? last->totals[TOTAL_workunits_waiting_for_validation] : NAN,
                         "");
        page_row_end(&writer->table);
    }
    page_end_table(&writer->table);
    buffer_add_string(writer->page, "</details>\n");
}

static void write_life(struct project_writer *writer)
{
    static const char *const columns[] = {"<State", "Number", "<Next program", NULL};
    static const struct {
        enum project_total total;
        const char *words, *who;
    } rows[] = {
        {TOTAL_results_ready_to_send, "results unsent", "a host that asks for work"},
        {TOTAL_results_in_progress, "results in progress", "the host, until the deadline"},
        {TOTAL_workunits_waiting_for_validation, "jobs waiting for validation",
         "the validator (qmctl transition --validate)"},
        {TOTAL_workunits_waiting_for_assimilation, "jobs waiting for assimilation",
         "the assimilator (qmctl transition --assimilate)"},
        {TOTAL_workunits_waiting_for_deletion, "jobs whose input files may be deleted",
         "the file deleter (qmctl transition --delete-files)"},
        {TOTAL_results_waiting_for_deletion, "results whose output files may be deleted",
         "the file deleter (qmctl transition --delete-files)"},
        {TOTAL_workunits_waiting_for_purge, "finished jobs that can be purged", "qmctl purge"},
    };
    const struct project_totals *totals = writer->figures->totals;

    page_begin_section(writer->page, "life", "Jobs through their life");
    if (totals->at != 0) {
        page_begin_table(&writer->table, writer->page,
                         "In the order in which a job passes through them.", columns);
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
            page_row_head(&writer->table, rows[i].words);
            page_cell_count(&writer->table, total_of(writer, rows[i].total));
            page_cell_text(&writer->table, text_from(rows[i].who));
            page_row_end(&writer->table);
        }
        page_end_table(&writer->table);
        buffer_add_string(writer->page, "<p class=\"soft\">Counted ");
        page_duration(writer->page, (double)(writer->figures->now - totals->at));
        buffer_add_string(writer->page, " ago, in ");
        page_duration(writer->page, totals->seconds);
        buffer_add_string(writer->page, "; one server counts for all.</p>\n");
    }
    buffer_add_string(writer->page, "<div class=\"pictures\">\n");
    picture_states(writer);
    picture_outcomes(writer);
    buffer_add_string(writer->page, "</div>\n");
    write_days(writer);
    page_end_section(writer->page);
}

/* --- what fails of what is done with results -------------------------------------------------- */

static void write_pass(struct project_writer *writer, const struct pass_note_row *pass)
{
    int64_t now = writer->figures->now;
    bool is_all = pass_state_of(pass, now) == PASS_FAILS;

    page_begin_row(&writer->table);
    write_pass_name(writer->page, pass);
    page_end_row_head(&writer->table);
    page_cell_count(&writer->table, count_of(pass->failures));
    page_begin_cell(&writer->table, false);
    page_duration(writer->page, (double)(now - pass->since));
    buffer_add_string(writer->page, " ago");
    page_end_cell(&writer->table);
    page_begin_cell(&writer->table, is_all);
    buffer_add_string(writer->page, is_all ? "<strong>none</strong>" : "some");
    page_end_cell(&writer->table);
    page_cell_text(&writer->table, pass->words);
    page_row_end(&writer->table);
}

static void write_passes(struct project_writer *writer)
{
    static const char *const columns[] = {"<Work",      "Failures",      "First failure",
                                          "<Successes", "<Last failure", NULL};
    const struct project_figures *figures = writer->figures;
    size_t shown = 0;

    page_begin_section(writer->page, "passes", "Validation, assimilation, deletion");
    for (size_t i = 0; i < figures->pass_count && shown < PASSES_SHOWN; i++) {
        if (pass_state_of(&figures->passes[i], figures->now) == PASS_WELL)
            continue;
        if (shown++ == 0)
            page_begin_table(&writer->table, writer->page,
                             "Recent failures by application. Failed work is tried again after "
                             "ten minutes.",
                             columns);
        write_pass(writer, &figures->passes[i]);
    }
    if (shown > 0)
        page_end_table(&writer->table);
    else
        buffer_add_string(writer->page, "<p>No failures in the last half hour.</p>\n");
    page_end_section(writer->page);
}

/* --- jobs that nobody can have ---------------------------------------------------------------- */

static void write_stuck_classes(struct project_writer *writer)
{
    static const char *const columns[] = {"<Application", "Jobs", "<Such as", "<Main reason", NULL};
    const struct stuck_jobs *stuck = writer->figures->stuck;

    page_begin_table(&writer->table, writer->page,
                     "Waiting jobs that none of the hosts asked can run, by class. Use <code>qmctl "
                     "why --jobs</code> to ask again.",
                     columns);
    for (size_t i = 0; i < stuck->count; i++) {
        page_begin_row(&writer->table);
        page_text(writer->page, stuck->classes[i].app);
        page_end_row_head(&writer->table);
        page_cell_count(&writer->table, count_of(stuck->classes[i].jobs));
        page_cell_text(&writer->table, stuck->classes[i].job);
        page_cell_text(&writer->table, stuck->classes[i].words);
        page_row_end(&writer->table);
    }
    page_end_table(&writer->table);
}

static void write_stuck(struct project_writer *writer)
{
    const struct project_figures *figures = writer->figures;
    const struct stuck_jobs *stuck = figures->stuck;
    struct buffer *page = writer->page;

    page_begin_section(page, "stuck", "Jobs that no host can run");
    if (!stuck_is_current(figures->stuck, figures->now)) {
        buffer_add_string(page, "<p>Not known: <code>qmctl transition</code> looks once an hour, "
                                "<code>qmctl status</code> each time. Neither has within two "
                                "days.</p>\n");
        page_end_section(page);
        return;
    }
    if (stuck->kinds <= 0 && stuck->count == 0)
        buffer_add_string(page, "<p>None: no jobs were waiting.</p>\n");
    else if (stuck->hosts <= 0)
        buffer_add_string(page, "<p>Not known: no host that asked within the last week has "
                                "described itself yet.</p>\n");
    else if (stuck->count == 0)
        buffer_print(page,
                     "<p>None. Every kind of waiting job (%" PRId64
                     ") fits a host of the last week.</p>\n",
                     stuck->kinds);
    else
        write_stuck_classes(writer);
    buffer_add_string(page, "<p class=\"soft\">Found ");
    page_duration(page, (double)(figures->now - stuck->at));
    buffer_print(page, " ago; hosts asked: %" PRId64 ".%s</p>\n", stuck->hosts,
                 stuck->is_limited ? " Only the oldest and newest waiting jobs of each application "
                                     "were looked at, so there may be more."
                                   : "");
    page_end_section(page);
}

/* --- who fails -------------------------------------------------------------------------------- */

static void cell_state(struct project_writer *writer, bool fails)
{
    page_begin_cell(&writer->table, fails);
    buffer_add_string(writer->page, fails ? "<strong>fails</strong>" : "ok");
    page_end_cell(&writer->table);
}

static void write_versions(struct project_writer *writer)
{
    static const char *const columns[] = {"<Version", "Sent",   "Over",    "Failed", "Part failed",
                                          "<",        "<State", "<Mostly", NULL};
    const struct project_figures *figures = writer->figures;

    page_begin_section(writer->page, "versions", "Versions");
    if (figures->version_count == 0) {
        buffer_add_string(writer->page,
                          figures->fates_read == 0
                              ? "<p>Outcomes have not been read yet.</p>\n"
                              : "<p>No result was sent or came back in the last day.</p>\n");
        page_end_section(writer->page);
        return;
    }
    page_begin_table(&writer->table, writer->page,
                     "Results of the last day by version, worst first.", columns);
    for (size_t i = 0; i < figures->version_count && i < VERSIONS_SHOWN; i++) {
        const struct project_version *version = &figures->versions[i];

        page_begin_row(&writer->table);
        page_text(writer->page, version->version);
        page_end_row_head(&writer->table);
        page_cell_count(&writer->table, count_of(version->sent));
        page_cell_count(&writer->table, count_of(version->ended));
        page_cell_count(&writer->table, count_of(version->failed));
        page_cell_share(&writer->table, fates_share(version->ended, version->failed));
        cell_state(writer, version->fails);
        page_cell_text(&writer->table, version->worst);
        page_row_end(&writer->table);
    }
    page_end_table(&writer->table);
    page_end_section(writer->page);
}

static void write_hosts(struct project_writer *writer)
{
    static const char *const columns[] = {"<Host", "Over",   "Failed",      "Part failed",
                                          "<",     "<State", "Last result", NULL};
    const struct project_figures *figures = writer->figures;

    page_begin_section(writer->page, "hosts", "Hosts");
    if (figures->host_count == 0) {
        buffer_add_string(writer->page, "<p>No host failed often recently.</p>\n");
        page_end_section(writer->page);
        return;
    }
    page_begin_table(&writer->table, writer->page,
                     "Recent results by host, worst first; older results count less. <code>qmctl "
                     "failures --hosts</code> shows more.",
                     columns);
    for (size_t i = 0; i < figures->host_count && i < HOSTS_SHOWN; i++) {
        const struct project_host *host = &figures->hosts[i];

        page_begin_row(&writer->table);
        buffer_print(writer->page, "%" PRId64, host->id);
        page_end_row_head(&writer->table);
        page_cell_count(&writer->table, count_of(host->ended));
        page_cell_count(&writer->table, count_of(host->failed));
        page_cell_share(&writer->table, fates_share(host->ended, host->failed));
        cell_state(writer, host->fails);
        page_begin_cell(&writer->table, false);
        page_duration(writer->page, (double)(figures->now - host->at));
        buffer_add_string(writer->page, " ago");
        page_end_cell(&writer->table);
        page_row_end(&writer->table);
    }
    page_end_table(&writer->table);
    page_end_section(writer->page);
}

/* --- applications, batches, streams ----------------------------------------------------------- */

static void row_of_app(struct project_writer *writer, int64_t id)
{
    const struct app_row *app = app_of(writer, id);

    page_begin_row(&writer->table);
    if (app == NULL) {
        buffer_print(writer->page, "number %" PRId64, id);
    } else {
        page_text(writer->page, app->user_friendly_name);
        buffer_add_string(writer->page, " <code>");
        page_text(writer->page, app->name);
        buffer_add_string(writer->page, "</code>");
    }
    page_end_row_head(&writer->table);
}

static void write_apps(struct project_writer *writer)
{
    static const char *const columns[] = {"<Application",         "Unsent",   "In progress",
                                          "Runtime, mean",        "Shortest", "Longest",
                                          "Volunteers, last day", NULL};
    const struct project_totals *totals = writer->figures->totals;

    if (totals->app_count == 0)
        return;
    page_begin_section(writer->page, "apps", "Applications");
    page_begin_table(&writer->table, writer->page,
                     "Runtimes are those of valid results of the last 24 hours.", columns);
    for (size_t i = 0; i < totals->app_count && i < APPS_SHOWN; i++) {
        const struct project_app *app = &totals->apps[i];
        bool is_known = app->max_runtime > 0;

        row_of_app(writer, app->id);
        page_cell_count(&writer->table, count_of(app->unsent));
        page_cell_count(&writer->table, count_of(app->in_progress));
        page_cell_duration(&writer->table, is_known ? app->avg_runtime * 3600 : NAN);
        page_cell_duration(&writer->table, is_known ? app->min_runtime * 3600 : NAN);
        page_cell_duration(&writer->table, is_known ? app->max_runtime * 3600 : NAN);
        page_cell_count(&writer->table, count_of(app->users));
        page_row_end(&writer->table);
    }
    page_end_table(&writer->table);
    if (totals->app_count > APPS_SHOWN)
        buffer_print(writer->page, "<p>%zu more are not shown.</p>\n",
                     totals->app_count - APPS_SHOWN);
    page_end_section(writer->page);
}

/* Of a batch that is too large the part is an estimate. */
static void cell_part(struct project_writer *writer, const struct project_batch *batch,
                      int64_t part)
{
    double share = batch->looked_at > 0 ? (double)part / (double)batch->looked_at : NAN;

    page_begin_cell(&writer->table, false);
    if (batch->looked_at < batch->jobs) {
        buffer_add_string(writer->page, "about ");
        page_number(writer->page, 100 * share);
        buffer_add_string(writer->page, " %");
    } else {
        page_count(writer->page, count_of(part));
    }
    page_end_cell(&writer->table);
}

/* "in 3 h", of what will be. */
static void cell_date(struct project_writer *writer, int64_t date)
{
    page_begin_cell(&writer->table, false);
    if (date > writer->figures->now) {
        buffer_add_string(writer->page, "in ");
        page_duration(writer->page, (double)(date - writer->figures->now));
    }
    page_end_cell(&writer->table);
}

static bool any_hurries(const struct project_totals *totals)
{
    for (size_t i = 0; i < totals->batch_count; i++)
        if (totals->batches[i].hurry)
            return true;
    return false;
}

/* Of a batch that is in none nothing is said. */
static void cells_hurry(struct project_writer *writer, const struct project_batch *batch)
{
    page_begin_cell(&writer->table, false);
    if (batch->hurry)
        page_count(writer->page, count_of(batch->copies));
    page_end_cell(&writer->table);
    page_begin_cell(&writer->table, false);
    if (batch->hurry && batch->within > 0) {
        buffer_add_string(writer->page, "hosts below ");
        page_duration(writer->page, (double)batch->within);
    } else if (batch->hurry) {
        buffer_add_string(writer->page, "all hosts");
    }
    page_end_cell(&writer->table);
}

static void write_batches(struct project_writer *writer)
{
    const struct project_figures *figures = writer->figures;
    bool with_hurry = any_hurries(figures->totals);
    const char *const columns[] = {"<Batch",       "<Application",
                                   "Jobs",         "Done",
                                   "Failed",       "Cancelled",
                                   "Progress",     "<",
                                   "Made",         "Probably done",
                                   "Nine of ten",  with_hurry ? "Copies" : NULL,
                                   "Unsent go to", NULL};

    if (figures->totals->batch_count == 0)
        return;
    page_begin_section(writer->page, "batches", "Batches");
    page_begin_table(&writer->table, writer->page,
                     "The newest batches. In a batch with more than 10,000 jobs, progress is "
                     "estimated from 10,000 of them. Half of such batches would be done by the "
                     "first date, nine of ten by the second.",
                     columns);
    for (size_t i = 0; i < figures->totals->batch_count; i++) {
        const struct project_batch *batch = &figures->totals->batches[i];
        const struct app_row *app = app_of(writer, batch->appid);
        int64_t over = batch->done + batch->failed + batch->cancelled;

        page_begin_row(&writer->table);
        buffer_print(writer->page, "%" PRId64 " ", batch->id);
        page_text(writer->page, batch->name);
        page_end_row_head(&writer->table);
        page_cell_text(&writer->table, app != NULL ? app->name : NO_TEXT);
        page_cell_count(&writer->table, count_of(batch->jobs));
        cell_part(writer, batch, batch->done);
        cell_part(writer, batch, batch->failed);
        cell_part(writer, batch, batch->cancelled);
        page_cell_share(&writer->table,
                        batch->looked_at > 0 ? (double)over / (double)batch->looked_at : NAN);
        page_begin_cell(&writer->table, false);
        page_duration(writer->page, (double)(figures->now - batch->created));
        buffer_add_string(writer->page, " ago");
        page_end_cell(&writer->table);
        cell_date(writer, batch->half);
        cell_date(writer, batch->most);
        if (with_hurry)
            cells_hurry(writer, batch);
        page_row_end(&writer->table);
    }
    page_end_table(&writer->table);
    if (with_hurry)
        buffer_add_string(writer->page,
                          "<p>In a batch in a hurry, late jobs get copies: results beyond those "
                          "that a job needs. Its unsent results go to hosts whose average "
                          "turnaround is below the limit.</p>\n");
    if (figures->totals->values[TOTAL_batch_outputs_bytes] > 0) {
        buffer_add_string(writer->page, "<p>Outputs of batches that are not retired: ");
        page_bytes(writer->page, (uint64_t)figures->totals->values[TOTAL_batch_outputs_bytes]);
        buffer_add_string(writer->page, ".</p>\n");
    }
    page_end_section(writer->page);
}

static void write_streams(struct project_writer *writer)
{
    static const char *const columns[] = {"<Stream", "Share by weight", "<", "Had", "<", NULL};
    const struct project_figures *figures = writer->figures;

    if (figures->stream_count == 0)
        return;
    page_begin_section(writer->page, "streams", "Job streams");
    page_begin_table(&writer->table, writer->page,
                     "Target share of each stream that has jobs now, and its share of the FLOP "
                     "that all servers have handed out.",
                     columns);
    for (size_t i = 0; i < figures->stream_count; i++) {
        page_begin_row(&writer->table);
        page_text(writer->page, figures->streams[i].words);
        page_end_row_head(&writer->table);
        page_cell_share(&writer->table, figures->streams[i].share);
        page_cell_share(&writer->table, figures->streams[i].had);
        page_row_end(&writer->table);
    }
    page_end_table(&writer->table);
    page_end_section(writer->page);
}

static void write_disks(struct project_writer *writer)
{
    static const char *const columns[] = {"<Contents", "Size", "Free", "Used", "<", NULL};
    const struct project_figures *figures = writer->figures;

    page_begin_section(writer->page, "disk", "Disk");
    page_begin_table(&writer->table, writer->page, "File systems as this process sees them.",
                     columns);
    for (size_t i = 0; i < figures->disk_count; i++) {
        const struct project_disk *disk = &figures->disks[i];

        page_row_head(&writer->table, disk->words);
        page_begin_cell(&writer->table, !disk->is_known);
        if (disk->is_known)
            page_bytes(writer->page, disk->bytes);
        else
            buffer_add_string(writer->page, "<strong>cannot be read</strong>");
        page_end_cell(&writer->table);
        page_begin_cell(&writer->table, false);
        if (disk->is_known)
            page_bytes(writer->page, disk->free);
        else
            buffer_add_string(writer->page, "-");
        page_end_cell(&writer->table);
        page_cell_share(&writer->table, disk->is_known && disk->bytes > 0
                                            ? 1 - (double)disk->free / (double)disk->bytes
                                            : NAN);
        page_row_end(&writer->table);
    }
    page_end_table(&writer->table);
    page_end_section(writer->page);
}

/* --- the page --------------------------------------------------------------------------------- */

void project_page_write(const struct project_figures *figures, struct buffer *ret_page)
{
    struct project_writer writer = {.figures = figures, .page = ret_page};
    struct buffer items = buffer_on_heap(STATUS_BYTES_MAX);
    struct page_attention attention = {.items = &items};

    tell_versions(&writer, &attention);
    tell_stuck(&writer, &attention);
    tell_passes(&writer, &attention, PASS_FAILS);
    tell_findings(&attention, "jobs", figures->job_errors);
    tell_findings(&attention, "versions", figures->version_errors);
    tell_disks(&writer, &attention);
    tell_counts(&writer, &attention);
    tell_hosts(&writer, &attention);
    tell_passes(&writer, &attention, PASS_FAILS_PARTLY);
    page_begin(ret_page, PAGE_PROJECT, figures->project, &attention);
    page_end_header(ret_page, figures->now);
    page_state(ret_page, &attention);
    write_cards(&writer);
    write_life(&writer);
    write_passes(&writer);
    write_stuck(&writer);
    write_versions(&writer);
    write_hosts(&writer);
    write_apps(&writer);
    write_batches(&writer);
    write_streams(&writer);
    write_disks(&writer);
    page_end(ret_page);
    buffer_free(&items);
}
