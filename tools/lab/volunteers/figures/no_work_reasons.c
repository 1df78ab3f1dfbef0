/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/lab/volunteers/figures/no_work_reasons.h"

#include "tools/lab/volunteers/wire/metrics_page.h"

#include <string.h>

#include "server/base/banned.h"

static const char beginning[] = "quartermaster_no_work_total{reason=\"";

static struct no_work_reason *find(struct no_work_reasons *reasons, struct text word)
{
    struct no_work_reason *reason;

    for (size_t i = 0; i < reasons->count; i++)
        if (text_is(word, reasons->items[i].word))
            return &reasons->items[i];
    if (reasons->count == NO_WORK_MAX || word.length == 0 || word.length >= NO_WORK_WORD_BYTES)
        return NULL;
    reason = &reasons->items[reasons->count++];
    *reason = (struct no_work_reason){.now = 0};
    memcpy(reason->word, word.at, word.length);
    return reason;
}

void no_work_read(struct no_work_reasons *reasons, const struct metrics *projects, size_t count)
{
    for (size_t i = 0; i < reasons->count; i++) {
        reasons->items[i].before = reasons->items[i].now;
        reasons->items[i].now = 0;
    }
    for (size_t p = 0; p < count; p++)
        for (size_t i = 0; i < projects[p].count; i++) {
            struct text rest = text_from(projects[p].items[i].name);
            struct no_work_reason *reason;

            if (!text_starts(rest, text_from(beginning)))
                continue;
            rest.at += sizeof(beginning) - 1;
            rest.length -= sizeof(beginning) - 1;
            reason = find(reasons, text_split(&rest, '"'));
            if (reason != NULL)
                reason->now += projects[p].items[i].value;
        }
    for (size_t i = 0; reasons->readings == 0 && i < reasons->count; i++)
        reasons->items[i].first = reasons->items[i].before = reasons->items[i].now;
    reasons->readings++;
}

double no_work_total(const struct no_work_reason *reason)
{
    return reason->now - reason->first;
}

double no_work_latest(const struct no_work_reason *reason)
{
    return reason->now - reason->before;
}
