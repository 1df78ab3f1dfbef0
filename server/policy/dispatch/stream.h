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

struct arena;

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

/* What a job counts, in FLOP: its estimate, and something. */
static inline double stream_flops(double rsc_fpops_est)
{
    return rsc_fpops_est >= 1 ? rsc_fpops_est : 1;
}
/* Jobs of so many FLOP are given to it. */
static inline void stream_advance(struct stream *stream, double flops)
{
    stream->clock += flops / stream->weight;
}

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
    struct stream_line *items; /* the first is the rest, of weight 1 unless it is named */
    size_t count;              /* STREAMS_MAX at most */
    bool by_owner;             /* each owner of a batch has a stream of its own */
};

/* From lines "app NAME WEIGHT", "user ID WEIGHT", "batch ID WEIGHT", "rest WEIGHT". *ret_bad: how
 * many lines are of none of these forms. Its memory is the arena's. False: no memory. */
bool streams_read(const struct config *config, struct arena *arena, struct streams *ret_streams,
                  size_t *ret_bad);
/* Whether there may be any stream but the rest. */
bool streams_exist(const struct config *config);
/* Whether a line names one of this kind. */
bool streams_name(const struct streams *streams, enum stream_kind kind);
/* Whether it matters whose batch a job is of. */
static inline bool streams_ask_for_owners(const struct streams *streams)
{
    return streams->by_owner || streams_name(streams, STREAM_USER);
}
/* Equal where the options are. */
uint64_t streams_digest(const struct config *config);

/* A job, as far as its stream goes. */
struct stream_subject {
    struct text app_name;
    int64_t appid, batch;
    int64_t ownerid;     /* of the batch; 0: none */
    double owner_weight; /* its quota as a submitter; below 0: none */
};
/* The first line that means it, else its owner's stream, else the rest; with its weight, and no
 * clock. */
struct stream stream_of(const struct streams *streams, const struct stream_subject *subject);
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
/* The stream was given a job of so many FLOP. */
void stream_charge(struct stream_pace *pace, struct stream *stream, double flops);

/* A clock for one who remembers nothing of the requests before: each of some streams is behind all
 * others with a likelihood that is its weight. `seed`: of the request. */
double stream_clock_drawn(uint64_t seed, struct stream_key key, double weight);

#endif
