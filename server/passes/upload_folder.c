/* SPDX-License-Identifier: Apache-2.0 */
#include "server/passes/upload_folder.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/submit/output_files.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "server/base/banned.h"

bool folder_is_there(struct arena *arena, struct text path, struct failure *failure)
{
    const char *name = text_string(arena, path);
    const struct dirent *entry;
    bool has_entry = false;
    DIR *folder = opendir(name);

    if (folder == NULL) {
        (void)fail(failure, STATUS_IO, "%s: %s", name, strerror(errno));
        return false;
    }
    /* readdir is safe on a stream of our own. An upload handler makes .partial wherever it is
     * started. */
    while (!has_entry && (entry = readdir(folder)) != NULL)
        has_entry = entry->d_name[0] != '.';
    (void)closedir(folder);
    if (!has_entry)
        (void)fail(failure, STATUS_IO, "%s is empty: is it mounted?", name);
    return has_entry;
}

enum status output_file_find(const struct config *config, struct arena *arena,
                             const struct output_file *file, struct found_file *ret_found,
                             struct failure *failure)
{
    struct text place = output_file_path(arena, file, config->upload_dir, config->uldl_dir_fanout);
    const char *path = text_string(arena, place);
    struct stat found;

    *ret_found = (struct found_file){.path = ""};
    if (place.length == 0) /* no upload handler would have taken it */
        return arena_overflowed(arena) ? fail(failure, STATUS_IO, "too many files")
                                       : STATUS_NOT_FOUND;
    if (lstat(path, &found) == 0) {
        if (!S_ISREG(found.st_mode))
            return fail(failure, STATUS_IO, "%s is no file", path);
        *ret_found = (struct found_file){path, (int64_t)found.st_size};
        return STATUS_OK;
    }
    if (errno != ENOENT)
        return fail(failure, STATUS_IO, "%s: %s", path, strerror(errno));
    return folder_is_there(arena, config->upload_dir, failure) ? STATUS_NOT_FOUND : STATUS_IO;
}
