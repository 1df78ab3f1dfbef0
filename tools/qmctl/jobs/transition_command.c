/* SPDX-License-Identifier: Apache-2.0 */
/* Transitions for projects without BOINC's transitioner, once or again and again. A round that
 * fails is no reason to end: the database comes back, and everything due is still due. */
#include "config/config.h"
#include "db/db.h"
#include "server/base/arena.h"
#include "server/base/buffer.h"
#include "server/fates/fates.h"
#include "server/passes/orphan_count.h"
#include "server/passes/round.h"
#include "tools/qmctl/session/commands.h"
#include "tools/qmctl/session/ending.h"
#include "tools/qmctl/session/output.h"
#include "tools/qmctl/session/pass_session.h"
#include "tools/qmctl/why/why_keep.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "server/base/banned.h"

enum { LOOP_MOST = 86400, COMMAND_SECONDS = 600, COMMAND_SECONDS_MAX = 86400 };

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

/* The round is done, whatever becomes of this. */
static void look_for_stuck_jobs(struct session *session)
{
    if (!ending_is_wanted() && why_jobs_hourly(session) != STATUS_OK)
        (void)session_failed(session);
    session->failure = (struct failure){.status = STATUS_OK};
}

/* Ended by a signal, when what is under way is done. */
static enum exit_code loop(struct session *session, struct pass_settings *settings, int64_t seconds)
{
    static struct round_memory memory;
    struct orphan_round orphans = {.folder = 0};
    struct pass_owner owner = session_owner(session);

    owner.fates = fates_create();
    for (;;) {
        struct arena_mark mark = arena_mark(session->arena);
        struct pass_counts counts = {.jobs = 0};
        enum status status;

        settings->now = (int64_t)time(NULL);
        status = pass_round(&owner, settings, &memory, &counts);
        if (status == STATUS_OK && settings->deletes_files && !ending_is_wanted())
            status = orphan_count_some(&owner, settings->now, &orphans);
        if (status != STATUS_OK)
            (void)session_failed(session);
        else
            look_for_stuck_jobs(session);
        if (has_counted(&counts))
            print_counts(session, &counts);
        if (fflush(stdout) != 0)
            return EXIT_FAILED;
        ending_obey();
        session->failure = (struct failure){.status = STATUS_OK};
        arena_rewind(session->arena, mark);
        ending_sleep(seconds);
        ending_obey();
        if ((status == STATUS_DB_GONE || status == STATUS_DB_UNKNOWN) &&
            db_reopen(session->db) != STATUS_OK)
            continue; /* the next round will say so */
    }
}

enum exit_code command_transition(struct session *session)
{
    struct pass_settings settings = {.now = session->now,
                                     .trusts = option_given(session, "trust"),
                                     .validate = option_value(session, "validate"),
                                     .deletes_files = option_given(session, "delete-files"),
                                     .assimilate = option_value(session, "assimilate"),
                                     .command_seconds = COMMAND_SECONDS};
    static struct round_memory memory;
    struct pass_counts counts = {.jobs = 0};
    struct pass_owner owner;
    int64_t seconds = 0;
    enum status status = option_number(session, "now", 1, INT32_MAX - 1, &settings.now);

    if (option_given(session, "now") && option_given(session, "loop"))
        return usage_failed(session, "a --loop uses the clock, not --now");
    if (settings.trusts && settings.validate != NULL)
        return usage_failed(session, "--trust compares nothing, so --validate has no use");
    if (settings.validate != NULL && settings.validate[0] == '\0')
        return usage_failed(session, "--validate needs a command, or \"bitwise\"");
    if (settings.assimilate != NULL && settings.assimilate[0] == '\0')
        return usage_failed(session, "--assimilate needs a command, or \"none\"");
    if (status == STATUS_OK)
        status = option_number(session, "limit", 1, INT64_MAX, &settings.jobs_max);
    if (status == STATUS_OK)
        status = option_number(session, "command-seconds", 1, COMMAND_SECONDS_MAX,
                               &settings.command_seconds);
    if (status == STATUS_OK)
        status = option_number(session, "loop", 1, LOOP_MOST, &seconds);
    if (status == STATUS_OK)
        status = session_db(session);
    if (status != STATUS_OK)
        return session_failed(session);
    ending_catch();
    if (option_given(session, "loop"))
        return loop(session, &settings, seconds);
    owner = session_owner(session);
    owner.fates = fates_create();
    status = pass_round(&owner, &settings, &memory, &counts);
    fates_destroy(owner.fates);
    if (status == STATUS_OK)
        look_for_stuck_jobs(session);
    print_counts(session, &counts);
    if (fflush(stdout) == 0)
        ending_obey();
    return status == STATUS_OK ? EXIT_DONE : session_failed(session);
}
