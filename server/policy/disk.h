/* SPDX-License-Identifier: Apache-2.0 */
/* Disk space that jobs may fill (protocol 6.7, design of the three passes); pure. */
#ifndef SERVER_POLICY_DISK_H
#define SERVER_POLICY_DISK_H

#include "server/parse/message.h"
#include "server/policy/preferences.h"

/* amounts[0] is free now; [1] and [2] are what deletions would free, for later passes; never
 * falling, never negative. */
enum { DISK_PASSES = 3 };
struct disk_space {
    double amounts[DISK_PASSES]; /* bytes */
};

struct disk_space disk_space_of(const struct message *message,
                                const struct global_preferences *preferences,
                                double default_min_free_gb);

#endif
