/* SPDX-License-Identifier: Apache-2.0 */
/* Transitions for projects without BOINC's transitioner, once or again and again. A round that
 * fails is no reason to end: the database comes back, and everything due is still due. */
#include "config/config.h"
#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/base/clock.h"
#include "server/fates/fates.h"
#include "server/passes/command_look.h"
#include "server/passes/orphan_count.h"
#include "server/passes/pass_repeat.h"
#include "server/passes/round.h"
#include "tools/qmctl/check/hourly_look.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/ending.h"
#include "tools/qmctl/session/output.h"
#include "tools/qmctl/session/pass_session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "server/base/banned.h"

enum {
    LOOP_MOST = 86400,
    COMMAND_SECONDS = 600,
    COMMAND_SECONDS_MAX = 86400,
    DELETION_TURN = 5 /* s; a backlog of files keeps jobs from their transition no longer */
};

static struct text words_of(struct arena *arena, const struct pass_counts *counts)
{
    struct buffer words = buffer_in(arena);
    const char *between = ": ";

#define COUNT_NAME(name) #name,
    static const char *const names[] = {PASS_COUNTS(COUNT_NAME)};
#undef COUNT_NAME
#define COUNT_VALUE(name) counts->name,
    const int64_t values[] = {PASS_COUNTS(COUNT_VALUE)};
#undef COUNT_VALUE

    buffer_print(&words, COUNT_FORMAT " in the round", COUNT_ARG(counts->jobs, "job"));
    for (size_t i = 1; i < sizeof(values) / sizeof(values[0]); i++) {
        if (values[i] == 0)
            continue;
        buffer_print(&words, "%s%" PRId64 " ", between, values[i]);
        for (const char *at = names[i]; *at != '\0'; at++)
            buffer_add_char(&words, *at == '_' ? ' ' : *at);
        between = ", ";
    }
    return buffer_text(&words);
}

static void print_counts(struct session *session, const struct pass_counts *counts)
{
#define COUNT_TITLE(name) #name,
    static const char *const titles[] = {PASS_COUNTS(COUNT_TITLE)};
#undef COUNT_TITLE
    struct output_table table = TABLE_BEGIN(session, "counts", titles);

#define COUNT_CELL(name) table_number(&table, counts->name);
    PASS_COUNTS(COUNT_CELL)
#undef COUNT_CELL
    table_tell(&table, words_of(session->arena, counts));
}

static bool has_counted(const struct pass_counts *counts)
{
    bool has = false;

#define COUNT_HAS(name) has = has || counts->name > 0;
    PASS_COUNTS(COUNT_HAS)
#undef COUNT_HAS
    return has;
}

/* Beside the rounds, as it may take long. The round is done, whatever becomes of this. */
static void look_around(struct session *session, struct hourly_look **look)
{
    if (ending_is_wanted() || !hourly_look_is_over(*look))
        return;
    hourly_look_end(*look);
    if (hourly_look_begin(session, look) != STATUS_OK)
        (void)session_failed(session);
    session->failure = (struct failure){.status = STATUS_OK};
}

/* Ended by a signal, when what is under way is done. */
static enum exit_code loop(struct session *session, struct pass_settings *settings, double pace)
{
    static struct round_memory memory;
    struct orphan_round orphans = {.folder = 0};
    struct pass_owner owner = session_owner(session);
    struct hourly_look *look = NULL;

    settings->deletion_seconds = DELETION_TURN;
    owner.fates = fates_create();
    for (;;) {
        struct arena_mark mark = arena_mark(session->arena);
        struct pass_counts counts = {.jobs = 0};
        double begun = clock_seconds();
        enum status status;

        settings->now = (int64_t)time(NULL);
        status = pass_round(&owner, settings, &memory, &counts);
        if (status == STATUS_OK && settings->deletes_files && !ending_is_wanted())
            status = orphan_count_some(&owner, settings->now, &orphans);
        if (status != STATUS_OK)
            (void)session_failed(session);
        else
            look_around(session, &look);
        if (has_counted(&counts))
            print_counts(session, &counts);
        if (fflush(stdout) != 0) {
            hourly_look_end(look);
            return EXIT_FAILED;
        }
        ending_obey();
        session->failure = (struct failure){.status = STATUS_OK};
        arena_rewind(session->arena, mark);
        ending_sleep(pass_pause(pace, clock_seconds() - begun, status != STATUS_OK));
        ending_obey();
        if ((status == STATUS_DB_GONE || status == STATUS_DB_UNKNOWN) &&
            db_reopen(session->db) != STATUS_OK)
            continue; /* the next round will say so */
    }
}

