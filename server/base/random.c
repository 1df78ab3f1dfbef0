/* SPDX-License-Identifier: Apache-2.0 */
/* SplitMix64 (Steele, Lea, Flood 2014): one addition and a mixing function per number, every state
 * is good, and a sequence is known from its seed alone, so a request's choices can be repeated.
 * What is secret comes straight from the kernel: no state of ours that a fork could double. */
#include "server/base/random.h"

#include "server/base/status.h"

#include <errno.h>
#include <math.h>
#include <sys/random.h>

#include "server/base/banned.h"

static const uint64_t golden_step = 0x9e3779b97f4a7c15;

static uint64_t mix(uint64_t number)
{
    number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
    number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
    return number ^ (number >> 31);
}

uint64_t random_next(struct random *random)
{
    random->state += golden_step;
    return mix(random->state);
}

double random_unit(struct random *random)
{
    return (double)(random_next(random) >> 11) * 0x1p-53; /* as many bits as a double holds */
}

double random_normal(struct random *random)
{
    /* Box and Muller; 1 - unit is never 0, whose logarithm does not exist. */
    double radius = sqrt(-2 * log(1 - random_unit(random)));
    return radius * cos(2 * 3.14159265358979323846 * random_unit(random));
}

uint64_t random_mix(uint64_t a, uint64_t b)
{
    return mix(mix(a + golden_step) + golden_step + b);
}

void random_bytes(void *ret_bytes, size_t count)
{
    unsigned char *at = ret_bytes;

    while (count > 0) {
        ssize_t got = getrandom(at, count, 0);
        if (got < 0 && errno == EINTR)
            continue;
        must(got > 0); /* a kernel without a generator: nothing we do would be safe */
        at += got;
        count -= (size_t)got;
    }
}

uint64_t random_u64(void)
{
    uint64_t number;

    random_bytes(&number, sizeof(number));
    return number;
}
