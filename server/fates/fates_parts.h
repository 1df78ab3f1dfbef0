/* SPDX-License-Identifier: Apache-2.0 */
/* What a flush takes out of the memory of a fates; for the files of this folder. */
#ifndef SERVER_FATES_FATES_PARTS_H
#define SERVER_FATES_FATES_PARTS_H

#include "db/fate_rows.h"
#include "server/fates/fates.h"

struct arena;

struct fates_sums {
    struct fate_count *counts; /* in the arena */
    size_t count;
    struct host_fates *hosts;
    size_t host_count;
    int64_t hour; /* the latest */
};

/* Takes out all sums, which count as written then. False: no memory, and nothing was taken. */
bool fates_take(struct fates *fates, struct arena *arena, struct fates_sums *ret_sums);
/* They were not written after all. */
void fates_give_back(struct fates *fates, const struct fates_sums *sums);

#endif
