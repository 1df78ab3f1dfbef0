/* SPDX-License-Identifier: Apache-2.0 */
/* How many workers work at a time.
 *
 * Where the machine's processors have time left, all of them do. Where they are busy, one more
 * thread serves nothing more: it only takes their time from those that work. Fewer threads then
 * have more requests to commit together (request_group.h), and each costs less. While the machine
 * is busy, the limit therefore falls, down to the number of processors, or to this server's share
 * of them if several servers use one database. It rises as soon as processors are idle, for
 * example because the database is on another machine or all workers wait for the disk.
 *
 * A worker that has taken no request for CONCURRENCY_STUCK_NS is stuck, for example at a locked
 * row or a web server that does not read, and does not count. The time is longer than a
 * transaction accepts further requests (GROUP_TIME_LONGEST_NS) plus its COMMIT. Pure: no clock;
 * the receiver calls it under its lock. */
#ifndef SERVER_PROCESS_CONCURRENCY_H
#define SERVER_PROCESS_CONCURRENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONCURRENCY_STUCK_NS UINT64_C(40000000)
/* How often concurrency_note_busy is to be called, where requests come. */
#define CONCURRENCY_NOTE_NS UINT64_C(100000000)

struct concurrency {
    size_t workers;    /* in all */
    size_t processors; /* of the machine */
    size_t servers;    /* of the database, this one too */
    size_t limit;      /* that work at a time */
};

/* Without a limit at first, and for one server. */
struct concurrency concurrency_of(size_t workers, size_t processors);
/* The part of their time that the machine's processors were busy since the last call: the limit
 * falls by a quarter, is doubled, or stays. It stays, too, where that is not known (NAN). */
void concurrency_note_busy(struct concurrency *concurrency, double part);
/* From the next call of concurrency_note_busy on. 0 counts as 1. */
void concurrency_set_servers(struct concurrency *concurrency, size_t servers);
/* Whether a worker that took its last request then counts. Monotonic times. */
bool concurrency_gets_on(uint64_t taken_ns, uint64_t now_ns);
/* Whether one more worker may take a request where so many get on. */
bool concurrency_permits(const struct concurrency *concurrency, size_t getting_on);

#endif
