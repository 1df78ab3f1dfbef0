/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the recording: one for each server process and day, or more where there is much, in
 * the folder recorded_requests (mode 0700) of the project, each of mode 0600 and with a secret of
 * its own for pseudonyms, which is nowhere but in memory. */
#ifndef SERVER_RECORDING_RECORDING_H
#define SERVER_RECORDING_RECORDING_H

#include "server/base/buffer.h"
#include "server/base/crypto.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Longer records are dropped, and requests with longer bodies get none: a pseudonym costs some
 * microseconds, and a body of megabytes may have hundred thousands of texts. */
enum { RECORD_BYTES_MAX = 1 << 20, RECORDED_BODY_MAX = 256 << 10 };

struct config;
struct request;

/* A record that is not written yet. */
struct recorded {
    struct buffer text; /* on the heap; empty: none */
    int file;           /* whose secret its pseudonyms were made with */
};

#define NOTHING_RECORDED ((struct recorded){.text = buffer_on_heap(RECORD_BYTES_MAX)})

struct recording_file {
    int descriptor; /* -1: none is open */
    int number;     /* of those that this process began */
    int64_t day;    /* since 1970 */
    uint64_t bytes; /* in it */
    struct digest_secret secret;
};

/* Shared by all threads of a process; what is inside is recording.c's. */
struct recording {
    pthread_mutex_t lock;
    struct recording_file file;
    bool is_failing; /* and the log says so already */
};

void recording_init(struct recording *recording);
void recording_clear(struct recording *recording);

/* One thread, every second or so, so that no request does it: begins a file where one is due,
 * removes old ones, and ends the open one where the configuration asks for none. */
void recording_turn(struct recording *recording, const struct config *config, int64_t now);

/* Before the reply is sent, while the request's arena is there: the record, nothing where the
 * configuration does not ask for it, or where nobody's account was named: strangers could fill the
 * files. */
void recording_take(struct recording *recording, const struct request *request,
                    struct recorded *ret_record);
/* After the reply was sent. Frees the record. What cannot be written is dropped and counted, and so
 * is a record whose file has ended. */
void recording_keep(struct recording *recording, struct recorded *record);

#endif
