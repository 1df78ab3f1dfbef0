/* SPDX-License-Identifier: Apache-2.0 */
#include "server/submit/folder_look.h"

#include "server/project/hierarchy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/base/banned.h"

int folder_look_open(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int64_t folder_look_count(int64_t fanout)
{
    return fanout > 0 ? fanout : 1;
}

void folder_look_name(int64_t number, int64_t fanout, char *ret_name, size_t size)
{
    if (fanout > 0)
        (void)snprintf(ret_name, size, "%" PRIx64, (uint64_t)number);
    else
        (void)snprintf(ret_name, size, ".");
}

int64_t folder_look_changed(const struct stat *found)
{
    return found->st_mtim.tv_sec > found->st_ctim.tv_sec ? found->st_mtim.tv_sec
                                                         : found->st_ctim.tv_sec;
}

/* One thread: readdir is safe. What is deleted meanwhile may come or not. */
static enum status look_at_files(DIR *stream, struct folder_found *found, int64_t fanout,
                                 folder_visitor *visit, void *context)
{
    const struct dirent *entry;
    enum status status = STATUS_OK;

    while (status == STATUS_OK && (entry = readdir(stream)) != NULL) {
        found->name = entry->d_name;
        if (found->name[0] == '.' || /* itself, its parent, unfinished uploads */
            fstatat(dirfd(stream), found->name, &found->stat, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (fanout > 0 || !S_ISDIR(found->stat.st_mode))
            status = visit(context, found);
    }
    return status;
}

/* Whatever stands in the folder's place. */
static enum status look_at_other(int root, struct folder_found *found, folder_visitor *visit,
                                 void *context)
{
    found->name = found->folder;
    return fstatat(root, found->folder, &found->stat, AT_SYMLINK_NOFOLLOW) == 0
               ? visit(context, found)
               : STATUS_OK;
}

static int open_folder(int root, const char *folder)
{
    return openat(root, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

enum status folder_look(int root, int64_t number, int64_t fanout, folder_visitor *visit,
                        void *context, struct failure *failure)
{
    char folder[HIERARCHY_FOLDER_SIZE];
    struct folder_found found = {.folder = folder};
    DIR *stream = NULL;
    enum status status;
    int opened;

    folder_look_name(number, fanout, folder, sizeof(folder));
    opened = open_folder(root, folder);
    if (opened < 0 && errno == ENOENT)
        return STATUS_OK;
    if (opened < 0 && (errno == ENOTDIR || errno == ELOOP))
        return look_at_other(root, &found, visit, context);
    if (opened >= 0)
        stream = fdopendir(opened);
    if (stream == NULL) {
        (void)fail(failure, STATUS_IO, "folder %s: %s", folder, strerror(errno));
        if (opened >= 0)
            (void)close(opened);
        return STATUS_IO;
    }
    status = look_at_files(stream, &found, fanout, visit, context);
    (void)closedir(stream);
    return status;
}

/* --- deleting ------------------------------------------------------------------------------------
 */

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* While this lock is held nobody begins to write under one: our handler never writes to a finished
 * file, BOINC's takes the lock first and else has its client come again. */
static bool is_unused(int file, const struct stat *found)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    struct stat now;

    return fcntl(file, F_OFD_SETLK, &lock) == 0 && fstat(file, &now) == 0 && is_same(&now, found);
}

static enum folder_deletion delete_unused(int folder, const char *name, const struct stat *found)
{
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    enum folder_deletion deletion = FOLDER_CHANGED;
    struct stat now;

    if (file < 0)
        return errno == ENOENT || errno == ELOOP ? FOLDER_CHANGED : FOLDER_FAILED;
    if (is_unused(file, found) && fstatat(folder, name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
        is_same(&now, found))
        deletion = unlinkat(folder, name, 0) == 0 ? FOLDER_DELETED
                   : errno == ENOENT              ? FOLDER_CHANGED
                                                  : FOLDER_FAILED;
    int reason = errno;
    (void)close(file);
    errno = reason;
    return deletion;
}

enum folder_deletion folder_look_delete(int root, const char *folder, const char *name,
                                        const struct stat *found)
{
    int opened = open_folder(root, folder);
    enum folder_deletion deletion;

    if (opened < 0)
        return errno == EACCES || errno == EMFILE ? FOLDER_FAILED : FOLDER_CHANGED;
    deletion = delete_unused(opened, name, found);
    int reason = errno;
    (void)close(opened);
    errno = reason;
    return deletion;
}
