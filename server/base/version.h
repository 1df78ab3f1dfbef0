/* SPDX-License-Identifier: Apache-2.0 */
/* The version of a program. Each build writes the text again (version.cmake) and links it with the
 * programs only, so a commit does not relink anything else. */
#ifndef SERVER_BASE_VERSION_H
#define SERVER_BASE_VERSION_H

/* Such as "0.1.0 (commit 0123456789ab)", with ", changed" where the sources differ from that
 * commit. The commit is missing where neither git nor an archive made by it tells. */
extern const char program_version[];
/* What --version of any of our programs prints: "quartermaster " and the same. */
extern const char program_version_line[];

#endif
