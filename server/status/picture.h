/* SPDX-License-Identifier: Apache-2.0 */
/* A picture of the last day as a figure of HTML with an SVG in it. The SVG has no words that would
 * shrink with a narrow window: scale, times and legend are around it, and what a reader who sees
 * nothing is told is its title and description. */
#ifndef SERVER_STATUS_PICTURE_H
#define SERVER_STATUS_PICTURE_H

#include "server/status/day_ring.h"

#include <stdbool.h>
#include <stddef.h>

struct buffer;

enum { PICTURE_SERIES_MAX = 4 };

struct picture {
    const char *id;    /* a word, unique on the page */
    const char *title; /* with what is measured; escaped, as `words` are */
    const char *unit;  /* behind figures: "per second" */
    bool is_stacked;   /* the series add up, and are areas; else each is a line */
    size_t count;
    struct {
        const char *words;
        double values[DAY_SLOTS]; /* oldest first; NAN: not known; none is negative */
    } series[PICTURE_SERIES_MAX];
};

/* `begin`: epoch of the first value. */
void picture_write(const struct picture *picture, int64_t begin, struct buffer *page);

#endif
