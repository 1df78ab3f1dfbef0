/* SPDX-License-Identifier: Apache-2.0 */
/* Answers into a folder: once all that are there, then those that come. What may still come is
 * known by number: the jobs that were not over at the last look and are now, and those that are
 * newer. So each look reads an index of what is open, however many jobs the project has had. With
 * --all it is results that are known so, and beside open ones those that timed out, which hosts may
 * still report. */
#include "db/admin.h"
#include "db/batches.h"
#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/shown.h"
#include "server/base/sorted.h"
#include "tools/qmctl/jobs/answers.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/output.h"
#include "tools/qmctl/session/progress_line.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/base/banned.h"

#define PAGE_ROWS  256
#define EVERY_S    5
#define EVERY_MOST 86400
/* Numbers are given before a transaction is committed: jobs with a lower one may appear later. */
#define BEHIND 10000
/* A transitioner that is this late does not run. */
#define TRANSITION_LATE_S 600
#define ASLEEP_TIMES      4 /* as long as the look for open jobs took */

/* What may still become an answer: jobs, or with --all results; rising, on the heap. */
struct open_set {
    int64_t *ids;
    size_t count;
    int64_t newest; /* the highest number that there is */
    int64_t open;   /* jobs, or results, that are worth waiting for */
    int64_t due;    /* with --all: jobs that may get another result */
};
struct export_run {
    struct session *session;
    struct answer_filter filter;
    struct answer_folder *folder;
    bool all, stays;
    struct open_set open; /* at the last look after which all went well */
    double look_seconds;  /* what it took */
};

static volatile sig_atomic_t is_told_to_stop;

static void stop(int number)
{
    (void)number;
    is_told_to_stop = 1;
}

static void stop_on(int number)
{
    struct sigaction action = {.sa_handler = stop, .sa_flags = (int)SA_RESETHAND};

    (void)sigaction(number, &action, NULL);
}

static int64_t id_of(const struct export_run *run, const struct answer_row *answer)
{
    return run->all ? answer->result.id : answer->result.workunitid;
}

/* The transaction in which they were read does not last while files are copied. */
static enum status copy_answers(struct export_run *run, const struct answer_row *answers,
                                size_t count)
{
    enum status status = db_rollback(run->session->db);

    if (status == STATUS_OK)
        status = answer_folder_add(run->folder, run->session, answers, count);
    progress(run->session, "results copied", answer_folder_counts(run->folder).results);
    return status;
}

/* Every answer behind this number. */
static enum status export_behind(struct export_run *run, int64_t after)
{
    struct session *session = run->session;
    size_t count = PAGE_ROWS;
    enum status status = STATUS_OK;

    while (status == STATUS_OK && count == PAGE_ROWS && !is_told_to_stop) {
        struct arena_mark mark = arena_mark(session->arena);
        struct answer_row *answers;

        status = session_db_failed(session,
                                   db_admin_answers(session->db, session->arena, &run->filter,
                                                    run->all, after, &answers, &count),
                                   "answers");
        if (status == STATUS_OK)
            status = copy_answers(run, answers, count);
        if (status == STATUS_OK && count > 0)
            after = id_of(run, &answers[count - 1]);
        arena_rewind(session->arena, mark);
    }
    return status;
}

/* Those of the ids that are answers. */
static enum status export_of(struct export_run *run, const int64_t *ids, size_t id_count)
{
    struct session *session = run->session;
    enum status status = STATUS_OK;

    for (size_t done = 0; done < id_count && status == STATUS_OK && !is_told_to_stop;
         done += PAGE_ROWS) {
        struct arena_mark mark = arena_mark(session->arena);
        size_t most = id_count - done < PAGE_ROWS ? id_count - done : PAGE_ROWS, count;
        struct answer_row *answers;

        status =
            session_db_failed(session,
                              db_admin_answers_of(session->db, session->arena, &run->filter,
                                                  run->all, ids + done, most, &answers, &count),
                              "answers");
        if (status == STATUS_OK)
            status = copy_answers(run, answers, count);
        arena_rewind(session->arena, mark);
    }
    return status;
}

/* Both in the arena, the first one on the heap afterwards. */
static enum status keep(struct export_run *run, struct open_set *found, const int64_t *more,
                        size_t more_count)
{
    int64_t *ids = malloc((found->count + more_count + 1) * sizeof *ids);

    if (ids == NULL)
        return fail(&run->session->failure, STATUS_NO_MEMORY, "no memory");
    if (found->count > 0)
        memcpy(ids, found->ids, found->count * sizeof *ids);
    if (more_count > 0)
        memcpy(ids + found->count, more, more_count * sizeof *ids);
    found->count = sorted_ids(ids, found->count + more_count);
    found->ids = ids;
    return STATUS_OK;
}

/* A result that failed is over before the transitioner makes the next one. */
static enum status find_due(struct export_run *run, struct open_set *found)
{
    struct session *session = run->session;
    int64_t now = (int64_t)time(NULL);

