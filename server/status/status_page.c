/* SPDX-License-Identifier: Apache-2.0 */
/* The page from top to bottom: what needs attention, the figures that matter most, the last hour
 * and day in pictures, and then each subject as a table. Windows are whole slots of the rings and
 * the one that runs, so an hour is 59 to 60 minutes. */
#include "server/status/status_page.h"

#include "server/base/buffer.h"
#include "server/status/page_frame.h"
#include "server/status/page_words.h"
#include "server/status/picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

enum {
    APPS_SHOWN = 100,
    EVENTS_SHOWN = 20,
    FINDINGS_SHOWN = 30,
    PROCESSES_SHOWN = 50,
    TOP_REASONS = 3,
    LATE_SLOTS = 6, /* five minutes, and the one that runs */
    DAY_SLOTS_OF_HOUR = 3600 / DAY_SLOT_S
};

/* A slot that was watched for less says nothing of a rate. */
#define WATCHED_LEAST_S 10.0
/* What is longer is told at the top. */
#define WAIT_TOLD_S 5.0
#define LAG_TOLD_S  30.0

/* Totals of a window, and how long it was watched. */
struct window {
    uint64_t counts[STATUS_TOTALS];
    double seconds;
};

struct page_writer {
    const struct status_figures *figures;
    struct buffer *page;
    struct page_table table;
    struct window late, hour, day, all;
};

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

/* In s, from a total of ns. */
static double mean_of(const struct window *window, int ns, int times)
{
    return ratio((double)window->counts[ns] * 1e-9, (double)window->counts[times]);
}

/* The counts of the windows: an hour, a day, since the start. */
static void cells_of_windows(struct page_writer *writer, int total)
{
    page_cell_count(&writer->table, writer->hour.counts[total]);
    page_cell_count(&writer->table, writer->day.counts[total]);
    page_cell_count(&writer->table, writer->all.counts[total]);
}

/* --- the head --------------------------------------------------------------------------------- */

static void write_head(struct page_writer *writer, const struct page_attention *attention)
{
    const struct status_figures *figures = writer->figures;
    struct buffer *page = writer->page;

    page_begin(page, PAGE_SERVER, figures->project, attention);
    buffer_print(page, "<p>Answered by one server process of Quartermaster %s: number %" PRId64,
                 figures->version, figures->process);
    if (figures->threads > 0)
        buffer_print(page, ", " COUNT_FORMAT, COUNT_ARG(figures->threads, "thread"));
    buffer_add_string(page, ", up for ");
    page_duration(page, (double)(figures->now - figures->began));
    buffer_add_string(page, " since ");
    page_time(page, figures->began);
    buffer_add_string(page, ".</p>\n<p class=\"soft\">Figures for the last hour and day cover all "
                            "processes of this project");
    if (figures->servers > 1)
        buffer_print(page, " (%zu share its jobs)", figures->servers);
    buffer_add_string(page, ". Those of other processes lag a minute or two. Current figures and "
                            "those since the start cover this process only.</p>\n");
    page_end_header(page, figures->now);
}

/* --- what needs attention --------------------------------------------------------------------- */

/* What needs attention is told before the page is begun, as its title counts it. */
struct attention {
    struct page_writer *writer;
    struct page_attention told;
};

static void tell(struct attention *attention, bool is_bad)
{
    page_tell(&attention->told, is_bad);
}

static void tell_end(struct attention *attention, const char *words)
{
    page_tell_end(&attention->told, words);
}

static void tell_database(struct attention *attention)
{
    const struct status_figures *figures = attention->writer->figures;
    const struct db_trouble_words *words = &db_trouble_words[figures->trouble];

    if (figures->examined == 0) {
        tell(attention, false);
        tell_end(attention, "The database was not examined yet.");
    } else if (figures->trouble != DB_TROUBLE_NONE) {
        tell(attention, true);
        buffer_print(attention->told.items, "The database %s", words->words);
        if (words->option[0] != '\0')
            buffer_print(attention->told.items, " (look at <code>%s</code> in config.xml)",
                         words->option);
        tell_end(attention, ".");
    }
    if (db_clocks_are_apart(figures->clock_ahead)) {
        char clock[128];

        db_clock_words(figures->clock_ahead, clock, sizeof(clock));
        tell(attention, false);
        buffer_print(attention->told.items, "%s: set both by NTP", clock);
        tell_end(attention, ".");
    }
    if (figures->away_for > 0) {
        tell(attention, true);
        buffer_add_string(attention->told.items, "Requests have found no database for ");
        page_duration(attention->told.items, figures->away_for);
        tell_end(attention, ": clients are told that the project is down.");
    }
}

static void tell_project(struct attention *attention)
{
    const struct status_figures *figures = attention->writer->figures;
    struct buffer *page = attention->told.items;
    unsigned errors = 0, warnings = 0;

    if (figures->is_stopped) {
        tell(attention, true);
        tell_end(attention, "Clients hear that the project is down because the file "
                            "<code>stop_sched</code> exists.");
    }
    if (figures->sends_no_jobs) {
        tell(attention, true);
        tell_end(attention,
                 "Nobody gets jobs: <code>dont_send_jobs</code> is set, or the file "
                 "<code>stop_work</code> exists (<code>qmctl resume</code> removes it).");
    }
    if (figures->config_was_refused) {
        tell(attention, true);
        tell_end(attention, "The current config.xml was refused, and the previous one stays in "
                            "force: see \"Configuration\".");
    }
    for (size_t i = 0; i < figures->finding_count; i++) {
        errors += figures->findings[i].errors;
        warnings += figures->findings[i].warnings;
    }
    if (errors + warnings > 0) {
        tell(attention, errors > 0);
        buffer_add_string(page, "The project has ");
        if (errors > 0)
            buffer_print(page, COUNT_FORMAT, COUNT_ARG(errors, "error"));
        if (errors > 0 && warnings > 0)
            buffer_add_string(page, " and ");
        if (warnings > 0)
            buffer_print(page, COUNT_FORMAT, COUNT_ARG(warnings, "warning"));
        tell_end(attention, " in its configuration: see <code>qmctl check-config</code>.");
    }
    if (figures->restarts_wanted > 0) {
        tell(attention, false);
        buffer_print(page, "Changed options that need a restart: %zu", figures->restarts_wanted);
        tell_end(attention, ".");
    }
}

