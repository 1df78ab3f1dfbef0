/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/metric.h"

#include "server/base/buffer.h"
#include "server/base/shown.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>

#include "server/base/banned.h"

static const struct {
    double s;
    const char *word;
} bounds[HISTOGRAM_BUCKETS] = {
#define HISTOGRAM_BOUND_ROW(bound, word) {bound, word},
    HISTOGRAM_BOUNDS(HISTOGRAM_BOUND_ROW)
#undef HISTOGRAM_BOUND_ROW
        {0, "+Inf"},
};

void metric_head(struct buffer *page, const char *name, const char *type, const char *help)
{
    buffer_print(page, "# HELP " METRIC_PREFIX "%s %s\n# TYPE " METRIC_PREFIX "%s %s\n", name, help,
                 name, type);
}

void metric_gauge(struct buffer *page, const char *name, const char *help, double value)
{
    metric_head(page, name, "gauge", help);
    buffer_print(page, METRIC_PREFIX "%s %.15g\n", name, value);
}

/* The page has to be UTF-8, or Prometheus takes none of it. */
static void add_label_value(struct buffer *page, struct text of)
{
    bool fit;

    while (of.length > 0) {
        struct text character = shown_next(&of, &fit);

        if (character.at[0] == '\n')
            buffer_add_string(page, "\\n");
        else if (!fit)
            buffer_add_string(page, "\xef\xbf\xbd");
        else if (character.at[0] == '"' || character.at[0] == '\\')
            buffer_print(page, "\\%c", character.at[0]);
        else
            buffer_add(page, character);
    }
}

void metric_value(struct buffer *page, const char *name, const char *label, struct text of,
                  double value)
{
    buffer_print(page, METRIC_PREFIX "%s{%s=\"", name, label);
    add_label_value(page, of);
    buffer_print(page, "\"} %.15g\n", value);
}

void histogram_add(struct histogram *histogram, uint64_t ns)
{
    int bucket = 0;

    while (bucket < HISTOGRAM_BUCKETS - 1 && (double)ns > bounds[bucket].s * 1e9)
        bucket++;
    (void)atomic_fetch_add_explicit(&histogram->counts[bucket], 1, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&histogram->sum_ns, ns, memory_order_relaxed);
}

uint64_t histogram_count(const struct histogram *histogram)
{
    uint64_t count = 0;

    for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
        count += atomic_load_explicit(&histogram->counts[i], memory_order_relaxed);
    return count;
}

uint64_t histogram_sum_ns(const struct histogram *histogram)
{
    return atomic_load_explicit(&histogram->sum_ns, memory_order_relaxed);
}

double histogram_bound(const struct histogram *histogram, double share)
{
    double wanted = share * (double)histogram_count(histogram);
    uint64_t count = 0;

    for (int i = 0; i < HISTOGRAM_BUCKETS - 1; i++) {
        count += atomic_load_explicit(&histogram->counts[i], memory_order_relaxed);
        if ((double)count >= wanted)
            return count == 0 ? 0 : bounds[i].s;
    }
    return HUGE_VAL;
}

void histogram_write(const struct histogram *histogram, const char *name, const char *label,
                     const char *of, struct buffer *page)
{
    uint64_t count = 0;

    for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
        count += atomic_load_explicit(&histogram->counts[i], memory_order_relaxed);
        buffer_print(page, METRIC_PREFIX "%s_bucket{", name);
        if (label != NULL)
            buffer_print(page, "%s=\"%s\",", label, of);
        buffer_print(page, "le=\"%s\"} %" PRIu64 "\n", bounds[i].word, count);
    }
    for (int i = 0; i < 2; i++) {
        buffer_print(page, METRIC_PREFIX "%s_%s", name, i == 0 ? "sum" : "count");
        if (label != NULL)
            buffer_print(page, "{%s=\"%s\"}", label, of);
        if (i == 0)
            buffer_print(page, " %.9f\n",
                         (double)atomic_load_explicit(&histogram->sum_ns, memory_order_relaxed) *
                             1e-9);
        else
            buffer_print(page, " %" PRIu64 "\n", count);
    }
}
