/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that share a transaction.
 *
 * The end of a transaction is dear: the disk has to confirm it, the database wakes a thread for it,
 * and so do we. So where more requests wait, one whose steps are done is not committed yet. The
 * next one goes on in its transaction, on the same connection, as its guest, and one COMMIT ends
 * all of them. Then their replies are written. Where nobody waits each request commits by itself.
 *
 * As before, each request is kept whole or not at all, and is answered after the COMMIT that keeps
 * it:
 *
 *   a guest is refused           what it did is undone by a savepoint; its reply waits for the
 * others a guest fails, or meets a    the same, the others are committed, and then it is tried
 * again locked row                   alone: only then locks are waited for (db_wait_for_locks) the
 * transaction is lost      nothing was kept, and each is tried again alone nobody knows what became
 * the guard row of any of them tells for all: they are there together of the COMMIT or none is
 *
 * Later steps see what the requests before them wrote, as they would if these were committed. That
 * the first reply waits for the guests is bounded by whoever takes them in
 * (server/process/serve_line.c).
 */
#ifndef SERVER_REQUEST_TOGETHER_H
#define SERVER_REQUEST_TOGETHER_H

#include "server/request/walk.h"

#include <stdbool.h>
#include <stddef.h>

enum { TOGETHER_MOST = 8 };

/* Of one connection. Zero it, but for what is given. */
struct together {
    bool (*others_wait)(void *context); /* whether a guest would be taken in now */
    void *context;
    struct request *members[TOGETHER_MOST]; /* in the order in which they came */
    bool is_refused[TOGETHER_MOST];
    size_t count;
    bool is_lost; /* the transaction of them all */
};

/* Runs a request behind request_begin, as a guest if there are members. OUTCOME_JOINED: it is a
 * member, and together_commit is to follow. OUTCOME_AGAIN (guests only): it did nothing that is
 * kept, and is to be tried again alone behind together_commit. Any other: it has ended. */
enum outcome together_add(struct together *together, struct request *request);

/* Commits all members. What it returns is for together_outcome. */
enum outcome together_commit(struct together *together);

/* What became of member `index`. Runs it alone, if `all` says that nothing was kept. */
enum outcome together_outcome(const struct together *together, size_t index, enum outcome all);

#endif
