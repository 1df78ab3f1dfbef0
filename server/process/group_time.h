/* SPDX-License-Identifier: Apache-2.0 */
/* How long requests that share a transaction may wait for one another (worker_serve.c).
 *
 * The first of them is answered only when all have run and are committed, so no request joins a
 * transaction that began too long ago. Requests that arrive while a worker runs a group wait for
 * that group, too. A worker therefore takes only as many as it can run in half of the remaining
 * time, judged by the recent duration of one. Pure: no clock. All times are monotonic, in ns. */
#ifndef SERVER_PROCESS_GROUP_TIME_H
#define SERVER_PROCESS_GROUP_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GROUP_TIME_LONGEST_NS UINT64_C(25000000)

struct group_time {
    uint64_t begun_ns;     /* when the first of them was begun */
    uint64_t usual_run_ns; /* what one of them takes */
};

/* A request was run: from now on it counts for an eighth of what is usual. */
void group_time_note_run(struct group_time *time, uint64_t took_ns);
/* Whether others may still join. */
bool group_time_is_left(const struct group_time *time, uint64_t now_ns);
/* Whether one more may be taken by a worker that has taken `taken` which it has yet to run. */
bool group_time_has_room(const struct group_time *time, size_t taken, uint64_t now_ns);

#endif
