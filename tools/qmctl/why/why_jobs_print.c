/* SPDX-License-Identifier: Apache-2.0 */
/* qmctl why --jobs: a row for each class of jobs, and how many of the hosts asked can have it. */
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
        shown_line(stdout,
                   "asked: %zu host%s that came within the last week, each as on an idle day%s",
                   chances->hosts, chances->hosts == 1 ? "" : "s",
                   chances->hosts == HOSTS_ASKED ? ", drawn at random" : "");
    if (chances->is_limited)
        shown_line(
            stdout,
            "assumed: of an application, no jobs beyond the oldest %d and the newest %d unsent",
            JOBS_LOOKED_AT, JOBS_LOOKED_AT);
    if (chances->count == CLASSES_JUDGED)
        shown_line(stdout, "assumed: no classes of jobs beyond the %d with most jobs",
                   CLASSES_JUDGED);
    putchar('\n');
}

static void add_row(struct session *session, struct output_table *table,
                    const struct job_chances *chances, const struct job_chance *chance)
{
    enum reason reason = REASON_COUNT;
    struct text words = job_chance_words(session->arena, chance, &reason);
    bool is_known = chances->hosts > 0;

    table_text(table, chance->app_name);
    table_text(table, chance->class.job.workunit.name);
    table_number(table, chance->class.count);
    table_text(table,
               !is_known ? TEXT("not known")
                         : text_print(session->arena, "%zu of %zu", chance->hosts, chances->hosts));
    table_text(table, reason == REASON_COUNT ? TEXT("-") : text_from(reason_word(reason)));
    table_words(table, words.length > 0 ? words : TEXT("-"));
}

enum exit_code why_jobs_print(struct session *session)
{
    static const char *const titles[] = {"app", "for_instance", "jobs", "hosts", "reason", "why"};
    const struct job_chances_bounds bounds = {.app = option_value(session, "app"),
                                              .hosts = HOSTS_ASKED,
                                              .classes = CLASSES_JUDGED,
                                              .jobs_looked_at = JOBS_LOOKED_AT};
    static const char *const of_a_host[] = {"request", "platform", "each", "most"};
    struct output_table table;
    struct job_chances chances;
    bool some_are_lost = false;

    for (size_t i = 0; i < sizeof of_a_host / sizeof *of_a_host; i++)
        if (option_given(session, of_a_host[i]) || session->argument_count > 0)
            return usage_failed(session, "--jobs asks many hosts: without a host's number, and "
                                         "without --request, --platform, --each and --most");
    if (why_jobs(session, &bounds, &chances) != STATUS_OK)
        return session_failed(session);
    if (session->form == FORM_TEXT)
        print_head(&chances);
    table = TABLE_BEGIN(session, "unsent jobs", titles);
    for (size_t i = 0; i < chances.count; i++) {
        add_row(session, &table, &chances, &chances.items[i]);
        some_are_lost = some_are_lost || job_chance_is_none(&chances, &chances.items[i]);
    }
    table_print(&table);
    return some_are_lost ? EXIT_NOTHING : EXIT_DONE;
}
