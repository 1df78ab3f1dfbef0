/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files in and out. */
#ifndef SERVER_BASE_FILE_H
#define SERVER_BASE_FILE_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <sys/stat.h>

struct arena;

/* STATUS_NOT_FOUND: no such file; STATUS_TOO_LARGE: more than `bytes_max`. Text in the arena,
 * without the byte order mark that some editors write. */
MUST_CHECK enum status file_read(struct arena *arena, const char *path, size_t bytes_max,
                                 struct text *ret_text, struct failure *failure);
/* Written beside and renamed over, so that a reader sees what was there before or the new file,
 * never half of it. It is given as file_give does. */
MUST_CHECK enum status file_write(const char *path, struct text text, unsigned mode,
                                  struct failure *failure);
/* The same without waiting for the disk: after a fall of the machine it may be old, or empty. */
MUST_CHECK enum status file_write_at_ease(const char *path, struct text text, unsigned mode,
                                          struct failure *failure);
/* What root makes in the folder of somebody else belongs to him afterwards, as if he had made it:
 * else a service that runs as he could not read it. `descriptor` is that of the new file, `path`
 * its name. Nothing happens where the caller is not root, or the folder is root's. False: errno
 * says why. */
bool file_give(int descriptor, const char *path);
/* Makes a folder, and gives it in the same way. The umask takes the right to write from others, but
 * not those to read and to enter: web servers are other users. What is secret has a mode that says
 * so. False: errno says why, EEXIST where it was there. */
bool file_make_folder(const char *path, mode_t mode);
/* For whoever reads or writes a file that may be large, piece by piece: what else is to be done
 * meanwhile, and whether that is to end. */
struct file_watch {
    bool (*is_to_end)(void *context); /* NULL: nothing, and it goes on */
    void *context;
};
/* After a piece. False: it is to end, as errno says. */
bool file_goes_on(const struct file_watch *watch);
/* All of it to this descriptor, however many calls it takes. False: errno says why. */
bool file_write_all(int descriptor, struct text text);

/* First in main: whoever starts a program may have closed standard input, output or error. What is
 * opened next would get its number, and with it what we print: the database's connection, say. A
 * stand-in fails as what is closed does, but for standard error, which commands that we start
 * write to. */
void file_occupy_standard(void);

/* For what is kept for a while, in the folder of the environment's TMPDIR, or else in /tmp. It has
 * no name, so nothing is left when the program is killed. -1: errno says why. */
int file_open_nameless(void);

enum { FILE_USER_GROUPS_MAX = 64 };
struct file_user {
    uid_t user;
    gid_t groups[FILE_USER_GROUPS_MAX]; /* all that he is in */
    int group_count;
};
/* By name or by number; a number without a name has `group` alone. Beyond 64 groups the rest is
 * left out. */
void file_user_named(const char *name, struct file_user *ret_who);
void file_user_numbered(uid_t user, gid_t group, struct file_user *ret_who);
/* Whether `wanted` (R_OK, W_OK, X_OK) is allowed to somebody, as the kernel judges: by the bits of
 * the owner, else those of the group, else the others'. User 0 counts as anybody. */
bool file_may(const struct stat *found, const struct file_user *who, int wanted);

#endif
