/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a file system is nearly full, in bytes or in files; pure. */
#ifndef SERVER_CHECK_DISK_ROOM_H
#define SERVER_CHECK_DISK_ROOM_H

#include "server/base/text.h"

struct arena;
struct statvfs;

/* "3 more MB (df)", "less than 1000 more files (df -i)", in the arena; empty: there is enough. */
struct text disk_room_complaint(const struct statvfs *room, struct arena *arena);

#endif