static void tell_load(struct attention *attention)
{
    const struct status_figures *figures = attention->writer->figures;
    uint64_t away = attention->writer->hour.counts[STATUS_requests_turned_away];
    struct buffer *page = attention->told.items;

    if (figures->oldest_wait > WAIT_TOLD_S) {
        tell(attention, true);
        buffer_add_string(page, "A request has waited for a thread for ");
        page_duration(page, figures->oldest_wait);
        tell_end(attention, ".");
    }
    if (away > 0) {
        tell(attention, true);
        buffer_add_string(page, "Requests turned away in the last hour, because too many waited: ");
        page_count(page, away);
        tell_end(attention, ".");
    }
    if (figures->has_pool && !figures->pool_is_filled) {
        tell(attention, false);
        tell_end(attention, "The unsent jobs are being read for the first time.");
    } else if (figures->has_pool && figures->pool_lag > LAG_TOLD_S) {
        tell(attention, true);
        buffer_add_string(page, "New jobs were last read ");
        page_duration(page, figures->pool_lag);
        tell_end(attention, " ago.");
    }
}

static void tell_uploads(struct attention *attention)
{
    const struct status_figures *figures = attention->writer->figures;

    if (figures->uploads.at != 0 && figures->now - figures->uploads.at > UPLOADS_SILENT_S) {
        tell(attention, true);
        buffer_add_string(attention->told.items, "The upload handler last reported ");
        page_duration(attention->told.items, (double)(figures->now - figures->uploads.at));
        tell_end(attention, " ago.");
    } else if (figures->uploads.at != 0 && figures->uploads.is_stopped) {
        tell(attention, true);
        tell_end(attention,
                 "Uploads are refused because the file <code>stop_upload</code> exists.");
    }
}

/* The words are in a buffer of their own. */
static struct page_attention write_state(struct page_writer *writer, struct buffer *items)
{
    struct attention attention = {.writer = writer, .told = {.items = items}};

    tell_database(&attention);
    tell_project(&attention);
    tell_load(&attention);
    tell_uploads(&attention);
    return attention.told;
}

/* --- the figures that matter most ------------------------------------------------------------- */

static void write_cards(struct page_writer *writer)
{
    const struct status_figures *figures = writer->figures;
    struct buffer *page = writer->page;

    page_begin_cards(page);
    page_begin_card(writer->page, "Requests");
    page_number(page, ratio((double)writer->late.counts[STATUS_requests], writer->late.seconds));
    page_middle_of_card(writer->page);
    buffer_add_string(page, "per second, in the last five minutes");
    page_end_card(writer->page);
    page_card_count(page, "Jobs handed out", writer->hour.counts[STATUS_jobs_sent],
                    "in the last hour");
    page_card_count(page, "Results booked", writer->hour.counts[STATUS_reports_booked],
                    "in the last hour");
    page_begin_card(writer->page, "Time of a request");
    page_duration(page, mean_of(&writer->hour, STATUS_SERVED_NS, STATUS_TIMED));
    page_middle_of_card(writer->page);
    buffer_add_string(page, "mean of the last hour");
    if (writer->hour.counts[STATUS_TIMED] > 0) {
        buffer_add_string(page, ", of which ");
        page_duration(page, mean_of(&writer->hour, STATUS_ASKED_NS, STATUS_TIMED));
        buffer_add_string(page, " waiting for the database");
    }
    page_end_card(writer->page);
    page_begin_card(writer->page, "Requests that wait");
    page_count(page, figures->waiting);
    page_middle_of_card(writer->page);
    buffer_add_string(page, "for a thread; ");
    page_count(page, figures->reading);
    buffer_add_string(page, " more are being read");
    page_end_card(writer->page);
    page_begin_card(writer->page, "Unsent jobs");
    if (figures->has_pool)
        page_count(page, figures->pool_jobs);
    else
        buffer_add_string(page, "-");
    page_middle_of_card(writer->page);
    buffer_add_string(page, figures->has_pool ? "in memory" : "there is no job pool");
    page_end_card(writer->page);
    page_end_cards(page);
}

/* --- pictures --------------------------------------------------------------------------------- */

/* What a picture is drawn from. */
static const struct slot_ring *ring_of(const struct page_writer *writer, enum picture_span span)
{
    return span == PICTURE_HOUR ? writer->figures->hour : writer->figures->day;
}

/* Slot `i` of a picture, oldest first. */
static struct slot slot_at(const struct page_writer *writer, enum picture_span span, size_t i)
{
    return slot_ring_slot(ring_of(writer, span), picture_spans[span].values - 1 - i);
}

static uint64_t sum_of(const struct slot *slot, const int *totals, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += slot_count(slot, (size_t)totals[i]);
    return sum;
}

/* How much the totals rose together, for each `per` seconds. */
static void fill_rates(const struct page_writer *writer, struct picture *picture, double *values,
                       double per, const int *totals, size_t count)
{
    for (size_t i = 0; i < picture_spans[picture->span].values; i++) {
        struct slot slot = slot_at(writer, picture->span, i);

        values[i] = slot.seconds < WATCHED_LEAST_S
                        ? NAN
                        : (double)sum_of(&slot, totals, count) * per / slot.seconds;
    }
}

