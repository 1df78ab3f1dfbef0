/* SPDX-License-Identifier: Apache-2.0 */
/* The files of upload_dir or download_dir, one folder of the fan-out after another, however many
 * there are. No link is followed but the folder of config.xml itself. */
#ifndef SERVER_SUBMIT_FOLDER_LOOK_H
#define SERVER_SUBMIT_FOLDER_LOOK_H

#include "server/base/status.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct folder_found {
    const char *folder; /* its name; "." without fan-out */
    const char *name;   /* of the file; of a folder that is none, the folder's */
    struct stat stat;   /* of the link itself where it is one */
};

/* Anything but STATUS_OK ends the look with that. */
typedef enum status folder_visitor(void *context, const struct folder_found *found);

/* -1: errno says why. The caller closes it. */
int folder_look_open(const char *path);
/* How many folders there may be: one without fan-out. */
int64_t folder_look_count(int64_t fanout);
/* The name of the folder of this number. */
void folder_look_name(int64_t number, int64_t fanout, char *ret_name, size_t size);
/* Visits what is in one of them but names that begin with a dot, and without fan-out but folders. A
 * folder that is not there has no files; something else in its place is visited as what it is. */
MUST_CHECK enum status folder_look(int root, int64_t number, int64_t fanout, folder_visitor *visit,
                                   void *context, struct failure *failure);

/* When anybody last changed the file or anything of it, as by copying it there. */
int64_t folder_look_changed(const struct stat *found);

enum folder_deletion { FOLDER_DELETED, FOLDER_CHANGED, FOLDER_FAILED /* errno says why */ };

/* Deletes a plain file, unless somebody holds a lock to write to it, as BOINC's upload handler
 * does, or it is another one by now than the one that was found. */
enum folder_deletion folder_look_delete(int root, const char *folder, const char *name,
                                        const struct stat *found);

#endif
