/* SPDX-License-Identifier: Apache-2.0 */
/* How many workers work at a time.
 *
 * Where the machine's processors have time left, all of them do. Where they are busy, one more
 * thread serves nothing more: it only takes their time from those that work. Fewer threads then
 * have more requests to commit together (server/request/together.h), and each costs less. So while
 * the machine is busy the limit falls, down to the number of its processors, or this server's part
 * of them where several work on one database. It rises as soon as processors are idle, as they are
 * where the database is on another machine, or all wait for the disk.
 *
 * Nobody waits for those that work but do not get on, as where rows are locked or a web server does
 * not read: if no worker has taken a request for a moment, the next one may begin, whatever the
 * limit is. Pure: no clock; the receiver calls it under its lock. */
#ifndef SERVER_PROCESS_CONCURRENCY_H
#define SERVER_PROCESS_CONCURRENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* That moment. */
#define CONCURRENCY_STUCK_NS UINT64_C(5000000)
/* How often concurrency_note_busy is to be called, where requests come. */
#define CONCURRENCY_NOTE_NS UINT64_C(100000000)

struct concurrency {
    size_t workers;    /* in all */
    size_t processors; /* of the machine */
    size_t servers;    /* of the database, this one too */
    size_t limit;      /* that work at a time */
    uint64_t taken_ns; /* monotonic: when the last request was taken */
};

/* Without a limit at first, and for one server. */
struct concurrency concurrency_of(size_t workers, size_t processors);
/* The part of their time that the machine's processors were busy since the last call: the limit
 * falls by a quarter, is doubled, or stays. It stays, too, where that is not known (NAN). */
void concurrency_note_busy(struct concurrency *concurrency, double part);
/* From the next call of concurrency_note_busy on. 0 counts as 1. */
void concurrency_set_servers(struct concurrency *concurrency, size_t servers);
void concurrency_note_taken(struct concurrency *concurrency, uint64_t now_ns);
/* Whether one more worker may take a request where so many are working. */
bool concurrency_permits(const struct concurrency *concurrency, size_t working, uint64_t now_ns);

#endif
