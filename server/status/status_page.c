/* SPDX-License-Identifier: Apache-2.0 */
/* The page from top to bottom: what needs attention, the figures that matter most, the last day in
 * pictures, and then each subject as a table. Windows are whole slots of the day ring and the one
 * that runs, so an hour is 60 to 65 minutes: the page says so. */
#include "server/status/status_page.h"

#include "server/base/buffer.h"
#include "server/base/crypto.h"
#include "server/status/page_words.h"
#include "server/status/picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

enum { APPS_SHOWN = 100, EVENTS_SHOWN = 20, FINDINGS_SHOWN = 30, TOP_REASONS = 3 };

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
    struct window late, hour, day, all;
};

/* --- small parts ------------------------------------------------------------------------------ */

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

/* In s, from a total of ns. */
static double mean_of(const struct window *window, int ns, int times)
{
    return ratio((double)window->counts[ns] * 1e-9, (double)window->counts[times]);
}

static void begin_section(struct page_writer *writer, const char *id, const char *title)
{
    buffer_print(writer->page,
                 "<section id=\"%s\" aria-labelledby=\"%s-head\">\n<h2 id=\"%s-head\">%s</h2>\n",
                 id, id, id, title);
}

static void end_section(struct page_writer *writer)
{
    buffer_add_string(writer->page, "</section>\n");
}

/* Columns end with NULL; those that begin with < are of words. */
static void begin_table(struct page_writer *writer, const char *caption, const char *const *columns)
{
    buffer_print(writer->page, "<div class=\"wide\"><table>\n<caption>%s</caption>\n<thead><tr>",
                 caption);
    for (; *columns != NULL; columns++) {
        bool is_left = (*columns)[0] == '<';

        buffer_print(writer->page, "<th scope=\"col\"%s>%s</th>", is_left ? " class=\"left\"" : "",
                     *columns + is_left);
    }
    buffer_add_string(writer->page, "</tr></thead>\n<tbody>\n");
}

static void end_table(struct page_writer *writer)
{
    buffer_add_string(writer->page, "</tbody></table></div>\n");
}

static void row_head(struct page_writer *writer, const char *words)
{
    buffer_add_string(writer->page, "<tr><th scope=\"row\">");
    page_text(writer->page, text_from(words));
    buffer_add_string(writer->page, "</th>");
}

static void row_end(struct page_writer *writer)
{
    buffer_add_string(writer->page, "</tr>\n");
}

static void cell_count(struct page_writer *writer, uint64_t count)
{
    buffer_add_string(writer->page, "<td>");
    page_count(writer->page, count);
    buffer_add_string(writer->page, "</td>");
}

static void cell_number(struct page_writer *writer, double number, const char *unit)
{
    buffer_add_string(writer->page, "<td>");
    page_number(writer->page, number);
    if (isfinite(number))
        buffer_add_string(writer->page, unit);
    buffer_add_string(writer->page, "</td>");
}

static void cell_duration(struct page_writer *writer, double seconds)
{
    buffer_add_string(writer->page, "<td>");
    page_duration(writer->page, seconds);
    buffer_add_string(writer->page, "</td>");
}

static void add_bound(struct page_writer *writer, double bound)
{
    if (!(bound > 0)) {
        buffer_add_string(writer->page, "-");
    } else if (isinf(bound)) {
        buffer_add_string(writer->page, "more than 30 s");
    } else {
        page_duration(writer->page, bound);
    }
}

static void cell_bound(struct page_writer *writer, double bound)
{
    buffer_add_string(writer->page, "<td>");
    add_bound(writer, bound);
    buffer_add_string(writer->page, "</td>");
}

/* A share of 0 to 1, as words and as a bar. */
static void cell_share(struct page_writer *writer, double share)
{
    cell_number(writer, 100 * share, " %");
    buffer_print(writer->page,
                 "<td class=\"bar\"><svg viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" "
                 "aria-hidden=\"true\"><rect class=\"area s1\" width=\"%.1f\" height=\"10\"/></svg>"
                 "</td>",
                 isfinite(share) ? 100 * fmin(share, 1) : 0);
}

/* The counts of the windows: an hour, a day, since the start. */
static void cells_of_windows(struct page_writer *writer, int total)
{
    cell_count(writer, writer->hour.counts[total]);
    cell_count(writer, writer->day.counts[total]);
    cell_count(writer, writer->all.counts[total]);
}

/* --- the head --------------------------------------------------------------------------------- */

