/* SPDX-License-Identifier: Apache-2.0 */
/* An arena is a row of blocks, the newest first; allocating moves a pointer within the newest. The
 * first block stays when the arena is reset, so that a worker serving small requests never asks the
 * system for memory again; larger ones go back, so that one huge request does not bind memory.
 *
 * The bound counts bytes handed out (rounded up to the alignment). What is lost at the end of a
 * block is less than the allocation that did not fit there, so the memory really taken stays below
 * twice the bound and one block.
 *
 * Under AddressSanitizer whatever is not handed out is poisoned, and a poisoned gap follows each
 * allocation: a pointer kept over a reset and a write past the end are both found. */
#include "server/base/arena.h"

#include "server/base/status.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISONS 1
#endif
#endif
#ifndef ARENA_POISONS
#define ARENA_POISONS 0
#endif

#if ARENA_POISONS
#include <sanitizer/asan_interface.h>
#define POISON(at, size)   ASAN_POISON_MEMORY_REGION(at, size)
#define UNPOISON(at, size) ASAN_UNPOISON_MEMORY_REGION(at, size)
#else
#define POISON(at, size)   ((void)(at), (void)(size))
#define UNPOISON(at, size) ((void)(at), (void)(size))
#endif

#include "server/base/banned.h"

enum {
    ALIGNMENT = alignof(max_align_t),
    GAP = ARENA_POISONS ? ALIGNMENT : 0,
    FIRST_BLOCK_BYTES = 256 * 1024,   /* a usual request for work; untouched pages cost nothing */
    LARGEST_BLOCK_BYTES = 1024 * 1024 /* but for a single allocation larger than that */
};

struct block {
    struct block *previous; /* NULL: the first one */
    size_t capacity;
    alignas(max_align_t) char bytes[];
};

struct arena {
    size_t bytes_max;
    size_t total; /* handed out since the last reset */
    struct block *block;
    size_t used;   /* of the newest block */
    size_t lacked; /* see arena_lacked */
    bool overflowed;
};

static struct block *block_create(struct block *previous, size_t capacity)
{
    if (capacity > SIZE_MAX - sizeof(struct block))
        return NULL;
    struct block *block = malloc(sizeof(struct block) + capacity);
    if (block == NULL)
        return NULL;
    block->previous = previous;
    block->capacity = capacity;
    POISON(block->bytes, capacity);
    return block;
}

static void block_destroy(struct block *block)
{
    UNPOISON(block->bytes, block->capacity);
    free(block);
}

struct arena *arena_create(size_t bytes_max)
{
    struct arena *arena = calloc(1, sizeof(*arena));
    if (arena == NULL)
        return NULL;
    arena->bytes_max = bytes_max;
    arena->block = block_create(NULL, FIRST_BLOCK_BYTES);
    if (arena->block == NULL) {
        free(arena);
        return NULL;
    }
    return arena;
}

void arena_destroy(struct arena *arena)
{
    if (arena == NULL)
        return;
    for (struct block *block = arena->block; block != NULL;) {
        struct block *previous = block->previous;
        block_destroy(block);
        block = previous;
    }
    free(arena);
}

/* Room for `size` bytes in the newest block, which may have to be made for it. */
static bool arena_make_room(struct arena *arena, size_t size)
{
    if (size <= arena->block->capacity - arena->used)
        return true;
    size_t capacity = arena->block->capacity * 2;
    if (capacity > LARGEST_BLOCK_BYTES)
        capacity = LARGEST_BLOCK_BYTES;
    if (capacity < size)
        capacity = size;
    struct block *block = block_create(arena->block, capacity);
    if (block == NULL)
        return false;
    arena->block = block;
    arena->used = 0;
    return true;
}

/* Always NULL, for an allocation of `size` bytes. */
static void *arena_fail(struct arena *arena, size_t size)
{
    arena->overflowed = true;
    if (arena->lacked == 0)
        arena->lacked = size > SIZE_MAX - arena->total ? SIZE_MAX : arena->total + size;
    return NULL;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    size_t wanted = size == 0 ? 1 : size;
    if (wanted > SIZE_MAX - 2 * ALIGNMENT)
        return arena_fail(arena, SIZE_MAX);
    size_t rounded = (wanted + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (rounded > arena->bytes_max - arena->total || !arena_make_room(arena, rounded + GAP))
        return arena_fail(arena, rounded);
    char *at = arena->block->bytes + arena->used;
    arena->used += rounded + GAP;
    arena->total += rounded;
    UNPOISON(at, wanted);
    return memset(at, 0, wanted);
}

void *arena_alloc_array(struct arena *arena, size_t count, size_t size)
{
    size_t product;
    if (__builtin_mul_overflow(count, size, &product))
        return arena_fail(arena, SIZE_MAX);
    return arena_alloc(arena, product);
}

bool arena_overflowed(const struct arena *arena)
{
    return arena->overflowed;
}

size_t arena_used(const struct arena *arena)
{
    return arena->total;
}

size_t arena_lacked(const struct arena *arena)
{
    return arena->lacked;
}

struct arena_mark arena_mark(const struct arena *arena)
{
    return (struct arena_mark){.block = arena->block,
                               .used = arena->used,
                               .total = arena->total,
                               .overflowed = arena->overflowed};
}

void arena_rewind(struct arena *arena, struct arena_mark mark)
{
    while (arena->block != mark.block) {
        struct block *newest = arena->block;
        must(newest->previous != NULL); /* the mark is of this arena and older than no reset */
        arena->block = newest->previous;
        arena->used = arena->block->capacity;
        block_destroy(newest);
    }
    POISON(arena->block->bytes + mark.used, arena->used - mark.used);
    arena->used = mark.used;
    arena->total = mark.total;
    arena->overflowed = mark.overflowed;
}

void arena_reset(struct arena *arena)
{
    struct block *first = arena->block;
    while (first->previous != NULL)
        first = first->previous;
    arena_rewind(arena, (struct arena_mark){.block = first});
    arena->lacked = 0;
}
