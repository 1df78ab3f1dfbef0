/* SPDX-License-Identifier: Apache-2.0 */
/* A slot is one unit wide, the picture 100 units high. Each series is one path of steps: an area
 * down to the bottom, of which the sum of all series is drawn first and what lies below over it, or
 * a line. Where nothing is known there is nothing. */
#include "server/status/picture.h"

#include "server/base/buffer.h"
#include "server/status/page_words.h"

#include <math.h>

#include "server/base/banned.h"

#define HEIGHT 100.0

const struct picture_span_shape picture_spans[PICTURE_SPANS] = {
    [PICTURE_HOUR] = {"hour", "last hour", HOUR_SLOTS, HOUR_SLOT_S, 5, 4, false},
    [PICTURE_DAY] = {"day", "last 24 hours", DAY_SLOTS, DAY_SLOT_S, 12, 4, false},
    [PICTURE_WEEK] = {"week", "last 7 days", WEEK_SLOTS, 3600, 6, 7, true},
};

static const struct picture_span_shape *span_of(const struct picture *picture)
{
    return &picture_spans[picture->span];
}

/* The value of the first `count` series together, or of the last of them alone. */
static double value_at(const struct picture *picture, size_t count, size_t slot)
{
    double value = 0;

    if (!picture->is_stacked)
        return picture->series[count - 1].values[slot];
    for (size_t i = 0; i < count; i++)
        value += picture->series[i].values[slot];
    return value;
}

/* Of the whole picture at that slot: the sum, or the highest line. NAN: not known. */
static double top_at(const struct picture *picture, size_t slot)
{
    double top = NAN;

    if (picture->is_stacked)
        return value_at(picture, picture->count, slot);
    for (size_t i = 1; i <= picture->count; i++)
        top = fmax(top, value_at(picture, i, slot));
    return top;
}

/* Not below the value, and of two digits at most, as half of it is. */
static double round_up(double value)
{
    static const double steps[] = {1, 1.6, 2, 3, 4, 5, 6, 8, 10};
    double power;
    size_t step = 0;

    if (!(value > 0))
        return 1;
    power = pow(10, floor(log10(value)));
    while (step < sizeof(steps) / sizeof(steps[0]) - 1 && value > steps[step] * power)
        step++;
    return steps[step] * power;
}

static void write_path(const struct picture *picture, size_t count, double scale,
                       struct buffer *page)
{
    const size_t values = span_of(picture)->values;
    bool is_open = false;
    double last = -1;

    buffer_print(page, "<path class=\"%s s%zu\" d=\"", picture->is_stacked ? "area" : "line",
                 count);
    for (size_t slot = 0; slot <= values; slot++) {
        double value = slot < values ? value_at(picture, count, slot) : NAN;
        double y = HEIGHT - HEIGHT * value / scale;

        if (isnan(value)) {
            if (is_open && picture->is_stacked)
                buffer_print(page, "H%zuV%gZ", slot, HEIGHT);
            else if (is_open)
                buffer_print(page, "H%zu", slot);
            is_open = false;
            continue;
        }
        y = round(y * 10) / 10;
        if (!is_open && picture->is_stacked)
            buffer_print(page, "M%zu %gV%g", slot, HEIGHT, y);
        else if (!is_open)
            buffer_print(page, "M%zu %g", slot, y);
        else if (y != last)
            buffer_print(page, "H%zuV%g", slot, y);
        is_open = true;
        last = y;
    }
    buffer_add_string(page, "\"/>\n");
}

static void write_value(const struct picture *picture, double value, struct buffer *page)
{
    page_number(page, value);
    buffer_print(page, " %s", picture->unit);
}

struct extent {
    size_t known, highest_at, last_at;
    double highest, sum;
};

static struct extent extent_of(const struct picture *picture)
{
    struct extent extent = {.highest = -1};

    for (size_t slot = 0; slot < span_of(picture)->values; slot++) {
        double top = top_at(picture, slot);

        if (isnan(top))
            continue;
        extent.known++;
        extent.sum += top;
        extent.last_at = slot;
        if (top > extent.highest) {
            extent.highest = top;
            extent.highest_at = slot;
        }
    }
    return extent;
}

static void write_time(const struct picture *picture, int64_t epoch, struct buffer *page)
{
    if (span_of(picture)->has_dates) {
        page_date(page, epoch);
        buffer_add_char(page, ' ');
    }
    page_time_of_day(page, epoch);
}

/* The words that stand for the picture. */
static void describe(const struct picture *picture, const struct extent *extent, int64_t begin,
                     struct buffer *page)
{
    if (extent->known == 0) {
        buffer_add_string(page, "Nothing is known yet.");
        return;
    }
    buffer_add_string(page, "Highest ");
    write_value(picture, extent->highest, page);
    buffer_add_string(page, " at ");
    write_time(picture, begin + (int64_t)extent->highest_at * span_of(picture)->step_s, page);
    buffer_add_string(page, " UTC, mean ");
    write_value(picture, extent->sum / (double)extent->known, page);
    buffer_add_string(page, ", last ");
    write_value(picture, top_at(picture, extent->last_at), page);
    buffer_add_string(page, ".");
}