    return db_admin_due_jobs(session->db, session->arena, &run->filter, now - TRANSITION_LATE_S,
                             now, &found->due);
}

static enum status look(struct export_run *run, int64_t behind, struct open_set *ret_open)
{
    struct session *session = run->session;
    struct arena_mark mark = arena_mark(session->arena);
    struct open_set found = {.ids = NULL};
    int64_t *lapsed = NULL;
    size_t lapsed_count = 0;
    enum status status = db_admin_open_ids(session->db, session->arena, &run->filter, run->all,
                                           &found.ids, &found.count, &found.newest);

    found.open = (int64_t)found.count;
    if (status == STATUS_OK && run->all && run->stays)
        status = db_admin_lapsed_ids(session->db, session->arena, &run->filter, behind, &lapsed,
                                     &lapsed_count);
    if (status == STATUS_OK && run->all && run->stays)
        status = find_due(run, &found);
    (void)session_db_failed(session, status, "open jobs");
    if (status == STATUS_OK)
        status = db_rollback(session->db);
    if (status == STATUS_OK)
        status = keep(run, &found, lapsed, lapsed_count);
    if (status == STATUS_OK)
        *ret_open = found;
    arena_rewind(session->arena, mark);
    return status;
}

/* Those that are not open any more because their time was up are watched on. */
static enum status watch_lapsed(struct export_run *run, int64_t *ended, size_t *count,
                                struct open_set *open)
{
    struct session *session = run->session;
    struct arena_mark mark = arena_mark(session->arena);
    struct open_set watched = *open;
    int64_t *lapsed = NULL;
    size_t lapsed_count = 0, kept = 0;
    enum status status = session_db_failed(
        session,
        db_admin_lapsed_of(session->db, session->arena, ended, *count, &lapsed, &lapsed_count),
        "results that timed out");

    if (status == STATUS_OK)
        status = db_rollback(session->db);
    if (status == STATUS_OK)
        status = keep(run, &watched, lapsed, lapsed_count);
    if (status == STATUS_OK) {
        free(open->ids);
        *open = watched;
        lapsed_count = sorted_ids(lapsed, lapsed_count);
        for (size_t i = 0; i < *count; i++)
            if (sorted_find_id(lapsed, lapsed_count, ended[i]) == lapsed_count)
                ended[kept++] = ended[i];
        *count = kept;
    }
    arena_rewind(session->arena, mark);
    return status;
}

/* What was open and is not any more. */
static enum status export_ended(struct export_run *run, struct open_set *open)
{
    int64_t *ended = malloc((run->open.count + 1) * sizeof *ended);
    size_t count = 0;
    enum status status = STATUS_OK;

    if (ended == NULL)
        return fail(&run->session->failure, STATUS_NO_MEMORY, "no memory");
    for (size_t i = 0; i < run->open.count; i++)
        if (sorted_find_id(open->ids, open->count, run->open.ids[i]) == open->count)
            ended[count++] = run->open.ids[i];
    if (run->all)
        status = watch_lapsed(run, ended, &count, open);
    if (status == STATUS_OK)
        status = export_of(run, ended, count);
    free(ended);
    return status;
}

/* The first one goes through all. What is open is looked at before the answers are read: what ends
 * between the two is found twice, not never. */
static enum status export_round(struct export_run *run)
{
    int64_t behind = run->open.newest > BEHIND ? run->open.newest - BEHIND : 0;
    struct open_set open = {.ids = NULL};
    double began = clock_seconds();
    enum status status = look(run, behind, &open);

    run->look_seconds = clock_seconds() - began;
    if (status == STATUS_OK)
        status = export_ended(run, &open);
    if (status == STATUS_OK)
        status = export_behind(run, behind);
    if (status != STATUS_OK) {
        free(open.ids);
        return status;
    }
    free(run->open.ids);
    run->open = open;
    return status;
}

static const char *what_is_open(const struct export_run *run)
{
    return run->all ? "result" : "job";
}

static void print_counts(const struct export_run *run)
{
    static const char *const titles[] = {"results", "files", "bytes_copied", "lack_files", "open"};
    struct session *session = run->session;
    struct answer_counts counts = answer_folder_counts(run->folder);
    struct output_table table = TABLE_BEGIN(session, "counts", titles);

    table_number(&table, counts.results);
    table_number(&table, counts.files);
    table_real(&table, counts.bytes, 0);
    table_number(&table, counts.missing);
    table_number(&table, run->open.open);
    table_tell(&table,
               text_print(session->arena,
                          COUNT_FORMAT ", " COUNT_FORMAT ", %.0f bytes copied to %s; " COUNT_FORMAT
                                       " open",
                          COUNT_ARG(counts.results, "result"), COUNT_ARG(counts.files, "file"),
                          counts.bytes, session->arguments[0],
                          COUNT_ARG(run->open.open, what_is_open(run))));
    if (counts.missing > 0)
        shown_line(stderr,
                   "warning: " COUNT_FORMAT " without an output file (\"missing\" in the manifest),"
                   " looked for again the next time",
                   COUNT_ARG(counts.missing, "result"));
}

