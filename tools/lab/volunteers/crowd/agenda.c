/* SPDX-License-Identifier: Apache-2.0 */
/* A binary heap: each entry is due no later than the two at twice its place. */
#include "tools/lab/volunteers/crowd/agenda.h"

#include <math.h>
#include <stdlib.h>

#include "server/base/banned.h"

static bool is_before(const struct agenda_entry *a, const struct agenda_entry *b)
{
    return a->time < b->time || (a->time <= b->time && a->number < b->number);
}

bool agenda_add(struct agenda *agenda, double time, size_t who)
{
    struct agenda_entry entry = {.time = time, .number = agenda->next_number++, .who = who};
    size_t at = agenda->count;

    if (agenda->count == agenda->capacity) {
        size_t capacity = agenda->capacity == 0 ? 64 : agenda->capacity * 2;
        void *grown = realloc(agenda->entries, capacity * sizeof(*agenda->entries));

        if (grown == NULL)
            return false;
        agenda->entries = grown;
        agenda->capacity = capacity;
    }
    agenda->count++;
    for (; at > 0 && is_before(&entry, &agenda->entries[(at - 1) / 2]); at = (at - 1) / 2)
        agenda->entries[at] = agenda->entries[(at - 1) / 2];
    agenda->entries[at] = entry;
    return true;
}

double agenda_next(const struct agenda *agenda)
{
    return agenda->count > 0 ? agenda->entries[0].time : INFINITY;
}

bool agenda_take(struct agenda *agenda, struct agenda_entry *ret_entry)
{
    struct agenda_entry last;
    size_t at = 0;

    if (agenda->count == 0)
        return false;
    *ret_entry = agenda->entries[0];
    last = agenda->entries[--agenda->count];
    for (;;) {
        size_t child = 2 * at + 1;

        if (child + 1 < agenda->count &&
            is_before(&agenda->entries[child + 1], &agenda->entries[child]))
            child++;
        if (child >= agenda->count || !is_before(&agenda->entries[child], &last))
            break;
        agenda->entries[at] = agenda->entries[child];
        at = child;
    }
    agenda->entries[at] = last;
    return true;
}

void agenda_free(struct agenda *agenda)
{
    free(agenda->entries);
    *agenda = (struct agenda){0};
}
