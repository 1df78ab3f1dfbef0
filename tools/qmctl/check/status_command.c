/* SPDX-License-Identifier: Apache-2.0 */
/* Is the project up: one line for each thing that has to be, in the order in which one fails after
 * the other. A scheduler is asked as a client would reach it, by its URL. */
#include "config/config.h"
#include "db/admin.h"
#include "db/db.h"
#include "db/fate_rows.h"
#include "db/figure_rows.h"
#include "db/pass_note.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/check/project_check.h"
#include "server/fates/fates.h"
#include "server/fates/fates_summary.h"
#include "server/passes/orphan_count.h"
#include "server/project/project.h"
#include "server/status/page_words.h"
#include "server/status/pass_state.h"
#include "server/status/project_totals.h"
#include "tools/qmctl/check/web_look.h"
#include "tools/qmctl/check/web_question.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/output.h"
#include "tools/qmctl/why/why_jobs.h"
#include "tools/qmctl/why/why_keep.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "server/base/banned.h"

enum {
    PATIENCE_S = 10,
    PAGE_BYTES_MAX = 1000000,
    REPLIES_THAT_TELL = 10,   /* of fewer a share says little */
    FAILURES_THAT_TELL = 3,   /* where there was nothing else */
    REFUSALS_THAT_TELL = 3,   /* because of their key */
    TRANSITION_LATE_S = 3600, /* then nobody makes them */
    VALIDATION_LATE_S = 3600,
    ASSIMILATION_LATE_S = 86400, /* some projects do it once a day */
    DELETION_LATE_S = 2 * 86400, /* after the delay that the project wants */
    LARGE_REQUEST = 4 << 20,     /* bytes */
    PROGRESS_TELLS_S = 3600,
    FUTURE_S = 60,         /* clocks of several machines agree better than that */
    POOL_LAG_LEAST_S = 10, /* it is about one; beyond no_work_delay a host asks twice in vain */
    COUNTED_MOST = 1000,   /* an entry more is counted, so that more is noticed */
    HOSTS_COUNTED = 10000,
    TOTALS_CURRENT_S = 3600,
    HOSTS_ASKED = 100, /* whether they can have the waiting jobs */
    CLASSES_JUDGED = 50,
    JOBS_LOOKED_AT = 1000,
    HOURS_OF_RESULTS = 24,
    HOST_FAILURES_THAT_TELL = 5,
    HOSTS_LOOKED_AT = 1000, /* of those that failed most */
};
#define SHARE_THAT_FAILS    0.5 /* of replies that the project is down, or to come later */
#define SHARE_OF_OTHER_KEYS 0.1

struct lines {
    struct output_table table;
    struct check_counts found;
    bool some_failed;
    bool is_whole;    /* config.xml could be read to its end */
    bool cannot_keep; /* anything for servers: tried once */
};

static void add_state(struct lines *lines, const char *what, struct text name, const char *state,
                      struct text words)
{
    table_text(&lines->table, text_from(what));
    table_text(&lines->table, name);
    table_text(&lines->table, text_from(state));
    table_words(&lines->table, words);
}

static void add_line(struct lines *lines, const char *what, struct text name, bool is_well,
                     struct text words)
{
    add_state(lines, what, name, is_well ? "ok" : "FAILED", words);
    lines->some_failed = lines->some_failed || !is_well;
}

/* Servers go on showing the last look where this one could not be left for them; then nothing else
 * is tried, as a locked table holds whoever writes. */
static void kept(struct lines *lines, enum status status)
{
    if (status != STATUS_OK)
        lines->table.session->failure = (struct failure){.status = STATUS_OK};
    lines->cannot_keep = status != STATUS_OK;
}

/* --- what check-config finds ------------------------------------------------------------------ */

static void take_finding(void *context, const struct check_finding *finding)
{
    struct lines *lines = context;
    struct session *session = lines->table.session;
    struct text words = text_copy(session->arena, text_from(finding->text));
    bool is_database = finding->topic == TOPIC_database;
    const char *what = is_database ? "database" : "check";
    struct text name =
        is_database ? session->config->db_name : text_from(check_topic_word(finding->topic));

    check_count(&lines->found, finding);
    if (finding->severity == CHECK_WARNING)
        add_state(lines, what, name, "warning", words);
    else
        add_line(lines, what, name, false, words);
}

/* --- schedulers ------------------------------------------------------------------------------- */

/* What a page answers, or why not. */
struct answer_page {
    struct buffer page;
    CURLcode result;
    struct text failure; /* where the result is one */
    long status;
    struct text moved; /* where it sends whoever asks; empty: nowhere */
    double seconds;
};

