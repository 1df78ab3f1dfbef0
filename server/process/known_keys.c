/* SPDX-License-Identifier: Apache-2.0 */
/* Sets with open addressing, at most half full. The number 0 marks a free place; an account of that
 * number stays unknown. */
#include "server/process/known_keys.h"

#include <stdlib.h>

#include "server/base/banned.h"

enum { FIRST_ROOM = 1024 };

/* Where the number stands, or would stand. */
static size_t place_of(const struct known_keys_set *set, uint64_t account)
{
    size_t at = (size_t)(account * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (set->room - 1);

    while (set->places[at] != 0 && set->places[at] != account)
        at = (at + 1) & (set->room - 1);
    return at;
}

static bool has(const struct known_keys_set *set, uint64_t account)
{
    return set->count > 0 && account != 0 && set->places[place_of(set, account)] == account;
}

static bool grow(struct known_keys_set *set)
{
    struct known_keys_set larger = {.room = set->room == 0 ? FIRST_ROOM : 2 * set->room,
                                    .count = set->count};

    larger.places = calloc(larger.room, sizeof(*larger.places));
    if (larger.places == NULL)
        return false;
    for (size_t i = 0; i < set->room; i++)
        if (set->places[i] != 0)
            larger.places[place_of(&larger, set->places[i])] = set->places[i];
    free(set->places);
    *set = larger;
    return true;
}

static void add(struct known_keys_set *set, uint64_t account)
{
    if (account == 0 || has(set, account) || (2 * (set->count + 1) > set->room && !grow(set)))
        return;
    set->places[place_of(set, account)] = account;
    set->count++;
}

void known_keys_free(struct known_keys *known)
{
    free(known->now.places);
    free(known->before.places);
    *known = (struct known_keys){.begun_ns = 0};
}

static void begin_next(struct known_keys *known, uint64_t begun_ns)
{
    free(known->before.places);
    known->before = known->now;
    known->now = (struct known_keys_set){.places = NULL};
    known->begun_ns = begun_ns;
}

void known_keys_add(struct known_keys *known, uint64_t account, uint64_t now_ns)
{
    uint64_t age = now_ns - known->begun_ns;

    if (age >= 2 * KNOWN_KEYS_NS) {
        known_keys_free(known);
        known->begun_ns = now_ns;
    } else if (age >= KNOWN_KEYS_NS) {
        begin_next(known, known->begun_ns + KNOWN_KEYS_NS);
    } else if (known->now.count == KNOWN_KEYS_OF_SET) {
        begin_next(known, now_ns);
    }
    add(&known->now, account);
}

/* `before` ended when `now` was begun. */
bool known_keys_has(const struct known_keys *known, uint64_t account, uint64_t now_ns)
{
    uint64_t age = now_ns - known->begun_ns;

    return (age < 2 * KNOWN_KEYS_NS && has(&known->now, account)) ||
           (age < KNOWN_KEYS_NS && has(&known->before, account));
}