/* The mean of a request's time in ms; unknown where there was none. */
static void fill_means(const struct page_writer *writer, struct picture *picture, double *values,
                       int ns)
{
    for (size_t i = 0; i < picture_spans[picture->span].values; i++) {
        struct slot slot = slot_at(writer, picture->span, i);

        values[i] = ratio((double)slot_count(&slot, (size_t)ns) * 1e-6,
                          (double)slot_count(&slot, STATUS_TIMED));
    }
}

static void fill_level(const struct page_writer *writer, struct picture *picture, double *values,
                       enum status_level level)
{
    for (size_t i = 0; i < picture_spans[picture->span].values; i++)
        values[i] = slot_at(writer, picture->span, i).levels[level];
}

static void show_picture(const struct page_writer *writer, const struct picture *picture)
{
    picture_write(picture, slot_at(writer, picture->span, 0).begin, writer->page);
}

/* Another series of a picture: how much the totals rise together. */
static void add_rates(const struct page_writer *writer, struct picture *picture, const char *words,
                      double per, const int *totals, size_t count)
{
    picture->series[picture->count].words = words;
    fill_rates(writer, picture, picture->series[picture->count].values, per, totals, count);
    picture->count++;
}
#define ADD_RATES(writer, picture, words, per, ...)                    \
    add_rates(writer, picture, words, per, (const int[]){__VA_ARGS__}, \
              sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

static void picture_requests(const struct page_writer *writer, enum picture_span span,
                             struct picture *picture)
{
    *picture = (struct picture){.span = span,
                                .id = "requests",
                                .title = "Requests, per second",
                                .unit = "per second",
                                .is_stacked = true};
    ADD_RATES(writer, picture, "served in full", 1, STATUS_replies_full);
    ADD_RATES(writer, picture, "refused", 1, STATUS_replies_refused);
    ADD_RATES(writer, picture, "sent away (come again later, project down)", 1,
              STATUS_replies_later, STATUS_requests_turned_away, STATUS_replies_down);
    show_picture(writer, picture);
}

static void picture_jobs(const struct page_writer *writer, enum picture_span span,
                         struct picture *picture)
{
    *picture = (struct picture){
        .span = span, .id = "jobs", .title = "Jobs, per minute", .unit = "per minute"};
    ADD_RATES(writer, picture, "handed out", 60, STATUS_jobs_sent, STATUS_jobs_resent);
    ADD_RATES(writer, picture, "results booked", 60, STATUS_reports_booked);
    show_picture(writer, picture);
}

static void picture_times(const struct page_writer *writer, enum picture_span span,
                          struct picture *picture)
{
    *picture = (struct picture){
        .span = span, .id = "times", .title = "Time of a request, mean", .unit = "ms", .count = 3};
    picture->series[0].words = "processing, to the last byte";
    fill_means(writer, picture, picture->series[0].values, STATUS_SERVED_NS);
    picture->series[1].words = "of which database";
    fill_means(writer, picture, picture->series[1].values, STATUS_ASKED_NS);
    picture->series[2].words = "before that, queueing";
    fill_means(writer, picture, picture->series[2].values, STATUS_WAITED_NS);
    show_picture(writer, picture);
}

static void picture_unsent(const struct page_writer *writer, enum picture_span span,
                           struct picture *picture)
{
    if (!writer->figures->has_pool)
        return;
    *picture = (struct picture){.span = span,
                                .id = "unsent",
                                .title = "Unsent jobs in memory",
                                .unit = "jobs",
                                .is_stacked = true,
                                .count = 1};
    picture->series[0].words = "unsent jobs";
    fill_level(writer, picture, picture->series[0].values, STATUS_UNSENT);
    show_picture(writer, picture);
}

static void picture_errors(const struct page_writer *writer, enum picture_span span,
                           struct picture *picture)
{
    *picture = (struct picture){.span = span,
                                .id = "errors",
                                .title = "Errors of the database, per hour",
                                .unit = "per hour",
                                .is_stacked = true};
    ADD_RATES(writer, picture, "deadlocks and locked rows", 3600, STATUS_ERRORS + DB_ERROR_DEADLOCK,
              STATUS_ERRORS + DB_ERROR_LOCK_WAIT, STATUS_ERRORS + DB_ERROR_AGAIN);
    ADD_RATES(writer, picture, "connections lost or refused", 3600, STATUS_ERRORS + DB_ERROR_LOST,
              STATUS_db_connections_failed);
    ADD_RATES(writer, picture, "statements that failed", 3600, STATUS_ERRORS + DB_ERROR_REFUSED,
              STATUS_ERRORS + DB_ERROR_OTHER);
    show_picture(writer, picture);
}

/* Reasons by how often they were given on this day, then since the start. */
struct ranked_reason {
    enum reason reason;
    uint64_t day, all;
};

static int compare_reasons(const void *a, const void *b)
{
    const struct ranked_reason *one = a, *other = b;

    if (one->day != other->day)
        return one->day > other->day ? -1 : 1;
    if (one->all != other->all)
        return one->all > other->all ? -1 : 1;
    return one->reason < other->reason ? -1 : one->reason > other->reason;
}

static void rank_reasons(const struct page_writer *writer,
                         struct ranked_reason ranked[REASON_COUNT])
{
    for (int i = 0; i < REASON_COUNT; i++)
        ranked[i] = (struct ranked_reason){.reason = (enum reason)i,
                                           .day = writer->day.counts[STATUS_REASONS + i],
                                           .all = writer->all.counts[STATUS_REASONS + i]};
    qsort(ranked, REASON_COUNT, sizeof(ranked[0]), compare_reasons);
}

static void picture_reasons(const struct page_writer *writer, enum picture_span span,
                            struct picture *picture)
{
    struct ranked_reason ranked[REASON_COUNT];
    int others[REASON_COUNT];

    rank_reasons(writer, ranked);
    *picture = (struct picture){.span = span,
                                .id = "reasons",
                                .title = "Why hosts got no jobs: reasons per minute",
                                .unit = "per minute",
                                .is_stacked = true};
    for (int i = 0; i < TOP_REASONS && ranked[i].day > 0; i++)
        ADD_RATES(writer, picture, reason_word(ranked[i].reason), 60,
                  STATUS_REASONS + (int)ranked[i].reason);
    for (size_t i = picture->count; i < REASON_COUNT; i++)
        others[i - picture->count] = STATUS_REASONS + (int)ranked[i].reason;
    add_rates(writer, picture, picture->count == 0 ? "any reason" : "all others", 60, others,
              REASON_COUNT - picture->count);
    show_picture(writer, picture);
}

/* The same as a table, for whom pictures tell nothing. */
static void write_hours(struct page_writer *writer)
{
    static const char *const columns[] = {"<Hour beginning",
                                          "Requests",
                                          "Served in full",
                                          "Sent away",
                                          "Jobs handed out",
                                          "Results booked",
                                          "Reasons for no jobs",
                                          "Time of a request, mean",
                                          "Of that, database",
                                          "Errors of the database",
                                          NULL};
    static const int away[] = {STATUS_replies_later, STATUS_requests_turned_away,
                               STATUS_replies_down};

    buffer_add_string(writer->page,
                      "<details id=\"hours\"><summary>Hourly figures as a table</summary>\n");
    page_begin_table(&writer->table, writer->page, "Newest first. Hours without data have no row.",
                     columns);
    for (size_t hour = DAY_SLOTS / DAY_SLOTS_OF_HOUR; hour-- > 0;) {
        struct window sum = {.seconds = 0};

        for (size_t i = 0; i < DAY_SLOTS_OF_HOUR; i++) {
            struct slot slot = slot_at(writer, PICTURE_DAY, hour * DAY_SLOTS_OF_HOUR + i);

            sum.seconds += slot.seconds;
            for (int j = 0; j < STATUS_TOTALS; j++)
                sum.counts[j] += slot_count(&slot, (size_t)j);
        }
        if (!(sum.seconds > 0))
            continue;
        static const uint64_t none[STATUS_TOTALS];
        const struct slot summed = {.own = sum.counts, .others = none};
        uint64_t reasons = 0, errors = 0;
        for (int i = 0; i < REASON_COUNT; i++)
            reasons += sum.counts[STATUS_REASONS + i];
        for (int i = 0; i < DB_ERROR_COUNT; i++)
            errors += sum.counts[STATUS_ERRORS + i];
        page_begin_row(&writer->table);
        page_time_of_day(writer->page,
                         slot_at(writer, PICTURE_DAY, hour * DAY_SLOTS_OF_HOUR).begin);
        buffer_add_string(writer->page, " UTC</th>");
        page_cell_count(&writer->table, sum.counts[STATUS_requests]);
        page_cell_count(&writer->table, sum.counts[STATUS_replies_full]);
        page_cell_count(&writer->table, sum_of(&summed, away, 3));
        page_cell_count(&writer->table, sum.counts[STATUS_jobs_sent]);
        page_cell_count(&writer->table, sum.counts[STATUS_reports_booked]);
        page_cell_count(&writer->table, reasons);
        page_cell_duration(&writer->table, mean_of(&sum, STATUS_SERVED_NS, STATUS_TIMED));
        page_cell_duration(&writer->table, mean_of(&sum, STATUS_ASKED_NS, STATUS_TIMED));
        page_cell_count(&writer->table, errors);
        page_row_end(&writer->table);
    }
    page_end_table(&writer->table);
    buffer_add_string(writer->page, "</details>\n");
}

static void write_pictures(struct page_writer *writer)
{
    static void (*const write[])(const struct page_writer *writer, enum picture_span span,
                                 struct picture *picture) = {
        picture_requests, picture_jobs,   picture_reasons,
        picture_times,    picture_unsent, picture_errors,
    };
    struct picture picture;

    page_begin_section(writer->page, "day", "The last hour and the last 24 hours");
    buffer_add_string(writer->page, "<div class=\"pictures\">\n");
    for (size_t i = 0; i < sizeof(write) / sizeof(write[0]); i++) {
        write[i](writer, PICTURE_HOUR, &picture);
        write[i](writer, PICTURE_DAY, &picture);
    }
    buffer_add_string(writer->page, "</div>\n");
    write_hours(writer);
    page_end_section(writer->page);
}

/* --- tables ----------------------------------------------------------------------------------- */

#define WINDOWS                                                                        \
    "All processes together. The hour is in steps of one minute, the day in steps of " \
    "five. Gaps mean that no process ran."

static void write_traffic(struct page_writer *writer)
{
    static const char *const columns[] = {
        "<What", "Per second, last five minutes", "Last hour", "Last day", "Since the start", NULL};
    static const struct {
        int total;
        const char *words;
    } rows[] = {
#define TRAFFIC_ROW(name, words) {STATUS_##name, words},
        STATUS_TRAFFIC(TRAFFIC_ROW)
#undef TRAFFIC_ROW
    };

    page_begin_section(writer->page, "traffic", "Requests");
    page_begin_table(&writer->table, writer->page, WINDOWS, columns);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        page_row_head(&writer->table, rows[i].words);
        page_cell_number(&writer->table,
                         ratio((double)writer->late.counts[rows[i].total], writer->late.seconds),
                         "");
        cells_of_windows(writer, rows[i].total);
        page_row_end(&writer->table);
    }
    page_end_table(&writer->table);
    page_end_section(writer->page);
}

