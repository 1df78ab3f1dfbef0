/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs share input files by name. Whoever makes jobs holds the download folder together with others
 * from finding a file there until the jobs are committed; who deletes input files holds it alone
 * from finding out which are needed until they are gone. So no file is deleted that a job under way
 * counts on. The lock is a flock of the folder itself and ends with the program; where a file
 * system has none there is none. */
#ifndef SERVER_SUBMIT_INPUTS_LOCK_H
#define SERVER_SUBMIT_INPUTS_LOCK_H

#include "server/base/status.h"

#include <stdbool.h>

/* Waits while somebody deletes. -1: there is no such folder. */
int inputs_lock_shared(const char *download_dir);
/* Does not wait. NOT_FOUND: somebody makes jobs. */
MUST_CHECK enum status inputs_lock_alone(const char *download_dir, int *ret_lock);
/* False: others make jobs too; the lock may be lost then. -1: nobody else can. */
bool inputs_lock_become_alone(int lock);
void inputs_unlock(int lock); /* -1: nothing */

#endif
