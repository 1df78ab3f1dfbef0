/* SPDX-License-Identifier: Apache-2.0 */
/* Which uploads give way when something that all need is scarce: the disk, or connections. Pure.
 *
 * What a client announces costs it nothing. So an upload under way counts for what it has brought:
 * of the bytes that are still to come it takes three times as many as are there, and whoever brings
 * a hundred bytes of 50 GB shuts nobody out. So more may be begun than the disk holds; then those
 * that have the smallest part of their file give way, while it is small, and the others end. */
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
