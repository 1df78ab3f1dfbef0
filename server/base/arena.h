/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of one request: taken by moving a pointer, given back all at once. */
#ifndef SERVER_BASE_ARENA_H
#define SERVER_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena;

/* At most `bytes_max` in all; the first block is kept between resets. NULL: no memory. */
struct arena *arena_create(size_t bytes_max);
void arena_destroy(struct arena *arena); /* NULL is fine */

/* Zeroed, aligned for any type. NULL when the bound is reached; then the arena is marked as
 * overflowed until it is reset. Size 0 gives a valid pointer. */
void *arena_alloc(struct arena *arena, size_t size);
void *arena_alloc_array(struct arena *arena, size_t count, size_t size); /* checks the product */
bool arena_overflowed(const struct arena *arena);
size_t arena_used(const struct arena *arena); /* bytes handed out since the last reset */

/* The least bound with which the first allocation that failed since the last reset would have
 * succeeded; 0: none failed. So a test can make each allocation of a function fail in turn. */
size_t arena_lacked(const struct arena *arena);

/* Everything allocated after a mark can be given back, which a repeated transaction does. The
 * overflow mark is taken back too. */
struct arena_mark {
    void *block;
    size_t used;
    size_t total;
    bool overflowed;
};
struct arena_mark arena_mark(const struct arena *arena);
void arena_rewind(struct arena *arena, struct arena_mark mark);
void arena_reset(struct arena *arena);

#define ARENA_NEW(arena, type)          ((type *)arena_alloc(arena, sizeof(type)))
#define ARENA_ARRAY(arena, count, type) ((type *)arena_alloc_array(arena, count, sizeof(type)))

#endif
