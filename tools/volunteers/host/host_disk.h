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

enum { DISK_FILES_MAX = 2000, DISK_JOB_FILES_MAX = 16 };

struct disk_file {
    char *name; /* NULL: a job's own */
    size_t project;
    double bytes;
    int priority;
    double last_used, expires;
    bool sticky;
    size_t references; /* of jobs that are not over */
    size_t index;      /* while the room is at work */
};

struct disk {
    struct disk_file **files; /* in the order in which they came */
    size_t count, capacity;
    double others; /* bytes that are not the client's, of what it might have */
};

/* Who else uses the disk changes; files, and jobs, go if they must. */
void disk_change_others(struct volunteer *volunteer);
/* Something may have gone: whether what was stopped may go on. (While nothing is exceeded no file
 * comes that would exceed it, so nothing else is to be looked for.) */
void disk_poll(struct volunteer *volunteer);
/* Deletion policies of a project, and files that its server wants to be gone. */
void disk_obey(struct volunteer *volunteer, size_t project, const struct incoming *incoming);
/* Makes room for the files of a job and keeps them; *ret_bytes are of those that were not here.
 * False: there is none, or no memory. */
bool disk_admit(struct volunteer *volunteer, struct volunteer_job *job,
                const struct incoming_job *incoming, double *ret_bytes);
/* A job is over: it uses its files no more. */
void disk_release(struct volunteer *volunteer, struct volunteer_job *job);
void disk_tell(const struct volunteer *volunteer, size_t project,
               struct outgoing_disk *ret_outgoing);
void disk_free(struct volunteer *volunteer);

#endif
