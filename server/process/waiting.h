/* SPDX-License-Identifier: Apache-2.0 */
/* The line in which requests wait for a worker thread.
 *
 * The receiver adds each request as soon as it is there whole, and a worker takes the next one
 * when it is free. Two rules say which one is next. Requests that report results go before those
 * that do not, since what is reported late may be lost; but one turn of four is for those that do
 * not, or they would wait for ever where all threads are busy with reports. And no account makes
 * another wait: accounts take turns, and one that holds its share of the threads is passed over
 * while others wait. Further requests of the account wait in its own line.
 *
 * Requests that come next should find a free thread, too. An account whose request held a thread
 * for long is therefore held to its share for a while even if nobody else waits, and one whose
 * request took much CPU gets one thread at a time: two such requests at once would leave a small
 * machine no CPU.
 *
 * An account is a number that stands for the key in the request (the receiver only looks at its
 * head, the key may be wrong). Since anybody can write a new key into each request, all whose key
 * is not known to be right share the line of strangers. It has one turn of four while others wait,
 * however many accounts these are; the time of a stranger's request is charged to nobody.
 *
 * Pure: no threads, no clock; callers with several threads have to lock. */
#ifndef SERVER_PROCESS_WAITING_H
#define SERVER_PROCESS_WAITING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct waiting_line;
struct waiting_account;

/* The account of all strangers. */
#define WAITING_STRANGERS UINT64_MAX

/* From these on, a request has held a thread for long, or has taken much CPU. */
#define WAITING_LONG_NS UINT64_C(250000000)
#define WAITING_DEAR_NS UINT64_C(10000000)
/* How long its account is held to that. */
#define WAITING_MEMORY_NS UINT64_C(10000000000)

/* What serving a request took. */
struct thread_use {
    uint64_t now_ns;          /* monotonic */
    uint64_t held_ns, cpu_ns; /* of the thread */
};

/* A request that waits; it is part of the caller's own struct and belongs to the caller. */
struct waiting_entry {
    /* A stranger's may be set to its own once its key was found, before waiting_finish: that
     * account pays for what the request took. */
    uint64_t account;
    bool has_reports;
    uint64_t arrived_ns;                 /* monotonic */
    struct waiting_entry *next;          /* of the account */
    struct waiting_entry *older, *newer; /* of all */
    struct waiting_account *of;          /* set from waiting_add to waiting_finish */
};

/* An account is served by at most `share` threads at a time while others wait. NULL: no memory. */
struct waiting_line *waiting_create(size_t share);
void waiting_destroy(struct waiting_line *line); /* NULL is fine; it is empty */

/* False: no memory; the entry does not wait. */
bool waiting_add(struct waiting_line *line, struct waiting_entry *entry);
/* The next one, which is served until waiting_finish. NULL: nobody waits who may be served now. */
struct waiting_entry *waiting_take(struct waiting_line *line);
/* Of one that is served: an earlier request of its account held a thread for long, or took much
 * CPU, a while ago. */
bool waiting_is_dear(const struct waiting_entry *entry);
void waiting_finish(struct waiting_line *line, struct waiting_entry *entry, struct thread_use use);

size_t waiting_length(const struct waiting_line *line); /* that wait */
/* About how many would be served before this entry, if it were added now and none came after it:
 * all that wait, but of other accounts only as many as have their turn before, and of the other
 * kind, with reports or without, only its part of the turns. */
size_t waiting_ahead(const struct waiting_line *line, const struct waiting_entry *entry);
/* When the oldest of those that wait came; 0: nobody waits. */
uint64_t waiting_oldest_ns(const struct waiting_line *line);

#endif