static bool is_given_empty(const char *command)
{
    return command != NULL && command[0] == '\0';
}

static bool is_process_for_each(const char *command, const char *built_in)
{
    return command != NULL && strcmp(command, built_in) != 0;
}

/* NULL: they go together. */
static const char *find_fault(struct session *session, const struct pass_settings *settings)
{
    if (option_given(session, "now") && option_given(session, "loop"))
        return "a --loop uses the clock, not --now";
    if (settings->trusts && (settings->validate != NULL || settings->validate_batch != NULL))
        return "--trust compares nothing, so --validate and --validate-batch have no use";
    if (settings->validate != NULL && settings->validate_batch != NULL)
        return "--validate and --validate-batch exclude each other";
    if (settings->assimilate != NULL && settings->assimilate_batch != NULL)
        return "--assimilate and --assimilate-batch exclude each other";
    if (is_given_empty(settings->validate))
        return "--validate needs a command, or \"bitwise\"";
    if (is_given_empty(settings->assimilate))
        return "--assimilate needs a command, or \"none\"";
    if (is_given_empty(settings->validate_batch) || is_given_empty(settings->assimilate_batch))
        return "--validate-batch and --assimilate-batch need a command";
    if (option_given(session, "parallel") && !is_process_for_each(settings->validate, "bitwise") &&
        !is_process_for_each(settings->assimilate, "none"))
        return "--parallel needs a command of --validate or --assimilate, which it starts so often";
    return NULL;
}

/* `word`: a value that is no command. */
static bool is_missing(struct session *session, const char *option, const char *word)
{
    const char *command = option_value(session, option);
    struct failure failure = {.status = STATUS_OK};

    if (command == NULL || text_is(text_from(command), word) ||
        command_look(command, &failure) == STATUS_OK)
        return false;
    (void)usage_failed(session, "--%s: %s", option, failure.text);
    return true;
}

enum exit_code command_transition(struct session *session)
{
    struct pass_settings settings = {.now = session->now,
                                     .trusts = option_given(session, "trust"),
                                     .validate = option_value(session, "validate"),
                                     .validate_batch = option_value(session, "validate-batch"),
                                     .deletes_files = option_given(session, "delete-files"),
                                     .assimilate = option_value(session, "assimilate"),
                                     .assimilate_batch = option_value(session, "assimilate-batch"),
                                     .command_seconds = COMMAND_SECONDS,
                                     .parallel = 1};
    static struct round_memory memory;
    struct pass_counts counts = {.jobs = 0};
    struct pass_owner owner;
    struct hourly_look *look = NULL;
    const char *fault = find_fault(session, &settings);
    int64_t seconds = 0;
    enum status status;

    if (fault != NULL)
        return usage_failed(session, "%s", fault);
    if (is_missing(session, "validate", "bitwise") || is_missing(session, "assimilate", "none") ||
        is_missing(session, "validate-batch", "") || is_missing(session, "assimilate-batch", ""))
        return EXIT_USAGE;
    status = option_number(session, "now", 1, INT32_MAX - 1, &settings.now);
    if (status == STATUS_OK)
        status = option_number(session, "limit", 1, INT64_MAX, &settings.jobs_max);
    if (status == STATUS_OK)
        status = option_number(session, "command-seconds", 1, COMMAND_SECONDS_MAX,
                               &settings.command_seconds);
    if (status == STATUS_OK)
        status = option_number(session, "parallel", 1, PASS_PARALLEL_MOST, &settings.parallel);
    if (status == STATUS_OK)
        status = option_number(session, "loop", 1, LOOP_MOST, &seconds);
    if (status == STATUS_OK)
        status = session_db(session);
    if (status != STATUS_OK)
        return session_failed(session);
    ending_catch();
    if (option_given(session, "loop"))
        return loop(session, &settings, (double)seconds);
    owner = session_owner(session);
    owner.fates = fates_create();
    status = pass_round(&owner, &settings, &memory, &counts);
    fates_destroy(owner.fates);
    if (status == STATUS_OK)
        look_around(session, &look);
    hourly_look_end(look);
    print_counts(session, &counts);
    if (fflush(stdout) == 0)
        ending_obey();
    return status == STATUS_OK ? EXIT_DONE : session_failed(session);
}
