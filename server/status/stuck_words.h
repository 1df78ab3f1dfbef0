/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting jobs that no host can run, as the text of a row of qm_figures: qmctl finds them, servers
 * show them. Pure. */
#ifndef SERVER_STATUS_STUCK_WORDS_H
#define SERVER_STATUS_STUCK_WORDS_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buffer;

/* Waiting jobs that fare alike, and that none of the hosts asked can have. */
struct stuck_class {
    struct text app, job, words; /* a job of them, and what stands against most hosts */
    int64_t jobs;
};
struct stuck_jobs {
    int64_t at;          /* when that was found; 0: not known */
    int64_t kinds;       /* of waiting jobs that were looked at */
    int64_t hosts, jobs; /* hosts asked; 0: of none is known what it is. Jobs of all classes */
    bool is_limited;     /* not all waiting jobs were looked at, so there may be more */
    const struct stuck_class *classes;
    size_t count;
};
enum { STUCK_CLASSES_MOST = 20, STUCK_CURRENT_S = 2 * 86400 };

/* Of the classes no more than may be. */
void stuck_words_write(const struct stuck_jobs *stuck, struct buffer *ret_words);
/* Lines that are not understood are passed over. False: no memory. */
bool stuck_words_read(struct arena *arena, struct text words, struct stuck_jobs *ret_stuck);
/* What was found longer ago says nothing any more. */
bool stuck_is_current(const struct stuck_jobs *stuck, int64_t now);

#endif
