/* SPDX-License-Identifier: Apache-2.0 */
/* Disk space that jobs may fill (policy(7) 9.1); pure.
 *
 * A host's disk is asked about three times at most: what is free now, what would be if other
 * projects' files went, and if this project's own went too. server/handout/view.c gets the three
 * amounts here, from the message and the preferences, and the choice of jobs is made with the
 * first; where that found nothing and the disk was a reason, with the next
 * (server/handout/select.c).
 *
 * For the third amount and for orders to delete, server/files/ lists the project's sticky files on
 * the host: document_files.h reads from the documents of jobs which files there are, how long they
 * last and which are needed, and deletion.h chooses what is given up, by the project's policy. */
#ifndef SERVER_POLICY_DISK_DISK_H
#define SERVER_POLICY_DISK_DISK_H

#include "server/parse/message.h"
#include "server/policy/limits/preferences.h"

#include <stdbool.h>
#include <stddef.h>

/* amounts[0] is free now; [1] would be if files of projects that use more than their share were
 * deleted; [2] if files of this project's own were deleted as well. Never falling, never negative;
 * not to be added. */
enum { DISK_PASSES = 3 };
struct disk_space {
    double amounts[DISK_PASSES]; /* bytes */
};

/* A client of August 2004: it reports all three amounts, and deletes files by itself. */
bool disk_is_reported(const struct message *message);

/* Today's formula over preferences and free bytes, before it is cut off at 0: a host may be above
 * its limits already, and what is deleted has to make up for that first. */
double disk_by_preferences(const struct message *message,
                           const struct global_preferences *preferences,
                           double default_min_free_gb);

/* `own_files`: bytes of this project's files on the host that may be deleted; counts for clients
 * that do not report the amounts. */
struct disk_space disk_space_of(const struct message *message,
                                const struct global_preferences *preferences,
                                double default_min_free_gb, double own_files);

#endif
