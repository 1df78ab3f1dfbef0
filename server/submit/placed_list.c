/* SPDX-License-Identifier: Apache-2.0 */
/* A line is the inode, the temporary file and the place, with tabs between; inode 0: the temporary
 * file may be there. By the inode a file that another call had put in that place is told from ours.
 */
#include "server/submit/placed_list.h"

#include "server/base/arena.h"
#include "server/base/file.h"
#include "server/base/log.h"
#include "server/base/random.h"
#include "server/submit/inputs_lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "server/base/banned.h"

enum { LINE_BYTES = 16 * 1024 };
#define LISTS_FOLDER "/.placed"

struct placed_list {
    const char *folder, *path;
    int descriptor; /* -1: nothing is listed yet */
    bool is_of_no_use;
};

static const char *folder_of(struct arena *arena, struct text download_dir)
{
    return text_string(arena, text_print(arena, TEXT_FORMAT LISTS_FOLDER, TEXT_ARG(download_dir)));
}

struct placed_list *placed_list_begin(struct arena *arena, struct text download_dir,
                                      const char *key)
{
    struct placed_list *list = ARENA_NEW(arena, struct placed_list);
    const char *folder = folder_of(arena, download_dir);

    if (list != NULL)
        *list =
            (struct placed_list){.folder = folder,
                                 .path = text_string(arena, text_print(arena, "%s/%s.%016" PRIx64,
                                                                       folder, key, random_u64())),
                                 .descriptor = -1};
    return list;
}

static bool open_list(struct placed_list *list)
{
    if (!file_make_folder(list->folder, 0775) && errno != EEXIST)
        return false;
    list->descriptor = open(list->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    return list->descriptor >= 0 && file_give(list->descriptor, list->path) &&
           flock(list->descriptor, LOCK_EX | LOCK_NB) == 0;
}

void placed_list_add(struct placed_list *list, const char *temporary, int descriptor,
                     const char *place)
{
    struct stat info = {.st_ino = 0};
    int length;
    char line[LINE_BYTES];

    if (list == NULL || list->is_of_no_use)
        return;
    if (descriptor >= 0 && fstat(descriptor, &info) != 0)
        return;
    length = snprintf(line, sizeof(line), "%" PRIu64 "\t%s\t%s\n", (uint64_t)info.st_ino, temporary,
                      place);
    if (length < 0 || (size_t)length >= sizeof(line))
        return;
    if ((list->descriptor < 0 && !open_list(list)) ||
        !file_write_all(list->descriptor, (struct text){line, (size_t)length})) {
        log_event(LOG_LEVEL_WARNING, "files_not_listed", text_from(strerror(errno)));
        list->is_of_no_use = true;
    }
}

void placed_list_end(struct placed_list *list, bool is_settled)
{
    if (list == NULL || list->descriptor < 0)
        return;
    if (is_settled)
        (void)unlink(list->path);
    (void)close(list->descriptor);
    list->descriptor = -1;
}

/* --- of dead calls ---------------------------------------------------------------------------- */

static void take_away(const char *place, uint64_t inode, const struct placed_judge *judge)
{
    char sum[LINE_BYTES];
    struct stat info;

    if (inode == 0 || stat(place, &info) != 0 || (uint64_t)info.st_ino != inode ||
        judge->stays(judge->context, text_from(place)) || !inputs_take_away(place))
        return;
    (void)snprintf(sum, sizeof(sum), "%s.md5", place);
    (void)unlink(sum);
}

/* The last line may have been cut off. */
static void clear_line(char *line, enum placed_fate fate, const struct placed_judge *judge)
{
    char *rest = line, *temporary, *place;
    const char *inode = strsep(&rest, "\t");
    int64_t number;

    temporary = strsep(&rest, "\t");
    place = strsep(&rest, "\n");
    if (rest == NULL || !text_to_i64(text_from(inode), &number))
        return;
    (void)unlink(temporary);
    if (fate == PLACED_GOES)
        take_away(place, (uint64_t)number, judge);
}

static void clear_list(FILE *lines, const char *path, const char *key,
                       const struct placed_judge *judge)
{
    enum placed_fate fate = judge->of_call(judge->context, key);
    char line[LINE_BYTES];

    if (fate == PLACED_WAITS)
        return;
    while (fgets(line, sizeof(line), lines) != NULL)
        clear_line(line, fate, judge);
    (void)unlink(path);
}

/* Whoever wrote it is dead, and nobody else clears it. A list of another user, who may write into
 * the folder too, could name files that only we may delete. */
static bool is_abandoned(int descriptor)
{
    struct stat info;

    return fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
           info.st_mtim.tv_sec < time(NULL) - PLACED_REST_S &&
           flock(descriptor, LOCK_EX | LOCK_NB) == 0;
}

/* In an open folder; -1: it is none, or is not abandoned. */
static int open_abandoned(DIR *folder, const char *name)
{
    int list = name[0] == '.'
                   ? -1
                   : openat(dirfd(folder), name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (list < 0 || is_abandoned(list))
        return list;
    (void)close(list);
    return -1;
}

bool placed_lists_wait(struct arena *arena, struct text download_dir, const char *key)
{
    DIR *folder = opendir(folder_of(arena, download_dir));
    const struct dirent *entry;
    bool wait = false;

    while (folder != NULL && !wait && (entry = readdir(folder)) != NULL) {
        struct text rest = text_from(entry->d_name);
        int list =
            text_is(text_split(&rest, '.'), key) ? open_abandoned(folder, entry->d_name) : -1;

        wait = list >= 0;
        if (wait)
            (void)close(list);
    }
    if (folder != NULL)
        (void)closedir(folder);
    return wait;
}

void placed_lists_clear(struct arena *arena, struct text download_dir, size_t most,
                        const struct placed_judge *judge)
{
    const char *path = folder_of(arena, download_dir);
    DIR *folder = opendir(path);
    const struct dirent *entry;

    while (folder != NULL && most > 0 && (entry = readdir(folder)) != NULL) {
        struct arena_mark mark = arena_mark(arena);
        struct text rest = text_from(entry->d_name), key = text_split(&rest, '.');
        int descriptor = open_abandoned(folder, entry->d_name);
        FILE *lines = descriptor >= 0 ? fdopen(descriptor, "r") : NULL;

        if (lines != NULL) {
            clear_list(lines, text_string(arena, text_print(arena, "%s/%s", path, entry->d_name)),
                       text_string(arena, key), judge);
            (void)fclose(lines);
            most--;
        } else if (descriptor >= 0) {
            (void)close(descriptor);
        }
        arena_rewind(arena, mark);
    }
    if (folder != NULL)
        (void)closedir(folder);
}
