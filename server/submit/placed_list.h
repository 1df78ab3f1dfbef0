/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a call puts into folders before their rows are committed, listed on the disk, so that
 * another process can take them away if this one is killed. A list is a file in
 * DOWNLOAD_DIR/.placed, made with the first entry; it is locked (flock) as long as the call lives,
 * and goes with its end. Without it, as where it cannot be written, everything works but that. */
#ifndef SERVER_SUBMIT_PLACED_LIST_H
#define SERVER_SUBMIT_PLACED_LIST_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct placed_list;

/* The key of `qmctl jobs create`, which commits some of its jobs before others: its lists are for
 * whoever deletes input files, and knows which of them jobs need (deletion_pass.h). */
#define PLACED_BY_COMMAND "jobs"
/* `key` says to others what the call was for; letters, digits and "_". In the arena; NULL: no
 * memory, which is a list too. */
struct placed_list *placed_list_begin(struct arena *arena, struct text download_dir,
                                      const char *key);
/* Before the temporary file is made, with -1, and again, with its descriptor, before it is linked
 * to its place. */
void placed_list_add(struct placed_list *list, const char *temporary, int descriptor,
                     const char *place);
/* `is_settled`: all is committed, or taken away again. Else whoever comes next has to find out. */
void placed_list_end(struct placed_list *list, bool is_settled);

enum placed_fate { PLACED_WAITS, PLACED_STAYS, PLACED_GOES };
struct placed_judge {
    /* What came of the call. */
    enum placed_fate (*of_call)(void *context, const char *key);
    /* Whether the file at a place stays though nothing came of the call: a row has its name. */
    bool (*stays)(void *context, struct text place);
    void *context;
};
/* Whether there is a list with this key that could be cleared. */
bool placed_lists_wait(struct arena *arena, struct text download_dir, const char *key);
/* Takes away what dead calls have left: their temporary files, and where nothing came of a call the
 * files that nobody counts on (inputs_lock.h). Of `most` lists of the same user, each without a
 * change for a minute. */
enum { PLACED_REST_S = 60 };
void placed_lists_clear(struct arena *arena, struct text download_dir, size_t most,
                        const struct placed_judge *judge);

#endif
