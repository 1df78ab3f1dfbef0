/* SPDX-License-Identifier: Apache-2.0 */
/* Sorted lists of ids and of names: made in place, and asked. */
#ifndef SERVER_BASE_SORTED_H
#define SERVER_BASE_SORTED_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* By value, each once; returns how many are left. */
size_t sorted_ids(int64_t *ids, size_t count);
/* The place of an id; `count`: it is not among them. */
size_t sorted_find_id(const int64_t *ids, size_t count, int64_t id);

/* For qsort: ids, or structs that begin with one, by it. */
int sorted_compare_ids(const void *a, const void *b);

/* Bytewise; what stands there twice stays. */
void sorted_names(struct text *names, size_t count);
bool sorted_has_name(const struct text *names, size_t count, struct text name);

#endif
