/* SPDX-License-Identifier: Apache-2.0 */
/* The account keys that this process recently found in the database, as the numbers of waiting.h.
 *
 * The sender of a request chooses the key in it, and the receiver cannot ask the database. Known
 * keys therefore have a line each, and all others share one: a fresh wrong key in each request
 * buys no more turns than one. Only right keys come in here, and at most so many that the memory
 * is bounded; beyond that, those that were found longest ago are forgotten.
 *
 * Two sets: one is filled, the other is that of the time before. Pure: no threads, no clock. */
#ifndef SERVER_PROCESS_KNOWN_KEYS_H
#define SERVER_PROCESS_KNOWN_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    KNOWN_KEYS_OF_SET = 1 << 18 /* about as many as one process serves in a day; 4 MiB a set */
};
/* A key is known for so long after it was found, and for at most twice as long. */
#define KNOWN_KEYS_NS (UINT64_C(86400) * 1000000000)

/* Empty when zeroed. */
struct known_keys {
    struct known_keys_set {
        uint64_t *places; /* 0: free */
        size_t room, count;
    } now, before;
    uint64_t begun_ns; /* when `now` was begun */
};

void known_keys_free(struct known_keys *known);
/* The number of an account whose key was found. Without memory for it the key stays unknown. */
void known_keys_add(struct known_keys *known, uint64_t account, uint64_t now_ns);
bool known_keys_has(const struct known_keys *known, uint64_t account, uint64_t now_ns);

#endif
