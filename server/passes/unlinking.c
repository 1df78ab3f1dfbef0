/* SPDX-License-Identifier: Apache-2.0 */
#include "server/passes/unlinking.h"

#include "server/base/thread.h"
#include "server/passes/pass_lease.h"

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include "server/base/banned.h"

enum {
    SHARES_MOST = 8, /* more delete no faster (tests/cost/README.md) */
    SHARE_LEAST = 16 /* files: for fewer a thread is not worth while */
};

struct share {
    struct unlinking *files;
    size_t count;
    struct pass_lease *lease; /* of a share that the caller does; NULL: of a thread's */
    atomic_bool *ends;
    pthread_t thread;
};

/* The caller asks for all: whoever decides about the end need not expect several threads. */
static void *unlink_share(void *context)
{
    const struct share *share = context;

    for (size_t i = 0; i < share->count; i++) {
        if (share->lease != NULL && !pass_lease_is_held(share->lease))
            atomic_store(share->ends, true);
        if (atomic_load(share->ends))
            break;
        share->files[i].error = unlink(share->files[i].path) == 0 ? 0 : errno;
    }
    return NULL;
}

void unlink_files(struct unlinking *files, size_t count, struct pass_lease *lease)
{
    struct share shares[SHARES_MOST];
    atomic_bool ends = false;
    size_t wanted = count / SHARE_LEAST, started = 1;

    wanted = wanted < 1 ? 1 : wanted > SHARES_MOST ? SHARES_MOST : wanted;
    for (size_t i = 0; i < count; i++)
        files[i].error = UNLINK_NOT_TRIED;
    for (size_t i = 0; i < wanted; i++) {
        size_t first = count * i / wanted;

        shares[i] = (struct share){.files = files + first,
                                   .count = count * (i + 1) / wanted - first,
                                   .lease = i == 0 ? lease : NULL,
                                   .ends = &ends};
    }
    while (started < wanted &&
           thread_start(&shares[started].thread, unlink_share, &shares[started]))
        started++;
    (void)unlink_share(&shares[0]);
    for (size_t i = started; i < wanted; i++) {
        shares[i].lease = lease;
        (void)unlink_share(&shares[i]);
    }
    for (size_t i = 1; i < started; i++)
        (void)pthread_join(shares[i].thread, NULL);
}
