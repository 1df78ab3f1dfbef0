/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the recording: one for each server process and day, or more where there is much, in
 * the folder recorded_requests (mode 0700) of the project, each of mode 0600 and with a secret of
 * its own for pseudonyms, which is nowhere but in memory. */
#ifndef SERVER_RECORDING_RECORDING_H
#define SERVER_RECORDING_RECORDING_H

#include "server/base/crypto.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { RECORD_BYTES_MAX = 4 << 20 }; /* a longer record is dropped */

struct buffer;
struct config;
struct request;
struct text;

/* Shared by all threads of a process; what is inside is recording.c's. */
struct recording {
    pthread_mutex_t lock;
    int descriptor;  /* -1: no file is open */
    int64_t day;     /* of the open file, since 1970 */
    uint64_t bytes;  /* in it */
    int files;       /* that this process began */
    bool is_failing; /* and the log says so already */
    struct digest_secret secret;
};

void recording_init(struct recording *recording);
void recording_clear(struct recording *recording);

/* Before the reply is sent, while the request's arena is there: the record as text, nothing where
 * the configuration does not ask for it. Begins the file if need be. */
void recording_take(struct recording *recording, const struct request *request,
                    struct buffer *ret_record);
/* After the reply was sent. What cannot be written is dropped and counted. */
void recording_keep(struct recording *recording, struct text record);

#endif
