/* SPDX-License-Identifier: Apache-2.0 */
#include "server/check/disk_room.h"

#include "server/base/arena.h"

#include <inttypes.h>
#include <sys/statvfs.h>

#include "server/base/banned.h"

enum { MB_LEAST = 100, FILES_LEAST = 1000 };

/* File systems without a bound say 0 of 0. */
struct text disk_room_complaint(const struct statvfs *room, struct arena *arena)
{
    uint64_t bytes = (uint64_t)room->f_frsize * room->f_bavail;

    if (room->f_blocks > 0 && bytes < (uint64_t)MB_LEAST * 1000000)
        return text_print(arena, "%" PRIu64 " more MB (df)", bytes / 1000000);
    if (room->f_files > 0 && room->f_favail < FILES_LEAST)
        return text_print(arena, "less than " COUNT_FORMAT " (df -i)",
                          COUNT_ARG(FILES_LEAST, "more file"));
    return NO_TEXT;
}
