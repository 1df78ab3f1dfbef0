/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of a process in the text format of Prometheus: gauges, and histograms of durations.
 * Counters are in counters.h. */
#ifndef SERVER_BASE_METRIC_H
#define SERVER_BASE_METRIC_H

#include "server/base/text.h"

#include <stdint.h>

struct buffer;

#define METRIC_PREFIX "quartermaster_"

/* What goes before the values of one metric; names are without the prefix. `type` is a word of
 * Prometheus: counter, gauge, histogram. */
void metric_head(struct buffer *page, const char *name, const char *type, const char *help);
/* Head and value of a gauge without labels. */
void metric_gauge(struct buffer *page, const char *name, const char *help, double value);
/* One value with a label; the label's value is escaped. */
void metric_value(struct buffer *page, const char *name, const char *label, struct text of,
                  double value);

/* Upper bounds of the buckets, in s: BOUND(number, as Prometheus writes it). */
#define HISTOGRAM_BOUNDS(BOUND) \
    BOUND(5e-4, "0.0005")       \
    BOUND(1e-3, "0.001")        \
    BOUND(25e-4, "0.0025")      \
    BOUND(5e-3, "0.005")        \
    BOUND(1e-2, "0.01")         \
    BOUND(25e-3, "0.025")       \
    BOUND(5e-2, "0.05")         \
    BOUND(0.1, "0.1")           \
    BOUND(0.25, "0.25")         \
    BOUND(0.5, "0.5")           \
    BOUND(1, "1")               \
    BOUND(2.5, "2.5")           \
    BOUND(5, "5")               \
    BOUND(10, "10")             \
    BOUND(30, "30")

enum histogram_bucket {
#define HISTOGRAM_COUNT_BOUND(bound, word) +1
    HISTOGRAM_BUCKETS = 1 HISTOGRAM_BOUNDS(HISTOGRAM_COUNT_BOUND) /* the last has no bound */
#undef HISTOGRAM_COUNT_BOUND
};

/* How often something took how long; empty when zeroed. */
struct histogram {
    _Atomic uint64_t counts[HISTOGRAM_BUCKETS];
    _Atomic uint64_t sum_ns;
};

void histogram_add(struct histogram *histogram, uint64_t ns); /* any thread, relaxed */
/* How many durations were added, and their sum. */
uint64_t histogram_count(const struct histogram *histogram);
uint64_t histogram_sum_ns(const struct histogram *histogram);
/* The least bound, in s, that the part `share` (0 to 1) of the durations does not exceed. 0: there
 * are none; infinite: it exceeds all bounds. */
double histogram_bound(const struct histogram *histogram, double share);
/* Behind its head. With `label` each line has it, of the value `of`; NULL: none. */
void histogram_write(const struct histogram *histogram, const char *name, const char *label,
                     const char *of, struct buffer *page);

#endif
