/* SPDX-License-Identifier: Apache-2.0 */
/* Job streams: apps, batches and their owners share the hosts' capacity by weight (policy(7) 10.3);
 * pure.
 *
 * Lines of config.xml name streams, and with submitter_streams each owner of a batch has one
 * without being named. A stream has a clock, which runs by what the stream was given over its
 * weight; the one that is behind is served next. The job pool keeps the clocks (server/pool/
 * stream_clocks.c); who remembers nothing between requests draws lots instead. */
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

/* Which stream; the rest is all zeros. Compared as bytes. */
struct stream_key {
    int64_t kind; /* enum stream_kind */
    int64_t id;   /* of the app, the account or the batch */
};
static inline bool stream_key_equal(struct stream_key a, struct stream_key b)
{
    return a.kind == b.kind && a.id == b.id;
}

struct stream {
    struct stream_key key;
    double weight;
    double clock; /* FLOP given over the weight */
};

/* Priority among jobs of all streams. That of a batch's owner orders the owner's own jobs only:
 * beside others each of these counts as of priority 0. */
static inline int64_t stream_level(struct stream_key key, int64_t priority)
{
    return key.kind == STREAM_USER ? 0 : priority;
}

/* What config.xml says of streams. */
struct stream_line {
    enum stream_kind kind;
    struct text name; /* of an app */
    int64_t id;
    double weight;
};
enum { STREAMS_MAX = 64 };
struct streams {
    struct stream_line items[STREAMS_MAX]; /* the first is the rest, of weight 1 unless named */
    size_t count;
    bool by_owner; /* each owner of a batch has a stream of its own */
};

/* From lines "app NAME WEIGHT", "user ID WEIGHT", "batch ID WEIGHT", "rest WEIGHT". Returns how
 * many lines are of none of these forms. */
size_t streams_read(const struct config *config, struct streams *ret_streams);
/* Whether there is any stream but the rest. */
bool streams_exist(const struct config *config);
/* Equal where the options are. */
uint64_t streams_digest(const struct config *config);

/* A job, as far as its stream goes. */
struct stream_subject {
    struct text app_name;
    int64_t appid, batch;
    int64_t ownerid;     /* of the batch; 0: none */
    double owner_weight; /* submitters' quota; 0: none is known */
};
/* The first line that means it, else its owner's stream, else the rest; with its weight, and no
 * clock. */
struct stream stream_of(const struct streams *streams, const struct stream_subject *subject);
/* A weight that is one: between 1e-6 and 1e6; 1 for what is no number. */
double stream_weight(double weight);

/* How far the streams are that were served, for those that were not: a stream that had nothing to
 * give, or nothing for the hosts that came, falls behind by no more than STREAM_BACKLOG_JOBS mean
 * jobs of its weight. Zero it before use. */
enum { STREAM_BACKLOG_JOBS = 500 };
struct stream_pace {
    double front; /* the furthest clock at which one was served */
    double mean;  /* FLOP of a job; 0: not known */
};
/* What the clock counts as, where it is further behind than that. */
double stream_clock(const struct stream_pace *pace, double clock, double weight);
/* The clock of a stream that was given a job of `flops` FLOP. */
double stream_charge(struct stream_pace *pace, double clock, double weight, double flops);

/* A clock for one who remembers nothing of the requests before: each of some streams is behind all
 * others with a likelihood that is its weight. `seed`: of the request. */
double stream_clock_drawn(uint64_t seed, struct stream_key key, double weight);

#endif
