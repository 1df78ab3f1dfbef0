/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of a version as BOINC's update_versions knows it: files, their signatures (FILE.sig),
 * and version.xml, which says what they are. Nothing is copied or signed here. */
#ifndef SERVER_SUBMIT_VERSION_FOLDER_H
#define SERVER_SUBMIT_VERSION_FOLDER_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct buffer;

struct folder_file {
    struct text path;      /* from the folder; below it only where version.xml names it so */
    struct text name;      /* the physical one */
    struct text open_name; /* empty: none */
    const struct text *urls;
    size_t url_count; /* 0: it is downloaded from the project */
    bool is_main, copy_file, gzip;
    struct text signature; /* of FILE.sig; empty: there is none */
};

enum { VERSION_FOLDER_FILES_MOST = 1000 };
struct version_folder {
    struct folder_file *files; /* by path; exactly one is_main */
    size_t count;
    struct text api_version, file_prefix;
    bool dont_throttle, needs_network, is_wrapper, beta;
};

/* Texts of the arena. What version.xml says and nobody knows adds a line to `advice`.
 * STATUS_INVALID, STATUS_NOT_FOUND: the folder cannot be a version, as the failure says. */
MUST_CHECK enum status version_folder_read(struct arena *arena, const char *folder,
                                           struct version_folder *ret_folder, struct buffer *advice,
                                           struct failure *failure);

/* "x86_64-pc-linux-gnu__mt" is platform and plan class; without the latter that is empty. */
void version_folder_name(struct text name, struct text *ret_platform, struct text *ret_plan_class);

#endif
