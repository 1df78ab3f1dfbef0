/* SPDX-License-Identifier: Apache-2.0 */
/* The disk of a host: files of jobs under the rules of client/storage.h. With the policy "none" no
 * file is kept, so each file comes again for each job. */
#ifndef TOOLS_LAB_VOLUNTEERS_HOST_HOST_DISK_H
#define TOOLS_LAB_VOLUNTEERS_HOST_HOST_DISK_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct incoming;
struct incoming_job;
struct outgoing_disk;
struct volunteer;
struct volunteer_job;

/* Other programs use more or less of the disk from now on. Files and jobs that find no room go. */
void host_disk_change_others(struct volunteer *volunteer);
/* Space may have become free: a host that is stuck may go on. (No other host needs this check,
 * because no file is let in that would exceed the limit.) */
void host_disk_poll(struct volunteer *volunteer);
/* Takes the project's deletion policies from a reply, and deletes the files that the server ordered
 * to be deleted. */
void host_disk_obey(struct volunteer *volunteer, size_t project, const struct incoming *incoming);
/* Makes room for the files of a job and keeps them. *ret_bytes: the size of those that have to come
 * over the network. False: there is no room, or no memory. */
bool host_disk_admit(struct volunteer *volunteer, struct volunteer_job *job,
                     const struct incoming_job *incoming, double *ret_bytes);
/* The job needs its files no more. */
void host_disk_release(struct volunteer *volunteer, struct volunteer_job *job);
void host_disk_tell(const struct volunteer *volunteer, size_t project,
                    struct outgoing_disk *ret_outgoing);
void host_disk_free(struct volunteer *volunteer);

#endif
