/* SPDX-License-Identifier: Apache-2.0 */
/* A zip archive written while it is sent: files as they are, not packed, their sizes and checksums
 * before them, so that a reader needs not wait for the end. Beyond 4 GiB or 65,535 files it is of
 * the larger kind (Zip64). Memory: the list at the end is kept in a file without a name. */
#ifndef SERVER_SUBMISSION_ZIP_STREAM_H
#define SERVER_SUBMISSION_ZIP_STREAM_H

#include "server/submission/rpc_reply.h"
#include "server/submission/spool.h"

struct zip_stream {
    rpc_send *send;
    void *context;
    struct spool *list; /* the caller's; begun here, and ended by zip_stream_end */
    uint64_t sent;      /* bytes */
    uint64_t files;
};

void zip_stream_begin(struct zip_stream *zip, struct spool *list, rpc_send *sender, void *context);
/* The whole content of an open file. STATUS_IO: it cannot be read, or changed meanwhile: the
 * archive is not sound. */
MUST_CHECK enum status zip_stream_add(struct zip_stream *zip, struct text name, int descriptor,
                                      struct failure *failure);
/* Without it the archive is not sound. */
MUST_CHECK enum status zip_stream_end(struct zip_stream *zip, struct failure *failure);

/* CRC-32 of what came before (0 at first) and of these bytes. */
uint32_t crc32_of(uint32_t before, struct text bytes);

#endif
