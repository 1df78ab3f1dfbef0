/* SPDX-License-Identifier: Apache-2.0 */
/* Folders are opened by path only (O_PATH), for which the right to enter them is enough. Files are
 * opened without waiting (O_NONBLOCK), as a FIFO has perhaps no writer. */
#include "server/submit/sandbox.h"

#include "config/config.h"
#include "server/base/arena.h"
#include "server/project/hierarchy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { LINK_BYTES_MAX = 3 + 19 + 1 + 32 + 1 /* "sb SIZE MD5" and an end of line */ };
enum { FOLDER_FLAGS = O_PATH | O_DIRECTORY | O_CLOEXEC };
enum { FILE_FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC };

/* What is being opened, for words. */
struct sandbox_entry {
    struct arena *arena;
    const struct config *config;
    int64_t userid;
    struct text name;
    int folder; /* of the user */
    struct failure *failure;
};

struct text sandbox_folder(struct arena *arena, const struct config *config)
{
    struct text dir = config->sandbox_dir.length > 0 ? config->sandbox_dir : TEXT("sandbox");

    return text_starts(dir, TEXT("/"))
               ? dir
               : text_print(arena, TEXT_FORMAT "/" TEXT_FORMAT, TEXT_ARG(config->project_dir_path),
                            TEXT_ARG(dir));
}

enum status sandbox_name_check(struct text name, struct failure *failure)
{
    bool is_plain = name.length > 0 && name.length <= SANDBOX_NAME_MAX && name.at[0] != '.';

    for (size_t i = 0; i < name.length; i++)
        is_plain =
            is_plain && name.at[i] != '/' && (unsigned char)name.at[i] >= ' ' && name.at[i] != 127;
    return is_plain ? STATUS_OK
                    : fail(failure, STATUS_INVALID,
                           "a sandbox has no file \"" TEXT_FORMAT "\": names have 1 to %d bytes, "
                           "without / and control characters, and do not begin with a dot",
                           TEXT_ARG(text_first(name, 100)), SANDBOX_NAME_MAX);
}

bool sandbox_link_read(struct text entry, struct sandbox_link *ret_link)
{
    struct text size;

    if (text_ends(entry, TEXT("\n")))
        entry.length--;
    if (!text_starts(entry, TEXT("sb ")))
        return false;
    entry = (struct text){entry.at + 3, entry.length - 3};
    size = text_split(&entry, ' ');
    for (size_t i = 0; i < size.length; i++)
        if (size.at[i] < '0' || size.at[i] > '9')
            return false;
    if (!text_is_lower_hex(entry, MD5_HEX_SIZE - 1) || !text_to_i64(size, &ret_link->bytes))
        return false;
    memcpy(ret_link->md5, entry.at, MD5_HEX_SIZE - 1);
    ret_link->md5[MD5_HEX_SIZE - 1] = '\0';
    return true;
}

/* --- what cannot be read ---------------------------------------------------------------------- */

static enum status refuse(const struct sandbox_entry *entry, enum status status, const char *why)
{
    return fail(entry->failure, status, "file \"" TEXT_FORMAT "\" of the sandbox: %s",
                TEXT_ARG(text_first(entry->name, 200)), why);
}

/* As errno says. The path is not for the submitter. */
static enum status refuse_by_errno(const struct sandbox_entry *entry, const char *missing)
{
    if (errno == ENOENT)
        return refuse(entry, STATUS_NOT_FOUND, missing);
    if (errno == ELOOP || errno == ENOTDIR || errno == ENXIO || errno == ENODEV)
        return refuse(entry, STATUS_INVALID, "it is not a plain file of that folder");
    if (errno != EACCES && errno != EPERM)
        return refuse(entry, STATUS_IO, strerror(errno));
    return fail(entry->failure, STATUS_IO,
                "file \"" TEXT_FORMAT
                "\" of the sandbox: the server may not read it; the user that "
                "it runs as (%ld) needs the right to enter sandbox_dir and the folder %" PRId64
                " in it, and to read the files",
                TEXT_ARG(text_first(entry->name, 200)), (long)geteuid(), entry->userid);
}

/* --- opening ---------------------------------------------------------------------------------- */

static enum status open_folder(struct sandbox_entry *entry)
{
    struct arena *arena = entry->arena;
    int all = open(text_string(arena, sandbox_folder(arena, entry->config)), FOLDER_FLAGS);

