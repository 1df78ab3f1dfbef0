/* SPDX-License-Identifier: Apache-2.0 */
/* qmctl replay: puts recorded requests to other options, and says what would become of them.
 * Neither a database nor the project is needed: all stands in the recording. Nothing is written. */
#include "tools/qmctl/replay/replay_parts.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/project/project.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/output.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "server/base/banned.h"

static const char folder_name[] = "recorded_requests";

/* --- what is said ----------------------------------------------------------------------------- */

enum { NO_FIGURE = -1 };

static void put_figure(struct output_table *table, int64_t figure)
{
    if (figure == NO_FIGURE && table->session->form == FORM_TEXT)
        table_text(table, NO_TEXT);
    else
        table_number(table, figure == NO_FIGURE ? 0 : figure);
}

static void put(struct output_table *table, const char *kind, int64_t requests, int64_t hosts,
                int64_t jobs, struct text words)
{
    table_text(table, text_from(kind));
    put_figure(table, requests);
    put_figure(table, hosts);
    put_figure(table, jobs);
    table_words(table, words);
}

/* Requests, where there are any. */
static void put_some(struct output_table *table, const char *kind, int64_t requests,
                     const char *words)
{
    if (requests > 0)
        put(table, kind, requests, NO_FIGURE, NO_FIGURE, text_from(words));
}

/* The word, and what it means where it is a reason of reasons.def. */
static struct text reason_words(struct arena *arena, const char *word)
{
    for (int reason = 0; reason < REASON_COUNT; reason++)
        if (strcmp(word, reason_word((enum reason)reason)) == 0)
            return text_print(arena, "%s (%s)", word, reason_brief((enum reason)reason));
    return word[0] == '\0' ? TEXT("no reason recorded, because lost jobs are sent again")
                           : text_from(word);
}

static void say_control(const struct replay_run *run, const struct replay_figures *figures,
                        struct output_table *table)
{
    struct arena *arena = run->session->arena;

    put(table, "requests", figures->requests, figures->hosts, NO_FIGURE,
        text_print(arena, "recorded requests replayed, %" PRId64 " of which ask for work",
                   figures->asked));
    put_some(table, "skipped", run->skipped,
             "got a short answer, which does not depend on options");
    if (run->damaged > 0)
        put(table, "damaged", run->damaged, NO_FIGURE, NO_FIGURE,
            text_print(arena, "pieces cannot be read, the first: %s", run->first_damage.text));
    put_some(table, "jobs_unknown", run->supply_cut,
             "had more kinds of jobs to choose from than were recorded");
    put(table, "control", figures->as_recorded, NO_FIGURE, NO_FIGURE,
        text_print(arena, "come out as recorded with the options of that time (%.1f%%)",
                   figures->requests > 0
                       ? 100.0 * (double)figures->as_recorded / (double)figures->requests
                       : 0.0));
    put_some(table, "control_fewer", figures->fewer_than_recorded,
             "get fewer jobs than recorded, and are not compared");
    put_some(table, "control_more", figures->more_than_recorded,
             "get more jobs than recorded, and are not compared");
    put_some(table, "control_others", figures->others_than_recorded,
             "get other jobs than recorded, and are not compared");
    put_some(table, "control_reasons", figures->reasons_not_recorded,
             "get no jobs for other reasons than recorded, and are not compared");
    put_some(table, "control_delays", figures->delays_not_recorded,
             "get another delay than recorded, and are not compared");
}

static void say_processor(struct arena *arena, enum replay_processor processor,
                          const struct replay_change *change, struct output_table *table)
{
    const char *word = replay_processor_word(processor);

    if (change->requests_more > 0)
        put(table, "more_jobs", change->requests_more, change->hosts_more, change->jobs_more,
            text_print(arena, "more jobs for the %s", word));
    if (change->requests_fewer > 0)
        put(table, "fewer_jobs", change->requests_fewer, change->hosts_fewer, change->jobs_fewer,
            text_print(arena, "fewer jobs for the %s", word));
    if (change->hosts_none > 0)
        put(table, "none_left", NO_FIGURE, change->hosts_none, NO_FIGURE,
            text_print(arena, "of these hosts get none for the %s any more", word));
}

static void say_shift(struct arena *arena, const struct replay_shift *shift,
                      struct output_table *table)
{
    struct text from = reason_words(arena, shift->from), to = reason_words(arena, shift->to);

