/* SPDX-License-Identifier: Apache-2.0 */
/* Each stream has a clock that runs by what it was given over its weight; the one that is behind is
 * served next. So over time everybody has a part by weight, whatever the sizes of jobs, and nobody
 * waits for a stream that has nothing to give. */
#include "server/policy/dispatch/stream.h"

#include "server/base/arena.h"
#include "server/base/between.h"
#include "server/base/random.h"

#include <math.h>

#include "server/base/banned.h"

#define WEIGHT_MIN  1e-6
#define WEIGHT_MAX  1e6
#define MEAN_PART   0.01 /* of a new job in the mean */
#define DRAWN_FLOPS 1e13 /* any number does; see stream_clock_drawn */

static struct text next_word(struct text *rest)
{
    *rest = text_trim(*rest);
    return text_split(rest, ' ');
}

static bool read_line(struct text line, struct stream_line *ret_stream)
{
    struct stream_line stream = {.kind = STREAM_REST};
    struct text kind = next_word(&line);

    if (text_is(kind, "app")) {
        stream.kind = STREAM_APP;
        stream.name = next_word(&line);
    } else if (text_is(kind, "user") || text_is(kind, "batch")) {
        stream.kind = text_is(kind, "user") ? STREAM_USER : STREAM_BATCH;
        if (!text_to_i64(next_word(&line), &stream.id) || stream.id <= 0)
            return false;
    } else if (!text_is(kind, "rest")) {
        return false;
    }
    if (!text_to_real(text_trim(line), &stream.weight) || stream.weight < WEIGHT_MIN ||
        stream.weight > WEIGHT_MAX)
        return false;
    *ret_stream = stream;
    return true;
}

bool streams_read(const struct config *config, struct arena *arena, struct streams *ret_streams,
                  size_t *ret_bad)
{
    struct text_list lines = config->stream;
    size_t most = lines.count < STREAMS_MAX ? lines.count + 1 : STREAMS_MAX;
    struct streams streams = {.items = ARENA_ARRAY(arena, most, struct stream_line),
                              .count = 1,
                              .by_owner = config->submitter_streams};

    *ret_bad = 0;
    if (streams.items == NULL)
        return false;
    streams.items[0] = (struct stream_line){.kind = STREAM_REST, .weight = 1};
    for (size_t i = 0; i < lines.count; i++) {
        struct stream_line stream;

        if (!read_line(lines.items[i], &stream))
            ++*ret_bad;
        else if (stream.kind == STREAM_REST)
            streams.items[0].weight = stream.weight;
        else if (streams.count < most)
            streams.items[streams.count++] = stream;
        else
            ++*ret_bad;
    }
    *ret_streams = streams;
    return true;
}

bool streams_exist(const struct config *config)
{
    return config->stream.count > 0 || config->submitter_streams;
}

uint64_t streams_digest(const struct config *config)
{
    struct text_list lines = config->stream;
    uint64_t digest = 2 * lines.count + config->submitter_streams;

    for (size_t i = 0; i < lines.count; i++) {
        digest = random_mix(digest, lines.items[i].length);
        for (size_t j = 0; j < lines.items[i].length; j++)
            digest = random_mix(digest, (uint64_t)(unsigned char)lines.items[i].at[j]);
    }
    return digest;
}

bool streams_name(const struct streams *streams, enum stream_kind kind)
{
    for (size_t i = 0; i < streams->count; i++)
        if (streams->items[i].kind == kind)
            return true;
    return false;
}

static bool means(const struct stream_line *line, const struct stream_subject *subject,
                  int64_t *ret_id)
{
    switch (line->kind) {
    case STREAM_REST:
        break;
    case STREAM_APP:
        *ret_id = subject->appid;
        return text_equal(line->name, subject->app_name);
    case STREAM_USER:
        *ret_id = subject->ownerid;
        return line->id == subject->ownerid; /* which is 0 for nobody's, as no stream's id is */
    case STREAM_BATCH:
        *ret_id = subject->batch;
        return line->id == subject->batch;
    }
    return false;
}

struct stream stream_of(const struct streams *streams, const struct stream_subject *subject)
{
    for (size_t i = 1; i < streams->count; i++) {
        const struct stream_line *line = &streams->items[i];
        struct stream stream = {.key = {.kind = line->kind}, .weight = line->weight};

        if (means(line, subject, &stream.key.id))
            return stream;
    }
    if (streams->by_owner && subject->ownerid > 0)
        return (struct stream){.key = {STREAM_USER, subject->ownerid},
                               .weight =
                                   subject->owner_weight >= 0
                                       ? between(subject->owner_weight, WEIGHT_MIN, WEIGHT_MAX)
                                       : 1};
    return (struct stream){.weight = streams->items[0].weight};
}

double stream_clock(const struct stream_pace *pace, double clock, double weight)
{
    return pace->mean > 0 ? fmax(clock, pace->front - STREAM_BACKLOG_JOBS * pace->mean / weight)
                          : clock;
}

void stream_charge(struct stream_pace *pace, struct stream *stream, double flops)
{
    stream->clock = stream_clock(pace, stream->clock, stream->weight);
    pace->mean = pace->mean > 0 ? pace->mean + MEAN_PART * (flops - pace->mean) : flops;
    pace->front = fmax(pace->front, stream->clock);
    stream_advance(stream, flops);
}

/* Of clocks drawn like this one is the first with a likelihood of its weight among all; the scale
 * only says how soon the others follow in the same request. */
double stream_clock_drawn(uint64_t seed, struct stream_key key, double weight)
{
    struct random random = {.state =
                                random_mix(random_mix(seed, (uint64_t)key.kind), (uint64_t)key.id)};

    return -log(fmax(1 - random_unit(&random), 1e-300)) * DRAWN_FLOPS / weight;
}
