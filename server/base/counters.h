/* SPDX-License-Identifier: Apache-2.0 */
/* Process-wide counters, one row each in counters.def. */
#ifndef SERVER_BASE_COUNTERS_H
#define SERVER_BASE_COUNTERS_H

#include "server/base/text.h"

#include <stdint.h>

enum counter {
#define COUNTER(name, help) COUNTER_##name,
#include "server/base/counters.def"
#undef COUNTER
    COUNTER_COUNT
};

void counter_add(enum counter counter, uint64_t amount); /* any thread, relaxed */
uint64_t counter_value(enum counter counter);
const char *counter_name(enum counter counter);
const char *counter_help(enum counter counter);

/* All of them, in the text format of Prometheus. */
struct buffer;
void counters_write(struct buffer *ret_page);

/* For another process: "NAME VALUE" lines of those that are not 0. */
void counters_write_words(struct buffer *ret_words);
/* The value in such lines; 0: it is not there. */
uint64_t counter_of_words(struct text words, const char *name);

#endif
