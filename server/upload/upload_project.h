/* SPDX-License-Identifier: Apache-2.0 */
/* What the upload handler knows of its project: configuration, public key and folder, loaded
 * together, immutable, and held by each request from its beginning to its end. */
#ifndef SERVER_UPLOAD_UPLOAD_PROJECT_H
#define SERVER_UPLOAD_UPLOAD_PROJECT_H

#include "server/base/status.h"
#include "server/base/text.h"
#include "server/upload/upload_decision.h"

#include <stdbool.h>

struct config;
struct upload_store;

struct upload_project {
    struct config *config;
    struct upload_limits limits;
    struct upload_store *store;
    const char *stop_file; /* while it is there nothing is taken */
    struct arena *arena;   /* of the texts */
    _Atomic int references;
};

/* Reads config.xml and the key, and opens upload_dir; when all that is done it sets what is logged.
 * The caller owns one reference. */
MUST_CHECK enum status upload_project_load(const char *project_dir,
                                           struct upload_project **ret_project,
                                           struct failure *failure);
struct upload_project *upload_project_hold(struct upload_project *project);
void upload_project_release(struct upload_project *project); /* NULL is fine */
bool upload_project_is_stopped(const struct upload_project *project);

/* Permissions as BOINC's options have them: octal when they begin with 0. Empty gives `absent`.
 * False: they are none. */
bool upload_mode_read(struct text option, int absent, int *ret_mode);

#endif
