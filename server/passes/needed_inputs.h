/* SPDX-License-Identifier: Apache-2.0 */
/* The names of input files that some unfinished workunit still needs, or that a submitter wants
 * kept. No index has them, so the documents of all unfinished workunits are read. Names and
 * workunits are kept as hashes, in eight to sixteen bytes each. If two have the same hash, a file
 * is kept for too long, and no harm is done. */
#ifndef SERVER_PASSES_NEEDED_INPUTS_H
#define SERVER_PASSES_NEEDED_INPUTS_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct db;

/* Zeroed at first. */
struct needed_inputs {
    uint64_t *hashes; /* rising once all is read */
    size_t count, room;
};

/* The caller holds inputs_lock.h alone, and so nobody makes jobs meanwhile, or takes failed ones up
 * again. Each page is read in a transaction of its own. The arena is reset. */
MUST_CHECK enum status needed_inputs_read(struct needed_inputs *needed, struct db *db,
                                          struct arena *arena, int64_t now);
void needed_inputs_free(struct needed_inputs *needed);

bool needed_inputs_have(const struct needed_inputs *needed, struct text name);
/* Whether the workunit itself was unfinished. If it is finished by now, its files are not needed
 * for that alone, but nobody knows whether others that ended since named them: they stay until what
 * is needed is read again. */
bool needed_inputs_are_of(const struct needed_inputs *needed, int64_t workunitid);

#endif
