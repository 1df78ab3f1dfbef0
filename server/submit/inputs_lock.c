/* SPDX-License-Identifier: Apache-2.0 */
#include "server/submit/inputs_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
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
