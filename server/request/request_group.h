/* SPDX-License-Identifier: Apache-2.0 */
/* A group: requests that share a transaction.
 *
 * COMMIT is expensive: the disk has to confirm it, the database wakes a thread for it, and so do
 * we. While more requests wait, one whose steps are done is therefore not committed yet. The next
 * one joins it: it goes on in the same transaction, on the same connection, and one COMMIT ends
 * all of them, the members of a group. Then their replies are written. If no request waits, each
 * commits by itself.
 *
 * Each request is still committed whole or not at all, and answered after that COMMIT:
 *
 * - What a refused member did is undone by a savepoint; its reply waits for the others.
 * - So it is with one that joins and fails, or meets a locked row. The others are committed, and
 *   then it is tried again alone: only then locks are waited for (db_wait_for_locks). What is
 *   written for all at the end fails for all.
 * - If the transaction is lost, nothing was kept, and each is tried again alone.
 * - If nobody knows what became of the COMMIT, the guard row of any of them tells for all: they are
 *   there together or none is.
 *
 * What requests ask of their hosts first (the host's row with its user, the statistics of its
 * versions, its jobs in progress) is read for several of them by one statement of each kind
 * (request_group_read), which locks all these hosts. A request changes only rows of its own user:
 * the user's row, hosts and their jobs. If several requests are of one user, only the first uses
 * the rows that were read together; the others read again, and see what the first one wrote. The
 * rows are forgotten when the transaction ends, as the locks are.
 *
 * Later steps see what the requests before them wrote, as they would if these were committed,
 * though the database may write it for all of them at the end (db/mariadb_tail.c).
 * server/process/worker_serve.c bounds how long the first reply waits for requests that join. */
#ifndef SERVER_REQUEST_REQUEST_GROUP_H
#define SERVER_REQUEST_REQUEST_GROUP_H

#include "server/request/walk.h"

#include <stdbool.h>
#include <stddef.h>

enum { REQUEST_GROUP_MOST = 8 };

/* Of one connection. Zero it, but for what is given. */
struct request_group {
    bool (*others_wait)(void *context); /* whether one would join now */
    void *context;
    struct request *members[REQUEST_GROUP_MOST]; /* in the order in which they came */
    bool is_refused[REQUEST_GROUP_MOST];
    size_t count;
    bool is_lost; /* the transaction of them all */

    struct arena *arena; /* for what is read for several; given, NULL: nothing is */
    struct host_rows host_rows[REQUEST_GROUP_MOST];
    struct request *readers[REQUEST_GROUP_MOST]; /* whose rows these are */
    size_t reader_count, read_at;                /* and how many members there were then */
};

/* Reads for requests behind request_begin, which will be added one after the other, what they will
 * ask of their hosts. The transaction of those that are members already must not be lost; it may be
 * afterwards. What could not be read is asked by each request itself. */
void request_group_read(struct request_group *group, struct request *const *requests, size_t count);

/* Runs a request behind request_begin, which joins if there are members. OUTCOME_JOINED: it is a
 * member, and request_group_commit is to follow. OUTCOME_AGAIN (those that join only): it did
 * nothing that is kept, and is to be tried again alone behind request_group_commit. Any other: it
 * has ended. */
enum outcome request_group_add(struct request_group *group, struct request *request);

/* Commits all members. What it returns is for request_group_outcome. */
enum outcome request_group_commit(struct request_group *group);

/* When all are answered: the next one is the first again. */
void request_group_end(struct request_group *group);

/* What became of member `index`. Runs it alone, if `all` says that nothing was kept. */
enum outcome request_group_outcome(const struct request_group *group, size_t index,
                                   enum outcome all);

#endif
