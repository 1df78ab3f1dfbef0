/* SPDX-License-Identifier: Apache-2.0 */
#include "server/submit/inputs_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

static int open_folder(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int inputs_lock_shared(const char *download_dir)
{
    int lock = open_folder(download_dir);

    while (lock >= 0 && flock(lock, LOCK_SH) != 0 && errno == EINTR)
        ;
    return lock;
}

enum status inputs_lock_alone(const char *download_dir, int *ret_lock)
{
    int lock = open_folder(download_dir);

    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        close(lock);
        return STATUS_NOT_FOUND;
    }
    *ret_lock = lock;
    return STATUS_OK;
}

void inputs_unlock(int lock)
{
    if (lock >= 0)
        close(lock);
}

/* --- files that others may count on ----------------------------------------------------------- */

static const struct timespec unused_since = {.tv_sec = 0}, unchanged = {.tv_nsec = UTIME_OMIT},
                             of_now = {.tv_nsec = UTIME_NOW};

bool inputs_made(int descriptor)
{
    return futimens(descriptor, (const struct timespec[]){unused_since, unchanged}) == 0;
}

/* The file of that name, locked; -1: errno says why not. */
static int lock_file(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    while (file >= 0 && flock(file, LOCK_EX) != 0 && errno == EINTR)
        ;
    return file;
}

/* It may have been taken away before it was locked. */
static bool is_at(int file, const char *path, struct stat *ret_info)
{
    struct stat there;

    return fstat(file, ret_info) == 0 && stat(path, &there) == 0 &&
           there.st_ino == ret_info->st_ino && there.st_dev == ret_info->st_dev;
}

bool inputs_count_on(const char *path)
{
    int file = lock_file(path);
    struct stat info;
    bool is_there;

    if (file < 0)
        return access(path, F_OK) == 0;
    (void)futimens(file, (const struct timespec[]){of_now, unchanged});
    is_there = is_at(file, path, &info);
    (void)close(file);
    return is_there;
}

bool inputs_take_away(const char *path)
{
    int file = lock_file(path);
    struct stat info;
    bool is_gone = file >= 0 && is_at(file, path, &info) &&
                   info.st_atim.tv_sec == unused_since.tv_sec && unlink(path) == 0;

    if (file >= 0)
        (void)close(file);
    return is_gone;
}
