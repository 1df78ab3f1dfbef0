/* SPDX-License-Identifier: Apache-2.0 */
/* The large bodies of one account are read one after the other.
 *
 * Many of them at once would take a core for as long as their bytes are copied, and with it the
 * time of everybody else; and they are served one after the other anyway. A body counts as large
 * once so many bytes of it have arrived. Then it asks for its account's turn: the first one has it
 * until its request is finished; the others stay in their sockets, where they cost nothing.
 *
 * Pure: no threads, no clock; callers with several threads have to lock. */
#ifndef SERVER_PROCESS_BODY_TURNS_H
#define SERVER_PROCESS_BODY_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From so many bytes on a request is large. Parsing takes about 20 ms for each MB. */
#define BODY_LARGE_BYTES ((size_t)512 * 1024)

enum body_turn {
    BODY_TURN_NONE,    /* it did not ask, or has left */
    BODY_TURN_WAITS,   /* it is not read */
    BODY_TURN_GRANTED, /* it may be read, and the reader does not know yet */
    BODY_TURN_HAS
};

/* Part of the caller's own struct, zeroed at first; belongs to the caller. */
struct body_turn_entry {
    uint64_t account;
    enum body_turn turn;
    struct body_turn_entry *prev, *next;
};

/* All that asked and have not left, in the order in which they asked; empty when zeroed. Their
 * number is bounded by the memory of all requests. */
struct body_turns {
    struct body_turn_entry *first;
};

/* Whether it has the turn at once. It asks once. */
bool body_turns_ask(struct body_turns *turns, struct body_turn_entry *entry, uint64_t account);
/* It is finished, or is read without being kept. True: another one is granted the turn. */
bool body_turns_leave(struct body_turns *turns, struct body_turn_entry *entry);
/* The first one that was granted the turn; it has it now. NULL: there is none. */
struct body_turn_entry *body_turns_next(struct body_turns *turns);

#endif