static struct answer_page ask_page(struct session *session, struct text url)
{
    struct answer_page answer = {.page = buffer_on_heap(PAGE_BYTES_MAX),
                                 .result = CURLE_FAILED_INIT,
                                 .failure = TEXT("no memory")};
    CURL *easy = web_question(session->arena, url, (long)PATIENCE_S, &answer.page);
    char *moved = NULL;

    if (easy == NULL)
        return answer;
    answer.result = curl_easy_perform(easy);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &answer.status);
    curl_easy_getinfo(easy, CURLINFO_TOTAL_TIME, &answer.seconds);
    if (curl_easy_getinfo(easy, CURLINFO_REDIRECT_URL, &moved) == CURLE_OK && moved != NULL)
        answer.moved = text_copy(session->arena, text_from(moved));
    if (answer.result != CURLE_OK)
        answer.failure = web_question_failure(session->arena, easy, answer.result);
    curl_easy_cleanup(easy);
    return answer;
}

/* What stands behind these words, to the end of the line; empty: they are not there. */
static struct text line_behind(struct text page, struct text words)
{
    size_t at = text_find(page, words);
    struct text rest = {page.at + at + words.length, 0};

    if (at == page.length)
        return NO_TEXT;
    rest.length = page.length - at - words.length;
    return text_trim(text_split(&rest, '\n'));
}

/* A copy of a project, restored beside the original, has the original's URLs in its config.xml. A
 * server without a number (CGI) is taken for one of this database, as where this cannot be asked.
 */
static bool is_of_this_database(struct session *session, struct text page)
{
    int64_t number = 0;
    bool lives = true;

    if (!text_to_i64(line_behind(page, TEXT("\nServer: ")), &number) ||
        session_db(session) != STATUS_OK)
        return true;
    return db_admin_server_lives(session->db, number, &lives) != STATUS_OK || lives;
}

/* A look with GET goes all the way to a server, which says how it is. */
static bool look_at_scheduler(struct session *session, struct lines *lines, struct text url)
{
    struct answer_page answer = ask_page(session, url);
    struct text page = buffer_text(&answer.page), state = line_behind(page, TEXT("\nState: "));
    bool is_ours = text_starts(page, TEXT("This is the scheduler of ")), is_well = false;
    struct text words;

    if (answer.result != CURLE_OK)
        words = answer.failure;
    else if (text_contains(page, TEXT("<project_is_down/>")))
        words = TEXT("no server process: the web server says that the project is down");
    else if (is_ours && state.length > 0 && !text_is(state, "ok"))
        words = text_copy(session->arena, line_behind(page, TEXT("\nState: FAILED: ")));
    else if (answer.status == 404)
        words = TEXT("HTTP status 404: a web server answers, but does not pass requests on to a "
                     "scheduler (qmctl deploy)");
    else if (answer.moved.length > 0)
        words = text_print(session->arena,
                           "HTTP status %ld: it redirects to " TEXT_FORMAT
                           ", which loses what some clients send; if a scheduler is there, it "
                           "should be scheduler_url",
                           answer.status, TEXT_ARG(answer.moved));
    else if (answer.status != 200)
        words = text_print(session->arena, "HTTP status %ld", answer.status);
    else if (!is_ours || state.length == 0)
        words = TEXT("something else answers");
    else if (!is_of_this_database(session, page))
        words =
            TEXT("a server of another database answers: is this a copy of the project? Hosts go "
                 "there (scheduler_url, db_name)");
    else
        is_well = true;
    if (is_well)
        words = text_print(session->arena, "answers in %.0f ms", answer.seconds * 1000);
    add_line(lines, "scheduler", url, is_well, words);
    if (is_well && web_question_is_too_large(session->arena, url, LARGE_REQUEST))
        add_state(lines, "scheduler", url, "warning",
                  text_print(session->arena,
                             "the web server refuses requests of %d MB (HTTP status 413; nginx: "
                             "client_max_body_size 64m), which hosts with many jobs send",
                             LARGE_REQUEST >> 20));
    buffer_free(&answer.page);
    return is_ours;
}

/* --- its figures ------------------------------------------------------------------------------ */

static double figure(struct arena *arena, struct text page, const char *name)
{
    double value = -1;
    struct text line = line_behind(page, text_print(arena, "\nquartermaster_%s ", name));

    return text_to_real(line, &value) ? value : -1;
}

static double percent(double part, double all)
{
    return all > 0 ? 100 * part / all : 0;
}