static void write_reasons(struct page_writer *writer)
{
    static const char *const columns[] = {
        "<Why",     "<Word in the log", "<Applies to",      "Last hour",
        "Last day", "Since the start",  "Share of the day", "<",
        NULL};
    struct ranked_reason ranked[REASON_COUNT];
    uint64_t day = 0;

    rank_reasons(writer, ranked);
    for (int i = 0; i < REASON_COUNT; i++)
        day += ranked[i].day;
    page_begin_section(writer->page, "reasons", "Why hosts got no jobs");
    if (ranked[0].day + ranked[0].all == 0) {
        buffer_add_string(writer->page, "<p>No host was refused jobs in the last day.</p>\n");
        page_end_section(writer->page);
        return;
    }
    page_begin_table(
        &writer->table, writer->page,
        "How often replies without jobs gave each reason. A reply gives up to three, plus what is "
        "wrong with the host itself. <code>qmctl why HOST</code> explains one host.",
        columns);
    for (int i = 0; i < REASON_COUNT; i++) {
        if (ranked[i].day + ranked[i].all == 0)
            continue;
        page_row_head(&writer->table, reason_brief(ranked[i].reason));
        page_begin_cell(&writer->table, false);
        buffer_print(writer->page, "<code>%s</code>", reason_word(ranked[i].reason));
        page_end_cell(&writer->table);
        page_cell_text(&writer->table, text_from(reason_scope_word(ranked[i].reason)));
        cells_of_windows(writer, STATUS_REASONS + (int)ranked[i].reason);
        page_cell_share(&writer->table, ratio((double)ranked[i].day, (double)day));
        page_row_end(&writer->table);
    }
    page_end_table(&writer->table);
    page_end_section(writer->page);
}

