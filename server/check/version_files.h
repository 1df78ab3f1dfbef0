/* SPDX-License-Identifier: Apache-2.0 */
/* Whether clients accept the files of the versions that jobs are sent with now: each file is in the
 * download folder with the size and content that its signature was made for, and the signature is
 * by the project's key. Otherwise clients refuse the file, and every job of that version fails on
 * every host. */
#ifndef SERVER_CHECK_VERSION_FILES_H
#define SERVER_CHECK_VERSION_FILES_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buffer;
struct catalog;
struct config;
struct version_file_info;

/* Larger files are not read, and together no more than this is read, so that a look takes a bounded
 * time. */
#define VERSION_FILE_MOST  100000000 /* bytes */
#define VERSION_FILES_MOST 1000000000

struct version_files {
    const struct config *config; /* download_url, uldl_dir_fanout */
    struct text download_dir;
    struct text public_key;
    struct text accepted; /* what an earlier look left (version_look); empty: nothing */
    int64_t now;          /* epoch */
};

/* What a look says beside the faults. */
struct version_look {
    size_t unread; /* so many files were too large to be read; only their size was compared */
    int64_t bytes; /* read */
    /* Lines for the next look, ACCEPTED_BYTES_MOST at most: a digest of each file that clients
     * accept, by its name, size, times, signature and key. While it stays the same, the file is not
     * read again. */
    struct text accepted;
    bool accepts_more; /* than the look before: it has to be kept */
};
enum { ACCEPTED_BYTES_MOST = 60000 };

/* Adds a line for each fault. Files with a URL elsewhere than under download_url are not looked at.
 */
MUST_CHECK enum status version_files_judge(const struct version_files *files,
                                           const struct catalog *catalog, struct arena *arena,
                                           struct buffer *faults, struct version_look *ret_look);

/* Where the file lies that clients download, and its URL; empty: that leads elsewhere. */
struct text version_file_path(const struct version_files *files, struct arena *arena,
                              const struct version_file_info *info, struct text *ret_url);

/* A file that clients download, to be asked for as they do. */
struct version_sample {
    struct text url, path;
    int64_t bytes;
};
/* The smallest of those that are in download_dir and not empty, under the first of the URLs by
 * which clients get it: it may be another server's. Texts of the catalog and the arena. False:
 * there is none. */
bool version_files_sample(const struct version_files *files, const struct catalog *catalog,
                          struct arena *arena, struct version_sample *ret_sample);

#endif
