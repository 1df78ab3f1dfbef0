/* SPDX-License-Identifier: Apache-2.0 */
/* Each stream has a clock that runs by what it was given over its weight; the one that is behind is
 * served next. So over time everybody has a part by weight, whatever the sizes of jobs, and nobody
 * waits for a stream that has nothing to give. */
#include "server/policy/dispatch/stream.h"

#include "server/base/random.h"

#include <math.h>

#include "server/base/banned.h"

#define WEIGHT_MIN  1e-6
#define WEIGHT_MAX  1e6
#define MEAN_PART   0.01 /* of a new job in the mean */
#define DRAWN_FLOPS 1e13 /* any number does; see stream_shares_draw */

static struct text next_word(struct text *rest)
{
    *rest = text_trim(*rest);
    return text_split(rest, ' ');
}

static bool read_stream(struct text line, struct stream *ret_stream)
{
    struct stream stream = {.kind = STREAM_REST};
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

size_t streams_read(struct text_list lines, struct streams *ret_streams)
{
    struct streams *streams = ret_streams;
    size_t bad = 0;

    *streams = (struct streams){.items = {{.kind = STREAM_REST, .weight = 1}}, .count = 1};
    for (size_t i = 0; i < lines.count; i++) {
        struct stream stream;

        if (!read_stream(lines.items[i], &stream))
            bad++;
        else if (stream.kind == STREAM_REST)
            streams->items[0].weight = stream.weight;
        else if (streams->count < STREAMS_MAX)
            streams->items[streams->count++] = stream;
        else
            bad++;
    }
    return bad;
}

uint64_t stream_lines_key(struct text_list lines)
{
    uint64_t key = lines.count;

    for (size_t i = 0; i < lines.count; i++) {
        key = random_mix(key, lines.items[i].length);
        for (size_t j = 0; j < lines.items[i].length; j++)
            key = random_mix(key, (uint64_t)(unsigned char)lines.items[i].at[j]);
    }
    return key;
}

size_t stream_of(const struct streams *streams, struct text app_name, int64_t batch,
                 int64_t ownerid)
{
    for (size_t i = 1; i < streams->count; i++) {
        const struct stream *stream = &streams->items[i];
        bool is_meant = false;

        switch (stream->kind) {
        case STREAM_REST:
            break;
        case STREAM_APP:
            is_meant = text_equal(stream->name, app_name);
            break;
        case STREAM_USER:
            is_meant = stream->id == ownerid; /* which is 0 for nobody's, as no stream's id is */
            break;
        case STREAM_BATCH:
            is_meant = stream->id == batch;
            break;
        }
        if (is_meant)
            return i;
    }
    return 0;
}

void stream_charge(const struct streams *streams, struct stream_shares *shares, size_t stream,
                   double flops)
{
    double clock;

    if (!(flops >= 1))
        flops = 1;
    shares->mean = shares->mean > 0 ? shares->mean + MEAN_PART * (flops - shares->mean) : flops;
    clock = shares->used[stream];
    for (size_t i = 0; i < streams->count; i++)
        shares->used[i] = fmax(shares->used[i], clock - STREAM_BACKLOG_JOBS * shares->mean /
                                                            streams->items[i].weight);
    shares->used[stream] += flops / streams->items[stream].weight;
}

/* Of clocks drawn like this one is the first with a likelihood of its weight among all; the scale
 * only says how soon the others follow in the same request. */
void stream_shares_draw(const struct streams *streams, const double chances[STREAMS_MAX],
                        struct stream_shares *ret_shares)
{
    *ret_shares = (struct stream_shares){.mean = DRAWN_FLOPS};
    for (size_t i = 0; i < streams->count; i++)
        ret_shares->used[i] =
            -log(fmax(chances[i], 1e-300)) * DRAWN_FLOPS / streams->items[i].weight;
}
