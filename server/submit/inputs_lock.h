/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs share input files by name. A program that makes jobs holds a shared lock of the download
 * folder from the moment when it finds a file there until the jobs are committed. A program that
 * deletes input files holds an exclusive lock from finding out which are needed until they are
 * gone. No file is therefore deleted that a new job is about to need. The lock is a flock of the
 * folder itself and ends with the program; on a file system without flock there is no lock. */
#ifndef SERVER_SUBMIT_INPUTS_LOCK_H
#define SERVER_SUBMIT_INPUTS_LOCK_H

#include "server/base/status.h"

#include <stdbool.h>

/* Waits while somebody deletes. -1: there is no such folder. */
int inputs_lock_shared(const char *download_dir);
/* Does not wait. NOT_FOUND: somebody makes jobs. */
MUST_CHECK enum status inputs_lock_alone(const char *download_dir, int *ret_lock);
void inputs_unlock(int lock); /* -1: nothing */

/* A file that was put there for something of which nothing came is taken away again, unless another
 * program counts on it: that one sets the file's time of last access, which is 0 from the making
 * on. Each does so with a flock of the file. Whoever only reads the file may set the time too, and
 * then it stays for nothing. */
bool inputs_made(int descriptor); /* false: errno says why not */
/* Whether the file is there; from now on nobody takes it away. */
bool inputs_count_on(const char *path);
/* Whether it is gone. One of another user can only be taken away by that one. */
bool inputs_take_away(const char *path);

#endif