    if (strcmp(shift->from, "jobs") == 0)
        put(table, "refused", shift->requests, shift->hosts, NO_FIGURE,
            text_print(arena, "get no jobs now: " TEXT_FORMAT, TEXT_ARG(to)));
    else if (strcmp(shift->to, "jobs") == 0)
        put(table, "served", shift->requests, shift->hosts, NO_FIGURE,
            text_print(arena, "get jobs now, before none: " TEXT_FORMAT, TEXT_ARG(from)));
    else
        put(table, "other_reason", shift->requests, shift->hosts, NO_FIGURE,
            text_print(arena, "still get none; now: " TEXT_FORMAT "; before: " TEXT_FORMAT,
                       TEXT_ARG(to), TEXT_ARG(from)));
}

static void say_changes(const struct replay_run *run, const struct replay_figures *figures,
                        struct output_table *table)
{
    struct arena *arena = run->session->arena;

    for (size_t i = 0; i < run->options.count; i++)
        put(table, "option", NO_FIGURE, NO_FIGURE, NO_FIGURE, run->options.lines[i]);
    put(table, "same", figures->same, NO_FIGURE, NO_FIGURE,
        TEXT("come out the same under the other options"));
    for (int i = 0; i < REPLAY_PROCESSORS; i++)
        say_processor(arena, (enum replay_processor)i, &figures->changes[i], table);
    for (size_t i = 0; i < figures->shift_count; i++)
        say_shift(arena, &figures->shifts[i], table);
    put_some(table, "other_reason", figures->other_shifts, "other changes of reasons");
    put_some(table, "other_versions", figures->other_versions,
             "get as many jobs, but of other applications or versions");
    put_some(table, "sooner", figures->sooner, "may ask again sooner");
    put_some(table, "later", figures->later, "have to wait longer");
}

static enum exit_code say(struct replay_run *run)
{
    static const char *const titles[] = {"kind", "requests", "hosts", "jobs", "words"};
    const struct replay_figures *figures = replay_tally_figures(run->tally);
    struct output_table table = TABLE_BEGIN(run->session, "requests", titles);

    if (figures->requests == 0) {
        (void)fail(&run->session->failure, STATUS_NOT_FOUND,
                   "no recorded request can be replayed: " COUNT_FORMAT ", " COUNT_FORMAT
                   " damaged%s%s",
                   COUNT_ARG(run->files, "file"), COUNT_ARG(run->damaged, "piece"),
                   run->damaged > 0 ? ", the first: " : "", run->first_damage.text);
        return session_failed(run->session);
    }
    say_control(run, figures, &table);
    if (run->wish.is_given)
        say_changes(run, figures, &table);
    table_print(&table);
    if (run->session->lacks_output)
        return EXIT_FAILED;
    return figures->same == figures->requests ||
                   (run->wish.is_given && figures->same == figures->as_recorded)
               ? EXIT_DONE
               : EXIT_NOTHING;
}

/* --- the command ------------------------------------------------------------------------------ */

static enum status put_all(struct replay_run *run)
{
    struct session *session = run->session;
    char folder[PATH_MAX];
    enum status status = STATUS_OK;

    if (session->argument_count > 0) {
        for (size_t i = 0; i < session->argument_count && status == STATUS_OK; i++)
            status = replay_path(run, session->arguments[i]);
        return status;
    }
    status = session_config(session);
    if (status != STATUS_OK)
        return status;
    project_path(session->config, folder_name, folder, sizeof folder);
    return replay_path(run, folder);
}

enum exit_code command_replay(struct session *session)
{
    struct replay_run *run = ARENA_NEW(session->arena, struct replay_run);
    enum exit_code code = EXIT_FAILED;
    enum status status = STATUS_NO_MEMORY;

    if (run == NULL) {
        (void)fail(&session->failure, status, "no memory");
        return session_failed(session);
    }
    run->session = session;
    run->tally = replay_tally_create();
    if (run->tally == NULL)
        (void)fail(&session->failure, status, "no memory");
    else
        status = replay_wish_read(session, &run->wish);
    if (status == STATUS_OK)
        status = put_all(run);
    code = status == STATUS_OK ? say(run) : session_failed(session);
    if (run->wish.has_plan_classes)
        plan_classes_free(&run->wish.plan_classes);
    replay_tally_destroy(run->tally);
    return code;
}
