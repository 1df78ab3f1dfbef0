/* SPDX-License-Identifier: Apache-2.0 */
/* Random bytes straight from the kernel: no state of ours that a fork could double. */
#include "server/base/crypto.h"

#include <errno.h>
#include <sys/random.h>

#include "server/base/banned.h"

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