/* Of a few replies only all of them tell something. */
static bool most_fail(double replies, double failed)
{
    return replies < REPLIES_THAT_TELL ? replies >= FAILURES_THAT_TELL && failed >= replies
                                       : failed / replies >= SHARE_THAT_FAILS;
}

static struct text replies_words(struct arena *arena, double replies, double down, double later)
{
    if (!(replies > 0))
        return TEXT("no requests in the last 10 minutes");
    return text_print(
        arena,
        "%.0f in the last 10 minutes, %.0f %% \"project is down\", %.0f %% \"come again"
        " later\"",
        replies, percent(down, replies), percent(later, replies));
}

/* Clients take no other key than that which they know, or one that is signed by it. One of them may
 * have been attached to another project of this address; many, and the key was replaced. */
static void judge_keys(struct session *session, struct lines *lines, struct text url,
                       struct text page, double replies)
{
    double refused = figure(session->arena, page, "recent_replies_other_key");
    bool are_many =
        refused >= REFUSALS_THAT_TELL && refused >= SHARE_OF_OTHER_KEYS * fmax(replies, 1);
    struct text words;

    if (!(refused > 0))
        return;
    words = text_print(session->arena,
                       "%.0f of %.0f requests in the last 10 minutes got no jobs, because the "
                       "clients know the project by another code-signing key: bring back "
                       "keys/code_sign_public and code_sign_private as they were; for a new key "
                       "use qmctl keys rotate",
                       refused, replies);
    if (are_many)
        add_line(lines, "keys", url, false, words);
    else
        add_state(lines, "keys", url, "warning", words);
}

/* The web server shows them to its own machine alone. */
static void look_at_figures(struct session *session, struct lines *lines, struct text url)
{
    struct arena *arena = session->arena;
    struct answer_page answer =
        ask_page(session, text_print(arena, TEXT_FORMAT "/metrics", TEXT_ARG(url)));
    struct text page = buffer_text(&answer.page);
    double replies = figure(arena, page, "recent_replies");
    double down = figure(arena, page, "recent_replies_down");
    double later = figure(arena, page, "recent_replies_later");
    double served = figure(arena, page, "last_served_seconds");
    double restarts = figure(arena, page, "restarts_wanted");
    double lag = figure(arena, page, "pool_lag_seconds");

    if (answer.result != CURLE_OK || answer.status != 200 || replies < 0) {
        add_state(lines, "replies", url, "unknown",
                  TEXT("the web server does not show URL/metrics to this machine"));
    } else {
        add_line(
            lines, "replies", url, !most_fail(replies, down + later),
            text_print(
                arena, TEXT_FORMAT TEXT_FORMAT TEXT_FORMAT,
                TEXT_ARG(replies_words(arena, replies, down, later)),
                TEXT_ARG(served < 0 ? NO_TEXT
                                    : text_print(arena, "; the last one %.0f s ago", served)),
                TEXT_ARG(lag < 0 ? NO_TEXT
                                 : text_print(arena, "; new jobs are seen after %.1f s", lag))));
        if (lag > fmax(POOL_LAG_LEAST_S, session->config->no_work_delay))
            add_line(
                lines, "pool", url, false,
                text_print(arena,
                           "new jobs were last read %.0f s ago, so hosts hear that there are none",
                           lag));
        judge_keys(session, lines, url, page, replies);
        if (restarts > 0)
            add_state(lines, "config.xml", url, "warning",
                      text_print(arena, "%.0f changed options need a restart", restarts));
    }
    buffer_free(&answer.page);
}

static void look_at_server(struct session *session, struct lines *lines, struct text url)
{
    if (look_at_scheduler(session, lines, url))
        look_at_figures(session, lines, url);
}

static void look_at_schedulers(struct session *session, struct lines *lines)
{
    const struct text_list *urls = &session->config->scheduler_url;
    const char *url;
    size_t index = 0, count = 0;

    for (; (url = option_next(session, "url", &index)) != NULL; count++)
        look_at_server(session, lines, text_from(url));
    for (size_t i = 0; count == 0 && i < urls->count; i++)
        look_at_server(session, lines, urls->items[i]);
    if (count + urls->count == 0)
        add_state(lines, "scheduler", TEXT("-"), "unknown",
                  TEXT("config.xml has no scheduler_url, so none was asked (or give --url)"));
}

/* --- database and queue ----------------------------------------------------------------------- */

/* What a server counted of all jobs of late; nothing where none has. */
static struct project_totals read_totals(struct session *session)
{
    struct project_totals totals = {.at = 0};
    struct figures_row *rows = NULL;
    size_t count = 0;

