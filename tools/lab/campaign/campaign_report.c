/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/lab/campaign/campaign_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

static const char *const kind_names[RULE_KIND_COUNT] = {
    [RULES_OF_LOST] = "lost", [RULES_OF_DOUBLE] = "double", [RULES_OF_BROKEN] = "broken"};

bool campaign_report_faults(struct history *faults, const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL, words[80];
    size_t capacity = 0;
    ssize_t length;
    bool is_read;

    if (file == NULL)
        return errno == ENOENT;
    while ((length = getline(&line, &capacity, file)) > 0) {
        struct text name = text_trim((struct text){line, (size_t)length});

        snprintf(words, sizeof(words), "n " TEXT_FORMAT " 1", TEXT_ARG(text_first(name, 31)));
        history_take(faults, text_from(words));
    }
    is_read = ferror(file) == 0;
    free(line);
    fclose(file);
    return is_read;
}

static void print_list(const struct told_figure *figures, size_t count, bool is_json, FILE *stream)
{
    for (size_t i = 0; i < count; i++)
        fprintf(stream, is_json ? "%s\"%s\": %" PRId64 : "%s  %-20s %10" PRId64 "\n",
                is_json && i > 0 ? ", " : "", figures[i].name, figures[i].count);
}

/* What counts in the history and what the auditor counted, in one list. */
static size_t list_counts(const struct audit *audit, const struct history *history,
                          struct told_figure *ret_figures)
{
    const struct told_figure figures[] = {
        {"hand_outs", history->handouts},
        {"acknowledged", history->acks},
        {"reports", history->reports},
        {"requests", history->requests},
        {"machines", audit->machines},
        {"hosts", (int64_t)HASH_COUNT(history->hosts)},
        {"in_progress", audit->in_progress},
        {"rows_of_strangers", audit->strangers},
        {"rows_of_gone", audit->gone},
        {"rows_detached", audit->detached},
        {"machines_unsettled", audit->unsettled},
        {"odd_lines", history->odd_lines},
    };

    memcpy(ret_figures, figures, sizeof(figures));
    return sizeof(figures) / sizeof(*figures);
}

static void print_text(const struct audit *audit, const struct history *history,
                       const struct history *faults, FILE *stream)
{
    struct told_figure counts[FIGURES_MAX];
    size_t count = list_counts(audit, history, counts);

    fputs("Replies to hosts:\n", stream);
    print_list(counts, count, false, stream);
    fputs("Runs of the crowd:\n", stream);
    print_list(history->figures, history->figure_count, false, stream);
    fputs("Faults:\n", stream);
    print_list(faults->figures, faults->figure_count, false, stream);
    fputs("Rules:\n", stream);
    for (int rule = 0; rule < RULE_COUNT; rule++) {
        const struct audit_finding *finding = &audit->findings[rule];

        fprintf(stream, "  %-20s %10" PRId64 "  %s\n", rule_name((enum rule)rule), finding->count,
                rule_words((enum rule)rule));
        for (int i = 0; i < EXAMPLES_MAX && finding->examples[i] != NULL; i++)
            fprintf(stream, "      %s\n", finding->examples[i]);
    }
    for (int kind = 0; kind < RULE_KIND_COUNT; kind++)
        fprintf(stream, "%s%s %" PRId64, kind > 0 ? ", " : "", kind_names[kind],
                audit_count(audit, (enum rule_kind)kind));
    fputc('\n', stream);
}

static void print_json(const struct audit *audit, const struct history *history,
                       const struct history *faults, FILE *stream)
{
    struct told_figure counts[FIGURES_MAX];
    size_t count = list_counts(audit, history, counts);

    fputs("{\"told\": {", stream);
    print_list(counts, count, true, stream);
    fputs("}, \"runs\": {", stream);
    print_list(history->figures, history->figure_count, true, stream);
    fputs("}, \"faults\": {", stream);
    print_list(faults->figures, faults->figure_count, true, stream);
    fputs("}, \"rules\": {", stream);
    for (int rule = 0; rule < RULE_COUNT; rule++)
        fprintf(stream, "%s\"%s\": %" PRId64, rule > 0 ? ", " : "", rule_name((enum rule)rule),
                audit->findings[rule].count);
    fputc('}', stream);
    for (int kind = 0; kind < RULE_KIND_COUNT; kind++)
        fprintf(stream, ", \"%s\": %" PRId64, kind_names[kind],
                audit_count(audit, (enum rule_kind)kind));
    fputs("}\n", stream);
}

void campaign_report_print(const struct audit *audit, const struct history *history,
                           const struct history *faults, bool is_json, FILE *stream)
{
    if (is_json)
        print_json(audit, history, faults, stream);
    else
        print_text(audit, history, faults, stream);
}
