/* SPDX-License-Identifier: Apache-2.0 */
/* One atomic number per row of counters.def. Process-wide because they describe the process; they
 * only grow, and a reader takes differences, so no order between two counters is promised. */
#include "server/base/counters.h"

#include "server/base/buffer.h"
#include "server/base/metric.h"
#include "server/base/status.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "server/base/banned.h"

enum { NAME_BYTES_MAX = 64 };

static _Atomic uint64_t values[COUNTER_COUNT];

static const struct {
    const char *name, *help;
} table[COUNTER_COUNT] = {
#define COUNTER(name, help) [COUNTER_##name] = {#name, help},
#include "server/base/counters.def"
#undef COUNTER
};

void counter_add(enum counter counter, uint64_t amount)
{
    must((unsigned)counter < COUNTER_COUNT);
    (void)atomic_fetch_add_explicit(&values[counter], amount, memory_order_relaxed);
}

uint64_t counter_value(enum counter counter)
{
    must((unsigned)counter < COUNTER_COUNT);
    return atomic_load_explicit(&values[counter], memory_order_relaxed);
}

const char *counter_name(enum counter counter)
{
    must((unsigned)counter < COUNTER_COUNT);
    return table[counter].name;
}

const char *counter_help(enum counter counter)
{
    must((unsigned)counter < COUNTER_COUNT);
    return table[counter].help;
}

void counters_write(struct buffer *ret_page)
{
    for (int i = 0; i < COUNTER_COUNT; i++) {
        char name[NAME_BYTES_MAX];

        (void)snprintf(name, sizeof(name), "%s_total", counter_name((enum counter)i));
        metric_head(ret_page, name, "counter", counter_help((enum counter)i));
        buffer_print(ret_page, METRIC_PREFIX "%s %" PRIu64 "\n", name,
                     counter_value((enum counter)i));
    }
}

void counters_write_words(struct buffer *ret_words)
{
    for (int i = 0; i < COUNTER_COUNT; i++)
        if (counter_value((enum counter)i) > 0)
            buffer_print(ret_words, "%s %" PRIu64 "\n", counter_name((enum counter)i),
                         counter_value((enum counter)i));
}

uint64_t counter_of_words(struct text words, const char *name)
{
    while (words.length > 0) {
        struct text rest = text_split(&words, '\n');
        int64_t value;

        if (text_is(text_split(&rest, ' '), name) && text_to_i64(rest, &value) && value > 0)
            return (uint64_t)value;
    }
    return 0;
}