    if (db_figures_read(session->db, session->arena, FIGURES_NOW, 0, &rows, &count) != STATUS_OK ||
        count == 0 || !project_totals_read(session->arena, rows[0].figures, &totals) ||
        totals.at < session->now - TOTALS_CURRENT_S)
        return (struct project_totals){.at = 0};
    return totals;
}

/* "12", "about 400000" or "more than 1000": a status costs the same however much a database holds,
 * so that of many it says what a server counted. */
static struct text counted(struct session *session, int64_t count, double by_server)
{
    if (count <= COUNTED_MOST)
        return text_print(session->arena, "%" PRId64, count);
    if (by_server > COUNTED_MOST)
        return text_print(session->arena, "about %.0f", by_server);
    return text_print(session->arena, "more than %d", COUNTED_MOST);
}

static struct text counted_jobs(struct session *session, int64_t count, double by_server)
{
    return text_print(session->arena, TEXT_FORMAT " job%s",
                      TEXT_ARG(counted(session, count, by_server)), count == 1 ? "" : "s");
}

static void look_at_queue(struct session *session, struct lines *lines,
                          const struct project_totals *totals)
{
    struct queue_line *rows = NULL;
    size_t count = 0;
    enum status status =
        db_admin_queue_counted(session->db, session->arena, COUNTED_MOST + 1, &rows, &count);

    if (status != STATUS_OK)
        add_line(lines, "queue", TEXT("-"), false,
                 text_copy(session->arena, text_from(db_explain(session->db, status))));
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        struct project_app app = {.id = 0};

        for (size_t j = 0; j < totals->app_count; j++)
            app = totals->apps[j].id == rows[i].appid ? totals->apps[j] : app;
        add_line(
            lines, "queue", rows[i].app, true,
            text_print(session->arena,
                       TEXT_FORMAT " unsent, " TEXT_FORMAT " in progress, " TEXT_FORMAT " over",
                       TEXT_ARG(counted(session, rows[i].unsent, (double)app.unsent)),
                       TEXT_ARG(counted(session, rows[i].in_progress, (double)app.in_progress)),
                       TEXT_ARG(counted(session, rows[i].over, 0))));
    }
}

static void look_at_hosts(struct session *session, struct lines *lines)
{
    struct last_contact_row contact;
    struct text which = NO_TEXT;
    bool is_sample = false;
    enum status status = db_admin_last_contact(session->db, session->now - 3600, HOSTS_COUNTED,
                                               &contact, &is_sample);

    if (status != STATUS_OK) {
        add_line(lines, "hosts", TEXT("-"), false,
                 text_copy(session->arena, text_from(db_explain(session->db, status))));
        return;
    }
    if (is_sample)
        which = text_print(session->arena, "in a sample of %" PRId64 ": ", contact.hosts);
    if (contact.last > session->now + FUTURE_S)
        add_state(lines, "hosts", TEXT("-"), "warning",
                  text_print(session->arena,
                             TEXT_FORMAT "the last asked in the future, %" PRId64
                                         " s from now: a clock was wrong",
                             TEXT_ARG(which), contact.last - session->now));
    else if (contact.last == 0)
        add_line(lines, "hosts", TEXT("-"), true,
                 text_print(session->arena, TEXT_FORMAT "none has asked yet", TEXT_ARG(which)));
    else
        add_line(lines, "hosts", TEXT("-"), true,
                 text_print(
                     session->arena,
                     TEXT_FORMAT "the last asked %" PRId64 " s ago; in the last hour %" PRId64,
                     TEXT_ARG(which), session->now > contact.last ? session->now - contact.last : 0,
                     contact.since));
}

/* --- passes over jobs ------------------------------------------------------------------------- */

struct pass_notes {
    const struct pass_note_row *rows;
    size_t count;
};

static struct pass_notes read_notes(struct session *session)
{
    struct pass_note_row *rows = NULL;
    size_t count = 0;

    if (db_pass_notes(session->db, session->arena, &rows, &count) != STATUS_OK)
        count = 0; /* a database that is not upgraded is told of elsewhere */
    return (struct pass_notes){.rows = rows, .count = count};
}

static void look_at_passes(struct session *session, struct lines *lines,
                           const struct pass_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++) {
        const struct pass_note_row *note = &notes->rows[i];
        enum pass_state state = pass_state_of(note, session->now);
        struct text name = pass_state_name(session->arena, note);
        struct text words = pass_state_words(session->arena, note, session->now);

        if (state == PASS_FAILS)
            add_line(lines, "passes", name, false, words);
        else if (state == PASS_FAILS_PARTLY)
            add_state(lines, "passes", name, "warning", words);
    }
}

