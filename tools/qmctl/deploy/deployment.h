/* SPDX-License-Identifier: Apache-2.0 */
/* One run of `qmctl deploy`: files to write, and steps for the administrator.
 *
 * All files are prepared first and compared with those on the disk; if somebody changed one of
 * them, none is written. Other steps are printed as words and commands, and not carried out. */
#ifndef TOOLS_QMCTL_DEPLOY_DEPLOYMENT_H
#define TOOLS_QMCTL_DEPLOY_DEPLOYMENT_H

#include "tools/qmctl/deploy/deploy_file.h"
#include "tools/qmctl/deploy/deploy_place.h"
#include "tools/qmctl/session/output.h"

enum { DEPLOY_FILES_MAX = 8 };

struct deployment {
    struct session *session;
    struct deploy_place place;
    struct output_table steps;
    struct deploy_file files[DEPLOY_FILES_MAX];
    size_t file_count;
};

/* As deploy_place_find. */
MUST_CHECK enum status deployment_begin(struct session *session, struct deployment *deployment);
/* A sample of config/, filled in, as the file `path`, which may have comments (#). */
MUST_CHECK enum status deployment_add(struct deployment *deployment, const char *sample,
                                      const char *path, bool has_comments);
/* Writes the files, or with --dry-run shows them: EXIT_DONE; EXIT_NOTHING when something would
 * change; EXIT_FAILED, which was said. */
enum exit_code deployment_put(struct deployment *deployment);
/* `step`: one word, such as "written" of a file, or "run" of a command. */
void deployment_say(struct deployment *deployment, const char *step, struct text words);
void deployment_warn(struct deployment *deployment, struct text problem); /* empty: nothing */
/* Prints the steps, and answers the code. */
enum exit_code deployment_end(struct deployment *deployment, enum exit_code code);

/* Whether the units for systemd are installed. */
bool deployment_has_units(void);
/* Whether an instance of them listens, or would listen, at this socket for this project. */
bool deployment_is_service(const struct deployment *deployment, const char *socket);

#endif