/* What a pointer is told over each group of steps: the mean of each series. */
static void write_group(const struct picture *picture, size_t from, int64_t begin,
                        struct buffer *page)
{
    const struct picture_span_shape *span = span_of(picture);

    buffer_print(page, "<rect class=\"hour\" x=\"%zu\" y=\"0\" width=\"%zu\" height=\"%g\"><title>",
                 from, span->group, HEIGHT);
    write_time(picture, begin + (int64_t)from * span->step_s, page);
    buffer_add_string(page, " to ");
    page_time_of_day(page, begin + (int64_t)(from + span->group) * span->step_s);
    buffer_add_string(page, " UTC");
    for (size_t i = 0; i < picture->count; i++) {
        double sum = 0;
        size_t known = 0;

        for (size_t slot = from; slot < from + span->group; slot++)
            if (!isnan(picture->series[i].values[slot])) {
                sum += picture->series[i].values[slot];
                known++;
            }
        buffer_add_string(page, "; ");
        page_text(page, text_from(picture->series[i].words));
        buffer_add_string(page, ": ");
        write_value(picture, known == 0 ? NAN : sum / (double)known, page);
    }
    buffer_add_string(page, "</title></rect>\n");
}

/* Lines between the parts, and at the heights of the scale's words. */
static void write_grid(const struct picture *picture, struct buffer *page)
{
    const struct picture_span_shape *span = span_of(picture);

    buffer_add_string(page, "<path class=\"grid\" d=\"");
    for (int i = 0; i < 3; i++)
        buffer_print(page, "M0 %gH%zu", i == 0 ? 0.5 : i == 1 ? 50.0 : 99.5, span->values);
    for (size_t part = 1; part < span->parts; part++)
        buffer_print(page, "M%zu 0V100", part * span->values / span->parts);
    buffer_add_string(page, "\"/>\n");
}

static void write_svg(const struct picture *picture, const struct extent *extent, double scale,
                      int64_t begin, struct buffer *page)
{
    const struct picture_span_shape *span = span_of(picture);

    buffer_print(page,
                 "<svg viewBox=\"0 0 %zu %g\" preserveAspectRatio=\"none\" role=\"img\" "
                 "aria-labelledby=\"%s-%s-title %s-%s-words\">\n<title id=\"%s-%s-title\">",
                 span->values, HEIGHT, span->word, picture->id, span->word, picture->id, span->word,
                 picture->id);
    page_text(page, text_from(picture->title));
    buffer_print(page, ", %s</title>\n<desc id=\"%s-%s-words\">", span->words, span->word,
                 picture->id);
    describe(picture, extent, begin, page);
    buffer_add_string(page, "</desc>\n");
    write_grid(picture, page);
    if (picture->is_stacked)
        for (size_t count = picture->count; count > 0; count--)
            write_path(picture, count, scale, page);
    else
        for (size_t count = 1; count <= picture->count; count++)
            write_path(picture, count, scale, page);
    for (size_t from = 0; from < span->values; from += span->group)
        write_group(picture, from, begin, page);
    buffer_add_string(page, "</svg>\n");
}

void picture_write(const struct picture *picture, int64_t begin, struct buffer *page)
{
    struct extent extent = extent_of(picture);
    const struct picture_span_shape *span = span_of(picture);
    double scale = round_up(extent.highest);

    buffer_add_string(page, "<figure>\n<figcaption>");
    page_text(page, text_from(picture->title));
    buffer_print(page, ", %s", span->words);
    buffer_add_string(page, "</figcaption>\n<div class=\"plot\"><span class=\"top\">");
    write_value(picture, scale, page);
    buffer_add_string(page, "</span><span class=\"middle\">");
    page_number(page, scale / 2);
    buffer_add_string(page, "</span>\n");
    write_svg(picture, &extent, scale, begin, page);
    buffer_add_string(page, "</div>\n<div class=\"times\">");
    for (size_t part = 0; part <= span->parts; part++) {
        int64_t at = begin + (int64_t)(part * span->values / span->parts) * span->step_s;

        buffer_add_string(page, "<span>");
        if (span->has_dates)
            page_date(page, at);
        else
            page_time_of_day(page, at);
        buffer_add_string(page, "</span>");
    }
    buffer_add_string(page, "</div>\n<ul class=\"legend\">");
    for (size_t i = 0; i < picture->count; i++) {
        buffer_print(page,
                     "<li><svg class=\"key\" viewBox=\"0 0 1 1\" aria-hidden=\"true\">"
                     "<rect class=\"area s%zu\" width=\"1\" height=\"1\"/></svg>",
                     i + 1);
        page_text(page, text_from(picture->series[i].words));
        buffer_add_string(page, "</li>");
    }
    buffer_add_string(page, "</ul>\n<p class=\"words\">");
    describe(picture, &extent, begin, page);
    buffer_add_string(page, "</p>\n</figure>\n");
}