/* When it did something last, for any application; 0: never, or another program does it. */
static int64_t last_success(const struct pass_notes *notes, const char *pass)
{
    int64_t last = 0;

    for (size_t i = 0; i < notes->count; i++)
        if (text_is(notes->rows[i].pass, pass) && notes->rows[i].done_at > last)
            last = notes->rows[i].done_at;
    return last;
}

/* What waits. `most`: s that a job may wait where nothing tells that others are done meanwhile. */
struct wait {
    const char *what;
    int64_t jobs, since, done_at;
    double by_server; /* jobs, where a server has counted them */
    int64_t most;
    const char *advice;
    bool may_stay; /* some projects never do it: late is a warning */
};

static void add_waiting(struct lines *lines, const struct wait *wait)
{
    struct session *session = lines->table.session;
    struct text count = counted_jobs(session, wait->jobs, wait->by_server), words = count;
    int64_t late = wait->since > 0 ? session->now - wait->since : 0;

    if (late >= wait->most)
        words = text_print(session->arena, TEXT_FORMAT ", one for " COUNT_FORMAT, TEXT_ARG(count),
                           COUNT_ARG(late / 60, "minute"));
    if (late < wait->most)
        add_line(lines, "waiting", text_from(wait->what), true, words);
    else if (session->now - wait->done_at < PROGRESS_TELLS_S)
        add_state(lines, "waiting", text_from(wait->what), "warning",
                  text_print(session->arena, TEXT_FORMAT "; others were done " COUNT_FORMAT " ago",
                             TEXT_ARG(words),
                             COUNT_ARG((session->now - wait->done_at) / 60, "minute")));
    else {
        words = text_print(session->arena, TEXT_FORMAT ": %s", TEXT_ARG(words), wait->advice);
        if (wait->may_stay)
            add_state(lines, "waiting", text_from(wait->what), "warning", words);
        else
            add_line(lines, "waiting", text_from(wait->what), false, words);
    }
}

/* What others have to do: BOINC's daemons, or qmctl transition. */
static void look_at_backlog(struct session *session, struct lines *lines,
                            const struct pass_notes *notes, const struct project_totals *totals)
{
    struct backlog backlog;
    enum status status = db_backlog(session->db, session->now, COUNTED_MOST + 1, &backlog);
    struct oldest_waiting_row oldest;
    int64_t late = 0, deletions;
    struct text transitions;

    if (status != STATUS_OK) {
        add_line(lines, "waiting", TEXT("-"), false,
                 text_copy(session->arena, text_from(db_explain(session->db, status))));
        return;
    }
    if (backlog.oldest_transition > 0)
        late = session->now - backlog.oldest_transition;
    transitions = counted_jobs(session, backlog.transitions, 0);
    add_line(lines, "waiting", TEXT("transition"), late < TRANSITION_LATE_S,
             late < TRANSITION_LATE_S
                 ? transitions
                 : text_print(session->arena,
                              TEXT_FORMAT ", one for %" PRId64
                                          " s: does a transitioner run (qmctl transition)?",
                              TEXT_ARG(transitions), late));
    if (db_admin_oldest_waiting(session->db, &oldest) != STATUS_OK)
        return;
    add_waiting(lines, &(struct wait){
                           .what = "validation",
                           .jobs = backlog.validations,
                           .since = oldest.validation,
                           .done_at = last_success(notes, "validation"),
                           .by_server = totals->values[TOTAL_workunits_waiting_for_validation],
                           .most = VALIDATION_LATE_S,
                           .advice = "does a validator run, or qmctl transition with --validate or "
                                     "--trust?"});
    add_waiting(
        lines,
        &(struct wait){.what = "assimilation",
                       .jobs = backlog.assimilations,
                       .since = oldest.assimilation,
                       .done_at = last_success(notes, "assimilation"),
                       .by_server = totals->values[TOTAL_workunits_waiting_for_assimilation],
                       .most = ASSIMILATION_LATE_S,
                       .advice = "does an assimilator run, or qmctl transition with --assimilate "
                                 "COMMAND, or --assimilate none?"});
    if (db_admin_deletions_waiting(session->db, COUNTED_MOST + 1, &deletions) == STATUS_OK)
        add_waiting(
            lines, &(struct wait){.what = "deletion",
                                  .jobs = deletions,
                                  .by_server = totals->values[TOTAL_workunits_waiting_for_deletion],
                                  .since = oldest.deletion,
                                  .done_at = last_success(notes, "deletion"),
                                  .most = DELETION_LATE_S +
                                          (int64_t)(session->config->delete_delay_hours * 3600),
                                  .advice = "does a file deleter run, or qmctl transition with "
                                            "--delete-files? Without it the disk fills up",
                                  .may_stay = true});
}