/* --- processes -------------------------------------------------------------------------------- */

/* What each of them has done in the last hour. */
static void write_processes(struct page_writer *writer)
{
    static const char *const columns[] = {
        "<Process",        "Up for",         "Last heard of",           "Requests, last hour",
        "Jobs handed out", "Results booked", "Time of a request, mean", NULL};
    const struct status_figures *figures = writer->figures;
    size_t shown =
        figures->process_count < PROCESSES_SHOWN ? figures->process_count : PROCESSES_SHOWN;

    page_begin_section(writer->page, "processes", "Server processes");
    if (shown == 0) {
        buffer_add_string(
            writer->page,
            "<p>The project's processes are not known yet: each registers in the database.</p>\n");
        page_end_section(writer->page);
        return;
    }
    page_begin_table(
        &writer->table, writer->page,
        "All processes that share this database's jobs, by machine and process number.", columns);
    for (size_t i = 0; i < shown; i++) {
        const struct status_process *process = &figures->processes[i];

        page_begin_row(&writer->table);
        page_text(writer->page, process->name);
        buffer_add_string(writer->page, process->is_this ? " (this one)" : "");
        page_end_row_head(&writer->table);
        page_cell_duration(&writer->table, process->up_for);
        page_begin_cell(&writer->table, process->is_silent);
        buffer_add_string(writer->page, process->is_silent ? "<strong>" : "");
        page_duration(writer->page, process->silent_for);
        buffer_add_string(writer->page, process->is_silent ? " ago, silent</strong>" : " ago");
        page_end_cell(&writer->table);
        page_cell_count(&writer->table, process->requests);
        page_cell_count(&writer->table, process->jobs_sent);
        page_cell_count(&writer->table, process->reports);
        page_cell_duration(&writer->table, process->mean);
        page_row_end(&writer->table);
    }
    page_end_table(&writer->table);
    if (shown < figures->process_count)
        buffer_print(writer->page, "<p>%zu more are not shown.</p>\n",
                     figures->process_count - shown);
    page_end_section(writer->page);
}

/* --- unsent jobs ------------------------------------------------------------------------------ */

static void write_apps(struct page_writer *writer)
{
    static const char *const columns[] = {
        "<Application", "<Versions for", "Unsent jobs", "Part", "<", NULL};
    const struct status_figures *figures = writer->figures;
    size_t shown = figures->app_count < APPS_SHOWN ? figures->app_count : APPS_SHOWN, rest = 0;

    page_begin_table(&writer->table, writer->page, "Unsent jobs in memory, by application.",
                     columns);
    for (size_t i = 0; i < shown; i++) {
        const struct status_app *app = &figures->apps[i];

        page_begin_row(&writer->table);
        page_text(writer->page, app->title);
        buffer_add_string(writer->page, " <code>");
        page_text(writer->page, app->name);
        buffer_add_string(writer->page, "</code>");
        page_end_row_head(&writer->table);
        page_cell_text(&writer->table,
                       app->resources.length > 0 ? app->resources : TEXT("no version"));
        page_cell_count(&writer->table, app->jobs);
        page_cell_share(&writer->table, ratio((double)app->jobs, (double)figures->pool_jobs));
        page_row_end(&writer->table);
    }
    for (size_t i = shown; i < figures->app_count; i++)
        rest += figures->apps[i].jobs;
    if (shown < figures->app_count) {
        page_begin_row(&writer->table);
        buffer_print(writer->page, "%zu more applications", figures->app_count - shown);
        page_end_row_head(&writer->table);
        page_cell_text(&writer->table, NO_TEXT);
        page_cell_count(&writer->table, rest);
        page_cell_share(&writer->table, ratio((double)rest, (double)figures->pool_jobs));
        page_row_end(&writer->table);
    }
    page_end_table(&writer->table);
}

