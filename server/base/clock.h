/* SPDX-License-Identifier: Apache-2.0 */
/* Durations: a clock that only goes on and that nobody sets, and pauses that grow. The time of day
 * is not here: a request brings its own (struct request). */
#ifndef SERVER_BASE_CLOCK_H
#define SERVER_BASE_CLOCK_H

#include <stdint.h>

uint64_t clock_ns(void);
double clock_seconds(void);
/* CPU that the calling thread has used so far. */
uint64_t clock_thread_ns(void);

/* How long to pause after `failures` in a row before the next try, in s: `first`, doubled by each
 * further failure until it is `longest` or above. */
double backoff_pause(double first, double longest, int64_t failures);

#endif