/* Nobody deletes them, and whose they are may have forgotten them. */
static void look_at_outputs(struct session *session, struct lines *lines)
{
    struct buffer size = buffer_in(session->arena);
    struct outputs_waiting_row outputs;

    if (db_count_outputs(session->db, &outputs) != STATUS_OK || outputs.batches == 0)
        return;
    page_bytes(&size, (uint64_t)outputs.bytes);
    add_line(lines, "waiting", TEXT("retirement"), true,
             text_print(session->arena,
                        TEXT_FORMAT " in outputs of " COUNT_FORMAT
                                    " not retired (qmctl batch list)",
                        TEXT_ARG(buffer_text(&size)), outputs.batches, "batch",
                        outputs.batches == 1 ? "" : "es"));
}

/* --- what becomes of jobs --------------------------------------------------------------------- */

static struct text version_words(struct session *session, const struct version_entry_row *versions,
                                 size_t count, const struct fates_summary *summary)
{
    for (size_t i = 0; i < count; i++)
        if (versions[i].app_version.id == summary->app_version_id)
            return fates_version_words(session->arena, summary, versions[i].app,
                                       &versions[i].app_version, versions[i].platform);
    return fates_version_words(session->arena, summary, NO_TEXT, NULL, NO_TEXT);
}

static struct text failing_words(struct session *session, const struct fates_summary *summary)
{
    struct text why = NO_TEXT;

    if (2 * summary->by_fate[FATE_NO_REPLY] > summary->failed)
        why = TEXT(", most of them without a reply before their deadline");
    else if (summary->worst_exits > 0)
        why = text_print(session->arena, ", mostly with exit status %" PRId64 " (" TEXT_FORMAT ")",
                         summary->worst_exit,
                         TEXT_ARG(fates_exit_words(session->arena, summary->worst_exit)));
    return text_print(session->arena,
                      "%.0f %% of %" PRId64 " results failed in the last 24 hours" TEXT_FORMAT
                      ": see qmctl failures",
                      100 * fates_share(summary->ended, summary->failed), summary->ended,
                      TEXT_ARG(why));
}

static enum status add_versions(struct session *session, struct lines *lines,
                                const struct fate_version_row *rows, size_t count)
{
    struct version_entry_row *versions = NULL;
    size_t version_count = 0;
    int64_t ended = 0, failed = 0;
    const struct fates_summary *all = fates_summarize(session->arena, rows, count, &count);
    enum status status = db_admin_versions(session->db, session->arena, &versions, &version_count);

    if (all == NULL || status != STATUS_OK)
        return all == NULL ? STATUS_NO_MEMORY : status;
    for (size_t i = 0; i < count; i++) {
        ended += all[i].ended;
        failed += all[i].failed;
        if (fates_alarm(all[i].ended, all[i].failed))
            add_line(lines, "results", version_words(session, versions, version_count, &all[i]),
                     false, failing_words(session, &all[i]));
    }
    add_line(lines, "results", TEXT("-"), true,
             ended == 0
                 ? TEXT("none came back in the last 24 hours")
                 : text_print(session->arena,
                              "in the last 24 hours %" PRId64 " ended, %.1f %% of them failed",
                              ended, 100 * fates_share(ended, failed)));
    return STATUS_OK;
}

static enum status add_failing_hosts(struct session *session, struct lines *lines)
{
    struct fate_host_row *rows = NULL;
    size_t count = 0, failing = 0;
    enum status status =
        db_fates_worst_hosts(session->db, session->arena, session->now, HOST_FAILURES_THAT_TELL,
                             HOSTS_LOOKED_AT, &rows, &count);

    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        failing += rows[i].failed >= rows[i].ended;
    if (failing > 0)
        add_state(lines, "results", TEXT("hosts"), "warning",
                  text_print(session->arena,
                             "all recent results of " COUNT_FORMAT " failed: see qmctl failures "
                             "--hosts",
                             COUNT_ARG((int64_t)failing, "host")));
    return status;
}

/* A mistake in the jobs of one batch, which the other batches of a version outnumber. */
static enum status add_failing_batches(struct session *session, struct lines *lines)
{
    struct fate_batch_row *rows = NULL;
    const struct fates_summary *all;
    size_t count = 0, failing = 0, worst = 0;
    enum status status = db_fates_by_batch(
        session->db, session->arena, fates_since(session->now, HOURS_OF_RESULTS), &rows, &count);