static void write_head(struct page_writer *writer)
{
    const struct status_figures *figures = writer->figures;
    struct buffer *page = writer->page;

    buffer_add_string(page, "<header>\n<h1>");
    page_text(page, figures->project);
    buffer_print(page, "</h1>\n<p>One server process of Quartermaster %s: number %" PRId64,
                 figures->version, figures->process);
    if (figures->threads > 0)
        buffer_print(page, ", " COUNT_FORMAT, COUNT_ARG(figures->threads, "thread"));
    buffer_add_string(page, ", up for ");
    page_duration(page, (double)(figures->now - figures->began));
    buffer_add_string(page, " since ");
    page_time(page, figures->began);
    buffer_add_string(page, ".</p>\n<p>Figures of <strong>");
    page_time(page, figures->now);
    buffer_add_string(page,
                      "</strong>. All times are UTC.</p>\n"
                      "<p class=\"soft\">As the counters at <code>metrics</code>, this page is "
                      "of the one process that answered");
    if (figures->servers > 1)
        buffer_print(page, "; %zu share the jobs of this database", figures->servers);
    buffer_add_string(page, ". Others have figures of their own.</p>\n</header>\n");
}

/* --- what needs attention --------------------------------------------------------------------- */

struct attention {
    struct page_writer *writer;
    size_t count;
};

/* Begins an item; its words follow. */
static void tell(struct attention *attention, bool is_bad)
{
    if (attention->count++ == 0)
        buffer_add_string(attention->writer->page, "<ul>\n");
    buffer_print(attention->writer->page, "<li%s><strong>%s:</strong> ",
                 is_bad ? " class=\"bad\"" : "", is_bad ? "Problem" : "Note");
}

static void tell_end(struct attention *attention, const char *words)
{
    buffer_print(attention->writer->page, "%s</li>\n", words);
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
        buffer_print(attention->writer->page, "The database %s", words->words);
        if (words->option[0] != '\0')
            buffer_print(attention->writer->page, " (look at <code>%s</code> in config.xml)",
                         words->option);
        tell_end(attention, ".");
    }
    if (db_clocks_are_apart(figures->clock_ahead)) {
        char clock[128];

        db_clock_words(figures->clock_ahead, clock, sizeof(clock));
        tell(attention, false);
        buffer_print(attention->writer->page, "%s: set both by NTP", clock);
        tell_end(attention, ".");
    }
    if (figures->away_for > 0) {
        tell(attention, true);
        buffer_add_string(attention->writer->page, "Requests have found no database for ");
        page_duration(attention->writer->page, figures->away_for);
        tell_end(attention, ": clients are told that the project is down.");
    }
}

static void tell_project(struct attention *attention)
{
    const struct status_figures *figures = attention->writer->figures;
    struct buffer *page = attention->writer->page;
    unsigned errors = 0, warnings = 0;

    if (figures->is_stopped) {
        tell(attention, true);
        tell_end(attention, "Clients are told that the project is down, since there is a file "
                            "<code>stop_sched</code>.");
    }
    if (figures->sends_no_jobs) {
        tell(attention, true);
        tell_end(attention, "Nobody gets jobs: <code>dont_send_jobs</code> is set, or there is a "
                            "file <code>stop_work</code> (<code>qmctl resume</code> ends that).");
    }
    if (figures->config_was_refused) {
        tell(attention, true);
        tell_end(attention, "The config.xml that is there was refused, and an older one is in "
                            "force: see \"Configuration\".");
    }
    for (size_t i = 0; i < figures->finding_count; i++) {
        errors += figures->findings[i].errors;
        warnings += figures->findings[i].warnings;
    }
    if (errors + warnings > 0) {
        tell(attention, errors > 0);
        buffer_print(page, "The project's folder has " COUNT_FORMAT " and " COUNT_FORMAT,
                     COUNT_ARG(errors, "error"), COUNT_ARG(warnings, "warning"));
        tell_end(attention, ": <code>qmctl check-config</code> tells them.");
    }
    if (figures->restarts_wanted > 0) {
        tell(attention, false);
        buffer_print(page, "Options that changed and wait for a restart: %zu",
                     figures->restarts_wanted);
        tell_end(attention, ".");
    }
}

