/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a client's bytes on their way into a column. */
#ifndef DB_DB_VALUE_H
#define DB_DB_VALUE_H

#include "server/base/text.h"

#include <stddef.h>
#include <stdint.h>

struct arena;

/* The database refuses a statement for one byte that is no UTF-8, and a volunteer's machine may be
 * called anything: each such byte becomes '?'. `bytes_per_character` is the longest sequence that
 * the column's character set knows: 4, 3, or 0 for one that takes every byte. At most `most` bytes
 * remain, cut between characters; most 0: no bound. Copied only when something changes. */
struct text value_text(struct arena *arena, struct text text, unsigned bytes_per_character,
                       size_t most);
int64_t value_int32(int64_t number); /* brought into the range of an int column */
double value_finite(double number);  /* 0 for what the database cannot hold */
/* The pattern of LIKE for what begins so; empty: anything. */
struct text value_like_prefix(struct arena *arena, struct text prefix);

#endif
