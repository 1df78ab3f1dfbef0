/* SPDX-License-Identifier: Apache-2.0 */
/* The disk of a host: files of jobs under the rules of storage.h, if the scenario has it so.
 * Without (disk none) no file is kept: each comes again for each job. */
#ifndef TOOLS_VOLUNTEERS_HOST_HOST_DISK_H
#define TOOLS_VOLUNTEERS_HOST_HOST_DISK_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct incoming;
struct incoming_job;
struct outgoing_disk;
struct volunteer;
struct volunteer_job;

/* Who else uses the disk changes; files, and jobs, go if they must. */
void host_disk_change_others(struct volunteer *volunteer);
/* Something may have gone: whether what was stopped may go on. (While nothing is exceeded no file
 * comes that would exceed it, so nothing else is to be looked for.) */
void host_disk_poll(struct volunteer *volunteer);
/* Deletion policies of a project, and files that its server wants to be gone. */
void host_disk_obey(struct volunteer *volunteer, size_t project, const struct incoming *incoming);
/* Makes room for the files of a job and keeps them; *ret_bytes are of those that were not here.
 * False: there is none, or no memory. */
bool host_disk_admit(struct volunteer *volunteer, struct volunteer_job *job,
                     const struct incoming_job *incoming, double *ret_bytes);
/* A job is over: it uses its files no more. */
void host_disk_release(struct volunteer *volunteer, struct volunteer_job *job);
void host_disk_tell(const struct volunteer *volunteer, size_t project,
                    struct outgoing_disk *ret_outgoing);
void host_disk_free(struct volunteer *volunteer);

#endif
