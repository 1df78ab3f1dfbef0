/* SPDX-License-Identifier: Apache-2.0 */
/* Answers into a folder: once all that are there, then those that come. What may still come is
 * known by number: the jobs that were not over at the last look and are now, and those that are
 * newer. So each look reads an index of what is open, however many jobs the project has had. */
#include "db/admin.h"
#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/clock.h"
#include "server/base/sorted.h"
#include "tools/qmctl/answers.h"
#include "tools/qmctl/commands.h"
#include "tools/qmctl/output.h"

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

/* What is not over: jobs, or with --all results; rising, on the heap. */
struct open_set {
    int64_t *ids;
    size_t count;
    int64_t newest; /* the highest number that there is */
};
struct export_run {
    struct session *session;
    struct answer_filter filter;
    struct answer_folder *folder;
    bool all;
    struct open_set open; /* at the last look after which all went well */
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
            status = db_rollback(session->db);
        if (status == STATUS_OK)
            status = answer_folder_add(run->folder, session, answers, count);
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
            status = db_rollback(session->db);
        if (status == STATUS_OK)
            status = answer_folder_add(run->folder, session, answers, count);
        arena_rewind(session->arena, mark);
    }
    return status;
}

static enum status look(struct export_run *run, struct open_set *ret_open)
{
    struct session *session = run->session;
    struct arena_mark mark = arena_mark(session->arena);
    struct open_set found = {.ids = NULL};
    int64_t *ids;
    enum status status =
        session_db_failed(session,
                          db_admin_open_ids(session->db, session->arena, &run->filter, run->all,
                                            &ids, &found.count, &found.newest),
                          "open jobs");

    if (status == STATUS_OK)
        status = db_rollback(session->db);
    if (status == STATUS_OK) {
        found.ids = malloc((found.count + 1) * sizeof *found.ids);
        if (found.ids == NULL)
            status = fail(&session->failure, STATUS_NO_MEMORY, "no memory");
        else if (found.count > 0)
            memcpy(found.ids, ids, found.count * sizeof *found.ids);
    }
    if (status == STATUS_OK)
        *ret_open = found;
    arena_rewind(session->arena, mark);
    return status;
}

/* What was open and is not any more. */
static enum status export_ended(struct export_run *run, const struct open_set *open)
{
    int64_t *ended = malloc((run->open.count + 1) * sizeof *ended);
    size_t count = 0;

    if (ended == NULL)
        return fail(&run->session->failure, STATUS_NO_MEMORY, "no memory");
    for (size_t i = 0; i < run->open.count; i++)
        if (sorted_find_id(open->ids, open->count, run->open.ids[i]) == open->count)
            ended[count++] = run->open.ids[i];
    enum status status = export_of(run, ended, count);
    free(ended);
    return status;
}

/* The first one goes through all. What is open is looked at before the answers are read: what ends
 * between the two is found twice, not never. */
static enum status export_round(struct export_run *run)
{
    int64_t behind = run->open.newest > BEHIND ? run->open.newest - BEHIND : 0;
    struct open_set open = {.ids = NULL};
    enum status status = look(run, &open);

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

static void print_counts(struct session *session, const struct answer_folder *folder)
{
    static const char *const titles[] = {"results", "files", "bytes_copied", "lack_files"};
    struct answer_counts counts = answer_folder_counts(folder);
    struct output_table table = TABLE_BEGIN(session, titles);

    if (session->form == FORM_TEXT) {
        printf("%" PRId64 " results, %" PRId64 " files, %.0f bytes copied to %s\n", counts.results,
               counts.files, counts.bytes, session->arguments[0]);
    } else {
        table_number(&table, counts.results);
        table_number(&table, counts.files);
        table_real(&table, counts.bytes, 0);
        table_number(&table, counts.missing);
        table_print(&table);
    }
    if (counts.missing > 0)
        fprintf(stderr,
                "warning: %" PRId64 " results lack an output file (\"missing\" in the manifest); "
                "they are looked for again the next time\n",
                counts.missing);
}

/* Ends when nothing is open, with --wait, or when told to. A database that is away is waited for.
 */
static enum status stay(struct export_run *run, int64_t seconds, bool waits)
{
    struct session *session = run->session;
    struct answer_counts shown = answer_folder_counts(run->folder);
    enum status status = STATUS_OK;

    while (!is_told_to_stop && !(waits && run->open.count == 0)) {
        double began, took;
        /* However many jobs are open, most of the time is spent asleep. */
        struct timespec span = {.tv_sec = (time_t)seconds};

        (void)nanosleep(&span, NULL);
        if (is_told_to_stop)
            break;
        began = clock_seconds();
        status = export_round(run);
        took = clock_seconds() - began;
        seconds = took * 4 > (double)seconds ? (int64_t)(took * 4) + 1 : seconds;
        if (status == STATUS_DB_GONE || status == STATUS_DB_UNKNOWN) {
            (void)session_failed(session);
            session->failure = (struct failure){.status = STATUS_OK};
            if (db_reopen(session->db) != STATUS_OK)
                fputs("qmctl: the database is away; it is waited for\n", stderr);
            continue;
        }
        if (status != STATUS_OK)
            return status;
        struct answer_counts counts = answer_folder_counts(run->folder);
        if (counts.results > shown.results && session->form == FORM_TEXT) {
            printf("%" PRId64 " more, %zu open\n", counts.results - shown.results, run->open.count);
            if (fflush(stdout) != 0)
                return fail(&session->failure, STATUS_IO, "cannot write the output");
        }
        shown = counts;
    }
    return STATUS_OK;
}

enum exit_code command_jobs_export(struct session *session)
{
    struct export_run run = {.session = session, .all = option_given(session, "all")};
    bool waits = option_given(session, "wait");
    int64_t seconds = EVERY_S;
    enum status status = option_number(session, "every", 1, EVERY_MOST, &seconds);

    if (status == STATUS_OK)
        status = answer_filter_read(session, &run.filter);
    run.filter.most = PAGE_ROWS;
    if (status == STATUS_OK)
        status = answer_folder_open(session->arguments[0], run.all, &run.folder, &session->failure);
    if (status != STATUS_OK)
        return session_failed(session);
    stop_on(SIGINT);
    stop_on(SIGTERM);
    status = export_round(&run);
    if (status == STATUS_OK && (waits || option_given(session, "follow")))
        status = stay(&run, seconds, waits);
    print_counts(session, run.folder);
    answer_folder_close(run.folder);
    free(run.open.ids);
    return status == STATUS_OK ? EXIT_DONE : session_failed(session);
}
