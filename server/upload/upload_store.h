/* SPDX-License-Identifier: Apache-2.0 */
/* The files of uploads, below upload_dir and nowhere else.
 *
 * An unfinished file is in upload_dir/.partial under its name. When its last byte has arrived, it
 * is compared with its checksum, synced to the disk, and moved to where the project's other
 * programs look for it (server/project/hierarchy.h), so these never see half a file. A finished
 * file is never replaced. The folder is synced before the client hears that the file is done.
 * BOINC's handler writes its files where the finished ones are; what it left unfinished there is
 * moved to .partial when its client goes on.
 *
 * Every path is walked from an open folder, without following links. A process that writes a
 * partial file has a lock on it, which ends with the process. A partial file that has not grown
 * for long is removed; nothing else is. */
#ifndef SERVER_UPLOAD_UPLOAD_STORE_H
#define SERVER_UPLOAD_UPLOAD_STORE_H

#include "server/base/crypto.h"
#include "server/base/status.h"
#include "server/base/text.h"
#include "server/upload/upload_decision.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct upload_store;

struct upload_store_options {
    const char *dir; /* upload_dir */
    int64_t fanout;
    unsigned initial_mode; /* of a new file, before the process's umask; 0600 is added */
    int completed_mode;    /* of a finished one; -1: it stays as it is */
};

/* Makes .partial when it is not there. Any thread may use it; the caller owns it. */
MUST_CHECK enum status upload_store_open(const struct upload_store_options *options,
                                         struct upload_store **ret_store, struct failure *failure);
void upload_store_close(struct upload_store *store); /* NULL is fine */

/* What is there of the file. `free_bytes` is that of the disk, which others may be about to fill.
 * Names are such as upload_name_usable takes. */
void upload_store_look(const struct upload_store *store, const char *name,
                       struct upload_on_disk *ret_on_disk);

/* Bytes of the disk that are free; -1: nobody knows. */
int64_t upload_store_free(const struct upload_store *store);

/* Makes the file that another handler left in its place a partial one. False: errno says why. */
MUST_CHECK bool upload_store_adopt(const struct upload_store *store, const char *name);

enum upload_begun {
    BEGUN,
    BEGUN_BY_ANOTHER, /* who has the lock */
    BEGUN_TOO_SHORT,  /* there are fewer bytes than `offset` */
    BEGUN_NOT         /* errno says why */
};
/* Opens and locks the partial file, and cuts off what is behind `offset`. The caller closes
 * *ret_descriptor, which ends the lock. */
MUST_CHECK enum upload_begun upload_store_begin(const struct upload_store *store, const char *name,
                                                int64_t offset, int *ret_descriptor);
/* False: errno says why. *ret_written: how much there is of it then. */
MUST_CHECK bool upload_store_write(int descriptor, int64_t at, struct text bytes,
                                   size_t *ret_written);

enum upload_finished {
    FINISHED,
    FINISHED_BEFORE,  /* meanwhile another file of that name was; this one is gone */
    FINISHED_DAMAGED, /* it has another checksum, and is gone */
    FINISHED_NOT      /* errno says why; it is gone, unless only its place could not be reached */
};
/* After the last byte: takes as long as the disk does. `md5`: empty when it is not known. */
MUST_CHECK enum upload_finished upload_store_finish(const struct upload_store *store,
                                                    const char *name, int descriptor,
                                                    int64_t nbytes, const char *md5);
/* Sees that a finished file's name stays after a fall of the machine: a process before this one may
 * have died between moving it and this. */
MUST_CHECK bool upload_store_confirm(const struct upload_store *store, const char *name);

/* Removes the partial files that have not grown for `seconds`, but those that are locked. Returns
 * how many. */
size_t upload_store_sweep(const struct upload_store *store, double seconds);

#endif
