/* SPDX-License-Identifier: Apache-2.0 */
/* How much work each job stream has received from this process. */
#ifndef SERVER_HANDOUT_STREAM_LEDGER_H
#define SERVER_HANDOUT_STREAM_LEDGER_H

#include "config/config.h"
#include "server/base/status.h"
#include "server/policy/dispatch/checks.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct request;

/* Shared by all threads; NULL where a process serves one request. */
struct stream_ledger;
struct stream_ledger *stream_ledger_create(void); /* NULL: no memory */
void stream_ledger_destroy(struct stream_ledger *ledger);

/* The streams of config.xml and what they have had, for the view; nothing without streams. False:
 * no memory. */
bool shares_read(const struct request *request, struct host_view *view);
/* Sets the stream of each job. */
MUST_CHECK enum status shares_mark(struct request *request, const struct host_view *view,
                                   struct job *jobs, size_t count);
/* The job was got: books it for what is chosen after it in this request, and notes it for
 * shares_commit. */
void shares_book(struct request *request, struct host_view *view, const struct job *job);
/* After the commit: books what was sent for the requests to come. */
void shares_commit(struct request *request);

/* What each of these streams is to have and has had, for people. */
struct stream_given {
    struct text words; /* as config.xml names it: "app demo" */
    double weight;
    double flops; /* handed out since the ledger knows these streams, in FLOP */
};
/* Any thread. Of no lines there are no streams. False: no memory. */
bool stream_ledger_figures(struct stream_ledger *ledger, struct text_list lines,
                           struct arena *arena, struct stream_given **ret_streams,
                           size_t *ret_count);

#endif