static void write_resources(struct page_writer *writer)
{
    static const char *const columns[] = {"<Processor", "Applications", "Unsent jobs", "Part", "<",
                                          NULL};
    const struct status_figures *figures = writer->figures;

    page_begin_table(
        &writer->table, writer->page,
        "Unsent jobs by type of processor. A job counts once for each type that its application "
        "has a version for, because the version is chosen when the job is sent.",
        columns);
    for (size_t i = 0; i < figures->resource_count; i++) {
        const struct status_resource *resource = &figures->resources[i];

        page_begin_row(&writer->table);
        page_text(writer->page, resource->type);
        page_end_row_head(&writer->table);
        page_cell_count(&writer->table, resource->apps);
        page_cell_count(&writer->table, resource->jobs);
        page_cell_share(&writer->table, ratio((double)resource->jobs, (double)figures->pool_jobs));
        page_row_end(&writer->table);
    }
    page_end_table(&writer->table);
}

static void write_queue(struct page_writer *writer)
{
    const struct status_figures *figures = writer->figures;
    struct buffer *page = writer->page;

    page_begin_section(writer->page, "queue", "Unsent jobs");
    if (!figures->has_pool) {
        buffer_add_string(page,
                          "<p>There is no job pool (<code>pool_jobs_max</code>): each request "
                          "asks the database.</p>\n");
        page_end_section(writer->page);
        return;
    }
    buffer_add_string(page, "<p>");
    page_count(page, figures->pool_jobs);
    buffer_add_string(page, " in memory (");
    page_bytes(page, figures->pool_bytes);
    buffer_add_string(page, " reserved). This process prefers ");
    page_count(page, figures->pool_own);
    buffer_add_string(page, " of them; ");
    page_count(page, figures->pool_taken);
    buffer_add_string(page, " are being handed out. ");
    buffer_add_string(page, !figures->pool_is_filled    ? "They are being read for the first time. "
                            : figures->pool_is_complete ? "The database has no others. "
                                                        : "The database has more than fit. ");
    if (isfinite(figures->pool_lag)) {
        buffer_add_string(page, "New jobs are seen after ");
        page_duration(page, figures->pool_lag);
        buffer_add_string(page, ". ");
    }
    if (figures->pool_sweeps > 0) {
        buffer_add_string(page, "The last full rescan took ");
        page_duration(page, figures->pool_sweep_seconds);
        buffer_add_string(page, ".");
    }
    buffer_add_string(page, "</p>\n");
    if (figures->app_count == 0) {
        buffer_add_string(
            page,
            "<p>No applications are known: the database has none, or could not be read yet.</p>\n");
    } else {
        write_apps(writer);
        if (figures->resource_count > 0)
            write_resources(writer);
    }
    page_end_section(writer->page);
}

static void write_steps(struct page_writer *writer)
{
    static const char *const columns[] = {"<Step",
                                          "<What it does",
                                          "Mean, last hour",
                                          "Mean, last day",
                                          "99th percentile since the start",
                                          "Share of the time, last day",
                                          "<",
                                          NULL};
    const struct status_figures *figures = writer->figures;
    uint64_t whole = 0;

    for (int i = 0; i < STATUS_STEPS; i++)
        whole += writer->day.counts[STATUS_STEP_NS + i];
    page_begin_section(writer->page, "steps", "Where the time goes");
    page_begin_table(
        &writer->table, writer->page,
        "The steps of a request, in order. Means cover the requests that reached the step.",
        columns);
    for (int i = 0; i < STATUS_STEPS; i++) {
        page_row_head(&writer->table, figures->steps[i].word);
        page_cell_text(&writer->table, text_from(figures->steps[i].brief));
        page_cell_duration(&writer->table,
                           mean_of(&writer->hour, STATUS_STEP_NS + i, STATUS_STEP_TIMES + i));
        page_cell_duration(&writer->table,
                           mean_of(&writer->day, STATUS_STEP_NS + i, STATUS_STEP_TIMES + i));
        page_cell_bound(&writer->table, figures->steps[i].bound);
        page_cell_share(&writer->table,
                        ratio((double)writer->day.counts[STATUS_STEP_NS + i], (double)whole));
        page_row_end(&writer->table);
    }
    page_end_table(&writer->table);
    buffer_add_string(writer->page, "<p>");
    if (figures->served_bound > 0) {
        buffer_add_string(writer->page, "99 of 100 requests took at most ");
        page_bound(writer->page, figures->served_bound);
        buffer_add_string(writer->page, ", after waiting for a thread for at most ");
        page_bound(writer->page, figures->waited_bound);
        buffer_add_string(writer->page, ". ");
    }
    buffer_print(writer->page, "Waiting now: " COUNT_FORMAT,
                 COUNT_ARG(figures->waiting, "request"));
    if (figures->waiting > 0) {
        buffer_add_string(writer->page, ", the oldest for ");
        page_duration(writer->page, figures->oldest_wait);
        buffer_add_string(writer->page, ", in ");
        page_bytes(writer->page, figures->waiting_bytes);
        buffer_add_string(writer->page, " of memory");
    }
    buffer_add_string(writer->page, ".</p>\n");
    page_end_section(writer->page);
}

/* --- the database ----------------------------------------------------------------------------- */

