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

bool inputs_lock_become_alone(int lock)
{
    return lock < 0 || flock(lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
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

void inputs_count_on(const char *path)
{
    (void)utimensat(AT_FDCWD, path, (const struct timespec[]){of_now, unchanged}, 0);
}

bool inputs_take_away(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && info.st_atim.tv_sec == unused_since.tv_sec &&
           unlink(path) == 0;
}
