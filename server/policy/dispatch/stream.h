/* SPDX-License-Identifier: Apache-2.0 */
/* Job streams: apps, batches and their submitters share the hosts' capacity by weights of
 * config.xml (policy(7) 10.3); pure. */
#ifndef SERVER_POLICY_DISPATCH_STREAM_H
#define SERVER_POLICY_DISPATCH_STREAM_H

#include "config/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stream_kind {
    STREAM_REST, /* whatever no other stream names */
    STREAM_APP,
    STREAM_USER, /* the owner of the batch */
    STREAM_BATCH
};
struct stream {
    enum stream_kind kind;
    struct text name; /* of an app */
    int64_t id;
    double weight;
};
enum { STREAMS_MAX = 64 };
struct streams {
    struct stream items[STREAMS_MAX]; /* the first is the rest, of weight 1 unless it is named */
    size_t count;
};

/* From lines "app NAME WEIGHT", "user ID WEIGHT", "batch ID WEIGHT", "rest WEIGHT". Returns how
 * many lines are of none of these forms. */
size_t streams_read(struct text_list lines, struct streams *ret_streams);

/* Equal for equal lines. */
uint64_t stream_lines_key(struct text_list lines);

/* The first stream that means such a job; `ownerid` of its batch, 0: none. */
size_t stream_of(const struct streams *streams, struct text app_name, int64_t batch,
                 int64_t ownerid);

/* What each stream has had, in FLOP by weight. Zero it before use. */
struct stream_shares {
    double used[STREAMS_MAX];
    double mean; /* FLOP of a job */
};

/* Books a job of `flops` FLOP. A stream that had nothing to give, or nothing for the hosts that
 * came, falls behind by no more than STREAM_BACKLOG_JOBS mean jobs of its weight. */
enum { STREAM_BACKLOG_JOBS = 500 };
void stream_charge(const struct streams *streams, struct stream_shares *shares, size_t stream,
                   double flops);

/* Shares for one who remembers nothing of the requests before: each stream is behind all others
 * with a likelihood that is its weight. `chances` are uniform in (0, 1]. */
void stream_shares_draw(const struct streams *streams, const double chances[STREAMS_MAX],
                        struct stream_shares *ret_shares);

#endif
