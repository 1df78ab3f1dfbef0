/* SPDX-License-Identifier: Apache-2.0 */
/* A clock for durations: it only goes on, and nobody sets it. What time it is says nobody but the
 * request (see struct request). */
#ifndef SERVER_BASE_CLOCK_H
#define SERVER_BASE_CLOCK_H

#include <stdint.h>

uint64_t clock_ns(void);
double clock_seconds(void);

#endif
