/* SPDX-License-Identifier: Apache-2.0 */
#include "server/upload/upload_store.h"

#include "server/project/hierarchy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "server/base/banned.h"

static const char partial_folder[] = ".partial";

/* A name that was moved into its folder longer ago is on the disk: kernels write within 30 s. */
enum {
    CONFIRM_S = 300,
    FOLDER_MODE = 0777,
    PARTIAL_FOLDER_MODE = 0770,
    OWN_MODE = 0600 /* without it we could not go on with a file of ours */
};

struct upload_store {
    int folder;    /* upload_dir */
    int partial;   /* upload_dir/.partial */
    int64_t since; /* when .partial was made: files that are older are not of ours; 0: not known */
    int64_t fanout;
    mode_t initial_mode;
    int completed_mode;
};

static int open_folder(int at, const char *name)
{
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int64_t birth_of(int descriptor)
{
    struct statx found;

    if (statx(descriptor, "", AT_EMPTY_PATH, STATX_BTIME, &found) != 0 ||
        (found.stx_mask & STATX_BTIME) == 0)
        return 0;
    return (int64_t)found.stx_btime.tv_sec;
}

/* By errno. Whose right it is that lacks is seldom who looks for the reason. */
static enum status fail_folder(struct failure *failure, const char *dir)
{
    if (errno == EACCES)
        return fail(failure, STATUS_IO, "upload_dir %s: %s for user %u and group %u, who run this",
                    dir, strerror(errno), (unsigned)geteuid(), (unsigned)getegid());
    return fail(failure, STATUS_IO, "upload_dir %s: %s", dir, strerror(errno));
}

static enum status open_folders(struct upload_store *store, const char *dir,
                                struct failure *failure)
{
    store->folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* it may itself be a link */
    if (store->folder < 0)
        return fail_folder(failure, dir);
    if (mkdirat(store->folder, partial_folder, PARTIAL_FOLDER_MODE) == 0)
        (void)fsync(store->folder);
    else if (errno != EEXIST)
        return fail_folder(failure, dir);
    store->partial = open_folder(store->folder, partial_folder);
    if (store->partial < 0)
        return fail(failure, STATUS_IO, "%s/%s: %s", dir, partial_folder, strerror(errno));
    store->since = birth_of(store->partial);
    return STATUS_OK;
}

enum status upload_store_open(const struct upload_store_options *options,
                              struct upload_store **ret_store, struct failure *failure)
{
    struct upload_store *store = calloc(1, sizeof(*store));
    enum status status;

    if (store == NULL)
        return fail(failure, STATUS_NO_MEMORY, "no memory");
    *store = (struct upload_store){.folder = -1,
                                   .partial = -1,
                                   .fanout = options->fanout,
                                   .initial_mode = (mode_t)options->initial_mode | OWN_MODE,
                                   .completed_mode = options->completed_mode};
    status = open_folders(store, options->dir, failure);
    if (status != STATUS_OK) {
        upload_store_close(store);
        return status;
    }
    *ret_store = store;
    return STATUS_OK;
}

void upload_store_close(struct upload_store *store)
{
    if (store == NULL)
        return;
    if (store->partial >= 0)
        close(store->partial);
    if (store->folder >= 0)
        close(store->folder);
    free(store);
}

/* --- what is there ---------------------------------------------------------------------------- */

/* The folder is opened, and made when it is not there and `makes`. -1: errno says why. The caller
 * closes it. */
static int open_final_folder(const struct upload_store *store, const char *name, bool makes)
{
    char folder[HIERARCHY_FOLDER_SIZE];
    int opened;

    hierarchy_folder(text_from(name), store->fanout, folder);
    if (folder[0] == '\0')
        return open_folder(store->folder, ".");
    opened = open_folder(store->folder, folder);
    if (opened >= 0 || errno != ENOENT || !makes)
        return opened;
    if (mkdirat(store->folder, folder, FOLDER_MODE) == 0)
        (void)fsync(store->folder);
    else if (errno != EEXIST)
        return -1;
    return open_folder(store->folder, folder);
}

/* Length of a plain file, and when it was last written; -1: there is none. *ret_trouble: there is
 * something else. */
static int64_t length_of(int folder, const char *name, int64_t *ret_written,
                         const char **ret_trouble)
{
    struct stat found;

    if (fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno != ENOENT)
            *ret_trouble = "the project cannot read its folder of uploads";
        return -1;
    }
    *ret_written = (int64_t)found.st_mtim.tv_sec;
    if (S_ISREG(found.st_mode))
        return (int64_t)found.st_size;
    *ret_trouble = "the project has something else in this place";
    return -1;
}

static void look_for_finished(const struct upload_store *store, const char *name,
                              struct upload_on_disk *on_disk)
{
    int folder = open_final_folder(store, name, false);
    int64_t written = 0;

