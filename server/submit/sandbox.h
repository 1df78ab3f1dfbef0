/* SPDX-License-Identifier: Apache-2.0 */
/* A submitter's sandbox: the folder SANDBOX_DIR/USERID, in which BOINC's web pages keep files that
 * he brought. Its entry NAME is the file itself. With pages of former years it is a link, a text of
 * the form "sb SIZE MD5", and the content lies in the download folders as sb_USERID_MD5. An entry
 * is a link only if the content is there, with that size. Where newer pages were at work, which
 * keep a folder .md5 in it, such a text without a content is a file like any other.
 *
 * Nothing leads out of the folder: a name is one plain component, symbolic links are not followed,
 * and what is not a regular file is not read. */
#ifndef SERVER_SUBMIT_SANDBOX_H
#define SERVER_SUBMIT_SANDBOX_H

#include "server/base/crypto.h"
#include "server/base/status.h"
#include "server/base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct config;

enum { SANDBOX_NAME_MAX = 255 /* bytes */ };

/* The option sandbox_dir, or its default, as a path that does not depend on where the process is.
 */
struct text sandbox_folder(struct arena *arena, const struct config *config);
MUST_CHECK enum status sandbox_name_check(struct text name, struct failure *failure);

/* What an entry says if it is a link; false: it has another form. */
struct sandbox_link {
    int64_t bytes;
    char md5[MD5_HEX_SIZE];
};
bool sandbox_link_read(struct text entry, struct sandbox_link *ret_link);

struct sandbox_file {
    int descriptor;         /* to be closed by the caller; stands at the beginning */
    char md5[MD5_HEX_SIZE]; /* that the content has to have; empty: any */
};
/* STATUS_NOT_FOUND, STATUS_INVALID: there is no such file, in words for the submitter; STATUS_IO:
 * this process may not read it. */
MUST_CHECK enum status sandbox_open(struct arena *arena, const struct config *config,
                                    int64_t userid, struct text name, struct sandbox_file *ret_file,
                                    struct failure *failure);

#endif
