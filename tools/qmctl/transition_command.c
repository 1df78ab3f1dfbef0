/* SPDX-License-Identifier: Apache-2.0 */
/* Transitions for projects without BOINC's transitioner, once or again and again. A round that
 * fails is no reason to end: the database comes back, and everything due is still due. */
#include "config/config.h"
#include "db/db.h"
#include "server/base/arena.h"
#include "tools/qmctl/commands.h"
#include "tools/qmctl/output.h"
#include "tools/qmctl/transition_pass.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "server/base/banned.h"

#define LOOP_MOST 86400

static void print_words(const struct transition_counts *counts, bool trusts)
{
    printf("%" PRId64 " jobs in the round: %" PRId64 " results timed out, %" PRId64
           " made, %" PRId64 " no longer needed; ",
           counts->jobs, counts->timed_out, counts->made, counts->not_needed);
    if (trusts)
        printf("%" PRId64 " jobs accepted, ", counts->accepted);
    else
        printf("%" PRId64 " jobs to validate, ", counts->to_validate);
    printf("%" PRId64 " to assimilate, %" PRId64 " given up", counts->to_assimilate,
           counts->given_up);
    if (counts->put_off > 0)
        printf(", %" PRId64 " put off", counts->put_off);
    putchar('\n');
}

static void print_counts(struct session *session, const struct transition_counts *counts,
                         bool trusts)
{
    static const char *const titles[] = {"jobs",          "timed_out",   "made",
                                         "not_needed",    "to_validate", "accepted",
                                         "to_assimilate", "given_up",    "put_off"};
    struct output_table table = TABLE_BEGIN(session, titles);

    if (session->form == FORM_TEXT) {
        print_words(counts, trusts);
        return;
    }
    table_number(&table, counts->jobs);
    table_number(&table, counts->timed_out);
    table_number(&table, counts->made);
    table_number(&table, counts->not_needed);
    table_number(&table, counts->to_validate);
    table_number(&table, counts->accepted);
    table_number(&table, counts->to_assimilate);
    table_number(&table, counts->given_up);
    table_number(&table, counts->put_off);
    table_print(&table);
}

/* Ended by a signal, which costs the transaction under way. */
static enum exit_code loop(struct session *session, struct transition_pass_settings *settings,
                           int64_t seconds)
{
    const struct timespec span = {.tv_sec = (time_t)seconds};

    for (;;) {
        struct arena_mark mark = arena_mark(session->arena);
        struct transition_counts counts = {.jobs = 0};
        enum status status;

        settings->now = (int64_t)time(NULL);
        status = transition_pass(session, settings, &counts);
        if (status != STATUS_OK)
            (void)session_failed(session);
        if (counts.jobs > 0 || counts.put_off > 0)
            print_counts(session, &counts, settings->trusts);
        if (fflush(stdout) != 0)
            return EXIT_FAILED;
        session->failure = (struct failure){.status = STATUS_OK};
        arena_rewind(session->arena, mark);
        (void)nanosleep(&span, NULL);
        if ((status == STATUS_DB_GONE || status == STATUS_DB_UNKNOWN) &&
            db_reopen(session->db) != STATUS_OK)
            continue; /* the next round will say so */
    }
}

enum exit_code command_transition(struct session *session)
{
    struct transition_pass_settings settings = {.now = session->now,
                                                .trusts = option_given(session, "trust"),
                                                .shows_progress = isatty(STDERR_FILENO) == 1};
    struct transition_counts counts = {.jobs = 0};
    int64_t seconds = 0;
    enum status status = option_number(session, "now", 1, INT32_MAX - 1, &settings.now);

    if (option_given(session, "now") && option_given(session, "loop"))
        return usage_failed(session, "a --loop goes by the clock, not by --now");
    if (status == STATUS_OK)
        status = option_number(session, "limit", 1, INT64_MAX, &settings.jobs_max);
    if (status == STATUS_OK)
        status = option_number(session, "loop", 1, LOOP_MOST, &seconds);
    if (status == STATUS_OK)
        status = session_db(session);
    if (status != STATUS_OK)
        return session_failed(session);
    if (option_given(session, "loop"))
        return loop(session, &settings, seconds);
    status = transition_pass(session, &settings, &counts);
    print_counts(session, &counts, settings.trusts);
    return status == STATUS_OK ? EXIT_DONE : session_failed(session);
}
