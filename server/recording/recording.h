/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the recording: one for each server process and day, or more if they grow large, in
 * the folder recorded_requests (mode 0700) of the project, each of mode 0600. The secret for
 * pseudonyms is another each day, and nowhere but in memory. */
#ifndef SERVER_RECORDING_RECORDING_H
#define SERVER_RECORDING_RECORDING_H

#include "server/base/buffer.h"
#include "server/base/crypto.h"
#include "server/recording/circumstances.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Longer records are dropped, and requests with longer bodies get none: a pseudonym costs some
 * microseconds, and a body of megabytes may have hundred thousands of texts. */
enum { RECORD_BYTES_MAX = 1 << 20, RECORDED_BODY_MAX = 256 << 10 };

struct request;

/* A record that is not written yet. */
struct recorded {
    struct buffer text; /* on the heap; empty: none */
    int secret;         /* the number of the one that its pseudonyms were made with */
    struct circumstances_key under;
};

#define NOTHING_RECORDED ((struct recorded){.text = buffer_on_heap(RECORD_BYTES_MAX)})

/* Pseudonyms are the same for a day. */
struct recording_secret {
    struct digest_secret bytes;
    int number;  /* of those that this process made; 0: there is none yet */
    int64_t day; /* since 1970 */
};

/* Circumstances that the file has are not written again; of more than these the oldest are. */
enum { CIRCUMSTANCES_KEPT = 8 };

struct recording_file {
    int descriptor;        /* -1: none is open. Locked (flock) as long as it is open */
    int number;            /* of those that this process began */
    int64_t day;           /* since 1970 */
    uint64_t bytes, share; /* in it, and at most in it */
    bool is_full;          /* a record did not fit */
    struct circumstances_key has[CIRCUMSTANCES_KEPT];
    size_t has_count; /* of all that were written to it */
};

/* What the latest request was answered under, and that as text. */
struct recording_world {
    bool is_there;
    uint64_t config_serial, catalog_serial, plan_key;
    struct circumstances_key key;
    struct buffer text; /* on the heap */
};

/* Shared by all threads of a process; what is inside is recording.c's. */
struct recording {
    pthread_mutex_t writing; /* held while a record is written: taken before `lock` */
    struct recording_file file;
    pthread_mutex_t lock; /* of what follows */
    bool is_open;         /* there is a file */
    struct recording_secret secret;
    struct recording_world world;
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
 * is a record for which the file has no place, until the next one is begun. */
void recording_keep(struct recording *recording, struct recorded *record);

#endif