    if (folder < 0) {
        if (errno != ENOENT)
            on_disk->trouble = "the project cannot read its folder of uploads";
        return;
    }
    on_disk->finished = length_of(folder, name, &written, &on_disk->trouble);
    on_disk->is_older = on_disk->finished >= 0 && written < store->since;
    close(folder);
}

static struct flock whole_file(short type)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET};
}

static int open_partial(const struct upload_store *store, const char *name, int flags)
{
    /* O_NONBLOCK, so that a named pipe put there does not hold us. */
    int all_flags = flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
    int descriptor = openat(store->partial, name, all_flags, store->initial_mode);

    /* A process that died before it could move a file left it with completed_mode, which may forbid
     * writing. */
    if (descriptor < 0 && errno == EACCES &&
        fchmodat(store->partial, name, store->initial_mode, AT_SYMLINK_NOFOLLOW) == 0)
        descriptor = openat(store->partial, name, all_flags, store->initial_mode);
    return descriptor;
}

static void look_for_partial(const struct upload_store *store, const char *name,
                             struct upload_on_disk *on_disk)
{
    struct flock lock = whole_file(F_WRLCK);
    int64_t written;
    int descriptor;

    on_disk->partial = length_of(store->partial, name, &written, &on_disk->trouble);
    if (on_disk->partial < 0)
        return;
    descriptor = open_partial(store, name, O_RDONLY);
    if (descriptor < 0)
        return; /* finished or removed just now; or not ours to read, which beginning it will say */
    on_disk->is_under_way = fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    close(descriptor);
}

int64_t upload_store_free(const struct upload_store *store)
{
    struct statvfs disk;

    return fstatvfs(store->partial, &disk) == 0 ? (int64_t)(disk.f_bavail * disk.f_frsize) : -1;
}

void upload_store_look(const struct upload_store *store, const char *name,
                       struct upload_on_disk *ret_on_disk)
{
    *ret_on_disk = (struct upload_on_disk){.finished = -1, .partial = -1};
    look_for_finished(store, name, ret_on_disk);
    if (ret_on_disk->finished < 0)
        look_for_partial(store, name, ret_on_disk);
    ret_on_disk->free_bytes = upload_store_free(store);
    if (ret_on_disk->free_bytes < 0)
        ret_on_disk->trouble = "the project cannot read its folder of uploads";
}

/* --- partial files ---------------------------------------------------------------------------- */

/* Between opening and locking, whoever had the lock may have finished or removed the file: then it
 * is not the one under this name any more, and not ours to write. */
