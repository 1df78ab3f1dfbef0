/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts are known by a number that is mixed from their pseudonym. Two that mix to the same number
 * count as one, which is less likely than a fault of the memory. */
#include "server/replay/replay_tally.h"

#include "server/base/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/banned.h"

enum { SLOTS_FIRST = 1024 };

/* A host, or a host and a shift, in a table of open addressing. */
struct tally_entry {
    uint64_t key; /* 0: a free place */
    int64_t before[REPLAY_PROCESSORS], after[REPLAY_PROCESSORS];
};
struct tally_entries {
    struct tally_entry *slots;
    size_t count, slot_count;
};

struct replay_tally {
    struct replay_figures figures;
    struct tally_entries hosts, shifted;
};

static struct tally_entry *place_of(const struct tally_entries *entries, uint64_t key)
{
    size_t at = key & (entries->slot_count - 1);

    while (entries->slots[at].key != 0 && entries->slots[at].key != key)
        at = (at + 1) & (entries->slot_count - 1);
    return &entries->slots[at];
}

static bool grow(struct tally_entries *entries)
{
    struct tally_entries larger = {.count = entries->count,
                                   .slot_count = entries->slot_count > 0 ? entries->slot_count * 2
                                                                         : SLOTS_FIRST};

    larger.slots = calloc(larger.slot_count, sizeof(larger.slots[0]));
    if (larger.slots == NULL)
        return false;
    for (size_t i = 0; i < entries->slot_count; i++)
        if (entries->slots[i].key != 0)
            *place_of(&larger, entries->slots[i].key) = entries->slots[i];
    free(entries->slots);
    *entries = larger;
    return true;
}

/* Made if it is not there; NULL: no memory. */
static struct tally_entry *entry_of(struct tally_entries *entries, uint64_t key, bool *ret_is_new)
{
    struct tally_entry *entry;

    if (entries->count * 2 >= entries->slot_count && !grow(entries))
        return NULL;
    key += key == 0;
    entry = place_of(entries, key);
    *ret_is_new = entry->key == 0;
    entry->key = key;
    entries->count += *ret_is_new;
    return entry;
}

struct replay_tally *replay_tally_create(void)
{
    return calloc(1, sizeof(struct replay_tally));
}

void replay_tally_destroy(struct replay_tally *tally)
{
    if (tally == NULL)
        return;
    free(tally->hosts.slots);
    free(tally->shifted.slots);
    free(tally);
}

/* --- one request ------------------------------------------------------------------------------ */

static void count_unlike(struct replay_figures *figures, const struct replay_outcome *recorded,
                         const struct replay_outcome *control)
{
    if (control->job_count < recorded->job_count)
        figures->fewer_than_recorded++;
    else if (control->job_count > recorded->job_count)
        figures->more_than_recorded++;
    else if (memcmp(control->jobs, recorded->jobs, sizeof control->jobs) != 0 ||
             control->versions != recorded->versions)
        figures->others_than_recorded++;
    else if (!replay_reasons_equal(control, recorded))
        figures->reasons_not_recorded++;
    else
        figures->delays_not_recorded++;
}

static const char *word_of(const struct replay_outcome *outcome)
{
    return outcome->job_count > 0 ? "jobs" : outcome->why;
}

static struct replay_shift *shift_of(struct replay_figures *figures, const char *from,
                                     const char *to)
{
    struct replay_shift *shift;

    for (size_t i = 0; i < figures->shift_count; i++) {
        shift = &figures->shifts[i];
        if (strcmp(shift->from, from) == 0 && strcmp(shift->to, to) == 0)
            return shift;
    }
    if (figures->shift_count == REPLAY_SHIFTS_MAX)
        return NULL;
    shift = &figures->shifts[figures->shift_count++];
    (void)snprintf(shift->from, sizeof shift->from, "%s", from);
    (void)snprintf(shift->to, sizeof shift->to, "%s", to);
    return shift;
}

static enum status add_shift(struct replay_tally *tally, uint64_t host, const char *from,
                             const char *to)
{
    struct replay_shift *shift;
    bool is_new;

    if (strcmp(from, to) == 0)
        return STATUS_OK;
    shift = shift_of(&tally->figures, from, to);
    if (shift == NULL) {
        tally->figures.other_shifts++;
        return STATUS_OK;
    }
    shift->requests++;
    if (entry_of(&tally->shifted, random_mix(host, 1 + (uint64_t)(shift - tally->figures.shifts)),
                 &is_new) == NULL)
        return STATUS_NO_MEMORY;
    shift->hosts += is_new;
    return STATUS_OK;
}

static void add_jobs(struct replay_figures *figures, struct tally_entry *host,
                     const struct replay_outcome *control, const struct replay_outcome *changed)
{
    for (int i = 0; i < REPLAY_PROCESSORS; i++) {
        struct replay_change *change = &figures->changes[i];
        int64_t more = changed->jobs[i] - control->jobs[i];

        host->before[i] += control->jobs[i];
        host->after[i] += changed->jobs[i];
        change->requests_more += more > 0;
        change->requests_fewer += more < 0;
        change->jobs_more += more > 0 ? more : 0;
        change->jobs_fewer += more < 0 ? -more : 0;
    }
}

enum status replay_tally_add(struct replay_tally *tally, const struct replay_comparison *comparison)
{
    const struct replay_outcome *control = &comparison->control, *changed = &comparison->changed;
    struct replay_figures *figures = &tally->figures;
    uint64_t key = text_hash(comparison->host);
    bool is_new;
    struct tally_entry *host = entry_of(&tally->hosts, key, &is_new);

    if (host == NULL)
        return STATUS_NO_MEMORY;
    figures->requests++;
    figures->hosts += is_new;
    figures->asked += comparison->asks;
    if (!replay_outcome_equal(&comparison->recorded, control)) {
        count_unlike(figures, &comparison->recorded, control);
        return STATUS_OK;
    }
    figures->as_recorded++;
    figures->same += replay_outcome_equal(control, changed);
    figures->sooner += changed->delay <= control->delay - 1;
    figures->later += changed->delay >= control->delay + 1;
    figures->other_versions += control->versions != changed->versions &&
                               memcmp(control->jobs, changed->jobs, sizeof control->jobs) == 0;
    add_jobs(figures, host, control, changed);
    return add_shift(tally, key, word_of(control), word_of(changed));
}

/* --- hosts ------------------------------------------------------------------------------------ */

static void count_host(struct replay_figures *figures, const struct tally_entry *host)
{
    for (int i = 0; i < REPLAY_PROCESSORS; i++) {
        struct replay_change *change = &figures->changes[i];

        change->hosts_more += host->after[i] > host->before[i];
        change->hosts_fewer += host->after[i] < host->before[i];
        change->hosts_none += host->after[i] == 0 && host->before[i] > 0;
    }
}

const struct replay_figures *replay_tally_figures(struct replay_tally *tally)
{
    struct replay_figures *figures = &tally->figures;

    for (int i = 0; i < REPLAY_PROCESSORS; i++)
        figures->changes[i].hosts_more = figures->changes[i].hosts_fewer =
            figures->changes[i].hosts_none = 0;
    for (size_t i = 0; i < tally->hosts.slot_count; i++)
        if (tally->hosts.slots[i].key != 0)
            count_host(figures, &tally->hosts.slots[i]);
    return figures;
}
