/* SPDX-License-Identifier: Apache-2.0 */
/* Sorted arrays and binary search. Each level of the order is a part of the one before, so a span
 * is narrowed level by level. */
#include "server/policy/version/own_versions.h"

#include "server/base/arena.h"
#include "server/base/budget.h"
#include "server/policy/version/version_choice.h"

#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

enum {
    SEARCH_COST = 100, /* units of the budget, for all levels */
    FIRST_ID = -2      /* of own versions, then downwards */
};

/* How much of the order a comparison looks at. */
enum own_level { LEVEL_APP, LEVEL_RESOURCE, LEVEL_BITS };

static int compare_numbers(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_to(const struct own_version *a, const struct own_version *b,
                      enum own_level level)
{
    int order = compare_numbers(a->appid, b->appid);

    if (order == 0)
        order = compare_numbers(a->number, b->number);
    if (order == 0 && level >= LEVEL_RESOURCE)
        order = compare_numbers((int64_t)a->resource, (int64_t)b->resource);
    if (order == 0 && level >= LEVEL_BITS)
        order = compare_numbers(a->app_version_id, b->app_version_id);
    if (order == 0 && level >= LEVEL_BITS)
        order = (int)a->is_64bit - (int)b->is_64bit;
    return order;
}

static int compare_all(const void *a, const void *b)
{
    const struct own_version *first = a, *second = b;
    double first_flops = first->option->choice_flops, second_flops = second->option->choice_flops;
    int order = compare_to(first, second, LEVEL_BITS);

    if (order == 0)
        order = (int)isnan(first_flops) - (int)isnan(second_flops);
    if (order == 0 && first_flops != second_flops && !isnan(first_flops))
        return first_flops > second_flops ? -1 : 1;
    return order != 0                       ? order
           : first->option < second->option ? -1
                                            : first->option > second->option;
}

/* Where in the span those begin that do not come before the key (or those that come after it). */
static size_t bound(struct own_span span, const struct own_version *key, enum own_level level,
                    bool after)
{
    size_t low = 0, high = span.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_to(&span.items[middle], key, level);

        if (order < 0 || (after && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct own_span narrow(struct own_span span, const struct own_version *key,
                              enum own_level level)
{
    size_t from = bound(span, key, level, false), to = bound(span, key, level, true);

    return (struct own_span){.items = span.items + from, .count = to - from};
}

static struct own_span sort(struct arena *arena, const struct version_options *options,
                            bool by_number)
{
    struct own_version *items = ARENA_ARRAY(arena, options->count, struct own_version);
    size_t begin = 0;

    for (size_t i = 0; items != NULL && i < options->count; i++) {
        const struct version_option *option = &options->items[i];

        items[i] = (struct own_version){
            .appid = option->app->id,
            .number = by_number ? option->anonymous->version_num : 0,
            .resource = option->resource,
            .app_version_id = option->app_version_id,
            .is_64bit = option->is_64bit,
            .option = option,
        };
    }
    if (items == NULL || options->count == 0)
        return (struct own_span){.items = items};
    qsort(items, options->count, sizeof(items[0]), compare_all);
    for (size_t i = 0; i < options->count; i++) {
        if (compare_to(&items[i], &items[begin], LEVEL_BITS) != 0)
            begin = i;
        if (items[begin].first == NULL || items[i].option < items[begin].first)
            items[begin].first = items[i].option;
    }
    return (struct own_span){.items = items, .count = options->count};
}

struct own_versions *own_versions_sort(struct arena *arena, const struct version_options *options,
                                       struct budget *budget)
{
    struct own_versions *own = ARENA_NEW(arena, struct own_versions);

    if (own == NULL)
        return NULL;
    budget_spend(budget, 2 * budget_of_sorting(options->count));
    *own = (struct own_versions){.by_speed = sort(arena, options, false),
                                 .by_number = sort(arena, options, true),
                                 .budget = budget};
    for (size_t i = options->count; i-- > 0;) {
        int64_t kind = FIRST_ID - options->items[i].app_version_id;

        if (kind >= 0 && kind < OWN_VERSION_KINDS)
            own->of_kind[kind] = &options->items[i];
    }
    return own->by_speed.items != NULL && own->by_number.items != NULL ? own : NULL;
}

struct own_span own_versions_of_app(const struct own_versions *own, int64_t appid, int64_t number)
{
    const struct own_version key = {.appid = appid, .number = number};

    budget_spend(own->budget, SEARCH_COST);
    return narrow(number == 0 ? own->by_speed : own->by_number, &key, LEVEL_APP);
}

/* To look for: the first of a span, with some of it changed. */

struct own_span own_versions_on(struct own_span span, size_t resource)
{
    struct own_version key;

    if (span.count == 0)
        return span;
    key = span.items[0];
    key.resource = resource;
    return narrow(span, &key, LEVEL_RESOURCE);
}

struct own_span own_versions_of_bits(struct own_span span, bool is_64bit)
{
    struct own_version key;

    if (span.count == 0)
        return span;
    key = span.items[0];
    key.is_64bit = is_64bit;
    return narrow(span, &key, LEVEL_BITS);
}

const struct version_option *own_versions_find(const struct own_versions *own, int64_t appid,
                                               int64_t app_version_id)
{
    int64_t kind = FIRST_ID - app_version_id;
    const struct version_option *found = NULL;
    struct own_span rest;

    if (kind < 0 || kind >= OWN_VERSION_KINDS)
        return NULL;
    if (appid == 0 || own->of_kind[kind] == NULL)
        return own->of_kind[kind];
    rest = own_versions_of_app(own, appid, 0);
    while (rest.count > 0) { /* run by run: at most two for each kind of coprocessor */
        size_t length = bound(rest, &rest.items[0], LEVEL_BITS, true);

        if (rest.items[0].app_version_id == app_version_id &&
            (found == NULL || rest.items[0].first < found))
            found = rest.items[0].first;
        rest = (struct own_span){.items = rest.items + length, .count = rest.count - length};
    }
    return found;
}