    if (status != STATUS_OK)
        return status;
    all = fates_summarize_batches(session->arena, rows, count, &count);
    if (all == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = count; i-- > 0;)
        if (fates_alarm(all[i].ended, all[i].failed)) {
            failing++;
            worst = i;
        }
    if (failing > 0)
        add_state(lines, "results", TEXT("batches"), "warning",
                  text_print(session->arena,
                             COUNT_FORMAT " with too many failures in the last 24 hours; of batch "
                                          "%" PRId64 ", %.0f %% of %" PRId64
                                          " results failed: see qmctl failures --batches",
                             (int64_t)failing, "batch", failing == 1 ? "" : "es", all[worst].batch,
                             100 * fates_share(all[worst].ended, all[worst].failed),
                             all[worst].ended));
    return STATUS_OK;
}

static void look_at_results(struct session *session, struct lines *lines)
{
    struct fate_version_row *rows = NULL;
    size_t count = 0;
    enum status status = db_fates_by_version(
        session->db, session->arena, fates_since(session->now, HOURS_OF_RESULTS), &rows, &count);

    if (status == STATUS_OK)
        status = add_versions(session, lines, rows, count);
    if (status == STATUS_OK)
        status = add_failing_hosts(session, lines);
    if (status == STATUS_OK)
        status = add_failing_batches(session, lines);
    if (status != STATUS_OK)
        add_line(lines, "results", TEXT("-"), false,
                 text_copy(session->arena, text_from(db_explain(session->db, status))));
}

/* Which project_check has not examined, as the rest of config.xml is not known. */
static void reach_database(struct session *session, struct lines *lines)
{
    bool is_there = session_db(session) == STATUS_OK;

    add_line(lines, "database", session->config->db_name, is_there,
             is_there ? TEXT("can be reached with the options in config.xml before the error")
                      : text_copy(session->arena, text_from(session->failure.text)));
}

/* What can be read is shown, whatever is wrong. */
static void look_at_database(struct session *session, struct lines *lines)
{
    struct project_totals totals;
    struct pass_notes notes;

    if (!lines->is_whole)
        reach_database(session, lines);
    else if (lines->found.errors[TOPIC_database] == 0)
        add_line(lines, "database", session->config->db_name, true,
                 text_from(db_trouble_words[DB_TROUBLE_NONE].words));
    if (session_db(session) != STATUS_OK)
        return;
    totals = read_totals(session);
    look_at_queue(session, lines, &totals);
    notes = read_notes(session);
    look_at_backlog(session, lines, &notes, &totals);
    look_at_outputs(session, lines);
    look_at_passes(session, lines, &notes);
    look_at_results(session, lines);
    look_at_hosts(session, lines);
    (void)db_rollback(session->db);
}

/* Jobs that none of the hosts asked can have, for one reason that stands against most hosts: those
 * that are sure, or may be had by a few. */
static void add_lost_jobs(struct lines *lines, const struct job_chances *chances, bool is_sure,
                          enum reason wanted)
{
    struct session *session = lines->table.session;
    const struct job_chance *first = NULL;
    struct text words, why = NO_TEXT;
    int64_t jobs = 0;

    for (size_t i = 0; i < chances->count; i++) {
        const struct job_chance *chance = &chances->items[i];
        enum reason reason;

        if (!job_chance_is_none(chances, chance) || job_chance_is_sure(chances, chance) != is_sure)
            continue;
        words = job_chance_words(session->arena, chance, &reason);
        if (reason != wanted)
            continue;
        jobs += chance->class.count;
        if (first == NULL) {
            first = chance;
            why = words;
        }
    }
    if (first == NULL)
        return;
    words = text_print(session->arena,
                       "%s" COUNT_FORMAT ", such as " TEXT_FORMAT
                       ": no fit among %s (%zu)%s. " TEXT_FORMAT ". See qmctl why --jobs",
                       chances->is_limited ? "at least " : "", COUNT_ARG(jobs, "waiting job"),
                       TEXT_ARG(first->class.job.workunit.name),
                       chances->are_all_asked ? "the hosts asked"
                                              : "the hosts asked, which were drawn at random",
                       chances->hosts, is_sure ? "" : ": few hosts or none fit", TEXT_ARG(why));
    if (is_sure)
        add_line(lines, "jobs", first->app_name, false, words);
    else
        add_state(lines, "jobs", first->app_name, "warning", words);
}

