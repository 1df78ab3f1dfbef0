/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files, because every file that we read is small and every file that we write must be whole:
 * a new text is written beside the old one, brought to the disk, and renamed over it. */
#include "server/base/file.h"

#include "server/base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { MODE_BITS = 07777 }; /* of st_mode, without the kind */

static enum status fail_io(struct failure *failure, const char *path, const char *what)
{
    enum status status = errno == ENOENT || errno == ENOTDIR ? STATUS_NOT_FOUND : STATUS_IO;
    return fail(failure, status, "%s: %s: %s", path, what, strerror(errno));
}

/* Reads until the end or until `size` bytes are there: a file may shrink while it is read. */
static enum status read_all(int descriptor, char *at, size_t size, size_t *ret_length)
{
    size_t length = 0;

    while (length < size) {
        ssize_t got = read(descriptor, at + length, size - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return STATUS_IO;
        if (got == 0)
            break;
        length += (size_t)got;
    }
    *ret_length = length;
    return STATUS_OK;
}

static enum status read_open(struct arena *arena, int descriptor, const char *path,
                             size_t bytes_max, struct text *ret_text, struct failure *failure)
{
    struct stat info;

    if (fstat(descriptor, &info) != 0)
        return fail_io(failure, path, "stat");
    if (!S_ISREG(info.st_mode))
        return fail(failure, STATUS_INVALID, "%s: not a regular file", path);
    if ((uint64_t)info.st_size > bytes_max)
        return fail(failure, STATUS_TOO_LARGE, "%s: %lld bytes, more than %zu", path,
                    (long long)info.st_size, bytes_max);
    char *at = arena_alloc(arena, (size_t)info.st_size);
    if (at == NULL)
        return fail(failure, STATUS_NO_MEMORY, "%s: no memory to read it", path);
    size_t length;
    if (read_all(descriptor, at, (size_t)info.st_size, &length) != STATUS_OK)
        return fail_io(failure, path, "read");
    *ret_text = text_without_mark((struct text){.at = at, .length = length});
    return STATUS_OK;
}

enum status file_read(struct arena *arena, const char *path, size_t bytes_max,
                      struct text *ret_text, struct failure *failure)
{
    /* Without O_NONBLOCK a named pipe without a writer would hang us. */
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return fail_io(failure, path, "open");
    enum status status = read_open(arena, descriptor, path, bytes_max, ret_text, failure);
    (void)close(descriptor);
    return status;
}

bool file_goes_on(const struct file_watch *watch)
{
    bool ends = watch->is_to_end != NULL && watch->is_to_end(watch->context);

    if (ends)
        errno = ECANCELED;
    return !ends;
}

bool file_write_all(int descriptor, struct text text)
{
    while (text.length > 0) {
        ssize_t put = write(descriptor, text.at, text.length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        text.at += put;
        text.length -= (size_t)put;
    }
    return true;
}

bool file_give(int descriptor, const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    struct stat found;

    if (geteuid() != 0)
        return true;
    if (slash == NULL)
        (void)snprintf(folder, sizeof(folder), ".");
    else if (snprintf(folder, sizeof(folder), "%.*s/", (int)(slash - path), path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (stat(folder, &found) != 0)
        return false;
    /* Root's group may be that of who made the folder for its owner. */
    return found.st_uid == 0 ||
           fchown(descriptor, found.st_uid, found.st_gid == 0 ? (gid_t)-1 : found.st_gid) == 0;
}

static bool let_others_enter(int folder, mode_t mode)
{
    struct stat made;

    if (fstat(folder, &made) != 0)
        return false;
    mode = made.st_mode | (mode & (S_IRUSR | S_IRGRP | S_IROTH | S_IXUSR | S_IXGRP | S_IXOTH));
    return mode == made.st_mode || fchmod(folder, mode & MODE_BITS) == 0;
}

bool file_make_folder(const char *path, mode_t mode)
{
    int folder;
    bool is_given;

    if (mkdir(path, mode) != 0)
        return false;
    folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    is_given = folder >= 0 && let_others_enter(folder, mode) && file_give(folder, path);
    if (folder >= 0)
        (void)close(folder);
    return is_given;
}

static enum status write_beside(char *beside, const char *path, struct text text, unsigned mode,
                                bool waits, struct failure *failure)
{
    int descriptor = mkostemp(beside, O_CLOEXEC);
    if (descriptor < 0)
        return fail_io(failure, beside, "create");
    bool is_written = file_give(descriptor, path) && fchmod(descriptor, mode) == 0 &&
                      file_write_all(descriptor, text) && (!waits || fsync(descriptor) == 0);
    enum status status = is_written ? STATUS_OK : fail_io(failure, beside, "write");
    if (close(descriptor) != 0 && status == STATUS_OK)
        status = fail_io(failure, beside, "close");
    if (status == STATUS_OK && rename(beside, path) != 0)
        status = fail_io(failure, path, "rename");
    if (status != STATUS_OK)
        (void)unlink(beside);
    return status;
}

static enum status write_file(const char *path, struct text text, unsigned mode, bool waits,
                              struct failure *failure)
{
    size_t size = strlen(path) + sizeof(".XXXXXX");
    char *beside = malloc(size);
    if (beside == NULL)
        return fail(failure, STATUS_NO_MEMORY, "%s: no memory to write it", path);
    (void)snprintf(beside, size, "%s.XXXXXX", path);
    enum status status = write_beside(beside, path, text, mode, waits, failure);
    free(beside);
    return status;
}

enum status file_write(const char *path, struct text text, unsigned mode, struct failure *failure)
{
    return write_file(path, text, mode, true, failure);
}

enum status file_write_at_ease(const char *path, struct text text, unsigned mode,
                               struct failure *failure)
{
    return write_file(path, text, mode, false, failure);
}

void file_occupy_standard(void)
{
    static const int ways[] = {
        [STDIN_FILENO] = O_WRONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_RDWR};

    /* In their order, as the lowest number that is free is taken. */
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", ways[stream]) != stream)
            return; /* there is no /dev/null here */
}

/* Not with O_TMPFILE, which many file systems of containers lack. */
int file_open_nameless(void)
{
    const char *folder = getenv("TMPDIR");
    char path[PATH_MAX];
    int descriptor;

    if (folder == NULL || folder[0] == '\0')
        folder = P_tmpdir;
    if (snprintf(path, sizeof(path), "%s/quartermaster-XXXXXX", folder) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    descriptor = mkostemp(path, O_CLOEXEC);
    if (descriptor >= 0)
        (void)unlink(path);
    return descriptor;
}

static void find_groups(const struct passwd *passwd, struct file_user *who)
{
    who->group_count = FILE_USER_GROUPS_MAX;
    if (getgrouplist(passwd->pw_name, passwd->pw_gid, who->groups, &who->group_count) < 0)
        who->group_count = FILE_USER_GROUPS_MAX;
}

void file_user_numbered(uid_t user, gid_t group, struct file_user *ret_who)
{
    const struct passwd *passwd = getpwuid(user);

    *ret_who = (struct file_user){.user = user, .groups = {group}, .group_count = 1};
    if (passwd != NULL)
        find_groups(passwd, ret_who);
}

void file_user_named(const char *name, struct file_user *ret_who)
{
    const struct passwd *passwd = getpwnam(name);

    *ret_who = (struct file_user){.user = 0};
    if (passwd == NULL)
        return;
    ret_who->user = passwd->pw_uid;
    find_groups(passwd, ret_who);
}

static bool is_member(const struct file_user *who, gid_t group)
{
    for (int i = 0; i < who->group_count; i++)
        if (who->groups[i] == group)
            return true;
    return false;
}

bool file_may(const struct stat *found, const struct file_user *who, int wanted)
{
    unsigned bits = found->st_mode;

    if (who->user != 0 && found->st_uid == who->user)
        bits >>= 6;
    else if (is_member(who, found->st_gid))
        bits >>= 3;
    return (bits & (unsigned)wanted & 7u) == (unsigned)wanted;
}
