/* SPDX-License-Identifier: Apache-2.0 */
/* Files that `qmctl deploy` writes: configurations of other programs, which an administrator may
 * change afterwards. A file that was changed is not overwritten. */
#ifndef TOOLS_QMCTL_DEPLOY_DEPLOY_FILE_H
#define TOOLS_QMCTL_DEPLOY_DEPLOY_FILE_H

#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>

struct arena;

enum deploy_state {
    DEPLOY_NEW,    /* there is no such file */
    DEPLOY_SAME,   /* it is as it would be written */
    DEPLOY_OLD,    /* written by an earlier deploy, and not changed since */
    DEPLOY_CHANGED /* changed since, or by somebody else */
};

struct deploy_file {
    const char *path;
    struct text text;  /* with the first line that it is known by again */
    struct text there; /* what is there now; empty: nothing */
    enum deploy_state state;
    bool makes_folder; /* the last folder of `path`, where it is missing */
};

/* The file as it is to be: `text` behind a line that holds its checksum, where `has_comments` with
 * #. Looks at what is there. STATUS_IO: it cannot be read. */
MUST_CHECK enum status deploy_file_look(struct arena *arena, const char *path, struct text text,
                                        bool has_comments, struct deploy_file *ret_file,
                                        struct failure *failure);
MUST_CHECK enum status deploy_file_write(const struct deploy_file *file, struct failure *failure);
/* What would change, on standard output, as diff -u prints it. */
MUST_CHECK enum status deploy_file_diff(const struct deploy_file *file, struct failure *failure);

#endif