/* Jobs that wait although hosts come. */
static void look_at_chances(struct session *session, struct lines *lines)
{
    const struct job_chances_bounds bounds = {.hosts = HOSTS_ASKED,
                                              .until_known = true,
                                              .classes = CLASSES_JUDGED,
                                              .jobs_looked_at = JOBS_LOOKED_AT};
    struct job_chances chances;
    bool some_are_none = false;

    if (session_db(session) != STATUS_OK)
        return; /* said already */
    if (why_jobs(session, &bounds, &chances) != STATUS_OK) {
        add_state(lines, "jobs", TEXT("-"), "unknown",
                  text_print(session->arena, "whether hosts can run the waiting jobs: %s",
                             session->failure.text));
        return;
    }
    if (!lines->cannot_keep)
        kept(lines, why_jobs_keep(session, &chances));
    for (size_t i = 0; i < chances.count; i++)
        some_are_none = some_are_none || job_chance_is_none(&chances, &chances.items[i]);
    for (int reason = 0; some_are_none && reason <= REASON_COUNT; reason++) {
        add_lost_jobs(lines, &chances, true, (enum reason)reason);
        add_lost_jobs(lines, &chances, false, (enum reason)reason);
    }
    if (chances.count > 0 && chances.hosts == 0)
        add_state(lines, "jobs", TEXT("-"), "unknown",
                  TEXT("not known whether hosts can run the waiting jobs: no host that asked "
                       "within the last week has described itself yet"));
    else if (chances.count > 0 && !some_are_none)
        add_line(lines, "jobs", TEXT("-"), true,
                 text_print(session->arena,
                            "every kind of waiting job fits a host (hosts asked: %zu)",
                            chances.hosts));
}

static void look_at_folder(struct session *session, struct lines *lines)
{
    if (project_has_file(session->config, "stop_sched"))
        add_line(lines, "stop_sched", TEXT("-"), false,
                 TEXT("the file is there: clients are told that the project is down"));
    if (project_has_file(session->config, "stop_work"))
        add_line(lines, "stop_work", TEXT("-"), false,
                 TEXT("the project is drained: nobody gets jobs until qmctl resume"));
    if (session->config->dont_send_jobs)
        add_line(lines, "config.xml", TEXT("dont_send_jobs"), false, TEXT("nobody gets jobs"));
}

/* They are no trouble, but for the disk. */
static void look_at_orphans(struct session *session, struct lines *lines)
{
    struct orphan_figures orphans;

    if (orphan_figures_read(session->config, session->arena, &orphans) && orphans.sum.files > 0)
        add_line(lines, "files", session->config->upload_dir, true,
                 text_print(session->arena,
                            COUNT_FORMAT " (%.1f GB), older than 30 days, that no job names: "
                                         "see qmctl files sweep",
                            COUNT_ARG(orphans.sum.files, "file"), orphans.sum.bytes / 1e9));
}

static void add_web_check(struct lines *lines, const char *what, const struct web_check *check)
{
    struct arena *arena = lines->table.session->arena;

    if (check->asked.length > 0)
        add_line(lines, what, check->asked, check->problem.length == 0,
                 check->problem.length > 0
                     ? check->problem
                     : text_print(arena, "correct, in %.0f ms", check->seconds * 1000));
}

/* How new clients find the project, and all get its files and bring theirs. */
static void look_at_pages(struct session *session, struct lines *lines)
{
    struct web_look look;

    web_look(session, true, &look);
    for (size_t i = 0; i < WEB_PAGES; i++)
        add_web_check(lines, web_page_name((enum web_page)i), &look.pages[i]);
    if (look.uploads.length > 0)
        add_line(lines, "uploads", session->config->upload_url, false, look.uploads);
    if (!lines->cannot_keep)
        kept(lines, web_look_keep(session, &look));
}

enum exit_code command_status(struct session *session)
{
    static const char *const titles[] = {"what", "name", "state", "words"};
    struct lines lines = {.table = TABLE_BEGIN(session, "lines", titles)};

    bool has_config = session_config_partly(session, &lines.is_whole);

    project_check(session->project, CHECK_DATABASE, take_finding, &lines);
    if (lines.is_whole && !lines.cannot_keep)
        kept(&lines, checks_keep(session, &lines.found));
    if (has_config && (lines.is_whole || session->config->db_name.length > 0)) {
        (void)curl_global_init(CURL_GLOBAL_DEFAULT);
        look_at_folder(session, &lines);
        look_at_database(session, &lines);
        look_at_schedulers(session, &lines);
        look_at_orphans(session, &lines);
        look_at_pages(session, &lines);
        look_at_chances(session, &lines);
        curl_global_cleanup();
    }
    table_print(&lines.table);
    return lines.some_failed ? EXIT_FAILED : EXIT_DONE;
}
