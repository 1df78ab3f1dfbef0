/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of any length in the lists of DB_LIST_MOST that statements take. */
#ifndef DB_LISTS_H
#define DB_LISTS_H

#include <stddef.h>
#include <stdint.h>

struct arena;

/* A sorted copy without repetitions: the order in which rows are locked. NULL: arena full. */
int64_t *list_sorted(struct arena *arena, const int64_t *items, size_t count, size_t *ret_count);
/* Place of `item` in a sorted list, or `count` when it is not there. */
size_t list_find(const int64_t *items, size_t count, int64_t item);
/* How many elements the part that begins at `from` has. */
size_t list_part(size_t count, size_t from);

#endif