static void tell_load(struct attention *attention)
{
    const struct status_figures *figures = attention->writer->figures;
    uint64_t away = attention->writer->hour.counts[STATUS_requests_turned_away];
    struct buffer *page = attention->writer->page;

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

static void write_state(struct page_writer *writer)
{
    struct attention attention = {.writer = writer};

    begin_section(writer, "state", "State");
    tell_database(&attention);
    tell_project(&attention);
    tell_load(&attention);
    buffer_add_string(writer->page, attention.count > 0
                                        ? "</ul>\n"
                                        : "<p class=\"good\">OK: nothing needs attention.</p>\n");
    end_section(writer);
}

/* --- the figures that matter most ------------------------------------------------------------- */

static void begin_card(struct page_writer *writer, const char *words)
{
    buffer_print(writer->page, "<div><dt>%s</dt><dd>", words);
}

static void middle_of_card(struct page_writer *writer)
{
    buffer_add_string(writer->page, "</dd><dd class=\"words\">");
}

static void end_card(struct page_writer *writer)
{
    buffer_add_string(writer->page, "</dd></div>\n");
}

/* Some number of a counter, with the words behind it. */
static void card_of_hour(struct page_writer *writer, const char *words, int total)
{
    begin_card(writer, words);
    page_count(writer->page, writer->hour.counts[total]);
    middle_of_card(writer);
    buffer_add_string(writer->page, "in the last hour");
    end_card(writer);
}

static void write_cards(struct page_writer *writer)
{
    const struct status_figures *figures = writer->figures;
    struct buffer *page = writer->page;

    buffer_add_string(page, "<dl class=\"cards\">\n");
    begin_card(writer, "Requests");
    page_number(page, ratio((double)writer->late.counts[STATUS_requests], writer->late.seconds));
    middle_of_card(writer);
    buffer_add_string(page, "per second, in the last 5 to 10 min");
    end_card(writer);
    card_of_hour(writer, "Jobs handed out", STATUS_jobs_sent);
    card_of_hour(writer, "Results booked", STATUS_reports_booked);
    begin_card(writer, "Time of a request");
    page_duration(page, mean_of(&writer->hour, STATUS_SERVED_NS, STATUS_TIMED));
    middle_of_card(writer);
    buffer_add_string(page, "mean of the last hour, of which ");
    page_duration(page, mean_of(&writer->hour, STATUS_ASKED_NS, STATUS_TIMED));
    buffer_add_string(page, " waiting for the database");
    end_card(writer);
    begin_card(writer, "Requests that wait");
    page_count(page, figures->waiting);
    middle_of_card(writer);
    buffer_add_string(page, "for a thread; ");
    page_count(page, figures->reading);
    buffer_add_string(page, " more are being read");
    end_card(writer);
    begin_card(writer, "Unsent jobs");
    if (figures->has_pool)
        page_count(page, figures->pool_jobs);
    else
        buffer_add_string(page, "-");
    middle_of_card(writer);
    buffer_add_string(page, figures->has_pool ? "in memory" : "there is no job pool");
    end_card(writer);
    buffer_add_string(page, "</dl>\n");
}

/* --- the last day ----------------------------------------------------------------------------- */

/* Slot `i` of a picture, oldest first. */
static struct day_slot slot_at(const struct page_writer *writer, size_t i)
{
    return day_ring_slot(writer->figures->day, DAY_SLOTS - 1 - i);
}

static uint64_t sum_of(const struct day_slot *slot, const int *totals, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += slot->counts[totals[i]];
    return sum;
}

/* How much the totals rose together, for each `per` seconds. */
static void fill_rates(const struct page_writer *writer, double *values, double per,
                       const int *totals, size_t count)
{
    for (size_t i = 0; i < DAY_SLOTS; i++) {
        struct day_slot slot = slot_at(writer, i);

        values[i] = slot.seconds < WATCHED_LEAST_S
                        ? NAN
                        : (double)sum_of(&slot, totals, count) * per / slot.seconds;
    }
}

/* The mean of a request's time in ms; unknown where there was none. */
static void fill_means(const struct page_writer *writer, double *values, int ns)
{
    for (size_t i = 0; i < DAY_SLOTS; i++) {
        struct day_slot slot = slot_at(writer, i);

        values[i] = ratio((double)slot.counts[ns] * 1e-6, (double)slot.counts[STATUS_TIMED]);
    }
}

static void fill_level(const struct page_writer *writer, double *values, enum status_level level)
{
    for (size_t i = 0; i < DAY_SLOTS; i++)
        values[i] = slot_at(writer, i).levels[level].last;
}

static void show_picture(const struct page_writer *writer, const struct picture *picture)
{
    picture_write(picture, slot_at(writer, 0).begin, writer->page);
}

/* Another series of a picture: how much the totals rise together. */
static void add_rates(const struct page_writer *writer, struct picture *picture, const char *words,
                      double per, const int *totals, size_t count)
{
    picture->series[picture->count].words = words;
    fill_rates(writer, picture->series[picture->count].values, per, totals, count);
    picture->count++;
}
#define ADD_RATES(writer, picture, words, per, ...)                    \
    add_rates(writer, picture, words, per, (const int[]){__VA_ARGS__}, \
              sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

static void picture_requests(const struct page_writer *writer, struct picture *picture)
{
    *picture = (struct picture){.id = "day-requests",
                                .title = "Requests, per second",
                                .unit = "per second",
                                .is_stacked = true};
    ADD_RATES(writer, picture, "served in full", 1, STATUS_replies_full);
    ADD_RATES(writer, picture, "refused", 1, STATUS_replies_refused);
    ADD_RATES(writer, picture, "sent away: come again, or project is down", 1, STATUS_replies_later,
              STATUS_requests_turned_away, STATUS_replies_down);
    show_picture(writer, picture);
}

static void picture_jobs(const struct page_writer *writer, struct picture *picture)
{
    *picture =
        (struct picture){.id = "day-jobs", .title = "Jobs, per minute", .unit = "per minute"};
    ADD_RATES(writer, picture, "handed out", 60, STATUS_jobs_sent, STATUS_jobs_resent);
    ADD_RATES(writer, picture, "results booked", 60, STATUS_reports_booked);
    show_picture(writer, picture);
}

static void picture_times(const struct page_writer *writer, struct picture *picture)
{
    *picture = (struct picture){
        .id = "day-times", .title = "Time of a request, mean", .unit = "ms", .count = 3};
    picture->series[0].words = "from its turn to the last byte";
    fill_means(writer, picture->series[0].values, STATUS_SERVED_NS);
    picture->series[1].words = "of that, waiting for the database";
    fill_means(writer, picture->series[1].values, STATUS_ASKED_NS);
    picture->series[2].words = "before, waiting for a thread";
    fill_means(writer, picture->series[2].values, STATUS_WAITED_NS);
    show_picture(writer, picture);
}

static void picture_unsent(const struct page_writer *writer, struct picture *picture)
{
    if (!writer->figures->has_pool)
        return;
    *picture = (struct picture){.id = "day-unsent",
                                .title = "Unsent jobs in memory",
                                .unit = "jobs",
                                .is_stacked = true,
                                .count = 1};
    picture->series[0].words = "unsent jobs";
    fill_level(writer, picture->series[0].values, STATUS_UNSENT);
    show_picture(writer, picture);
}

static void picture_errors(const struct page_writer *writer, struct picture *picture)
{
    *picture = (struct picture){.id = "day-errors",
                                .title = "Errors of the database, per hour",
                                .unit = "per hour",
                                .is_stacked = true};
    ADD_RATES(writer, picture, "deadlocks and locked rows", 3600, STATUS_ERRORS + DB_ERROR_DEADLOCK,
              STATUS_ERRORS + DB_ERROR_LOCK_WAIT, STATUS_ERRORS + DB_ERROR_AGAIN);
    ADD_RATES(writer, picture, "connections lost or not had", 3600, STATUS_ERRORS + DB_ERROR_LOST,
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

static void picture_reasons(const struct page_writer *writer, struct picture *picture)
{
    struct ranked_reason ranked[REASON_COUNT];
    int others[REASON_COUNT];

    rank_reasons(writer, ranked);
    *picture = (struct picture){.id = "day-reasons",
                                .title = "Why hosts got no jobs, reasons given per minute",
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
    static const char *const columns[] = {"<Hour that begins at",
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

    buffer_add_string(
        writer->page,
        "<details id=\"hours\"><summary>The same by the hour, as a table</summary>\n");
    begin_table(writer, "Hours, newest first. Where nothing is known there is no row.", columns);
    for (size_t hour = DAY_SLOTS / DAY_SLOTS_OF_HOUR; hour-- > 0;) {
        struct window sum = {.seconds = 0};

        for (size_t i = 0; i < DAY_SLOTS_OF_HOUR; i++) {
            struct day_slot slot = slot_at(writer, hour * DAY_SLOTS_OF_HOUR + i);

            sum.seconds += slot.seconds;
            for (int j = 0; j < STATUS_TOTALS; j++)
                sum.counts[j] += slot.counts[j];
        }
        if (!(sum.seconds > 0))
            continue;
        const struct day_slot summed = {.counts = sum.counts};
        uint64_t reasons = 0, errors = 0;
        for (int i = 0; i < REASON_COUNT; i++)
            reasons += sum.counts[STATUS_REASONS + i];
        for (int i = 0; i < DB_ERROR_COUNT; i++)
            errors += sum.counts[STATUS_ERRORS + i];
        buffer_add_string(writer->page, "<tr><th scope=\"row\">");
        page_time_of_day(writer->page, slot_at(writer, hour * DAY_SLOTS_OF_HOUR).begin);
        buffer_add_string(writer->page, " UTC</th>");
        cell_count(writer, sum.counts[STATUS_requests]);
        cell_count(writer, sum.counts[STATUS_replies_full]);
        cell_count(writer, sum_of(&summed, away, 3));
        cell_count(writer, sum.counts[STATUS_jobs_sent]);
        cell_count(writer, sum.counts[STATUS_reports_booked]);
        cell_count(writer, reasons);
        cell_duration(writer, mean_of(&sum, STATUS_SERVED_NS, STATUS_TIMED));
        cell_duration(writer, mean_of(&sum, STATUS_ASKED_NS, STATUS_TIMED));
        cell_count(writer, errors);
        row_end(writer);
    }
    end_table(writer);
    buffer_add_string(writer->page, "</details>\n");
}

static void write_day(struct page_writer *writer)
{
    struct picture picture;

    begin_section(writer, "day", "The last 24 hours");
    buffer_add_string(writer->page, "<div class=\"pictures\">\n");
    picture_requests(writer, &picture);
    picture_jobs(writer, &picture);
    picture_reasons(writer, &picture);
    picture_times(writer, &picture);
    picture_unsent(writer, &picture);
    picture_errors(writer, &picture);
    buffer_add_string(writer->page, "</div>\n");
    write_hours(writer);
    end_section(writer);
}

/* --- tables ----------------------------------------------------------------------------------- */

#define WINDOWS                                                                               \
    "An hour and a day are counted in steps of five minutes: the last 60 to 65 minutes, and " \
    "the last 24 hours, as far as this process has run."

static void write_traffic(struct page_writer *writer)
{
    static const char *const columns[] = {
        "<What", "Per second, last 5 to 10 min", "Last hour", "Last day", "Since the start", NULL};
    static const struct {
        int total;
        const char *words;
    } rows[] = {
#define TRAFFIC_ROW(name, words) {STATUS_##name, words},
        STATUS_TRAFFIC(TRAFFIC_ROW)
#undef TRAFFIC_ROW
    };

    begin_section(writer, "traffic", "Requests");
    begin_table(writer, WINDOWS, columns);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        row_head(writer, rows[i].words);
        cell_number(writer, ratio((double)writer->late.counts[rows[i].total], writer->late.seconds),
                    "");
        cells_of_windows(writer, rows[i].total);
        row_end(writer);
    }
    end_table(writer);
    end_section(writer);
}

static void write_reasons(struct page_writer *writer)
{
    static const char *const columns[] = {
        "<Why",     "<Word in the log", "<Stands against", "Last hour",
        "Last day", "Since the start",  "Part of the day", "<",
        NULL};
    struct ranked_reason ranked[REASON_COUNT];
    uint64_t day = 0;

    rank_reasons(writer, ranked);
    for (int i = 0; i < REASON_COUNT; i++)
        day += ranked[i].day;
    begin_section(writer, "reasons", "Why hosts got no jobs");
    if (ranked[0].all == 0) {
        buffer_add_string(writer->page,
                          "<p>Since the start of this process no host was refused jobs.</p>\n");
        end_section(writer);
        return;
    }
    begin_table(writer,
                "How often each reason was given in a reply without jobs; a reply gives up to "
                "three, and what stands against the host besides. For one host <code>qmctl why "
                "HOST</code> tells more.",
                columns);
    for (int i = 0; i < REASON_COUNT; i++) {
        if (ranked[i].all == 0)
            continue;
        row_head(writer, reason_brief(ranked[i].reason));
        buffer_print(writer->page,
                     "<td class=\"left\"><code>%s</code></td><td class=\"left\">%s</td>",
                     reason_word(ranked[i].reason), reason_scope_word(ranked[i].reason));
        cells_of_windows(writer, STATUS_REASONS + (int)ranked[i].reason);
        cell_share(writer, ratio((double)ranked[i].day, (double)day));
        row_end(writer);
    }
    end_table(writer);
    end_section(writer);
}

static void write_apps(struct page_writer *writer)
{
    static const char *const columns[] = {
        "<Application", "<Versions for", "Unsent jobs", "Part", "<", NULL};
    const struct status_figures *figures = writer->figures;
    size_t shown = figures->app_count < APPS_SHOWN ? figures->app_count : APPS_SHOWN, rest = 0;

    begin_table(writer, "By application, as they are held in memory.", columns);
    for (size_t i = 0; i < shown; i++) {
        const struct status_app *app = &figures->apps[i];

        buffer_add_string(writer->page, "<tr><th scope=\"row\">");
        page_text(writer->page, app->title);
        buffer_add_string(writer->page, " <code>");
        page_text(writer->page, app->name);
        buffer_add_string(writer->page, "</code></th><td class=\"left\">");
        page_text(writer->page, app->resources.length > 0 ? app->resources : TEXT("no version"));
        buffer_add_string(writer->page, "</td>");
        cell_count(writer, app->jobs);
        cell_share(writer, ratio((double)app->jobs, (double)figures->pool_jobs));
        row_end(writer);
    }
    for (size_t i = shown; i < figures->app_count; i++)
        rest += figures->apps[i].jobs;
    if (shown < figures->app_count) {
        buffer_print(writer->page, "<tr><th scope=\"row\">%zu more applications</th><td></td>",
                     figures->app_count - shown);
        cell_count(writer, rest);
        cell_share(writer, ratio((double)rest, (double)figures->pool_jobs));
        row_end(writer);
    }
    end_table(writer);
}

static void write_resources(struct page_writer *writer)
{
    static const char *const columns[] = {"<Processor", "Applications", "Unsent jobs", "Part", "<",
                                          NULL};
    const struct status_figures *figures = writer->figures;

    begin_table(
        writer,
        "By kind of processor. A job counts for each kind that its application has a version "
        "for; a version is chosen when it is handed out.",
        columns);
    for (size_t i = 0; i < figures->resource_count; i++) {
        const struct status_resource *resource = &figures->resources[i];

        buffer_add_string(writer->page, "<tr><th scope=\"row\">");
        page_text(writer->page, resource->type);
        buffer_add_string(writer->page, "</th>");
        cell_count(writer, resource->apps);
        cell_count(writer, resource->jobs);
        cell_share(writer, ratio((double)resource->jobs, (double)figures->pool_jobs));
        row_end(writer);
    }
    end_table(writer);
}

static void write_queue(struct page_writer *writer)
{
    const struct status_figures *figures = writer->figures;
    struct buffer *page = writer->page;

    begin_section(writer, "queue", "Unsent jobs");
    if (!figures->has_pool) {
        buffer_add_string(page,
                          "<p>There is no job pool (<code>pool_jobs_max</code>): each request "
                          "asks the database.</p>\n");
        end_section(writer);
        return;
    }
    buffer_add_string(page, "<p>");
    page_count(page, figures->pool_jobs);
    buffer_add_string(page, " in memory (");
    page_bytes(page, figures->pool_bytes);
    buffer_add_string(page, " set aside, which need not be in use), of which ");
    page_count(page, figures->pool_own);
    buffer_add_string(page, " are this process's own part and ");
    page_count(page, figures->pool_taken);
    buffer_add_string(page, " are being handed out. ");
    buffer_add_string(page, !figures->pool_is_filled    ? "They are being read for the first time. "
                            : figures->pool_is_complete ? "These are all that the database has. "
                                                        : "The database has more than are held. ");
    if (isfinite(figures->pool_lag)) {
        buffer_add_string(page, "New jobs are seen after ");
        page_duration(page, figures->pool_lag);
        buffer_add_string(page, ". ");
    }
    if (figures->pool_sweeps > 0) {
        buffer_add_string(page, "The last sweep over all took ");
        page_duration(page, figures->pool_sweep_seconds);
        buffer_add_string(page, ".");
    }
    buffer_add_string(page, "</p>\n");
    if (figures->app_count == 0) {
        buffer_add_string(page, "<p>The applications are not known: the database could not be read "
                                "yet, or has none.</p>\n");
    } else {
        write_apps(writer);
        if (figures->resource_count > 0)
            write_resources(writer);
    }
    end_section(writer);
}

static void write_steps(struct page_writer *writer)
{
    static const char *const columns[] = {"<Step",
                                          "<What it does",
                                          "Mean, last hour",
                                          "Mean, last day",
                                          "99 of 100 within, since the start",
                                          "Part of the time, last day",
                                          "<",
                                          NULL};
    const struct status_figures *figures = writer->figures;
    uint64_t whole = 0;

    for (int i = 0; i < STATUS_STEPS; i++)
        whole += writer->day.counts[STATUS_STEP_NS + i];
    begin_section(writer, "steps", "Where the time goes");
    begin_table(
        writer,
        "The steps of a request, in their order. A mean is of the requests that came to the "
        "step.",
        columns);
    for (int i = 0; i < STATUS_STEPS; i++) {
        row_head(writer, figures->steps[i].word);
        buffer_add_string(writer->page, "<td class=\"left\">");
        page_text(writer->page, text_from(figures->steps[i].brief));
        buffer_add_string(writer->page, "</td>");
        cell_duration(writer, mean_of(&writer->hour, STATUS_STEP_NS + i, STATUS_STEP_TIMES + i));
        cell_duration(writer, mean_of(&writer->day, STATUS_STEP_NS + i, STATUS_STEP_TIMES + i));
        cell_bound(writer, figures->steps[i].bound);
        cell_share(writer, ratio((double)writer->day.counts[STATUS_STEP_NS + i], (double)whole));
        row_end(writer);
    }
    end_table(writer);
    buffer_add_string(writer->page, "<p>Of 100 whole requests 99 took at most ");
    add_bound(writer, figures->served_bound);
    buffer_add_string(writer->page, ", after waiting for a thread for at most ");
    add_bound(writer, figures->waited_bound);
    buffer_add_string(writer->page, ". Waiting now: ");
    page_count(writer->page, figures->waiting);
    buffer_add_string(writer->page, " requests, the oldest for ");
    page_duration(writer->page, figures->oldest_wait);
    buffer_add_string(writer->page, ", in ");
    page_bytes(writer->page, figures->waiting_bytes);
    buffer_add_string(writer->page, " of memory.</p>\n");
    end_section(writer);
}

/* --- the database ----------------------------------------------------------------------------- */

static void write_waits(struct page_writer *writer)
{
    static const char *const columns[] = {"<Per request", "Last hour", "Last day",
                                          "Since the start", NULL};
    const struct window *windows[] = {&writer->hour, &writer->day, &writer->all};

    begin_table(writer, "What requests ask of it.", columns);
    row_head(writer, "time waited for its answers, mean");
    for (size_t i = 0; i < 3; i++)
        cell_duration(writer, mean_of(windows[i], STATUS_ASKED_NS, STATUS_ASKED));
    row_end(writer);
    row_head(writer, "part of the time of requests");
    for (size_t i = 0; i < 3; i++)
        cell_number(writer,
                    100 * ratio((double)windows[i]->counts[STATUS_ASKED_NS],
                                (double)windows[i]->counts[STATUS_SERVED_NS]),
                    " %");
    row_end(writer);
    row_head(writer, "statements");
    for (size_t i = 0; i < 3; i++)
        cell_number(writer,
                    ratio((double)windows[i]->counts[STATUS_db_statements],
                          (double)windows[i]->counts[STATUS_ASKED]),
                    "");
    row_end(writer);
    row_head(writer, "round trips");
    for (size_t i = 0; i < 3; i++)
        cell_number(writer,
                    ratio((double)windows[i]->counts[STATUS_db_round_trips],
                          (double)windows[i]->counts[STATUS_ASKED]),
                    "");
    row_end(writer);
    end_table(writer);
}

static void write_errors(struct page_writer *writer)
{
    static const char *const columns[] = {"<Errors", "Last hour", "Last day", "Since the start",
                                          NULL};
    static const struct {
        int total;
        const char *words;
    } rows[] = {
#define DATABASE_ROW(name, words) {STATUS_##name, words},
        STATUS_DATABASE(DATABASE_ROW)
#undef DATABASE_ROW
    };

    begin_table(writer, "What it answered requests with, and what was done about it.", columns);
    for (int i = 0; i < DB_ERROR_COUNT; i++) {
        row_head(writer, db_error_words[i].words);
        cells_of_windows(writer, STATUS_ERRORS + i);
        row_end(writer);
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        row_head(writer, rows[i].words);
        cells_of_windows(writer, rows[i].total);
        row_end(writer);
    }
    end_table(writer);
}

static void write_backlog(struct page_writer *writer)
{
    static const char *const columns[] = {"<Workunits that wait", "Number", NULL};
    const struct status_figures *figures = writer->figures;
    const struct backlog *backlog = figures->backlog;

    if (backlog == NULL) {
        buffer_add_string(writer->page, "<p>What waits for other programs is not known yet.</p>\n");
        return;
    }
    begin_table(writer, "What waits for the project's other programs, counted each minute.",
                columns);
    row_head(writer, "for a transition");
    cell_count(writer, (uint64_t)backlog->transitions);
    row_end(writer);
    row_head(writer, "for validation");
    cell_count(writer, (uint64_t)backlog->validations);
    row_end(writer);
    row_head(writer, "for assimilation");
    cell_count(writer, (uint64_t)backlog->assimilations);
    row_end(writer);
    end_table(writer);
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

    begin_section(writer, "database", "Database");
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
    buffer_add_string(writer->page, "<p>Of 100 requests 99 waited for at most ");
    add_bound(writer, figures->asked_bound);
    buffer_add_string(writer->page, " in all, since the start.</p>\n");
    write_errors(writer);
    write_backlog(writer);
    end_section(writer);
}

/* --- configuration ---------------------------------------------------------------------------- */

static void write_findings(struct page_writer *writer)
{
    static const char *const columns[] = {"<Subject", "Errors", "Warnings", NULL};
    const struct status_figures *figures = writer->figures;
    size_t found = 0;

    for (size_t i = 0; i < figures->finding_count; i++)
        found += figures->findings[i].errors + figures->findings[i].warnings > 0;
    if (found == 0) {
        buffer_add_string(writer->page, "<p>Nothing is wrong in the project's folder.</p>\n");
        return;
    }
    begin_table(writer,
                "What is wrong in the project's folder: <code>qmctl check-config</code> tells "
                "it.",
                columns);
    for (size_t i = 0; i < figures->finding_count && i < FINDINGS_SHOWN; i++) {
        if (figures->findings[i].errors + figures->findings[i].warnings == 0)
            continue;
        row_head(writer, figures->findings[i].topic);
        cell_count(writer, figures->findings[i].errors);
        cell_count(writer, figures->findings[i].warnings);
        row_end(writer);
    }
    end_table(writer);
}

static void write_events(struct page_writer *writer)
{
    static const char *const columns[] = {"<When", "<What", "<Outcome", "<What changed, or why not",
                                          NULL};
    const struct status_figures *figures = writer->figures;
    struct buffer *page = writer->page;

    if (figures->event_count == 0) {
        buffer_add_string(page, "<p>Nothing was read again since the start.</p>\n");
        return;
    }
    begin_table(writer, "What was read again, newest first.", columns);
    for (size_t i = 0; i < figures->event_count && i < EVENTS_SHOWN; i++) {
        const struct status_event *event = &figures->events[i];
        struct text rest = event->words;

        buffer_add_string(page, "<tr><th scope=\"row\">");
        page_time(page, event->at);
        buffer_add_string(page, "</th><td class=\"left\">");
        page_text(page, event->what);
        buffer_print(page, "</td><td class=\"left%s</td><td class=\"left\">",
                     event->is_refused ? " bad\"><strong>refused</strong>" : "\">taken");
        while (rest.length > 0) {
            page_text(page, text_split(&rest, '\n'));
            if (rest.length > 0)
                buffer_add_string(page, "<br/>");
        }
        buffer_add_string(page, "</td>");
        row_end(writer);
    }
    end_table(writer);
}

static void write_configuration(struct page_writer *writer)
{
    begin_section(writer, "configuration", "Configuration");
    write_events(writer);
    write_findings(writer);
    end_section(writer);
}

/* --- the page --------------------------------------------------------------------------------- */

static void take_windows(struct page_writer *writer)
{
    const struct status_figures *figures = writer->figures;

    writer->late.seconds = day_ring_sum(figures->day, 2, writer->late.counts);
    writer->hour.seconds = day_ring_sum(figures->day, DAY_SLOTS_OF_HOUR + 1, writer->hour.counts);
    writer->day.seconds = day_ring_sum(figures->day, DAY_SLOTS, writer->day.counts);
    for (int i = 0; i < STATUS_TOTALS; i++)
        writer->all.counts[i] = figures->totals[i];
}

void status_page_write(const struct status_figures *figures, struct buffer *ret_page)
{
    struct page_writer writer = {.figures = figures, .page = ret_page};

    take_windows(&writer);
    buffer_add_string(ret_page,
                      "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n"
                      "<head>\n<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
                      "content=\"width=device-width, initial-scale=1\"/>\n"
                      "<meta name=\"robots\" content=\"noindex\"/>\n<title>Status of ");
    page_text(ret_page, figures->project);
    buffer_add_string(ret_page, "</title>\n<style>");
    buffer_add_string(ret_page, status_style);
    buffer_add_string(ret_page, "</style>\n</head>\n<body>\n<main>\n");
    write_head(&writer);
    write_state(&writer);
    write_cards(&writer);
    write_day(&writer);
    write_traffic(&writer);
    write_reasons(&writer);
    write_queue(&writer);
    write_steps(&writer);
    write_database(&writer);
    write_configuration(&writer);
    buffer_add_string(ret_page,
                      "</main>\n<p id=\"live\" class=\"soft\">Load the page again for newer "
                      "figures.</p>\n<script>");
    buffer_add_string(ret_page, status_script);
    buffer_add_string(ret_page, "</script>\n</body>\n</html>\n");
}

void status_page_policy(struct buffer *ret_policy)
{
    char style[SHA256_BASE64_SIZE], script[SHA256_BASE64_SIZE];

    sha256_base64(text_from(status_style), style);
    sha256_base64(text_from(status_script), script);
    buffer_print(ret_policy,
                 "default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; "
                 "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                 style, script);
}
