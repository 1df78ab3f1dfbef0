/* SPDX-License-Identifier: Apache-2.0 */
/* qmctl why --jobs: a row for each class of jobs, and how many of the hosts asked can have it.
 * qmctl why --job: how many can have one job, and a row for each reason why others cannot. */
#include "server/base/shown.h"
#include "tools/qmctl/session/output.h"
#include "tools/qmctl/why/why_jobs.h"
#include "tools/qmctl/why/why_parts.h"

#include <stdio.h>

#include "server/base/banned.h"

enum { HOSTS_ASKED = 500, CLASSES_JUDGED = 200, JOBS_LOOKED_AT = 10000 };

static void print_head(const struct job_chances *chances)
{
    if (chances->hosts == 0 && chances->count > 0)
        shown_line(stdout, "not known: no host has asked within the last week and said what it is");
    else if (chances->hosts > 0)
        shown_line(stdout, "asked: %zu host%s of the last week, each as on an idle day%s",
                   chances->hosts, chances->hosts == 1 ? "" : "s",
                   chances->hosts == HOSTS_ASKED ? ", drawn at random" : "");
    if (chances->is_limited)
        shown_line(
            stdout,
            "looked at: of the unsent jobs of each application the oldest %d and the newest %d",
            JOBS_LOOKED_AT, JOBS_LOOKED_AT);
    if (chances->count == CLASSES_JUDGED)
        shown_line(stdout, "looked at: the %d classes with most jobs", CLASSES_JUDGED);
    putchar('\n');
}

static struct text share_words(struct session *session, const struct job_chances *chances,
                               size_t hosts)
{
    return chances->hosts == 0 ? TEXT("not known")
                               : text_print(session->arena, "%zu of %zu", hosts, chances->hosts);
}

static void add_row(struct session *session, struct output_table *table,
                    const struct job_chances *chances, const struct job_chance *chance)
{
    enum reason reason = REASON_COUNT;
    struct text words = job_chance_words(session->arena, chance, &reason);
    table_text(table, chance->app_name);
    table_text(table, chance->class.job.workunit.name);
    table_number(table, chance->class.count);
    table_text(table, share_words(session, chances, chance->hosts));
    table_text(table, reason == REASON_COUNT ? TEXT("-") : text_from(reason_word(reason)));
    table_words(table, words.length > 0 ? words : TEXT("-"));
}

/* Each asks many hosts. */
static bool names_one_host(struct session *session)
{
    static const char *const of_a_host[] = {"request", "platform", "each", "most"};

    for (size_t i = 0; i < sizeof of_a_host / sizeof *of_a_host; i++)
        if (option_given(session, of_a_host[i]))
            return true;
    return session->argument_count > 0;
}

static void print_classes(struct session *session, const struct job_chances *chances)
{
    static const char *const titles[] = {"app", "for_instance", "jobs", "hosts", "reason", "why"};
    struct output_table table = TABLE_BEGIN(session, "unsent jobs", titles);

    for (size_t i = 0; i < chances->count; i++)
        add_row(session, &table, chances, &chances->items[i]);
    table_print(&table);
}

static void add_share(struct output_table *table, const struct job_chances *chances, size_t hosts,
                      const char *sent, const char *reason, struct text words)
{
    table_text(table, chances->items[0].app_name);
    table_text(table, chances->items[0].class.job.workunit.name);
    table_text(table, share_words(table->session, chances, hosts));
    table_text(table, text_from(sent));
    table_text(table, text_from(reason));
    table_words(table, words);
}

/* Those that can have it, and the others by reason, most of them first. */
static void print_job(struct session *session, const struct job_chances *chances)
{
    static const char *const titles[] = {"app", "job", "hosts", "sent", "reason", "why"};
    struct output_table table = TABLE_BEGIN(session, "hosts", titles);
    const struct job_chance *chance = &chances->items[0];
    size_t below = SIZE_MAX;

    add_share(&table, chances, chance->hosts, chances->hosts > 0 ? "may be" : "not known", "-",
              TEXT("-"));
    while (below > 1) {
        size_t most = 0;

        for (int i = 0; i < REASON_COUNT; i++)
            if (chance->refused->by_reason[i].count < below &&
                chance->refused->by_reason[i].count > most)
                most = chance->refused->by_reason[i].count;
        for (int i = 0; most > 0 && i < REASON_COUNT; i++)
            if (chance->refused->by_reason[i].count == most)
                add_share(&table, chances, most, "no", reason_word((enum reason)i),
                          job_chance_reason_words(session->arena, chance, (enum reason)i));
        below = most;
    }
    table_print(&table);
}

enum exit_code why_jobs_print(struct session *session)
{
    const struct job_chances_bounds bounds = {.job = option_value(session, "job"),
                                              .app = option_value(session, "app"),
                                              .hosts = HOSTS_ASKED,
                                              .classes = CLASSES_JUDGED,
                                              .jobs_looked_at = JOBS_LOOKED_AT};
    struct job_chances chances;
    bool some_are_lost = false;

    if (names_one_host(session))
        return usage_failed(session, "--job and --jobs ask many hosts: without a host's number, "
                                     "and without --request, --platform, --each and --most");
    if (bounds.job != NULL && (bounds.app != NULL || option_given(session, "jobs")))
        return usage_failed(session, "--job names one job: without --jobs and --app");
    if (why_jobs(session, &bounds, &chances) != STATUS_OK)
        return session_failed(session);
    if (session->form == FORM_TEXT)
        print_head(&chances);
    if (bounds.job != NULL)
        print_job(session, &chances);
    else
        print_classes(session, &chances);
    for (size_t i = 0; i < chances.count; i++)
        some_are_lost = some_are_lost || job_chance_is_none(&chances, &chances.items[i]);
    return some_are_lost ? EXIT_NOTHING : EXIT_DONE;
}