static enum status say(const struct export_run *run, const char *what, int64_t results)
{
    if (run->session->form != FORM_TEXT)
        return STATUS_OK;
    shown_line(stdout, COUNT_FORMAT " %s, " COUNT_FORMAT " open", COUNT_ARG(results, "result"),
               what, COUNT_ARG(run->open.open, what_is_open(run)));
    return fflush(stdout) == 0 ? STATUS_OK
                               : fail(&run->session->failure, STATUS_IO, "cannot write the output");
}

static void sleep_after(const struct export_run *run, int64_t seconds)
{
    double long_enough = ASLEEP_TIMES * run->look_seconds;
    struct timespec span = {.tv_sec = (time_t)seconds};

    if (long_enough > (double)seconds)
        span.tv_sec = (time_t)long_enough + 1;
    (void)nanosleep(&span, NULL);
}

/* A database that is away, or a table that is locked, is waited for. */
static bool passes_by(struct session *session, enum status status)
{
    bool is_away = status == STATUS_DB_GONE || status == STATUS_DB_UNKNOWN;

    if (!is_away && status != STATUS_DB_RETRY)
        return false;
    (void)session_failed(session);
    session->failure = (struct failure){.status = STATUS_OK};
    if (is_away || db_rollback(session->db) != STATUS_OK)
        if (db_reopen(session->db) != STATUS_OK)
            fputs("qmctl: the database is away; it is waited for\n", stderr);
    return true;
}

static bool is_over(const struct export_run *run, bool waits)
{
    return waits && run->open.open == 0 && run->open.due == 0;
}

/* Ends when nothing is open, with --wait, or when told to. */
static enum status stay(struct export_run *run, int64_t seconds, bool waits)
{
    int64_t shown = answer_folder_counts(run->folder).results;
    enum status status = is_over(run, waits) ? STATUS_OK : say(run, "so far", shown);

    while (status == STATUS_OK && !is_told_to_stop && !is_over(run, waits)) {
        sleep_after(run, seconds);
        if (is_told_to_stop)
            break;
        status = export_round(run);
        if (passes_by(run->session, status)) {
            run->look_seconds = 0;
            status = STATUS_OK;
            continue;
        }
        int64_t results = answer_folder_counts(run->folder).results;
        if (status == STATUS_OK && results > shown)
            status = say(run, "more", results - shown);
        shown = results;
    }
    return status;
}

/* A number is a batch if it has a row, or jobs; numbers of others are mistyped. */
static enum status find_batch(struct session *session, int64_t id)
{
    const struct answer_filter one = {.outcome = -1, .before = INT64_MAX, .batch = id, .most = 1};
    struct batch_entry_row row;
    struct job_view *jobs = NULL;
    size_t count = 0;
    enum status status = STATUS_NOT_FOUND;

    if (id == 0)
        return STATUS_OK;
    if (db_has_batches(session->db))
        status = db_batch_find(session->db, session->arena, id, NO_TEXT, &row);
    if (status == STATUS_NOT_FOUND)
        status = db_admin_jobs(session->db, session->arena, &one, &jobs, &count);
    else
        count = 1;
    if (status == STATUS_OK && count == 0)
        return fail(&session->failure, STATUS_NOT_FOUND,
                    "there is no batch %" PRId64 " (qmctl batch list)", id);
    return session_db_failed(session, status, "batch");
}

enum exit_code command_jobs_export(struct session *session)
{
    struct export_run run = {.session = session, .all = option_given(session, "all")};
    bool waits = option_given(session, "wait"), follows = option_given(session, "follow");
    int64_t seconds = EVERY_S;

    run.stays = waits || follows;
    if (waits && follows)
        return usage_failed(session, "--wait ends by itself, --follow does not: use only one");
    if (option_given(session, "every") && !run.stays)
        return usage_failed(session, "--every needs --wait or --follow");
    enum status status = option_number(session, "every", 1, EVERY_MOST, &seconds);
    if (status == STATUS_OK)
        status = answer_filter_read(session, &run.filter);
    if (status == STATUS_OK)
        status = find_batch(session, run.filter.batch);
    run.filter.most = PAGE_ROWS;
    if (status == STATUS_OK)
        status = answer_folder_open(session->arguments[0], run.all, &run.folder, &session->failure);
    if (status != STATUS_OK)
        return session_failed(session);
    stop_on(SIGINT);
    stop_on(SIGTERM);
    status = export_round(&run);
    if (status == STATUS_OK && run.stays)
        status = stay(&run, seconds, waits);
    print_counts(&run);
    answer_folder_close(run.folder);
    free(run.open.ids);
    if (status == STATUS_OK && is_told_to_stop && !follows)
        status = fail(&session->failure, STATUS_IO,
                      "stopped by a signal before the end; run the same command to continue");
    return status == STATUS_OK ? EXIT_DONE : session_failed(session);
}