static void write_waits(struct page_writer *writer)
{
    static const char *const columns[] = {"<Per request", "Last hour", "Last day",
                                          "Since the start", NULL};
    const struct window *windows[] = {&writer->hour, &writer->day, &writer->all};

    page_begin_table(&writer->table, writer->page, "The load of requests on the database.",
                     columns);
    page_row_head(&writer->table, "mean time waiting for its answers");
    for (size_t i = 0; i < 3; i++)
        page_cell_duration(&writer->table, mean_of(windows[i], STATUS_ASKED_NS, STATUS_ASKED));
    page_row_end(&writer->table);
    page_row_head(&writer->table, "share of the time of requests");
    for (size_t i = 0; i < 3; i++)
        page_cell_number(&writer->table,
                         100 * ratio((double)windows[i]->counts[STATUS_ASKED_NS],
                                     (double)windows[i]->counts[STATUS_SERVED_NS]),
                         " %");
    page_row_end(&writer->table);
    page_row_head(&writer->table, "statements");
    for (size_t i = 0; i < 3; i++)
        page_cell_number(&writer->table,
                         ratio((double)windows[i]->counts[STATUS_db_statements],
                               (double)windows[i]->counts[STATUS_ASKED]),
                         "");
    page_row_end(&writer->table);
    page_row_head(&writer->table, "round trips");
    for (size_t i = 0; i < 3; i++)
        page_cell_number(&writer->table,
                         ratio((double)windows[i]->counts[STATUS_db_round_trips],
                               (double)windows[i]->counts[STATUS_ASKED]),
                         "");
    page_row_end(&writer->table);
    page_end_table(&writer->table);
}

static void write_errors(struct page_writer *writer)
{
    static const char *const columns[] = {"<Errors and counts", "Last hour", "Last day",
                                          "Since the start", NULL};
    static const struct {
        int total;
        const char *words;
    } rows[] = {
#define DATABASE_ROW(name, words) {STATUS_##name, words},
        STATUS_DATABASE(DATABASE_ROW)
#undef DATABASE_ROW
    };

    page_begin_table(&writer->table, writer->page,
                     "Database errors in requests, and how the server reacts.", columns);
    for (int i = 0; i < DB_ERROR_COUNT; i++) {
        page_row_head(&writer->table, db_error_words[i].words);
        cells_of_windows(writer, STATUS_ERRORS + i);
        page_row_end(&writer->table);
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        page_row_head(&writer->table, rows[i].words);
        cells_of_windows(writer, rows[i].total);
        page_row_end(&writer->table);
    }
    page_end_table(&writer->table);
}

static void write_backlog(struct page_writer *writer)
{
    static const char *const columns[] = {"<Workunits that wait", "Number", NULL};
    const struct status_figures *figures = writer->figures;
    const struct backlog *backlog = figures->backlog;

    if (backlog == NULL) {
        buffer_add_string(writer->page,
                          "<p>The work waiting for other programs is not known yet.</p>\n");
        return;
    }
    page_begin_table(&writer->table, writer->page,
                     "Work waiting for the project's other programs, counted every minute.",
                     columns);
    page_row_head(&writer->table, "for a transition");
    page_cell_count(&writer->table, (uint64_t)backlog->transitions);
    page_row_end(&writer->table);
    page_row_head(&writer->table, "for validation");
    page_cell_count(&writer->table, (uint64_t)backlog->validations);
    page_row_end(&writer->table);
    page_row_head(&writer->table, "for assimilation");
    page_cell_count(&writer->table, (uint64_t)backlog->assimilations);
    page_row_end(&writer->table);
    page_end_table(&writer->table);
    if (backlog->oldest_transition > 0 && backlog->oldest_transition < figures->now) {
        buffer_add_string(writer->page, "<p>The oldest transition has been due for ");
        page_duration(writer->page, (double)(figures->now - backlog->oldest_transition));
        buffer_add_string(writer->page, ".</p>\n");
    }
}

static void write_database(struct page_writer *writer)
{
    const struct status_figures *figures = writer->figures;
    bool is_well = figures->examined != 0 && figures->trouble == DB_TROUBLE_NONE;

    page_begin_section(writer->page, "database", "Database");
    if (figures->examined == 0) {
        buffer_add_string(writer->page, "<p>It was not examined yet.</p>\n");
    } else {
        buffer_print(writer->page, "<p class=\"%s\">%s: it %s", is_well ? "good" : "bad",
                     is_well ? "OK" : "<strong>Problem</strong>",
                     db_trouble_words[figures->trouble].words);
        buffer_add_string(writer->page, ". Examined ");
        page_duration(writer->page, (double)(figures->now - figures->examined));
        buffer_add_string(writer->page, " ago.</p>\n");
    }
    write_waits(writer);
    if (figures->asked_bound > 0) {
        buffer_add_string(writer->page,
                          "<p>99 of 100 requests waited for the database for at most ");
        page_bound(writer->page, figures->asked_bound);
        buffer_add_string(writer->page, " in total, since the start.</p>\n");
    }
    write_errors(writer);
    write_backlog(writer);
    page_end_section(writer->page);
}

/* --- uploads ---------------------------------------------------------------------------------- */

static void write_uploads(struct page_writer *writer)
{
    static const char *const columns[] = {"<Uploads", "Since it began", NULL};
    const struct status_uploads *uploads = &writer->figures->uploads;
    const struct {
        const char *words;
        uint64_t count;
    } rows[] = {{"files taken", uploads->done},
                {"asked to try again later", uploads->later},
                {"refused", uploads->refused},
                {"cut by a broken connection", uploads->cut},
                {"interrupted because disk or connections were scarce", uploads->yielded}};
    int64_t silent = writer->figures->now - uploads->at;

    page_begin_section(writer->page, "uploads", "Uploads");
    if (uploads->at == 0) {
        buffer_add_string(writer->page, "<p>Not known: no upload handler of Quartermaster has left "
                                        "figures in <code>upload_dir</code>.</p>\n");
        page_end_section(writer->page);
        return;
    }
    buffer_add_string(
        writer->page,
        silent > UPLOADS_SILENT_S
            ? "<p class=\"bad\"><strong>Problem</strong>: the upload handler last reported "
            : "<p>The upload handler last reported ");
    page_duration(writer->page, (double)silent);
    buffer_add_string(writer->page, " ago; it began ");
    page_time(writer->page, uploads->began);
    buffer_add_string(
        writer->page,
        uploads->is_stopped
            ? ". It refuses everything because the file <code>stop_upload</code> exists.</p>\n"
            : ".</p>\n");
    page_begin_table(&writer->table, writer->page, "The replies of the upload handler.", columns);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        page_row_head(&writer->table, rows[i].words);
        page_cell_count(&writer->table, rows[i].count);
        page_row_end(&writer->table);
    }
    page_row_head(&writer->table, "written");
    page_begin_cell(&writer->table, false);
    page_bytes(writer->page, uploads->bytes);
    page_end_cell(&writer->table);
    page_row_end(&writer->table);
    page_end_table(&writer->table);
    page_end_section(writer->page);
}