    if (all < 0)
        return refuse_by_errno(entry, "the project has no sandboxes");
    entry->folder = openat(all, text_string(arena, text_print(arena, "%" PRId64, entry->userid)),
                           FOLDER_FLAGS | O_NOFOLLOW);
    int why = errno;
    (void)close(all);
    errno = why;
    return entry->folder >= 0 ? STATUS_OK : refuse_by_errno(entry, "you have no sandbox");
}

/* Below `folder`, or by its path. */
static enum status open_regular(const struct sandbox_entry *entry, int folder, const char *path,
                                const char *missing, struct stat *ret_info, int *ret_file)
{
    int file = openat(folder, path, FILE_FLAGS);
    enum status status = STATUS_OK;

    if (file < 0)
        return refuse_by_errno(entry, missing);
    if (fstat(file, ret_info) != 0)
        status = refuse(entry, STATUS_IO, strerror(errno));
    else if (!S_ISREG(ret_info->st_mode))
        status = refuse(entry, STATUS_INVALID, "it is not a plain file of that folder");
    if (status == STATUS_OK)
        *ret_file = file;
    else
        (void)close(file);
    return status;
}

/* What is too long for a link is none; nor is what cannot be read. */
static bool read_link(int file, const struct stat *info, struct sandbox_link *ret_link)
{
    char bytes[LINK_BYTES_MAX];
    ssize_t got;

    if (info->st_size > LINK_BYTES_MAX)
        return false;
    got = pread(file, bytes, sizeof(bytes), 0);
    return got == info->st_size && sandbox_link_read((struct text){bytes, (size_t)got}, ret_link);
}

static const char *content_path(const struct sandbox_entry *entry, const struct sandbox_link *link)
{
    struct text name = text_print(entry->arena, "sb_%" PRId64 "_%s", entry->userid, link->md5);

    return text_string(entry->arena, hierarchy_path(entry->arena, entry->config->download_dir, name,
                                                    entry->config->uldl_dir_fanout));
}

/* In place of *file, the link, which is closed. */
static enum status follow_link(const struct sandbox_entry *entry, const struct sandbox_link *link,
                               struct sandbox_file *file)
{
    const char *path = content_path(entry, link);
    struct stat info;
    bool is_there = entry->config->download_dir.length > 0 &&
                    fstatat(AT_FDCWD, path, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                    S_ISREG(info.st_mode) && info.st_size == link->bytes;
    int content = -1;
    enum status status;

    if (!is_there && faccessat(entry->folder, ".md5", F_OK, 0) == 0)
        return STATUS_OK;
    if (!is_there)
        return refuse(entry, STATUS_NOT_FOUND,
                      "it is a link of BOINC's web pages to a content that is not there, or has "
                      "another size");
    status = open_regular(entry, AT_FDCWD, path, "its content is gone", &info, &content);
    if (status != STATUS_OK)
        return status;
    (void)close(file->descriptor);
    file->descriptor = content;
    memcpy(file->md5, link->md5, MD5_HEX_SIZE);
    return STATUS_OK;
}

static enum status open_file(const struct sandbox_entry *entry, struct sandbox_file *ret_file)
{
    struct sandbox_file file = {.descriptor = -1};
    struct sandbox_link link;
    struct stat info = {.st_size = 0};
    enum status status = open_regular(entry, entry->folder, text_string(entry->arena, entry->name),
                                      "there is none", &info, &file.descriptor);

    if (status == STATUS_OK && read_link(file.descriptor, &info, &link))
        status = follow_link(entry, &link, &file);
    if (status == STATUS_OK)
        *ret_file = file;
    else if (file.descriptor >= 0)
        (void)close(file.descriptor);
    return status;
}

enum status sandbox_open(struct arena *arena, const struct config *config, int64_t userid,
                         struct text name, struct sandbox_file *ret_file, struct failure *failure)
{
    struct sandbox_entry entry = {.arena = arena,
                                  .config = config,
                                  .userid = userid,
                                  .name = name,
                                  .folder = -1,
                                  .failure = failure};
    enum status status = sandbox_name_check(name, failure);

    if (status == STATUS_OK)
        status = open_folder(&entry);
    if (status == STATUS_OK)
        status = open_file(&entry, ret_file);
    if (entry.folder >= 0)
        (void)close(entry.folder);
    return status;
}
