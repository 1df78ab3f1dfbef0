/* SPDX-License-Identifier: Apache-2.0 */
/* The text format of Prometheus: lines "name value" or "name{labels} value", # begins a comment. */
#include "tools/lab/volunteers/wire/metrics_page.h"

#include <string.h>

#include "server/base/banned.h"

static struct metric *find(struct metrics *metrics, struct text name)
{
    for (size_t i = 0; i < metrics->count; i++)
        if (text_is(name, metrics->items[i].name))
            return &metrics->items[i];
    return NULL;
}

static void add(struct metrics *metrics, struct text name, double value)
{
    struct metric *metric = find(metrics, name);

    if (metric == NULL) {
        if (metrics->count == METRICS_MAX || name.length >= METRICS_NAME_BYTES)
            return;
        metric = &metrics->items[metrics->count++];
        *metric = (struct metric){.value = 0};
        memcpy(metric->name, name.at, name.length);
    }
    metric->value += value;
}

void metrics_add_page(struct metrics *metrics, struct text page)
{
    while (page.length > 0) {
        struct text line = text_trim(text_split(&page, '\n'));
        size_t end = line.length;
        double value;

        while (end > 0 && line.at[end - 1] != ' ')
            end--;
        if (end == 0 || line.at[0] == '#')
            continue;
        if (text_to_real((struct text){line.at + end, line.length - end}, &value))
            add(metrics, text_trim(text_first(line, end)), value);
    }
}

double metrics_value(const struct metrics *metrics, const char *name)
{
    for (size_t i = 0; i < metrics->count; i++)
        if (text_is(text_from(name), metrics->items[i].name))
            return metrics->items[i].value;
    return 0;
}
