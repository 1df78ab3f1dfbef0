/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers of two kinds: from a seed that is passed in, so that a decision can be repeated,
 * and from the system, for what nobody may guess or repeat. */
#ifndef SERVER_BASE_RANDOM_H
#define SERVER_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random {
    uint64_t state; /* any value is a seed */
};

uint64_t random_next(struct random *random);
double random_unit(struct random *random);   /* [0, 1) */
double random_normal(struct random *random); /* mean 0, variance 1 */
/* A well-mixed number from two, for spreading by host. */
uint64_t random_mix(uint64_t a, uint64_t b);

/* From the system's generator; aborts when it has none. */
void random_bytes(void *ret_bytes, size_t count);
uint64_t random_u64(void);

#endif
