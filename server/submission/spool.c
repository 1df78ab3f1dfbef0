/* SPDX-License-Identifier: Apache-2.0 */
#include "server/submission/spool.h"

#include "server/base/file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "server/base/banned.h"

void spool_begin(struct spool *spool, int64_t length_max)
{
    spool->file = -1;
    spool->length = spool->at = 0;
    spool->length_max = length_max;
}

enum status spool_add(struct spool *spool, struct text bytes, struct failure *failure)
{
    if (bytes.length > (uint64_t)(spool->length_max - spool->length))
        return fail(failure, STATUS_TOO_LARGE, "the request has more than %lld bytes",
                    (long long)spool->length_max);
    if (spool->file < 0)
        spool->file = file_open_nameless();
    if (spool->file < 0 || !file_write_all(spool->file, bytes))
        return fail(failure, STATUS_IO, "the request cannot be kept: %s", strerror(errno));
    spool->length += (int64_t)bytes.length;
    return STATUS_OK;
}

static struct text next_piece(void *context)
{
    struct spool *spool = context;
    ssize_t got;

    do
        got = pread(spool->file, spool->piece, SPOOL_PIECE, spool->at);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return NO_TEXT;
    spool->at += got;
    return (struct text){spool->piece, (size_t)got};
}

struct xml_source spool_source(struct spool *spool)
{
    spool->at = 0;
    return (struct xml_source){.context = spool, .next = next_piece};
}

void spool_end(struct spool *spool)
{
    if (spool->file >= 0)
        close(spool->file);
    spool->file = -1;
}
