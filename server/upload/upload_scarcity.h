/* SPDX-License-Identifier: Apache-2.0 */
/* Which uploads give way when something that all need is scarce: the disk, or connections. Pure.
 *
 * It costs a client nothing to announce a large file. An upload therefore reserves disk space in
 * proportion to what has arrived: three times as many further bytes. After a hundred bytes of 50
 * GB it shuts nobody out. More uploads may therefore begin than the disk has room for. Then those
 * with the smallest part of their file give way, as long as that part is small, and the others
 * end. */
#ifndef SERVER_UPLOAD_UPLOAD_SCARCITY_H
#define SERVER_UPLOAD_UPLOAD_SCARCITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct upload_pace {
    double age;         /* s since its request began */
    double rate;        /* bytes/s that it has brought since */
    int64_t at, nbytes; /* of the file, on the disk and in all; both 0 before its head is read */
    void *subject;      /* the caller's */
};

/* Of the bytes still to come, how many count as taken. */
int64_t upload_reserved(int64_t at, int64_t nbytes);

/* Puts those that give way to the others first, so that what the others count for fits into
 * `free_bytes`, and returns how many they are. */
size_t upload_yield_disk(struct upload_pace *paces, size_t count, int64_t free_bytes);

/* Puts the slowest first, of those that have had some seconds to show their pace. Returns how many
 * of them give their place to newcomers, `most` at most. */
size_t upload_yield_places(struct upload_pace *paces, size_t count, size_t most);

#endif