/* --- configuration ---------------------------------------------------------------------------- */

static void write_check(struct page_writer *writer, const char *what, int64_t at, const char *who)
{
    struct buffer *page = writer->page;

    buffer_add_string(page, what);
    if (at == 0) {
        buffer_print(page, "not checked within two days (%s)", who);
        return;
    }
    buffer_add_string(page, "checked ");
    page_duration(page, fmax(0, (double)(writer->figures->now - at)));
    buffer_add_string(page, " ago");
}

/* The folder is looked at each minute. */
static void write_checks(struct page_writer *writer)
{
    buffer_add_string(writer->page, "<p class=\"soft\">");
    write_check(writer, "Database, versions and jobs: ", writer->figures->database_checked,
                "a server looks once an hour");
    write_check(writer, ". Web pages, as clients see them: ", writer->figures->web_checked,
                "<code>qmctl transition</code> looks once an hour, <code>qmctl status</code> each "
                "time");
    buffer_add_string(writer->page, ".</p>\n");
}

static void write_findings(struct page_writer *writer)
{
    static const char *const columns[] = {"<Subject", "Errors", "Warnings", NULL};
    const struct status_figures *figures = writer->figures;
    size_t found = 0;

    for (size_t i = 0; i < figures->finding_count; i++)
        found += figures->findings[i].errors + figures->findings[i].warnings > 0;
    if (found == 0) {
        buffer_add_string(writer->page, "<p>No faults were found in the configuration.</p>\n");
        return;
    }
    page_begin_table(&writer->table, writer->page,
                     "Faults in the configuration: see <code>qmctl check-config</code>.", columns);
    for (size_t i = 0; i < figures->finding_count && i < FINDINGS_SHOWN; i++) {
        if (figures->findings[i].errors + figures->findings[i].warnings == 0)
            continue;
        page_row_head(&writer->table, figures->findings[i].topic);
        page_cell_count(&writer->table, figures->findings[i].errors);
        page_cell_count(&writer->table, figures->findings[i].warnings);
        page_row_end(&writer->table);
    }
    page_end_table(&writer->table);
}

static void write_events(struct page_writer *writer)
{
    static const char *const columns[] = {"<When", "<What", "<Outcome",
                                          "<Changes, or the reason for the refusal", NULL};
    const struct status_figures *figures = writer->figures;
    struct buffer *page = writer->page;

    if (figures->event_count == 0) {
        buffer_add_string(page, "<p>No file was reread since the start.</p>\n");
        return;
    }
    page_begin_table(&writer->table, writer->page, "Reread files, newest first.", columns);
    for (size_t i = 0; i < figures->event_count && i < EVENTS_SHOWN; i++) {
        const struct status_event *event = &figures->events[i];
        struct text rest = event->words;

        page_begin_row(&writer->table);
        page_time(page, event->at);
        page_end_row_head(&writer->table);
        page_cell_text(&writer->table, event->what);
        page_begin_cell(&writer->table, event->is_refused);
        buffer_add_string(page, event->is_refused ? "<strong>refused</strong>" : "taken");
        page_end_cell(&writer->table);
        page_begin_cell(&writer->table, false);
        while (rest.length > 0) {
            page_text(page, text_split(&rest, '\n'));
            if (rest.length > 0)
                buffer_add_string(page, "<br/>");
        }
        page_end_cell(&writer->table);
        page_row_end(&writer->table);
    }
    page_end_table(&writer->table);
}

static void write_configuration(struct page_writer *writer)
{
    page_begin_section(writer->page, "configuration", "Configuration");
    write_events(writer);
    write_findings(writer);
    write_checks(writer);
    page_end_section(writer->page);
}

/* --- the page --------------------------------------------------------------------------------- */

static void take_windows(struct page_writer *writer)
{
    const struct status_figures *figures = writer->figures;

    writer->late.seconds = slot_ring_sum(figures->hour, LATE_SLOTS, writer->late.counts);
    writer->hour.seconds = slot_ring_sum(figures->hour, HOUR_SLOTS, writer->hour.counts);
    writer->day.seconds = slot_ring_sum(figures->day, DAY_SLOTS, writer->day.counts);
    for (int i = 0; i < STATUS_TOTALS; i++)
        writer->all.counts[i] = figures->totals[i];
}

void status_page_write(const struct status_figures *figures, struct buffer *ret_page)
{
    struct page_writer writer = {.figures = figures, .page = ret_page};
    struct buffer items = buffer_on_heap(STATUS_BYTES_MAX);
    struct page_attention attention;

    take_windows(&writer);
    attention = write_state(&writer, &items);
    write_head(&writer, &attention);
    page_state(ret_page, &attention);
    write_cards(&writer);
    write_pictures(&writer);
    write_traffic(&writer);
    write_reasons(&writer);
    write_processes(&writer);
    write_queue(&writer);
    write_steps(&writer);
    write_database(&writer);
    write_uploads(&writer);
    write_configuration(&writer);
    page_end(ret_page);
    buffer_free(&items);
}
