/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/volunteers/figures/no_work_reasons.h"

#include "tools/volunteers/wire/metrics_page.h"

#include <string.h>

#include "server/base/banned.h"

static const char beginning[] = "quartermaster_no_work_total{reason=\"";

static struct refusal *find(struct refusals *refusals, struct text word)
{
    struct refusal *refusal;

    for (size_t i = 0; i < refusals->count; i++)
        if (text_is(word, refusals->items[i].word))
            return &refusals->items[i];
    if (refusals->count == REFUSALS_MAX || word.length == 0 || word.length >= REFUSALS_WORD_BYTES)
        return NULL;
    refusal = &refusals->items[refusals->count++];
    *refusal = (struct refusal){.now = 0};
    memcpy(refusal->word, word.at, word.length);
    return refusal;
}

void refusals_read(struct refusals *refusals, const struct metrics *projects, size_t count)
{
    for (size_t i = 0; i < refusals->count; i++) {
        refusals->items[i].before = refusals->items[i].now;
        refusals->items[i].now = 0;
    }
    for (size_t p = 0; p < count; p++)
        for (size_t i = 0; i < projects[p].count; i++) {
            struct text rest = text_from(projects[p].items[i].name);
            struct refusal *refusal;

            if (!text_starts(rest, text_from(beginning)))
                continue;
            rest.at += sizeof(beginning) - 1;
            rest.length -= sizeof(beginning) - 1;
            refusal = find(refusals, text_split(&rest, '"'));
            if (refusal != NULL)
                refusal->now += projects[p].items[i].value;
        }
    for (size_t i = 0; refusals->readings == 0 && i < refusals->count; i++)
        refusals->items[i].first = refusals->items[i].before = refusals->items[i].now;
    refusals->readings++;
}

double refusals_total(const struct refusal *refusal)
{
    return refusal->now - refusal->first;
}

double refusals_latest(const struct refusal *refusal)
{
    return refusal->now - refusal->before;
}
