/* SPDX-License-Identifier: Apache-2.0 */
/* How many files of upload_dir no row names any more (upload_sweep.h): counted by a loop, a little
 * in each round, and kept in upload_dir/.orphans for `qmctl status`. Nothing is deleted. Whether
 * archives have them is for `qmctl files sweep` to say. */
#ifndef SERVER_PASSES_ORPHAN_COUNT_H
#define SERVER_PASSES_ORPHAN_COUNT_H

#include "server/passes/complaints.h"
#include "server/passes/upload_sweep.h"

/* Zeroed at first. */
struct orphan_round {
    int64_t folder; /* the next one */
    struct sweep_count sum;
    int64_t rests_until;
    struct complaints complaints;
};

/* Looks at some folders, of which the last one ends a turn that is repeated after a day. A folder
 * that cannot be read is named, and the turn begins again an hour later. */
MUST_CHECK enum status orphan_count_some(struct pass_owner *owner, int64_t now,
                                         struct orphan_round *round);

struct orphan_figures {
    int64_t counted_at;
    struct sweep_count sum;
};
/* False: no loop has counted yet. */
bool orphan_figures_read(const struct config *config, struct arena *arena,
                         struct orphan_figures *ret_figures);

#endif
