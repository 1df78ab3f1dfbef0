/* SPDX-License-Identifier: Apache-2.0 */
/* How long requests that share a transaction may wait for one another (serve_line.c).
 *
 * The first of them is answered when all are run and committed, so no guests are taken in by a
 * transaction that began some time ago. Whoever comes while a worker runs those that it has taken
 * waits for them, too; therefore it takes only as many as it can run in half of the time that is
 * left, by what one of them has taken of late. Pure: no clock. All times are monotonic, in ns. */
#ifndef SERVER_PROCESS_GUEST_TIME_H
#define SERVER_PROCESS_GUEST_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GUEST_TIME_LONGEST_NS UINT64_C(25000000)

struct guest_time {
    uint64_t begun_ns;     /* when the first of them was begun */
    uint64_t usual_run_ns; /* what one of them takes */
};

/* A request was run: from now on it counts for an eighth of what is usual. */
void guest_time_note_run(struct guest_time *time, uint64_t took_ns);
/* Whether guests may still be taken in. */
bool guest_time_is_left(const struct guest_time *time, uint64_t now_ns);
/* Whether one more may be taken by a worker that has taken `taken` which it has yet to run. */
bool guest_time_has_room(const struct guest_time *time, size_t taken, uint64_t now_ns);

#endif
