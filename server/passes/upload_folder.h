/* SPDX-License-Identifier: Apache-2.0 */
/* Where the output files of results lie, and whether a missing one says something of that file, or
 * of the folder that it should be in. */
#ifndef SERVER_PASSES_UPLOAD_FOLDER_H
#define SERVER_PASSES_UPLOAD_FOLDER_H

#include "server/base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct config;
struct output_file;

/* False: it cannot be read, or holds nothing (names that begin with a dot do not count), as where a
 * file system is not mounted; why is in `failure`. */
bool folder_is_there(struct arena *arena, struct text path, struct failure *failure);

/* The file's path, in the arena, and how long it is. NOT_FOUND: it is not there, and the path is
 * ""; IO: that cannot be said now, and why is in `failure`. */
struct found_file {
    const char *path;
    int64_t bytes;
};
MUST_CHECK enum status output_file_find(const struct config *config, struct arena *arena,
                                        const struct output_file *file,
                                        struct found_file *ret_found, struct failure *failure);

#endif
