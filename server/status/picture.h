/* SPDX-License-Identifier: Apache-2.0 */
/* A picture of the last hour, day or week as a figure of HTML with an SVG in it. The SVG has no
 * words that would shrink with a narrow window: scale, times and legend are around it. Screen
 * readers read its title and description. */
#ifndef SERVER_STATUS_PICTURE_H
#define SERVER_STATUS_PICTURE_H

#include "server/status/slot_ring.h"

#include <stdbool.h>
#include <stddef.h>

struct buffer;

enum { PICTURE_SERIES_MAX = 4, PICTURE_VALUES_MAX = DAY_SLOTS, WEEK_SLOTS = 7 * 24 };
_Static_assert((int)HOUR_SLOTS <= (int)DAY_SLOTS && (int)WEEK_SLOTS <= (int)DAY_SLOTS,
               "no picture has more values than that of a day");

/* How long a time is drawn: by minutes, by five minutes, by hours. */
enum picture_span { PICTURE_HOUR, PICTURE_DAY, PICTURE_WEEK, PICTURE_SPANS };
struct picture_span_shape {
    const char *word;  /* before ids: "hour" */
    const char *words; /* "last hour" */
    size_t values;     /* steps that are drawn */
    int64_t step_s;    /* how long a step is */
    size_t group;      /* steps of which a pointer is told the mean */
    size_t parts;      /* equal parts, between which there are times and lines */
    bool has_dates;    /* times are days of the month as well */
};
extern const struct picture_span_shape picture_spans[PICTURE_SPANS];

struct picture {
    enum picture_span span;
    const char *id;    /* a word, with the span's unique on the page */
    const char *title; /* with what is measured; escaped, as `words` are */
    const char *unit;  /* behind figures: "per second" */
    bool is_stacked;   /* the series add up, and are areas; else each is a line */
    size_t count;
    struct {
        const char *words;
        double values[PICTURE_VALUES_MAX]; /* the span's steps, oldest first; NAN: not known; none
                                              is negative */
    } series[PICTURE_SERIES_MAX];
};

/* `begin`: epoch of the first value. */
void picture_write(const struct picture *picture, int64_t begin, struct buffer *page);

#endif