static bool is_still_there(const struct upload_store *store, const char *name,
                           const struct stat *opened)
{
    struct stat found;

    return fstatat(store->partial, name, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
           found.st_dev == opened->st_dev && found.st_ino == opened->st_ino;
}

static enum upload_begun lock_partial(const struct upload_store *store, const char *name,
                                      int descriptor, int64_t offset)
{
    struct flock lock = whole_file(F_WRLCK);
    struct stat opened;

    if (fcntl(descriptor, F_OFD_SETLK, &lock) != 0)
        return errno == EAGAIN || errno == EACCES ? BEGUN_BY_ANOTHER : BEGUN_NOT;
    if (fstat(descriptor, &opened) != 0)
        return BEGUN_NOT;
    if (!S_ISREG(opened.st_mode)) {
        errno = EINVAL;
        return BEGUN_NOT;
    }
    if (!is_still_there(store, name, &opened))
        return BEGUN_BY_ANOTHER;
    if (opened.st_size < offset)
        return BEGUN_TOO_SHORT;
    return ftruncate(descriptor, offset) == 0 ? BEGUN : BEGUN_NOT;
}

enum upload_begun upload_store_begin(const struct upload_store *store, const char *name,
                                     int64_t offset, int *ret_descriptor)
{
    /* Nothing is made for a client that believes that there is something. */
    int descriptor = open_partial(store, name, offset > 0 ? O_RDWR : O_RDWR | O_CREAT);
    enum upload_begun begun;

    if (descriptor < 0)
        return errno == ENOENT && offset > 0 ? BEGUN_TOO_SHORT : BEGUN_NOT;
    begun = lock_partial(store, name, descriptor, offset);
    if (begun == BEGUN) {
        *ret_descriptor = descriptor;
        return BEGUN;
    }
    int reason = errno;
    close(descriptor);
    errno = reason;
    return begun;
}

bool upload_store_write(int descriptor, int64_t at, struct text bytes, size_t *ret_written)
{
    *ret_written = 0;
    while (*ret_written < bytes.length) {
        ssize_t put = pwrite(descriptor, bytes.at + *ret_written, bytes.length - *ret_written,
                             (off_t)(at + (int64_t)*ret_written));

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        *ret_written += (size_t)put;
    }
    return true;
}

/* --- the end of a file ------------------------------------------------------------------------ */

/* Moves it there unless something is there: then false, and errno is EEXIST. */
static bool move_into(const struct upload_store *store, const char *name, int folder)
{
    if (renameat2(store->partial, name, folder, name, RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    /* A file system without that call. Dying between the two leaves two names of one file, of which
     * the one in .partial is swept later. */
    if (linkat(store->partial, name, folder, name, 0) != 0)
        return false;
    (void)unlinkat(store->partial, name, 0);
    return true;
}

bool upload_store_adopt(const struct upload_store *store, const char *name)
{
    int folder = open_final_folder(store, name, false), file;
    bool is_moved;
    int reason;

    if (folder < 0)
        return false;
    /* What we cannot write to, since it is another user's, stays where it is. EEXIST: another
     * partial file of that name, which came after this one was. */
    file = openat(folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    is_moved = file >= 0 && renameat2(folder, name, store->partial, name, RENAME_NOREPLACE) == 0;
    reason = errno;
    if (file >= 0)
        close(file);
    close(folder);
    errno = reason;
    return is_moved;
}

static enum upload_finished move_to_folder(const struct upload_store *store, const char *name)
{
    int folder = open_final_folder(store, name, true);
    enum upload_finished finished = FINISHED_NOT;
    int reason;

    if (folder < 0)
        return FINISHED_NOT;
    if (move_into(store, name, folder)) {
        if (fsync(folder) == 0)
            finished = FINISHED;
    } else if (errno == EEXIST) {
        (void)unlinkat(store->partial, name, 0);
        finished = FINISHED_BEFORE;
    }
    reason = errno;
    close(folder);
    errno = reason;
    return finished;
}

/* All of the file is there: whether it is what its client has, and on the disk. */
static enum upload_finished bring_to_disk(const struct upload_store *store, int descriptor,
                                          int64_t nbytes, const char *md5)
{
    char found[MD5_HEX_SIZE];

    if (ftruncate(descriptor, (off_t)nbytes) != 0)
        return FINISHED_NOT;
    if (md5[0] != '\0') {
        if (md5_hex_of_descriptor(descriptor, found) != STATUS_OK)
            return FINISHED_NOT;
        if (!text_is(text_from(found), md5))
            return FINISHED_DAMAGED;
    }
    if (store->completed_mode >= 0 && fchmod(descriptor, (mode_t)store->completed_mode) != 0)
        return FINISHED_NOT;
    return fsync(descriptor) == 0 ? FINISHED : FINISHED_NOT;
}

/* What fails before the file can be moved would fail again, or worse, would not: of bytes that the
 * kernel could not write it forgets that it could not, a later fsync succeeds, and the checksum is
 * right as long as they are in memory. So the client begins anew. */
enum upload_finished upload_store_finish(const struct upload_store *store, const char *name,
                                         int descriptor, int64_t nbytes, const char *md5)
{
    enum upload_finished finished = bring_to_disk(store, descriptor, nbytes, md5);
    int reason = errno;

    if (finished == FINISHED)
        return move_to_folder(store, name);
    (void)unlinkat(store->partial, name, 0);
    errno = reason;
    return finished;
}

bool upload_store_confirm(const struct upload_store *store, const char *name)
{
    int folder = open_final_folder(store, name, false);
    struct stat found;
    bool is_sure;

    if (folder < 0)
        return false;
    is_sure = fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
              (time(NULL) - found.st_ctim.tv_sec > CONFIRM_S || fsync(folder) == 0);
    close(folder);
    return is_sure;
}

/* --- what nobody continues -------------------------------------------------------------------- */

static bool sweep_one(const struct upload_store *store, const char *name, time_t oldest)
{
    struct flock lock = whole_file(F_WRLCK);
    struct stat found;
    bool is_removed = false;
    int descriptor;

    if (fstatat(store->partial, name, &found, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(found.st_mode) || found.st_mtim.tv_sec >= oldest)
        return false;
    descriptor = open_partial(store, name, O_RDWR);
    if (descriptor < 0)
        return false;
    if (fcntl(descriptor, F_OFD_SETLK, &lock) == 0 && fstat(descriptor, &found) == 0 &&
        found.st_mtim.tv_sec < oldest && is_still_there(store, name, &found))
        is_removed = unlinkat(store->partial, name, 0) == 0;
    close(descriptor);
    return is_removed;
}

size_t upload_store_sweep(const struct upload_store *store, double seconds)
{
    int copy = open_folder(store->partial, ".");
    DIR *folder = copy < 0 ? NULL : fdopendir(copy);
    time_t oldest = time(NULL) - (time_t)seconds;
    const struct dirent *entry;
    size_t removed = 0;

    if (folder == NULL) {
        if (copy >= 0)
            close(copy);
        return 0;
    }
    while ((entry = readdir(folder)) != NULL)
        if (upload_name_usable(text_from(entry->d_name)))
            removed += sweep_one(store, entry->d_name, oldest) ? 1 : 0;
    (void)closedir(folder);
    return removed;
}
