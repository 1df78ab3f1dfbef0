/* SPDX-License-Identifier: Apache-2.0 */
/* Which sticky files of this project a host deletes to free disk space (policy(7) 9.3); pure. */
#ifndef SERVER_POLICY_DISK_DELETION_H
#define SERVER_POLICY_DISK_DELETION_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a file is given that its job's template says nothing of (requirement 4-8). */
enum { FILE_PRIORITY_LOW = 1, FILE_PRIORITY_HIGH = 5, FILE_EXPIRY_DAYS = 60 };

struct stored_file {
    struct text name;
    double bytes;
    int64_t priority;
    int64_t expiry;     /* epoch */
    int64_t first_seen; /* epoch: its introduction to the host */
    int64_t last_used;  /* epoch: by a job of ours */
    bool is_needed;     /* by a job, or awaited: not to be deleted */
    bool is_chosen;     /* set by deletion_choose */
};

struct deletion_policy {
    bool by_priority, by_expiry;
};

/* When a file that is introduced now expires, epoch. */
int64_t file_expiry(double now, double days);

/* Bytes that could be deleted at most. */
double deletion_possible(const struct stored_file *files, size_t count);

/* Sorts the files into the order in which the policy gives them up and chooses from the first on
 * just as many as free `bytes_needed`. Expired ones come first with by_expiry; then, with
 * by_priority, lower priority, then earlier introduction; then what was not used for longest.
 * False: all of them are not enough, and none is chosen. */
bool deletion_choose(struct deletion_policy policy, int64_t now, double bytes_needed,
                     struct stored_file *files, size_t count);

#endif
