/* SPDX-License-Identifier: Apache-2.0 */
/* The head of a client's request to the upload handler (protocol(7) 6): whether it is whole, and
 * what it says. Pure.
 *
 * A head is XML-like text that never was XML. It asks for the size of a file, or it announces one,
 * and then the file's bytes follow behind the line of <data>. Elements may come in any order, on
 * lines of their own or not; unknown ones are passed over. Clients 3 to 6.12 echo what the server
 * once told of the file, or after a restart their state file, which has the size and the checksum
 * of some earlier moment: if a size, checksum or offset is repeated, the last one counts, because
 * it describes the bytes that follow. If any other element is repeated, the first counts, which
 * the certificate covers. */
#ifndef SERVER_UPLOAD_UPLOAD_HEAD_H
#define SERVER_UPLOAD_UPLOAD_HEAD_H

#include "server/base/crypto.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    UPLOAD_HEAD_BYTES_MAX = 8192, /* clients write about 700 */
    UPLOAD_NAME_BYTES_MAX = 241   /* BOINC's handler knows no longer ones */
};

enum upload_kind {
    UPLOAD_UNKNOWN, /* no request that we know, or not all of one came */
    UPLOAD_QUERY,   /* how many bytes of the file are there? */
    UPLOAD_FILE     /* here are the bytes from an offset on */
};

struct upload_head {
    enum upload_kind kind;
    const char *fault; /* why this can never succeed, in words for the volunteer; NULL: it may */
    /* Unescaped and trimmed. Where it cannot be a file's name it is empty, and `fault` says so. */
    char name[UPLOAD_NAME_BYTES_MAX + 1];
    int64_t nbytes, offset; /* of a file: 0 <= offset <= nbytes, unless there is a fault */
    char md5[MD5_HEX_SIZE]; /* of the whole file, lower case; empty: not sent */
    bool has_max_nbytes;
    double max_nbytes;     /* finite, not negative */
    struct text signature; /* in the bytes that were read; empty: none */
};

/* Reads the head at the beginning of the body. False: it is not whole yet. `is_end`: nothing more
 * will come, so what is there is all. A head beyond UPLOAD_HEAD_BYTES_MAX is read as if it ended
 * there. *ret_length: where the file's bytes begin. */
bool upload_head_read(struct text body, bool is_end, struct upload_head *ret_head,
                      size_t *ret_length);

/* Whether it stays in its folder and can be read in a log: no slash, no control character, no dot
 * in front, no "..", not empty and not too long. */
bool upload_name_usable(struct text name);

#endif
